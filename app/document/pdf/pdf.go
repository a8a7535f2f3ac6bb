// Package pdf has the kinds of PDF documents.
//
// The text of a PDF consists of positioned glyphs only. The operators of a page are followed, and its letters become words, by their
// origins and advances, words become lines, and lines become blocks, such as a paragraph, a heading or a cell. Each block is a
// segment. A translation is laid out in the place of its block, in a font of this machine, as large as fits, and replaces the
// original text. All else stays as it is, byte for byte: changed pages follow behind the document.
//
//	lexer.go     values of objects and operands
//	filter.go    decoding of streams
//	objects.go   objects of the document, also of a damaged one
//	crypt.go     documents that have an owner's password
//	append.go    new objects behind the document
//	lettering.go fonts of the document: what their codes mean
//	builtin.go   what the files of fonts say about codes
//	content.go   operators of a page, and its content without the translated texts
//	read.go      from operators to the words of a page
//	row.go       from words to lines
//	table.go     lines that are cells of a table
//	block.go     from lines to blocks
//	segment.go   from a block to its segment, and back
//	font.go      fonts of this machine, and which one has a letter
//	subset.go    a font with only the glyphs that are used
//	layout.go    a translation in its place
//	write.go     from blocks to a page
//	embed.go     fonts in the document
//	memory.go    memory of a document
//	text.go      the texts alone, as HTML or as plain text
package pdf

import (
	"context"
	"io"
	"strings"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// Kind is the kind of documents in PDF.
var Kind = &document.Kind{Name: "pdf", Extensions: []string{".pdf"}, MediaType: "application/pdf", Form: markup.XML, Rewrite: rewrite, Room: room}

// room accounts for objects that are no longer compressed, and for fonts.
func room(size int64) int64 { return 6*size + 8<<20 }

// rewrite copies a document with its segments translated. Other texts stay on the page.
func rewrite(ctx context.Context, out io.Writer, in io.ReaderAt, size int64, o document.Options, t document.Translate) error {
	fonts := newFonts()
	if err := fonts.check(o.To); err != nil {
		return err
	}
	f, err := open(ctx, in, size)
	if err != nil {
		return err
	}
	defer f.release()
	w := writer{file: f, fonts: fonts}
	return f.look(func() {
		if out != nil {
			w.begin(out, o.To)
		}
		f.eachPage(o, func(p *page, blocks []*block) { w.translate(p, blocks, o, t.Within(ctx)) })
		if out != nil {
			w.end()
		}
	})
}

// eachPage calls each with the pages of a document and their blocks, in reading order. It fails if there is nothing to translate.
func (f *file) eachPage(o document.Options, each func(p *page, blocks []*block)) {
	found, s := 0, seen{}
	for n := range f.pages {
		f.work(1 << 10)
		before := f.words
		release := f.mark()
		hidden := s.hidden
		p := f.read(n, &s)
		f.work((f.words - before) << 6)
		blocks := p.blocks()
		if o.Page != nil {
			o.Page(n + 1)
		}
		if o.Left != nil {
			p.tell(blocks, s.hidden-hidden, func(texts int, reason string) { o.Left(n+1, texts, reason) })
		}
		for _, b := range blocks {
			if b.isText() {
				found++
			}
		}
		each(p, blocks)
		release()
	}
	switch {
	case found > 0:
	case s.unreadable > 0:
		f.refuse("the fonts of the PDF do not say which letters they have: have its text recognized, for instance by ocrmypdf --force-ocr, or send the document that it was made of")
	case s.hidden > 0:
		f.refuse("the PDF has pictures of its pages, and their text is hidden behind them: ask for it as HTML or text, or send the document that it was made of")
	default:
		f.refuse("the PDF has no text, perhaps as it was scanned: have its text recognized, for instance by ocrmypdf, and ask for HTML or text")
	}
}

func (f *file) refuse(reason string) { f.looks.Check(document.Refuse(nil, "%s", reason)) }

// tell calls left with the numbers of the texts of a page that cannot be translated.
func (p *page) tell(blocks []*block, hidden int, left func(texts int, reason string)) {
	found, unreadable := 0, 0
	for _, b := range blocks {
		isAll := !b.isText() && strings.Trim(b.lines[0].text, unknown+" ") == ""
		if found++; isAll || b.isUnknown() {
			unreadable++
		}
	}
	switch {
	case p.isUnreadable:
		left(found, "the content of the page cannot be read")
	case p.left+unreadable > 0:
		left(p.left+unreadable, "their fonts do not say which letters they have, or they are mirrored or vertical")
	}
	if hidden > 0 {
		left(hidden, "they are hidden, as in a scan with recognized text: ask for it as HTML or text")
	}
}

// seen counts text on pages that cannot be translated.
type seen struct {
	unreadable int // texts with unknown letters
	hidden     int // hidden texts
}
