// Package document reads files of many kinds, and rewrites them with translated texts. Layout, styles, links, code, placeholders,
// timing and order stay.
//
// A [Kind] is a kind of file. Its Rewrite goes through a document once, in order: it passes each segment to its caller and writes
// the result in its place. A first pass that writes nothing therefore finds the segments, and a second pass puts in their
// translations: both see the same segments in the same order, because they are the same code.
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

// Translate returns the translation of a segment: a text of a document that is translated by itself, such as a paragraph, a cell
// or a message. Both texts are in the kind's form: plain, or XML whose elements are inline tags. The segment has a letter, and no
// white space at its ends. An error ends the rewriting of the document.
type Translate func(text string) (string, error)

// Within returns t restricted to the work that ctx allows.
func (t Translate) Within(ctx context.Context) Translate {
	return func(text string) (string, error) {
		if err := budget.Work(ctx, 0); err != nil {
			return "", err
		}
		return t(text)
	}
}

// Options are the options of a rewriting. The zero value suits all kinds.
type Options struct {
	// From and To are language codes, for kinds that record them; "" if unknown. Without To, nothing but segments is changed.
	From, To string
	// Columns are the columns of a table to translate, by their names in the first row, or by their numbers from 1 on. Without
	// Columns, all are translated.
	Columns []string
	// Header tells how to treat the first row of a table if Columns is empty; HeaderAuto is the default.
	Header Header
	// HeaderKept, if not nil, is called if the first row is kept because it looks like names.
	HeaderKept func()
	// Kept, if not nil, is called for each text that stays because a formula, a table or a list of a workbook refers to it.
	Kept func()
	// Page, if not nil, is called with the number of each page, from 1 on, before its texts, for kinds with pages.
	Page func(n int)
	// Left, if not nil, is called for each page with texts that cannot be translated, with their number and the reason. Page 0 is a
	// document without pages.
	Left func(page, texts int, reason string)
	// Flawed, if not nil, is called for each text that [Put] counts as flawed.
	Flawed func(text string)
	// Also lists optional sorts of texts to translate, for kinds that have them.
	Also Also
	// Wrapped tells whether plain text is wrapped at a width; [wrap.Auto] is the default.
	Wrapped wrap.Mode
	// Unfit is called if the last translation cannot be put in because it lost tags or is too long: the segment then stays as it
	// is. If Unfit is nil, the rewriting fails with an error that wraps [markup.ErrLost] or [ErrTooLong].
	Unfit func()
	// Restyled, if not nil, is called if the last translation is put in without one of the styles of the segment, such as the
	// style of a part of a word.
	Restyled func()
}

// maxLeft is the maximum number of pages that are named in a list of what is left.
const maxLeft = 20

// AddLeft adds what [Options]' Left reports to a list. A list of many pages ends with "more pages".
func AddLeft(list []string, page, texts int, reason string) []string {
	if len(list) >= maxLeft {
		return append(list[:maxLeft:maxLeft], "more pages")
	}
	if page == 0 {
		return append(list, fmt.Sprintf("%d %s", texts, reason))
	}
	return append(list, fmt.Sprintf("page %d: %d texts: %s", page, texts, reason))
}

// ErrTooLong is returned if a translation does not fit.
var ErrTooLong = errors.New("there is no room for a translation")

// Fits returns err, the result of putting a translation in. If err wraps ErrLost or ErrTooLong and Unfit is set, it calls Unfit
// and returns nil.
func (o Options) Fits(err error) error {
	if (errors.Is(err, markup.ErrLost) || errors.Is(err, ErrTooLong)) && o.Unfit != nil {
		o.Unfit()
		return nil
	}
	return err
}

// Header tells how to treat the first row of a table.
type Header string

// The choices. HeaderAuto keeps a row that has nothing but names as programs use them: id, first_name, zipCode.
const (
	HeaderAuto      Header = "auto"
	HeaderKeep      Header = "keep"
	HeaderTranslate Header = "translate"
)

// Known reports whether the choice exists; "" is known.
func (h Header) Known() bool {
	return h == "" || h == HeaderAuto || h == HeaderKeep || h == HeaderTranslate
}

// Also is a list of optional sorts of texts.
type Also []string

// The sorts of texts.
const (
	AlsoAlt     = "alt"       // alternative texts of pictures, shapes and tables
	AlsoHeaders = "headers"   // headers and footers of Excel sheets
	AlsoSource  = "as-source" // a catalogue's translations, which are in the source language, in place of its texts
	AlsoFuzzy   = "fuzzy"     // not a sort of texts: translations in gettext are marked as fuzzy
)

// Known reports whether all sorts in the list exist.
func (a Also) Known() bool {
	return !slices.ContainsFunc(a, func(sort string) bool {
		return !slices.Contains([]string{AlsoAlt, AlsoHeaders, AlsoSource, AlsoFuzzy}, sort)
	})
}

// Has reports whether the list contains a sort.
func (a Also) Has(sort string) bool { return slices.Contains(a, sort) }

// Kind is a kind of file.
type Kind struct {
	Name       string        // the name for users, such as "docx"
	Extensions []string      // file extensions, in lower case with a point, the usual one first
	MediaType  string        // the usual media type
	Form       markup.Format // the form of its segments
	// Room returns how many bytes a translated document of a size may have beyond that size and its texts, for example for fonts;
	// nil means none.
	Room func(size int64) int64

	// Rewrite copies a document of size bytes to out with its segments translated, in order. If out is nil, it passes the
	// segments to translate and writes nothing. If translate returns its argument,
	// the result is the same document: the same bytes for text kinds, equal contents for packages. Memory is bounded, whatever
	// the document declares. [budget.Work] counts the bytes that it goes through. Rewrite fails with an [*Error] for a document
	// that cannot be read, and with the errors of translate, out and ctx.
	Rewrite func(ctx context.Context, out io.Writer, in io.ReaderAt, size int64, o Options, t Translate) error
}

// Error tells the sender why a document cannot be read.
type Error struct {
	Reason string // the fault and its remedy
	Large  bool   // the document is too large
	Err    error  // the reader's error, or nil
}

func (e *Error) Error() string { return e.Reason }

// TooLarge reports whether the document is too large, as opposed to faulty.
func (e *Error) TooLarge() bool { return e.Large }

// Unwrap returns the reader's error.
func (e *Error) Unwrap() error { return e.Err }

// TooLarge returns an [*Error] for a document that is too large.
func TooLarge(format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...), Large: true}
}

// Refuse returns an [*Error]. err is the reader's error, or nil.
func Refuse(err error, format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...), Err: err}
}
