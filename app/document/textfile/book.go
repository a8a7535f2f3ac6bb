package textfile

import (
	"context"
	"encoding/xml"
	"io"

	"dragoman/app/document"
	"dragoman/app/document/xmlpart"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
)

// Part translates a part of a book: part of a page, with alternative texts if they are requested, or labels, which are the title and the
// language in the package of a book, or a table of contents.
func Part(ctx context.Context, out io.Writer, text string, isLabels bool, o document.Options, t document.Translate) error {
	p := &pass{ctx: ctx, text: text, lineEnd: "\n", options: o, isPage: true, out: out, translator: t}
	if isLabels {
		return p.run(bookLabels)
	}
	return p.run(htmlUnits)
}

const (
	spaceDC  = "http://purl.org/dc/elements/1.1/"
	spaceNCX = "http://www.daisy.org/z3986/2005/ncx/"
)

// bookLabels translates the labels of a book, and sets its first language and the direction of its pages. Labels in another language
// than the source stay.
func bookLabels(p *pass) {
	languages, to := 0, p.options.To
	xmlFormat{start: func(x *xmlReader, e *xmlElement) {
		if code := e.attribute("lang"); code != "" && (e.space == spaceNCX || e.name == "package" || e.name == "title") {
			isForeign := p.isForeign(code)
			if e.stays = isForeign && len(x.open) > 1; to != "" && !isForeign {
				x.replace(e.start, e.inner, xmlpart.SetAttribute(x.text[e.start:e.inner], "xml:lang", to))
			}
		}
		const pages = "page-progression-direction"
		if e.name == "spine" && to != "" && (language.RightToLeft(to) || e.attribute(pages) != "") {
			x.replace(e.start, e.inner, xmlpart.SetAttribute(x.text[e.start:e.inner], pages, language.Direction(to)))
		}
	}, end: func(x *xmlReader, e *xmlElement) {
		switch (xml.Name{Space: e.space, Local: e.name}) {
		case xml.Name{Space: spaceDC, Local: "title"}, xml.Name{Space: spaceNCX, Local: "text"}:
			if hasLetter(e.text) && !e.stays {
				x.value(e.inner, e.innerEnd, markup.HTML.Escape(e.text), func(text string) string { return text })
			}
		case xml.Name{Space: spaceDC, Local: "language"}:
			if languages++; languages == 1 && to != "" && hasLetter(e.text) {
				x.replace(e.inner, e.innerEnd, to)
			}
		}
	}}.read(p)
}
