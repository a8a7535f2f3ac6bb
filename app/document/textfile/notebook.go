package textfile

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/text/wrap"
)

// notebook translates Jupyter notebooks: Markdown cells are translated like Markdown documents.
func notebook(p *pass) {
	root := p.readObject("notebook")
	cells := root.member("cells")
	if cells == nil {
		p.refuse(nil, "the notebook has no cells, or is older than version 4: convert it by jupyter nbconvert --to notebook")
	}
	p.isList("notebook", cells)
	ascii := asciiEscapes(p.text)
	for i := range cells.inner {
		p.cell(&cells.inner[i], ascii)
	}
}

// cell translates a Markdown cell.
func (p *pass) cell(cell *jsonNode, ascii bool) {
	p.isList("notebook", cell)
	source := cell.member("source")
	if source == nil || !p.has(cell, "cell_type", "markdown") {
		return
	}
	raw := p.text[source.start:source.end]
	list := source.inner
	if raw[0] != '[' {
		list = []jsonNode{*source}
	}
	var lines []string
	for i := range list {
		if list[i].kind != jsontext.KindString {
			p.refuse(nil, "the source of the cell in line %d is no text", p.lineNumber(source.start))
		}
		lines = append(lines, p.unquoted(&list[i]))
	}
	text := strings.Join(lines, "")
	release := p.hold(markdownMemory(text))
	defer release()
	if translation := p.within(text, markdown); translation != text {
		p.replace(source.start, source.end, sourceLike(raw, translation, ascii))
	}
}

// sourceLike writes the source of a cell in the form of another source: a string, or a list of lines.
func sourceLike(other, text string, ascii bool) string {
	if !strings.HasPrefix(other, "[") {
		return quoteJSON(text, ascii)
	}
	inner := other[1 : len(other)-1]
	before := inner[:len(inner)-len(strings.TrimLeft(inner, jsonSpace))]
	after := inner[len(strings.TrimRight(inner, jsonSpace)):]
	if len(before) > wrap.MostBetween {
		before = " "
	}
	var list []string
	for line := range strings.Lines(text) {
		list = append(list, quoteJSON(line, ascii))
	}
	between := before
	if !strings.Contains(before, "\n") {
		between = " "
	}
	return "[" + before + strings.Join(list, ","+between) + after + "]"
}
