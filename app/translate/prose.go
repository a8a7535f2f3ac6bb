package translate

import (
	"context"
	"iter"
	"strings"

	"dragoman/app/text/char"
	"dragoman/app/text/markup"
)

// Prose returns the translatable text: all of a plain text, or the text of HTML and XML outside markup, with a line for each
// paragraph.
func (f Format) Prose(ctx context.Context, text string) (string, error) {
	parts, err := f.prose(ctx, text)
	return strings.Join(parts, "\n"), err
}

// Characters counts the characters of the translatable text; see [Characters]. All APIs charge requests by this count, which
// includes everything that is translated.
func (f Format) Characters(ctx context.Context, text string) (n int, err error) {
	parts, err := f.prose(ctx, text)
	if err != nil {
		return 0, err
	}
	err = char.Look(ctx, len(text), func(l *char.Looks) {
		for _, part := range parts {
			n += characters(l, part)
		}
	})
	return n, err
}

// TooLong reports whether a text has more than most characters; 0 means no limit. Too long texts are refused without further
// work.
func TooLong(text string, most int) bool {
	return most > 0 && len(text) > most && Characters(text) > most
}

// prose returns the parts of a text that are translated, which are the units of a plan. Entities are decoded.
func (f Format) prose(ctx context.Context, text string) (parts []string, err error) {
	split := markup.SplitHTML
	switch f {
	case HTML:
	case XML:
		split = markup.SplitXML
	default:
		return []string{text}, ctx.Err()
	}
	pieces, err := split(ctx, text)
	for _, piece := range pieces {
		if !piece.Unit {
			continue
		}
		part, err := piece.Prose(ctx)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, err
}

// sample is the number of bytes by which the language of a document is detected.
const sample = 4000

// Detect detects the language of a document by its first texts. ok is false if the language cannot be detected.
func Detect(ctx context.Context, d Detector, texts iter.Seq[string], form Format) (code string, ok bool, err error) {
	var beginning strings.Builder
	for text := range texts {
		prose, err := form.Prose(ctx, text)
		if err != nil {
			return "", false, err
		}
		if beginning.WriteString(prose + "\n"); beginning.Len() >= sample {
			break
		}
	}
	code, _, ok = d.Detect(beginning.String())
	return code, ok, nil
}
