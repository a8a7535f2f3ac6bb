package compat

import (
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"dragoman/app/markup"
	"dragoman/app/translate"
)

// Prose is what there is to translate in a text: all of it, or of HTML what is not
// markup, a line for each paragraph.
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

// prose finds the parts of a text that are translated, where package translate finds
// them too. Entities are decoded.
func prose(text string, format translate.Format) iter.Seq[string] {
	return func(yield func(string) bool) {
		if format != translate.HTML {
			yield(text)
			return
		}
		for _, piece := range markup.SplitHTML(text) {
			if piece.Unit && !yield(withoutTags(piece.Text())) {
				return
			}
		}
	}
}

// withoutTags is the text of a unit of HTML without tags, comments and elements that
// stay as they are.
func withoutTags(unit string) string {
	var out strings.Builder
	at := 0
	for _, span := range markup.Parse(unit, markup.HTML).Spans {
		if unit[span.Start] == '<' && (span.Kind == markup.Tag || span.Kind == markup.Code) {
			out.WriteString(unit[at:span.Start])
			at = span.End
		}
	}
	out.WriteString(unit[at:])
	return html.UnescapeString(out.String())
}
