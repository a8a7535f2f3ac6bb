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

// Page translates part of a page of a book: its units, and alternative texts if they are requested.
func Page(ctx context.Context, out io.Writer, text string, o document.Options, t document.Translate) error {
	return rewriteBook(ctx, out, text, o, t, htmlUnits)
}

// Labels translates the title and the language in the package of a book, or the labels of a table of contents.
func Labels(ctx context.Context, out io.Writer, text string, o document.Options, t document.Translate) error {
	return rewriteBook(ctx, out, text, o, t, bookLabels)
}

func rewriteBook(ctx context.Context, out io.Writer, text string, o document.Options, t document.Translate, rewrite func(p *pass)) error {
	p := &pass{ctx: ctx, text: text, lineEnd: "\n", options: o, isPage: true, out: out, translator: t}
	return p.run(rewrite)
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
