package textfile

import (
	"strings"

	"dragoman/app/wrap"
)

// wrapped is a text that somebody has wrapped: its lines without what each starts with, such as
// spaces or the sign of a quotation.
type wrapped struct {
	*pass
	lines      []line
	mayStart   func(word string) bool        // whether a line may start with a word; nil: any
	ideographs bool                          // a line may end between ideographs
	encode     func(lines []string) []string // what is written for the lines; nil: they are
}

// rewrite translates the text, and wraps the translation as wide as it was, behind what its second line
// started with.
func (w wrapped) rewrite() error {
	parts := make([]string, len(w.lines))
	width := 0
	for i, l := range w.lines {
		parts[i] = strings.TrimSpace(w.text[l.start:l.end])
		width = max(width, len([]rune(parts[i])))
	}
	start, end := w.lines[0].start, w.lines[len(w.lines)-1].end
	before, _, after := trimmed(w.text[start:end])
	return w.value(start+len(before), end-len(after), wrap.Join(parts), func(text string) string {
		lines := []string{oneLine(text)}
		between := "\n"
		if len(w.lines) > 1 {
			lines = wrap.Fill(wrap.Atoms(lines[0], w.ideographs), width, w.mayStart)
			between = w.between()
		}
		if w.encode != nil {
			lines = w.encode(lines)
		}
		return strings.Join(lines, between)
	})
}

// between is what ends the first line and starts the second one.
func (w wrapped) between() string {
	return w.text[w.lines[0].end:w.lines[1].start]
}
