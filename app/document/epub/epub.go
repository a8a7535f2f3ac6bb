// Package epub has electronic books.
//
// A book is a zip archive of pages in XHTML, which are translated as HTML is: a paragraph, a heading or
// a cell is a segment, with its inline tags. They come in the order in which the book is read. Its title
// and the labels of its contents are translated too. In memory is a page at a time, of at most 8 MiB and
// 500,000 tags.
package epub

import (
	"context"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"maps"
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/document"
	"dragoman/app/document/archive"
	"dragoman/app/document/xmlpart"
	"dragoman/app/text/markup"
)

// Kind is the kind of books.
var Kind = &document.Kind{Name: "epub", Extensions: []string{".epub"}, MediaType: mediaType, Form: markup.HTML, Rewrite: rewrite}

const mediaType = "application/epub+zip"

// rewrite copies a book with its segments translated. With o.To that is the language which the book
// and its pages are said to be in.
func rewrite(ctx context.Context, out io.Writer, in io.ReaderAt, size int64, o document.Options, t document.Translate) error {
	a, err := archive.Open(ctx, in, size)
	if err != nil {
		return err
	}
	b, err := open(a)
	if err != nil {
		return err
	}
	r := rewriter{ctx: ctx, to: o.To, translate: func(text string) (string, error) {
		translation, err := translated(ctx, text, t.Within(ctx))
		if err != nil {
			translation = text
		}
		return translation, o.Fits(err)
	}}
	return a.Rewrite(out, b.order, func(name string, out io.Writer, in io.Reader) error {
		if b.parts[name] == page {
			return r.page(out, in, name)
		}
		return r.labels(out, in, name)
	})
}

// translated translates a segment, and checks that its tags are still there.
func translated(ctx context.Context, text string, t document.Translate) (string, error) {
	translation, err := t(text)
	if err != nil || translation == text {
		return translation, err
	}
	before, err := tags(ctx, text)
	if err != nil {
		return "", err
	}
	after, err := tags(ctx, translation)
	if err != nil {
		return "", err
	}
	if !maps.Equal(before, after) {
		return "", fmt.Errorf("%w: the tags are not those of the text", markup.ErrLost)
	}
	if isWellFormed(text) && !isWellFormed(translation) {
		return "", fmt.Errorf("%w: the tags are not closed in their order", markup.ErrLost)
	}
	return translation, nil
}

// tag is one in a text, or a sign that begins none.
var tag = regexp.MustCompile(`<[^>]*>|<`)

// tags counts the tags of a text, without those of readings.
func tags(ctx context.Context, text string) (map[string]int, error) {
	count := map[string]int{}
	text, err := markup.WithoutReadings(ctx, text, markup.HTML)
	for _, found := range tag.FindAllString(text, -1) {
		count[found]++
	}
	return count, err
}

// hasLetter says whether a text in HTML has a letter outside of its tags.
func hasLetter(text string) bool {
	return strings.ContainsFunc(html.UnescapeString(tag.ReplaceAllString(text, "")), unicode.IsLetter)
}

// isWellFormed says whether a text could stand in XML.
func isWellFormed(text string) bool {
	d := xml.NewDecoder(strings.NewReader("<r>" + text + "</r>"))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); err != nil {
			return err == io.EOF
		}
	}
}

// rewriter rewrites the parts of a book.
type rewriter struct {
	ctx       context.Context
	to        string
	translate func(text string) (string, error)
}

// labels rewrites the package's title and language, or the labels of a table of contents.
func (r rewriter) labels(out io.Writer, in io.Reader, name string) error {
	x, languages := reader(in, name), 0
	return x.Each(func(t xmlpart.Token) error {
		if _, err := out.Write(t.Raw); err != nil || t.Kind != xmlpart.Start {
			return err
		}
		switch t.Name {
		case xml.Name{Space: spaceDC, Local: "title"}, xml.Name{Space: spaceNCX, Local: "text"}:
			return label(out, x, r.translate)
		case xml.Name{Space: spaceDC, Local: "language"}:
			if languages++; languages == 1 && r.to != "" {
				return label(out, x, func(string) (string, error) { return r.to, nil })
			}
		}
		return nil
	})
}

const (
	spaceDC  = "http://purl.org/dc/elements/1.1/"
	spaceNCX = "http://www.daisy.org/z3986/2005/ncx/"
)

// label rewrites the text that begins here, up to the next tag.
func label(out io.Writer, x *xmlpart.Reader, change func(text string) (string, error)) error {
	var raw, text strings.Builder
	for {
		t, err := x.Next()
		if err != nil {
			return err
		}
		if t.Kind == xmlpart.Text && raw.Len() < maxPage {
			raw.Write(t.Raw)
			text.WriteString(t.Text)
			continue
		}
		content := raw.String()
		if bare := markup.HTML.Escape(strings.TrimSpace(text.String())); hasLetter(bare) && t.Kind == xmlpart.End {
			changed, err := change(bare)
			if err != nil {
				return err
			}
			if changed != bare {
				content = changed
			}
		}
		_, err = io.WriteString(out, content+string(t.Raw))
		return err
	}
}
