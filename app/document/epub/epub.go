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
	"io"
	"maps"
	"regexp"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/document/archive"
	"dragoman/app/document/textfile"
	"dragoman/app/document/xmlpart"
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
	checked := func(text string) (string, error) {
		translation, err := translated(ctx, text, t.Within(ctx))
		if err != nil {
			translation = text
		}
		return translation, o.Fits(err)
	}
	return a.Rewrite(out, b.order, func(name string, out io.Writer, in io.Reader) error {
		release, err := budget.Hold(ctx, min(a.Size(name), maxPage+1)*pageByte)
		if err != nil {
			return err
		}
		defer release()
		content, err := io.ReadAll(io.LimitReader(in, maxPage+1))
		if err == nil {
			err = check(name, content)
		}
		switch {
		case err != nil:
			return err
		case b.parts[name] == labels:
			return textfile.Part(ctx, out, string(content), true, o, checked)
		}
		return page(ctx, out, content, o, checked)
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
