// Package pdf has documents in PDF.
//
// A PDF has glyphs in their places, and nothing else of a text. PDFium, which runs in a sandbox of its own for each
// document, says where they are; what is near each other in one size and style becomes lines, and those become blocks, such
// as a paragraph, a heading or a cell, each of which is a segment. A translation is laid out in the place of its block, in a
// font of this machine, as large as fits; what was there is taken out. All else stays: pictures, lines, forms, notes, links.
//
//	engine.go  PDFium in its sandbox
//	read.go    from a page to the texts on it
//	block.go   from texts to lines and blocks
//	segment.go from a block to what is translated, and back
//	font.go    fonts of this machine, and which one has a letter
//	subset.go  a font with nothing but the glyphs that are used
//	layout.go  a translation in its place
//	write.go   from blocks to a page
//	text.go    the texts alone, as HTML or as plain text
package pdf

import (
	"context"
	"io"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// Kind is the kind of documents in PDF.
var Kind = &document.Kind{Name: "pdf", Extensions: []string{".pdf"}, MediaType: "application/pdf", Form: markup.XML, Rewrite: rewrite, Room: room}

// room is for what PDFium does not pack as it was, and for fonts.
func room(size int64) int64 { return 6*size + 8<<20 }

// rewrite copies a document with its segments translated. What is not translated stays as it is on the page.
func rewrite(ctx context.Context, out io.Writer, in io.ReaderAt, size int64, o document.Options, t document.Translate) error {
	fonts := newFonts()
	if err := fonts.check(o.To); err != nil {
		return err
	}
	f, err := open(ctx, in, size)
	if err != nil {
		return err
	}
	defer f.close()
	objects, err := objectsIn(in, size)
	if err != nil {
		return err
	}
	if f.pages*objects > maxWays {
		return document.TooLarge("the PDF has too many pages to be laid out, %d with %d objects: divide it, or ask for HTML or text", f.pages, objects)
	}
	w := writer{file: f, fonts: fonts, dry: out == io.Discard}
	err = f.eachPage(func(n int, p *page, blocks []*block) error {
		for _, b := range blocks {
			if !b.isText() {
				continue
			}
			if err := w.translate(n, p, b, o, t.Within(ctx)); err != nil {
				return err
			}
		}
		return w.restore(n, p)
	})
	if err != nil || w.dry {
		return err
	}
	return w.write(out)
}

// eachPage goes through the pages of a document, and their blocks, in the order in which they are read. It fails where there
// is nothing to translate.
func (f *file) eachPage(each func(n int, p *page, blocks []*block) error) error {
	found, s := 0, seen{}
	for n := range f.pages {
		if err := budget.Work(f.ctx, 1<<10); err != nil {
			return err
		}
		p, err := f.read(n, &s)
		if err != nil {
			return err
		}
		blocks := p.blocks()
		for _, b := range blocks {
			if b.isText() {
				found++
			}
		}
		if err := each(n, p, blocks); err != nil {
			return err
		}
	}
	switch {
	case found > 0:
		return nil
	case s.unreadable > 0:
		return document.Refuse(nil, "the fonts of the PDF do not say which letters they have: have its text recognized, for instance by ocrmypdf --force-ocr, or send the document that it was made of")
	case s.hidden > 0:
		return document.Refuse(nil, "the PDF has pictures of its pages, and their text is hidden behind them: ask for it as HTML or text, or send the document that it was made of")
	}
	return document.Refuse(nil, "the PDF has no text, perhaps as it was scanned: have its text recognized, for instance by ocrmypdf, and ask for HTML or text")
}

// seen counts what was seen on pages beside text that can be translated.
type seen struct {
	unreadable int // texts whose letters are not known
	hidden     int // texts that are not shown
}
