// Package compattest is a server of the drop-in APIs without a model, for their tests and for trying their clients. Its
// translation of a text is the text in capitals, except markup, with the request's terms replaced.
//
// Some texts make the translation fail, each in its own way: busy, closed, fail, gone, long, many and wait, which ends with the
// request's context.
package compattest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"dragoman/app/engine"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

// errSecret is the error of the text "fail". It must never be sent to a client.
var errSecret = errors.New("secret: weights at /srv/weights")

// mostAlternatives is the number of alternatives of any text, also if more are requested. A request for tooManyAlternatives is
// refused.
const (
	mostAlternatives    = 3
	tooManyAlternatives = 9
)

// Translator translates texts into capitals. It is safe for concurrent use.
type Translator struct {
	Codes []string // of the languages; nil: some of M2M100's
	Mute  bool     // disables language detection
	// Named are further models beside default, by name.
	Named map[string]Models
	// Asked is called with each request; it may be nil.
	Asked func(translate.Request)
}

// Models implements the lookups of [translate.Selection], without routes.
type Models struct {
	Codes []string
	Tells translate.Detector
	Pairs map[string][]string // by source, sorted, including the source; nil: all to all
}

// Languages implements [translate.Selection].
func (m Models) Languages() []string { return m.Codes }

// Detector implements [translate.Selection].
func (m Models) Detector() translate.Detector { return m.Tells }

// Detects implements [translate.Selection].
func (Models) Detects() bool { return false }

// Route implements [translate.Selection]. It always fails.
func (Models) Route(from, to string) (translate.Route, error) {
	return translate.Route{}, fmt.Errorf("no route from %s to %s", from, to)
}

// Targets implements [translate.Selection].
func (m Models) Targets(from string) []string {
	if m.Pairs != nil {
		return m.Pairs[from]
	}
	return m.Codes
}

// Pivots implements [translate.Selection]. It returns none.
func (Models) Pivots(string) map[string]string { return nil }

// NoModel returns the error for an unknown model.
func NoModel(name string) error {
	return &translate.Error{Code: translate.CodeUnknownModel, Field: "model", Message: fmt.Sprintf("there is no model %q: use default", excerpt.Of(name))}
}

// Select implements [dialect.Translator].
func (t Translator) Select(model string) (translate.Selection, error) {
	if m, ok := t.Named[model]; ok {
		return m, nil
	}
	if model != "" && model != "default" {
		return nil, NoModel(model)
	}
	m := Models{Codes: t.Codes, Tells: t}
	if m.Codes == nil {
		m.Codes = []string{"de", "en", "es", "fr", "ja", "no", "pt", "zh"}
	}
	if t.Mute {
		m.Tells = nil
	}
	return m, nil
}

// Healthy implements [dialect.Translator].
func (Translator) Healthy() error { return nil }

// Translate implements [dialect.Translator].
func (t Translator) Translate(ctx context.Context, req translate.Request) ([]translate.Result, error) {
	var results []translate.Result
	err := t.Stream(ctx, req, func(_ int, r translate.Result) error {
		results = append(results, r)
		return nil
	})
	return results, err
}

// Stream implements [dialect.Translator].
func (t Translator) Stream(ctx context.Context, req translate.Request, yield func(int, translate.Result) error) error {
	if t.Asked != nil {
		t.Asked(req)
	}
	if req.Alternatives >= tooManyAlternatives {
		return &translate.Error{Code: translate.CodeInvalidOption, Field: "alternatives", Message: fmt.Sprintf("%d translations of each text are wanted", req.Alternatives)}
	}
	for _, to := range req.To {
		if err := t.translate(ctx, req, to, yield); err != nil {
			return err
		}
	}
	return nil
}

// translate translates the texts of a request into one of its languages.
func (t Translator) translate(ctx context.Context, req translate.Request, to string, yield func(int, translate.Result) error) error {
	for i, r := range req.Records {
		if err := failure(ctx, i, r.Text); err != nil {
			return err
		}
		text := strings.ToUpper(r.Text)
		if req.Format == translate.HTML || req.Format == translate.XML {
			text = capitals(r.Text)
		}
		for _, term := range req.Terms {
			text = strings.ReplaceAll(text, strings.ToUpper(term.Source), term.Target)
		}
		result := translate.Result{Record: translate.Record{ID: r.ID, Text: text}, From: req.From, To: to, Decoded: true, Model: cmp.Or(req.Model, "default"), Version: "1"}
		if r.Text == "endless" {
			result.Flags = translate.Truncated
		}
		for n := range min(req.Alternatives, mostAlternatives) {
			result.Alternatives = append(result.Alternatives, translate.Alternative{Text: text + strings.Repeat("!", n), Score: -float64(n)})
		}
		if req.From == translate.Auto {
			result.From, _, result.Detected = t.Detect(r.Text)
		}
		if err := yield(i, result); err != nil {
			return err
		}
	}
	return nil
}

// failure returns the error of a text, or nil.
func failure(ctx context.Context, i int, text string) error {
	switch text {
	case "busy":
		return fmt.Errorf("worker 1: %w", &engine.BusyError{Requests: 64, Wait: 2100 * time.Millisecond})
	case "closed":
		return engine.ErrClosed
	case "fail":
		return fmt.Errorf("step with 3 sentences: %w", errSecret)
	case "gone":
		return context.Canceled
	case "long", "many":
		code := map[string]translate.Code{"long": translate.CodeTextTooLong, "many": translate.CodeTooManyRecords}[text]
		return &translate.Error{Code: code, Field: fmt.Sprintf("records[%d].text", i), Message: "too " + text}
	case "wait":
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// tag is a tag of HTML or XML.
var tag = regexp.MustCompile(`<[^>]*>`)

// capitals converts the text between tags to capitals.
func capitals(text string) string {
	var out strings.Builder
	end := 0
	for _, at := range tag.FindAllStringIndex(text, -1) {
		out.WriteString(strings.ToUpper(text[end:at[0]]) + text[at[0]:at[1]])
		end = at[1]
	}
	return out.String() + strings.ToUpper(text[end:])
}

// Detect implements [translate.Detector]. It detects Japanese by its letters and French by two words; any other text with letters
// is English.
func (Translator) Detect(text string) (code string, confidence float64, ok bool) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	switch {
	case len(words) == 0:
		return "", 0, false
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) }):
		return "ja", 1, true
	case slices.Contains(words, "bonjour") || slices.Contains(words, "monde"):
		return "fr", 0.9, true
	}
	return "en", 0.8765, true
}
