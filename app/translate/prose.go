package translate

import (
	"context"
	"iter"
	"strings"

	"dragoman/app/text/char"
	"dragoman/app/text/markup"
)

// Prose is what there is to translate in a text: all of it, or of HTML and XML what
// is not markup, a line for each paragraph.
func (f Format) Prose(ctx context.Context, text string) (string, error) {
	parts, err := f.prose(ctx, text)
	return strings.Join(parts, "\n"), err
}

// Characters counts what there is to translate in a text; see [Characters]. It
// is what requests are charged for, in all APIs: whatever is translated of a text is
// counted.
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

// TooLong says whether a text has more than most characters, 0 for no bound. It is refused then, and needs no work before.
func TooLong(text string, most int) bool {
	return most > 0 && len(text) > most && Characters(text) > most
}

// prose finds the parts of a text that are translated, where planning finds them too. Entities are decoded.
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

// sample is how much of a document its language is detected by, in bytes.
const sample = 4000

// Detect finds out the language of a document by its first texts. ok is false where it cannot be told.
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
