package wrap

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// Paragraph is a part of a text: a line, or several wrapped lines.
type Paragraph struct {
	Start, End int    // byte range in the text, without white space at its ends
	Text       string // as one line
	Between    string // the text between its first two lines

	raw   string // as it is in the text
	lines int
	width int // characters of its longest line
}

// MostBetween is the maximum number of bytes between lines. They are repeated with each line of a translation, of which there may
// be many. A paragraph with more between its lines becomes one line.
const MostBetween = 256

// Of returns the paragraph of lines whose prefixes, such as spaces or quotation marks, are removed.
func Of(looks *char.Looks, text string, lines []Line) Paragraph {
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

// Wrap wraps a translation like the paragraph. A translation equal to Text keeps the original lines.
func (p Paragraph) Wrap(ctx context.Context, translation string) (wrapped string, err error) {
	if translation == p.Text {
		return p.raw, nil
	}
	err = char.Look(ctx, len(translation), func(l *char.Looks) { wrapped = strings.Join(p.Fill(l, translation, true, nil), p.Between) })
	return wrapped, err
}

// Fill puts a translation into lines as wide as the paragraph's, or into one line if the paragraph is one line; see [Fill].
func (p Paragraph) Fill(looks *char.Looks, translation string, ideographs bool, mayStart func(word string) bool) []string {
	if p.lines == 1 {
		return []string{translation}
	}
	return Fill(looks, Atoms(looks, translation, ideographs), p.width, mayStart)
}
