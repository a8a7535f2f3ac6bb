package wrap

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
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
func Of(ctx context.Context, text string, lines []Line) (p Paragraph, err error) {
	err = char.Look(ctx, len(text), func(l *char.Looks) { p = of(l, text, lines) })
	return p, err
}

func of(looks *char.Looks, text string, lines []Line) Paragraph {
	p := Paragraph{Start: lines[0].Start, End: lines[len(lines)-1].End, Between: "\n", lines: len(lines)}
	parts := make([]string, len(lines))
	for i, l := range lines {
		looks.Past(l.End - l.Start)
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
	p.Text = join(looks, parts)
	return p
}

// Wrap wraps a translation of the paragraph as it was. One that is its text has its lines.
func (p Paragraph) Wrap(ctx context.Context, translation string) (string, error) {
	if translation == p.Text {
		return p.raw, nil
	}
	lines, err := p.Fill(ctx, translation, true, nil)
	return strings.Join(lines, p.Between), err
}

// Fill puts a translation into lines as wide as the paragraph's, or into one where it has one; see [Fill].
func (p Paragraph) Fill(ctx context.Context, translation string, ideographs bool, mayStart func(word string) bool) (lines []string, err error) {
	if p.lines == 1 {
		return []string{translation}, nil
	}
	err = char.Look(ctx, len(translation), func(l *char.Looks) { lines = fill(l, atoms(l, translation, ideographs), p.width, mayStart) })
	return lines, err
}
