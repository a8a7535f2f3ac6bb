package wrap

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Paragraph is a part of a text: a line, or several that go on in the next one.
type Paragraph struct {
	Start, End int    // of the text, in bytes, without white space around it
	Text       string // in one line
	Between    string // what ends the first line and starts the second one

	raw   string // as it is
	lines int
	width int // characters of its longest line
}

// MostBetween is how many bytes may be between lines: they are written again with each line, of which a translation may have
// many. A paragraph with more becomes one line.
const MostBetween = 256

// Of makes a paragraph of lines that are without what each starts with, such as spaces or the sign of a quotation.
func Of(text string, lines []Line) Paragraph {
	p := Paragraph{Start: lines[0].Start, End: lines[len(lines)-1].End, Between: "\n", lines: len(lines)}
	parts := make([]string, len(lines))
	for i, l := range lines {
		parts[i] = strings.TrimSpace(text[l.Start:l.End])
		p.width = max(p.width, utf8.RuneCountInString(parts[i]))
	}
	if len(lines) > 1 {
		p.Between = text[lines[0].End:lines[1].Start]
	}
	if len(p.Between) > MostBetween {
		p.lines = 1
	}
	raw := text[p.Start:p.End]
	p.Start = p.End - len(strings.TrimLeftFunc(raw, unicode.IsSpace))
	p.raw = strings.TrimSpace(raw)
	p.End = p.Start + len(p.raw)
	p.Text = Join(parts)
	return p
}

// Wrap wraps a translation of the paragraph as it was. One that is its text has its lines.
func (p Paragraph) Wrap(translation string) string {
	if translation == p.Text {
		return p.raw
	}
	return strings.Join(p.Fill(translation, true, nil), p.Between)
}

// Fill puts a translation into lines as wide as the paragraph's, or into one where it has one; see [Fill].
func (p Paragraph) Fill(translation string, ideographs bool, mayStart func(word string) bool) []string {
	if p.lines == 1 {
		return []string{translation}
	}
	return Fill(Atoms(translation, ideographs), p.width, mayStart)
}
