package textfile

import (
	"cmp"
	"strings"

	"dragoman/app/wrap"
)

// plain is the kind of plain text: each line is a segment, and in a file that is wrapped at a width each
// paragraph.
func plain(p *pass) error {
	lines := make([]wrap.Line, 0, strings.Count(p.text, "\n")+1) // 16 bytes each
	for l := range linesIn(p.text, "\r\n") {
		lines = append(lines, wrap.Line{Start: l.start, End: l.end})
	}
	for paragraph := range wrap.Paragraphs(p.text, lines, cmp.Or(p.options.Wrapped, wrap.Auto)) {
		var err error
		if l := paragraph[0]; len(paragraph) == 1 {
			err = p.value(l.Start, l.End, p.text[l.Start:l.End], oneLine)
		} else {
			err = wrapped{pass: p, lines: behindIndent(p.text, paragraph), ideographs: true}.rewrite()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// behindIndent are lines without the white space that they start with.
func behindIndent(text string, lines []wrap.Line) []line {
	list := make([]line, len(lines))
	for i, l := range lines {
		list[i] = line{l.End - len(strings.TrimLeft(text[l.Start:l.End], " \t")), l.End}
	}
	return list
}
