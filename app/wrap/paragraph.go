package wrap

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Paragraph is a part of a text, of several lines that go on in the next one.
type Paragraph struct {
	Start, End int    // of the text, in bytes, without white space around it
	Text       string // in one line

	raw, between string // as it is, and what ends its first line and starts the second one
	width        int    // characters of its longest line
}

// Wrapped are the paragraphs of a text that are wrapped, in order.
func Wrapped(text string, m Mode) iter.Seq[Paragraph] {
	return func(yield func(Paragraph) bool) {
		if m == Off || !strings.Contains(text, "\n") {
			return
		}
		for lines := range Paragraphs(text, linesOf(text), m) {
			if len(lines) > 1 && !yield(paragraph(text, lines)) {
				return
			}
		}
	}
}

// linesOf are the lines of a text.
func linesOf(text string) (lines []Line) {
	at := 0
	for l := range strings.SplitSeq(text, "\n") {
		lines = append(lines, Line{at, at + len(strings.TrimSuffix(l, "\r"))})
		at += len(l) + 1
	}
	return lines
}

func paragraph(text string, lines []Line) (p Paragraph) {
	parts := make([]string, len(lines))
	for i, l := range lines {
		line := text[l.Start:l.End]
		bare := strings.TrimLeft(line, " \t")
		parts[i] = strings.TrimRight(bare, " \t")
		p.width = max(p.width, utf8.RuneCountInString(parts[i]))
		switch i {
		case 0:
			p.Start = l.End - len(bare)
		case 1:
			p.between = text[p.Start+len(parts[0]) : l.End-len(bare)]
		}
		p.End = l.End - len(bare) + len(parts[i])
	}
	p.Text, p.raw = Join(parts), text[p.Start:p.End]
	return p
}

// Wrap wraps a translation of the paragraph as it was. One that is its text has its lines.
func (p Paragraph) Wrap(translation string) string {
	if translation == p.Text {
		return p.raw
	}
	return strings.Join(Fill(Atoms(translation, true), p.width, nil), p.between)
}
