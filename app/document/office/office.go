// Package office has the documents of Microsoft Office since 2007 and of OpenDocument.
//
// They are zip archives of XML. Parts that have text are rewritten token by token: what is no text
// that changes stays byte for byte, and all other parts are copied as they are compressed. A paragraph is
// a segment (see package tagged), in whatever it stands: a table, a text box, a header, a note.
//
// In memory are a paragraph at a time, with what is anchored in it, of at most 8 MiB, and the names of
// styles and columns. All parts that are read unpack to at most 256 MiB.
package office

import (
	"context"
	"errors"
	"io"

	"dragoman/app/document"
	"dragoman/app/document/archive"
	"dragoman/app/text/markup"
)

// Kinds are docx, pptx, xlsx, odt, odp and ods.
func Kinds() []*document.Kind {
	const ooxml, odf = "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument."
	return []*document.Kind{
		newKind("docx", []string{".docx", ".docm", ".dotx", ".dotm"}, ooxml+"wordprocessingml.document", ooxmlParts),
		newKind("pptx", []string{".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"}, ooxml+"presentationml.presentation", ooxmlParts),
		newKind("xlsx", []string{".xlsx", ".xlsm", ".xltx", ".xltm"}, ooxml+"spreadsheetml.sheet", ooxmlParts),
		newKind("odt", []string{".odt", ".ott"}, odf+"text", odfParts),
		newKind("odp", []string{".odp", ".otp"}, odf+"presentation", odfParts),
		newKind("ods", []string{".ods", ".ots"}, odf+"spreadsheet", odsParts),
	}
}

// newKind makes a kind of documents, of which parts returns the parts that are read, by name.
func newKind(name string, extensions []string, mediaType string, parts func(a *archive.Archive) (map[string]part, error)) *document.Kind {
	k := kind{name, parts}
	return &document.Kind{Name: name, Extensions: extensions, MediaType: mediaType, Form: markup.XML, Rewrite: k.rewrite}
}

type kind struct {
	name  string
	parts func(a *archive.Archive) (map[string]part, error)
}

// rewrite copies a document with its segments translated. With o.To that is the language in which the
// spelling of the text is checked.
func (k kind) rewrite(ctx context.Context, out io.Writer, in io.ReaderAt, size int64, o document.Options, t document.Translate) error {
	a, err := archive.Open(ctx, in, size)
	if err != nil {
		return err
	}
	if err := k.isKindOf(a); err != nil {
		return err
	}
	parts, err := k.parts(a)
	if err != nil {
		return err
	}
	names := &walker{ctx: ctx, keep: map[string]bool{}}
	defer names.giveBack()
	if err := names.readNames(a, parts); err != nil {
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
		w := &walker{ctx: ctx, grammar: parts[name].text, keep: names.keep, styles: map[string]odfStyle{}, to: newTarget(o.To), options: o, translate: t.Within(ctx)}
		defer w.giveBack()
		return whole(w.part(out, in, name), name)
	})
}

// whole says which part broke off.
func whole(err error, name string) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return document.Refuse(err, "%s is not complete", name)
	}
	return err
}

// readNames reads the texts that have to stay because formulas or tables say them, from the parts that have some.
func (w *walker) readNames(a *archive.Archive, parts map[string]part) error {
	for name, part := range parts {
		if part.names == nil {
			continue
		}
		w.grammar = part.names
		err := a.Read(name, func(in io.Reader) error { return whole(w.part(io.Discard, in, name), name) })
		if err != nil {
			return err
		}
	}
	return nil
}
