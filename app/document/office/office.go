// Package office has the kinds of documents of Microsoft Office since 2007 and of OpenDocument.
//
// They are zip archives of XML. Parts with text are rewritten token by token: all bytes except changed text stay, and all other
// parts are copied in compressed form. A paragraph is a segment (see package tagged), wherever it is: in a table, a text box, a
// header, a note.
//
// In memory are one paragraph at a time, with all that is anchored in it, at most 8 MiB, and the names of styles and columns. All
// parts that are read unpack to at most 256 MiB.
package office

import (
	"context"
	"io"

	"dragoman/app/document"
	"dragoman/app/document/archive"
	"dragoman/app/text/markup"
)

// Kinds returns the kinds of this package.
func Kinds() []*document.Kind {
	const ooxml, odf = "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument."
	return []*document.Kind{
		newKind("docx", []string{".docx", ".docm", ".dotx", ".dotm"}, ooxml+"wordprocessingml.document"),
		newKind("pptx", []string{".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"}, ooxml+"presentationml.presentation"),
		newKind("xlsx", []string{".xlsx", ".xlsm", ".xltx", ".xltm"}, ooxml+"spreadsheetml.sheet"),
		newKind("odt", []string{".odt", ".ott"}, odf+"text"),
		newKind("odp", []string{".odp", ".otp"}, odf+"presentation"),
		newKind("ods", []string{".ods", ".ots"}, odf+"spreadsheet"),
		newKind("odg", []string{".odg", ".otg"}, odf+"graphics"),
		newFlatKind("fodt", odf+"text"), newFlatKind("fodp", odf+"presentation"), newFlatKind("fods", odf+"spreadsheet"),
	}
}

// newKind returns a kind of documents that are packages.
func newKind(name string, extensions []string, mediaType string) *document.Kind {
	return &document.Kind{Name: name, Extensions: extensions, MediaType: mediaType, Form: markup.XML, Rewrite: kind{name}.rewrite}
}

type kind struct{ name string }

// rewrite copies a document with its segments translated. If o.To is set, it becomes the language for spell checking.
func (k kind) rewrite(ctx context.Context, out io.Writer, in io.ReaderAt, size int64, o document.Options, t document.Translate) error {
	a, err := archive.Open(ctx, in, size)
	if err != nil {
		return err
	}
	names := newLearner(ctx)
	defer names.giveBack()
	var parts map[string]part
	err = names.look(func() {
		names.identify(a, k.name)
		parts = names.parts(a, k.name)
		names.learn(a.Read, parts)
	})
	if err != nil {
		return err
	}
	var order []string
	for name, part := range parts {
		if part.text != nil && (part.also == "" || o.Also.Has(part.also)) {
			order = append(order, name)
		}
	}
	sortParts(order)
	return a.Rewrite(out, order, func(name string, out io.Writer, in io.Reader) error {
		w := names.rewriter(parts[name].text, o, t)
		defer w.giveBack()
		if storeName.MatchString(name) {
			return w.store(out, in, name)
		}
		return w.part(out, in, name)
	})
}
