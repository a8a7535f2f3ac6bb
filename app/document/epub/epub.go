// Package epub has the kind of electronic books.
//
// A book is a zip archive of XHTML pages, which are translated like HTML: a paragraph, a heading or a cell is a segment, with its
// inline tags. Segments are in reading order. The book's title and the labels of its table of contents are translated too. One
// page at a time is in memory, at most 8 MiB and 500,000 tags.
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
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
)

// Kind is the kind of books.
var Kind = &document.Kind{Name: "epub", Extensions: []string{".epub"}, MediaType: mediaType, Form: markup.HTML, Rewrite: rewrite}

const mediaType = "application/epub+zip"

// rewrite copies a book with its segments translated. If o.To is set, it becomes the declared language of the book and its pages.
func rewrite(ctx context.Context, out io.Writer, in io.ReaderAt, size int64, o document.Options, t document.Translate) error {
	a, err := archive.Open(ctx, in, size)
	if err != nil {
		return err
	}
	b, err := open(a)
	if err != nil {
		return err
	}
	r := rewriter{ctx: ctx, options: o, translate: func(text string) (string, error) {
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

// translated translates a segment, and checks that its tags are preserved.
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
	if xmlpart.IsWellFormed(text, xml.HTMLEntity) && !xmlpart.IsWellFormed(translation, xml.HTMLEntity) {
		return "", fmt.Errorf("%w: the tags are not closed in their order", markup.ErrLost)
	}
	return translation, nil
}

// tag matches a tag in a text, or a < that starts none.
var tag = regexp.MustCompile(`<[^>]*>|<`)

// tags counts the tags of a text, except ruby annotations.
func tags(ctx context.Context, text string) (map[string]int, error) {
	count := map[string]int{}
	text, err := markup.WithoutReadings(ctx, text, markup.HTML)
	for _, found := range tag.FindAllString(text, -1) {
		count[found]++
	}
	return count, err
}

// hasLetter reports whether an HTML text has a letter outside its tags.
func hasLetter(text string) bool {
	return strings.ContainsFunc(html.UnescapeString(tag.ReplaceAllString(text, "")), unicode.IsLetter)
}

// rewriter rewrites the parts of a book.
type rewriter struct {
	ctx       context.Context
	options   document.Options
	translate func(text string) (string, error)
}

// labels rewrites the title and language of the package, or the labels of a table of contents.
func (r rewriter) labels(out io.Writer, in io.Reader, name string) error {
	x, languages := reader(in, name), 0
	to := r.options.To
	return x.Each(func(t xmlpart.Token) error {
		const pages = "page-progression-direction"
		if t.Kind == xmlpart.Start && t.Name.Local == "spine" && to != "" && (language.RightToLeft(to) || t.Attribute(pages) != "") {
			t.Raw = []byte(xmlpart.SetAttribute(string(t.Raw), pages, language.Direction(to)))
		}
		if _, err := out.Write(t.Raw); err != nil || t.Kind != xmlpart.Start {
			return err
		}
		switch t.Name {
		case xml.Name{Space: spaceDC, Local: "title"}, xml.Name{Space: spaceNCX, Local: "text"}:
			return label(out, x, r.translate)
		case xml.Name{Space: spaceDC, Local: "language"}:
			if languages++; languages == 1 && to != "" {
				return label(out, x, func(string) (string, error) { return to, nil })
			}
		}
		return nil
	})
}

const (
	spaceDC  = "http://purl.org/dc/elements/1.1/"
	spaceNCX = "http://www.daisy.org/z3986/2005/ncx/"
)

// label rewrites the text here, up to the next tag.
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
