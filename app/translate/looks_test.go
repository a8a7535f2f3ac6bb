package translate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/app/text/entity"
	"dragoman/app/text/language"
	"dragoman/app/text/lineartest"
	"dragoman/app/text/markup"
	"dragoman/app/text/segment"
	"dragoman/app/text/wrap"
)

// lookedUnits are the repeated units of long texts.
var lookedUnits = []string{
	"The quick fox jumps over the lazy dog, and it rains. ", "{}[]<>|^~=*_#&@`", "1234567890", "12 345,6 or 3 May 2021. ", "<p><b>a</b> c</p> ", "a", "Good day\n",
	"日本語のテキスト。", "<ruby>a<rt>b</rt></ruby> ", "a + b ", "«", "[^1]: a\n",
}

// Each function over a text checks its context throughout, and returns its error wherever it ends.
func TestTextsLookAtTheirContext(t *testing.T) {
	const size = 1 << 14
	terms := markup.NewTerms([]markup.Term{{Source: "fox", Target: "renard"}, {Source: "a", Target: "b"}, {Source: "語", Target: "x"}})
	units := lookedUnits
	if testing.Short() {
		units = units[:6]
	}
	for _, unit := range units {
		text := strings.Repeat(unit, size/len(unit))
		looks := func(what string, bytes int, work func(ctx context.Context) error) {
			lineartest.AssertLooks(t, fmt.Sprintf("%s of %q", what, unit), bytes, work)
		}
		ctx := t.Context()
		parsed, err := markup.Parse(ctx, text, markup.Text)
		require.NoError(t, err)
		looks("Parse", size, func(ctx context.Context) error { _, err := markup.Parse(ctx, text, markup.Text); return err })
		looks("In", size, func(ctx context.Context) error { _, err := parsed.In(ctx, "en"); return err })
		looks("WithTerms", size, func(ctx context.Context) error { _, err := parsed.WithTerms(ctx, terms); return err })
		looks("CutReadings", 0, func(ctx context.Context) error { _, _, err := parsed.CutReadings(ctx); return err })
		looks("Noted", 0, func(ctx context.Context) error { _, err := parsed.Noted(ctx); return err })
		looks("Branch", size, func(ctx context.Context) error { _, err := parsed.Branch(ctx, 0, len(text)); return err })
		whole, err := parsed.Whole(ctx)
		require.NoError(t, err)
		whole = whole.Between("en", "fr")
		looks("Whole", 0, func(ctx context.Context) error { _, err := parsed.Whole(ctx); return err })
		looks("Around", 0, func(ctx context.Context) error { _, err := whole.Around(ctx); return err })
		looks("Kept", size, func(ctx context.Context) error { _, err := whole.Kept(ctx, text); return err })
		looks("Translated", size, func(ctx context.Context) error { _, err := whole.Translated(ctx, text); return err })
		looks("Spaced", 0, func(ctx context.Context) error { _, err := whole.Spaced(ctx, text); return err })
		looks("Terms", 0, func(ctx context.Context) error { _, _, err := whole.Terms(ctx, text); return err })
		looks("Verify", size, ofTranslation(func(ctx context.Context) error { _, err := whole.Verify(ctx, text); return err }))
		if masked, ok, err := whole.Mask(ctx, 1); ok {
			require.NoError(t, err)
			looks("Mask", 0, func(ctx context.Context) error { _, _, err := whole.Mask(ctx, 1); return err })
			looks("Restore", 0, ofTranslation(func(ctx context.Context) error { _, err := masked.Restore(ctx, masked.Text); return err }))
		}
		looks("SplitXML", 0, func(ctx context.Context) error { _, err := markup.SplitXML(ctx, text); return err })
		looks("SplitHTML", 0, func(ctx context.Context) error { _, err := markup.SplitHTML(ctx, text); return err })
		looks("Outline.Split", 0, func(ctx context.Context) error { _, err := markup.Outline{Lines: true}.Split(ctx, text); return err })
		looks("Tokens", 0, func(ctx context.Context) error { _, err := markup.Tokens(ctx, text); return err })
		looks("WithoutReadings", 0, func(ctx context.Context) error { _, err := markup.WithoutReadings(ctx, text, markup.HTML); return err })
		piece := markup.HTMLPiece{Raw: text, Unit: true}
		looks("HTMLPiece.Parse", size, func(ctx context.Context) error { _, err := piece.Parse(ctx); return err })
		looks("HTMLPiece.Text", 0, func(ctx context.Context) error { _, err := piece.Text(ctx); return err })
		looks("HTMLPiece.Prose", 0, func(ctx context.Context) error { _, err := piece.Prose(ctx); return err })

		pieces, err := segment.Split(ctx, text, "en")
		require.NoError(t, err)
		looks("Split", size, func(ctx context.Context) error { _, err := segment.Split(ctx, text, "en"); return err })
		looks("SplitWrapped", size, func(ctx context.Context) error { _, err := segment.SplitWrapped(ctx, text, "en"); return err })
		looks("Finer", size, func(ctx context.Context) error { _, err := segment.Finer(ctx, text, "en"); return err })
		looks("Ends", 2*size, func(ctx context.Context) error { _, err := segment.Ends(ctx, text, "en"); return err })
		looks("Join", 0, func(ctx context.Context) error { _, err := segment.Join(ctx, pieces, nil, "en", "fr"); return err })
		looks("Compare", size, ofTranslation(func(ctx context.Context) error { return entity.Compare(ctx, text, text, "en", "fr") }))
		looks("Foreign", size, func(ctx context.Context) error { _, err := language.Foreign(ctx, text, "en"); return err })
		looks("Wrapped", 0, func(ctx context.Context) error { return wrapped(ctx, text) })

		for _, format := range []Format{Text, HTML, XML} {
			looks("Characters", 0, func(ctx context.Context) error { _, err := format.Characters(ctx, text); return err })
			looks("Prose", 0, func(ctx context.Context) error { _, err := format.Prose(ctx, text); return err })
			looks("Detect", 0, func(ctx context.Context) error {
				_, _, err := Detect(ctx, asYouLike{}, slices.Values([]string{text}), format)
				return err
			})
		}
	}
}

// ofTranslation ignores the errors of a check that refuse a translation.
func ofTranslation(check func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := check(ctx); errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	}
}

// wrapped joins and wraps the paragraphs of a text.
func wrapped(ctx context.Context, text string) error {
	if !strings.Contains(text, "\n") { // it has none
		return ctx.Err()
	}
	for p, err := range wrap.Wrapped(ctx, text, wrap.On) {
		if err == nil {
			_, err = p.Wrap(ctx, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A request of any format checks its context in all work on its texts, and fails with its error wherever it ends.
func TestRequestsLookAtTheirContext(t *testing.T) {
	const size = 1 << 14
	cfg := config(runes{}, &upper{})
	cfg.MaxChars, cfg.MaxSentences, cfg.MaxTokens = size, size, 2*size
	s := cfg.start(t)
	for _, unit := range []string{lookedUnits[0], "12 345,6 or <b>a</b> ", "a"} {
		for _, format := range []Format{Text, HTML, XML} {
			req := texts(strings.Repeat(unit, size/len(unit)))
			req.Format, req.Flagged, req.Terms = format, true, []Term{{Source: "fox", Target: "renard"}}
			lineartest.AssertLooks(t, fmt.Sprintf("Translate %q as %s", unit, format), size, func(ctx context.Context) error {
				_, err := s.Translate(ctx, req)
				return err
			})
			if format == Text {
				req.Terms = nil
				lineartest.AssertLooks(t, fmt.Sprintf("Cut %q", unit), size, func(ctx context.Context) error {
					_, err := s.Cut(ctx, req)
					return err
				})
			}
		}
	}
}
