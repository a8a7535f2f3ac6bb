// Package document reads files of many kinds, and writes them again with other texts: layout, styles,
// links, code, placeholders, timing and order stay.
//
// A [Kind] is one sort of file. Its Rewrite goes through a document once, in order: it hands each text
// that is to be translated to its caller, and writes what it gets for it. So one pass that throws away
// what is written finds the segments, and a second one puts their translations in their places:
// both see the same segments in the same order, because they are the same code.
package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"dragoman/app/budget"
	"dragoman/app/text/markup"
	"dragoman/app/text/wrap"
)

// Translate returns what a segment becomes: a text of a document that is translated by itself, such as a paragraph,
// a cell or a message. Both are in the kind's form: plain, or XML whose elements are tags within the text. The
// segment has a letter, and no white space around it. An error ends the document's rewriting.
type Translate func(text string) (string, error)

// Within translates as long as ctx lets its work go on.
func (t Translate) Within(ctx context.Context) Translate {
	return func(text string) (string, error) {
		if err := budget.Work(ctx, 0); err != nil {
			return "", err
		}
		return t(text)
	}
}

// Options are what a document is rewritten with. The zero value is right for all kinds.
type Options struct {
	// From and To are codes of languages, for kinds that have a place for them; "": unknown. Without To
	// nothing of the document but its segments is changed.
	From, To string
	// Columns are those of a table that are translated, by the names in its first row, or by their
	// numbers from 1 on where it has none; without any all are.
	Columns []string
	// Header says what becomes of the first row of a table whose columns are not named; HeaderAuto is the default.
	Header Header
	// HeaderKept is told that the first row stays because it looks like names; nil: nobody is.
	HeaderKept func()
	// Also are texts that are translated besides those that always are, where a kind has them.
	Also Also
	// Wrapped says whether plain text is wrapped at a width; [wrap.Auto] is the default.
	Wrapped wrap.Mode
	// Unfit is told that the translation which was returned last cannot be put in, as it has lost tags or is too long: the
	// segment stays as it is. nil: that ends the rewriting, with an error that wraps [markup.ErrLost] or [ErrTooLong].
	Unfit func()
	// Restyled is told that the translation which was returned last is put in without one of the styles that the text
	// had, such as that of a part of a word. It may be nil.
	Restyled func()
}

// ErrTooLong is that there is no room for a translation.
var ErrTooLong = errors.New("there is no room for a translation")

// Fits returns the error of putting a translation in, unless that is that it has lost tags or is too long, and Unfit was told so.
func (o Options) Fits(err error) error {
	if (errors.Is(err, markup.ErrLost) || errors.Is(err, ErrTooLong)) && o.Unfit != nil {
		o.Unfit()
		return nil
	}
	return err
}

// Header says what becomes of a table's first row.
type Header string

// What may become of it. HeaderAuto keeps one that has nothing but names as programs use them: id, first_name, zipCode.
const (
	HeaderAuto      Header = "auto"
	HeaderKeep      Header = "keep"
	HeaderTranslate Header = "translate"
)

// Known says whether there is such a choice; "" is one.
func (h Header) Known() bool {
	return h == "" || h == HeaderAuto || h == HeaderKeep || h == HeaderTranslate
}

// Also is a list of sorts of texts.
type Also []string

// The sorts of texts.
const (
	AlsoAlt     = "alt"     // alternative texts of pictures, shapes and tables
	AlsoHeaders = "headers" // headers and footers of Excel's sheets
)

// Known says whether all of them are sorts of texts.
func (a Also) Known() bool {
	return !slices.ContainsFunc(a, func(sort string) bool { return sort != AlsoAlt && sort != AlsoHeaders })
}

// Has says whether a sort is one of them.
func (a Also) Has(sort string) bool { return slices.Contains(a, sort) }

// Kind is a sort of file.
type Kind struct {
	Name       string        // what users call it, such as "docx"
	Extensions []string      // of file names, lower case with a point, the usual one first
	MediaType  string        // its usual one
	Form       markup.Format // of its segments
	// Room is how many bytes a translated document of a size may have more than that and its texts, such as fonts; nil: none.
	Room func(size int64) int64

	// Rewrite copies a document of so many bytes to out with its segments translated, in their order. A
	// translate that returns its argument gives the same document: the same bytes where the kind is
	// text, and equal contents where it is a package. What it needs is bounded, whatever
	// a document says of itself. The bytes that it goes through are counted by [budget.Work]. It fails with an [*Error] on a document that cannot be read, with
	// translate's error, with out's and with ctx's.
	Rewrite func(ctx context.Context, out io.Writer, in io.ReaderAt, size int64, o Options, t Translate) error
}

// Error is why a document cannot be read, in words for whoever sent it.
type Error struct {
	Reason string // what is wrong and what to do
	Large  bool   // there is too much of it
	Err    error  // nil, or what a reader said
}

func (e *Error) Error() string { return e.Reason }

// TooLarge says whether there is too much of the document, rather than something wrong with it.
func (e *Error) TooLarge() bool { return e.Large }

// Unwrap returns the reader's error.
func (e *Error) Unwrap() error { return e.Err }

// TooLarge makes an [*Error] of a document that there is too much of.
func TooLarge(format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...), Large: true}
}

// Refuse makes an [*Error]. err is what a reader said, nil for nothing.
func Refuse(err error, format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...), Err: err}
}
