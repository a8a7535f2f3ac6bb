package pdf

import (
	"bufio"
	"cmp"
	"context"
	"html"
	"io"
	"strings"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// HTML and Text extract the text of a PDF, also if it is hidden behind pictures of the pages, as in scans with recognized text.
// Each is the kind of the result; the document itself is a PDF.
var (
	HTML = &document.Kind{Name: "pdf-html", Extensions: []string{".html"}, MediaType: "text/html", Form: markup.XML, Rewrite: asHTML}
	Text = &document.Kind{Name: "pdf-txt", Extensions: []string{".txt"}, MediaType: "text/plain", Form: markup.XML, Rewrite: asText}
)

// asHTML writes the text of a document as an HTML page: headings, paragraphs and code, with bold, italic and code text in them.
func asHTML(ctx context.Context, out io.Writer, in io.ReaderAt, size int64, o document.Options, t document.Translate) error {
	w := bufio.NewWriter(cmp.Or(out, io.Discard))
	_, _ = w.WriteString("<!DOCTYPE html>\n<html lang=\"" + html.EscapeString(o.To) + "\">\n<meta charset=\"utf-8\">\n<body>\n")
	err := extract(ctx, in, size, o, t, func(b *block, usual float64, pieces []piece) {
		name := "p"
		switch {
		case b.isCode():
			name = "pre"
		case b.size > 1.5*usual:
			name = "h1"
		case b.size > 1.15*usual:
			name = "h2"
		}
		_, _ = w.WriteString("<" + name + ">" + inHTML(pieces, name != "p") + "</" + name + ">\n") // Flush returns the error
	})
	if err != nil {
		return err
	}
	_, _ = w.WriteString("</body>\n</html>\n")
	return w.Flush()
}

// inHTML writes pieces, without styles if the element has one.
func inHTML(pieces []piece, isStyled bool) string {
	var out strings.Builder
	for _, p := range pieces {
		text, tags := html.EscapeString(p.plain()), []string{}
		if p.kept != nil && p.kept[0].font.mono && !isStyled {
			tags = append(tags, "code")
		}
		if p.style.bold && !isStyled {
			tags = append(tags, "b")
		}
		if p.style.italic && !isStyled {
			tags = append(tags, "i")
		}
		for _, tag := range tags {
			text = "<" + tag + ">" + text + "</" + tag + ">"
		}
		out.WriteString(text)
	}
	return strings.TrimSpace(out.String())
}

// asText writes the text of a document, each paragraph on a line followed by an empty line.
func asText(ctx context.Context, out io.Writer, in io.ReaderAt, size int64, o document.Options, t document.Translate) error {
	w := bufio.NewWriter(cmp.Or(out, io.Discard))
	err := extract(ctx, in, size, o, t, func(_ *block, _ float64, pieces []piece) {
		var text strings.Builder
		for _, p := range pieces {
			text.WriteString(p.plain())
		}
		_, _ = w.WriteString(strings.TrimSpace(text.String()) + "\n\n") // Flush returns the error
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

func (p piece) plain() string {
	text := p.text
	for i, s := range p.kept {
		if i > 0 && s.isSpaced {
			text += " "
		}
		text += s.text
	}
	return text
}

// extract calls write with the blocks of a document, their translated pieces, and the usual size of text on the page.
func extract(ctx context.Context, in io.ReaderAt, size int64, o document.Options, t document.Translate, write func(b *block, usual float64, pieces []piece)) error {
	f, err := open(ctx, in, size)
	if err != nil {
		return err
	}
	defer f.release()
	f.takesHidden = true
	each := func(p *page, blocks []*block) {
		usual := p.usualSize()
		var bullet []piece // of the next block
		for i, b := range blocks {
			if b.lines[0].isBullet && !b.isText() && i+1 < len(blocks) {
				bullet = append(bullet, piece{text: b.lines[0].text + " "})
				continue
			}
			before := bullet
			pieces := append(before, b.pieces()...)
			bullet = nil
			if b.isText() {
				made, isRestyled, err := b.translated(t.Within(ctx))
				f.looks.Check(o.Fits(err))
				if made != nil {
					pieces = append(before, made...)
				}
				if isRestyled && o.Restyled != nil {
					o.Restyled()
				}
			}
			write(b, usual, pieces)
		}
	}
	return f.look(func() { f.eachPage(o, each) })
}

// usualSize returns the size of most letters of a page.
func (p *page) usualSize() float64 {
	sizes := map[float64]int{}
	for _, s := range p.spans {
		sizes[s.size] += letters(s.text)
	}
	return most(sizes, cmp.Compare[float64])
}
