package translate

import (
	"iter"
	"slices"
	"strings"

	"dragoman/app/text/markup"
)

// Prose is what there is to translate in a text: all of it, or of HTML and XML what
// is not markup, a line for each paragraph.
func (f Format) Prose(text string) string {
	return strings.Join(slices.Collect(f.prose(text)), "\n")
}

// Characters counts what there is to translate in a text; see [Characters]. It
// is what requests are charged for, in all APIs: whatever is translated of a text is
// counted.
func (f Format) Characters(text string) int {
	n := 0
	for part := range f.prose(text) {
		n += Characters(part)
	}
	return n
}

// TooLong says whether a text has more than most characters, 0 for no bound. It is refused then, and needs no work before.
func TooLong(text string, most int) bool {
	return most > 0 && len(text) > most && Characters(text) > most
}

// prose finds the parts of a text that are translated, where planning finds them too. Entities are decoded.
func (f Format) prose(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		split := markup.SplitHTML
		switch f {
		case HTML:
		case XML:
			split = markup.SplitXML
		default:
			yield(text)
			return
		}
		for _, piece := range split(text) {
			if piece.Unit && !yield(piece.Prose()) {
				return
			}
		}
	}
}

// sample is how much of a document its language is detected by, in bytes.
const sample = 4000

// Detect finds out the language of a document by its first texts. ok is false where it cannot be told.
func Detect(d Detector, texts iter.Seq[string], form Format) (code string, ok bool) {
	var beginning strings.Builder
	for text := range texts {
		if beginning.WriteString(form.Prose(text) + "\n"); beginning.Len() >= sample {
			break
		}
	}
	code, _, ok = d.Detect(beginning.String())
	return code, ok
}
