// Package toy is a backend without a model, for tests of the drop-in APIs and for
// trying their clients. It translates by writing what is not markup in capitals.
//
// Some texts have it fail, each in its own way: busy, closed, fail, gone, long, many
// and wait, which ends with the request's context.
package toy

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"dragoman/app/compat"
	"dragoman/app/engine"
	"dragoman/app/translate"
)

// ErrSecret is the error of the text "fail". No sender of a request may see it.
var ErrSecret = errors.New("secret: weights at /srv/weights")

// Backend makes a backend with some languages.
func Backend() *compat.Backend {
	return &compat.Backend{
		Translator: Translator{}, Detector: Detector{},
		Languages: compat.Languages{"de", "en", "es", "fr", "ja", "no", "pt", "zh"},
	}
}

// Translator writes texts in capitals. It is safe for concurrent use.
type Translator struct{}

// Translate implements [compat.Translator].
func (Translator) Translate(ctx context.Context, req translate.Request) ([]translate.Result, error) {
	results := make([]translate.Result, len(req.Records))
	for i, r := range req.Records {
		if err := failure(ctx, i, r.Text); err != nil {
			return nil, err
		}
		text := strings.ToUpper(r.Text)
		if req.Format == translate.HTML || req.Format == translate.XML {
			text = capitals(r.Text)
		}
		results[i] = translate.Result{
			Record: translate.Record{ID: r.ID, Text: text}, From: req.From, To: req.To[0], Decoded: true,
		}
		if req.From == translate.Auto {
			results[i].From, _, results[i].Detected = Detector{}.Detect(r.Text)
		}
	}
	return results, nil
}

// failure is the error of a text, nil for most.
func failure(ctx context.Context, i int, text string) error {
	switch text {
	case "busy":
		return fmt.Errorf("worker 1: %w", &engine.BusyError{Requests: 64, Wait: 2100 * time.Millisecond})
	case "closed":
		return engine.ErrClosed
	case "fail":
		return fmt.Errorf("step with 3 sentences: %w", ErrSecret)
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

// capitals writes what stands between tags in capitals.
func capitals(text string) string {
	var out strings.Builder
	end := 0
	for _, at := range tag.FindAllStringIndex(text, -1) {
		out.WriteString(strings.ToUpper(text[end:at[0]]) + text[at[0]:at[1]])
		end = at[1]
	}
	return out.String() + strings.ToUpper(text[end:])
}

// Detector knows Japanese by its letters and French by two words; all else with
// letters is English. It is safe for concurrent use.
type Detector struct{}

// Detect implements [compat.Detector].
func (Detector) Detect(text string) (code string, confidence float64, ok bool) {
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
