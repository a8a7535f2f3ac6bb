package dialect

import (
	"iter"
	"slices"
	"strings"

	"dragoman/app/text/markup"
	"dragoman/app/translate"
)

// Prose is what there is to translate in a text: all of it, or of HTML and XML what
// is not markup, a line for each paragraph.
func Prose(text string, format translate.Format) string {
	return strings.Join(slices.Collect(prose(text, format)), "\n")
}

// Characters counts what there is to translate in a text; see [translate.Characters]. It
// is what requests are charged for, in all APIs: whatever is translated of a text is
// counted.
func Characters(text string, format translate.Format) int {
	n := 0
	for part := range prose(text, format) {
		n += translate.Characters(part)
	}
	return n
}

// TooLong says whether a text has more than most characters, 0 for no bound. It is refused then, and needs no work before.
func TooLong(text string, most int) bool {
	return most > 0 && len(text) > most && translate.Characters(text) > most
}

// prose finds the parts of a text that are translated, where package translate finds
// them too. Entities are decoded.
func prose(text string, format translate.Format) iter.Seq[string] {
	return func(yield func(string) bool) {
		split := markup.SplitHTML
		switch format {
		case translate.HTML:
		case translate.XML:
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
