package textfile

import (
	"strings"

	"github.com/go-json-experiment/json"

	"dragoman/app/document"
	"dragoman/app/text/wrap"
)

// notebook translates Jupyter notebooks: Markdown cells are translated like Markdown documents.
func notebook(p *pass) error {
	isNotebook, ascii := false, asciiEscapes(p.text)
	err := eachMember("notebook", []byte(p.text), 0, func(m member) error {
		if m.name != "cells" {
			return nil
		}
		isNotebook = true
		return eachMember("notebook", []byte(p.text[m.start:m.end]), m.start, func(cell member) error { return p.cell(cell, ascii) })
	})
	if err != nil {
		return err
	}
	if !isNotebook {
		return document.Refuse(nil, "the notebook has no cells, or is older than version 4: convert it by jupyter nbconvert --to notebook")
	}
	return nil
}

// cell translates a Markdown cell.
func (p *pass) cell(m member, ascii bool) error {
	var source *member
	isMarkdown := false
	err := eachMember("notebook", []byte(p.text[m.start:m.end]), m.start, func(inner member) error {
		switch inner.name {
		case "cell_type":
			isMarkdown = p.text[inner.start:inner.end] == `"markdown"`
		case "source":
			source = &inner
		}
		return nil
	})
	if err != nil || !isMarkdown || source == nil {
		return err
	}
	raw := p.text[source.start:source.end]
	var lines []string
	if strings.HasPrefix(raw, "[") {
		err = json.Unmarshal([]byte(raw), &lines)
	} else {
		lines = []string{""}
		err = json.Unmarshal([]byte(raw), &lines[0])
	}
	if err != nil {
		return document.Refuse(err, "the source of the cell in line %d is no text", p.lineNumber(source.start))
	}
	text := strings.Join(lines, "")
	translation, err := p.markdown(text)
	if err != nil || translation == text {
		return err
	}
	return p.replace(source.start, source.end, sourceLike(raw, translation, ascii))
}

// markdown translates a Markdown document inside this one.
func (p *pass) markdown(text string) (string, error) {
	release, err := p.hold(markdownMemory(text))
	if err != nil {
		return "", err
	}
	defer release()
	return p.within(text, markdown)
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
