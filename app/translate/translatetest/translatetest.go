// Package translatetest has the parts of a real [translate.Service] for tests without a model: a tokenizer and a catalogue.
package translatetest

import (
	"context"
	"slices"
	"strings"

	"dragoman/app/translate"
)

// Runes is a tokenizer with one token for each character.
type Runes struct{}

const firstRune = 1000

var languageIDs = map[string]int64{"en": 100, "fr": 101, "ja": 102}

// Encode implements the tokenizer of a [translate.ModelConfig], like the other methods.
func (Runes) Encode(from, _, text string) ([]int64, error) {
	ids := []int64{languageIDs[from]}
	for _, c := range text {
		ids = append(ids, firstRune+int64(c))
	}
	return append(ids, 2), nil
}

// EncodeTarget omits the special tokens around a text.
func (r Runes) EncodeTarget(text string) ([]int64, error) {
	ids, err := r.Encode("", "", text)
	return ids[1 : len(ids)-1], err
}

// Decode converts tokens of characters to text.
func (Runes) Decode(ids []int64) string {
	var text strings.Builder
	for _, id := range ids {
		if id >= firstRune {
			text.WriteRune(rune(id - firstRune))
		}
	}
	return text.String()
}

// Forced returns the token of the target language.
func (Runes) Forced(_, to string) []int64 { return []int64{languageIDs[to]} }

// LanguageID returns the token of a language.
func (Runes) LanguageID(code string) (int64, bool) {
	id, ok := languageIDs[code]
	return id, ok
}

// Only is a single model that is always loaded. It implements [translate.Models] and [translate.Selection].
type Only struct{ *translate.Model }

// Select returns the model, whatever a request names.
func (o Only) Select(string) (translate.Selection, error) { return o, nil }

// Languages returns the model's languages, sorted.
func (o Only) Languages() []string { return slices.Sorted(slices.Values(o.ModelConfig.Languages)) }

// Targets returns all languages.
func (o Only) Targets(string) []string { return o.Languages() }

// Pivots returns nil.
func (Only) Pivots(string) map[string]string { return nil }

// Detector returns nil.
func (Only) Detector() translate.Detector { return nil }

// Detects returns false.
func (Only) Detects() bool { return false }

// Route returns a route of one step with the model.
func (o Only) Route(from, to string) (translate.Route, error) {
	return translate.Route{Model: o.Name, Version: o.Version, Steps: []translate.Step{{Model: o.Model, From: from, To: to}}}, nil
}

// Acquire returns the model.
func (o Only) Acquire(context.Context, []translate.Handle) ([]*translate.Model, func(), error) {
	return []*translate.Model{o.Model}, func() {}, nil
}
