// Package xmlpart reads parts of documents that are XML, token by token, each with the bytes that it is
// made of: whoever writes the bytes of all tokens has the same part again.
package xmlpart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"dragoman/app/document"
)

// The bounds of a part: bytes of one tag or text, elements in each other, and bytes of a name.
const (
	maxToken = 4 << 20
	maxDepth = 256
	maxName  = 256 // of an element: whoever writes one again writes its name again
)

// Kind is what a token is.
type Kind uint8

// The kinds of tokens. Other is a comment, a declaration or a processing instruction.
const (
	Start Kind = iota
	End
	Text
	Other
)

// Token is a part of an XML document.
type Token struct {
	Kind Kind
	Name xml.Name   // of Start and End: the address of the name space, and the local name
	Attr []xml.Attr // of Start
	Text string     // of Text, with references and CDATA sections resolved
	// Raw is the bytes of the token. It is valid until the next one is read. The End of <a/>, which
	// follows its Start, has none.
	Raw []byte
}

// Attribute returns the value of an attribute by its local name, "" without one.
func (t Token) Attribute(local string) string {
	for _, a := range t.Attr {
		if a.Name.Local == local && a.Name.Space != "xmlns" {
			return a.Value
		}
	}
	return ""
}

// Reader reads tokens. It refuses what is not well-formed, document types unless they are allowed, and
// what is nested or large beyond all reason; it never follows a reference to another file.
type Reader struct {
	name    string
	doctype bool
	decoder *xml.Decoder
	window  window
	depth   int
}

// Options are what differs between parts.
type Options struct {
	// DOCTYPE lets a document type be, as publications have it, so long as it declares nothing.
	DOCTYPE bool
	// Entities are those that the part may refer to, beside XML's own.
	Entities map[string]string
}

// NewReader returns a reader of a part, which errors call by its name.
func NewReader(in io.Reader, name string, o Options) *Reader {
	r := &Reader{name: name, doctype: o.DOCTYPE, window: window{in: in}}
	r.decoder = xml.NewDecoder(&r.window)
	r.decoder.Entity = o.Entities
	return r
}

// Next returns the next token, and [io.EOF] behind the last one. Other errors are a [*document.Error],
// or those of the reader below.
func (r *Reader) Next() (Token, error) {
	start := r.decoder.InputOffset()
	r.window.drop(start)
	token, err := r.decoder.Token()
	if err != nil {
		return Token{}, r.failure(err)
	}
	t := Token{Kind: Other, Raw: r.window.bytes(start, r.decoder.InputOffset())}
	switch x := token.(type) {
	case xml.StartElement:
		t.Kind, t.Name, t.Attr = Start, x.Name, x.Attr
		if r.depth++; r.depth > maxDepth {
			return Token{}, r.refuse(nil, "has more than %d elements in each other", maxDepth)
		}
		if bytes.IndexAny(t.Raw, " \t\r\n/>") > maxName {
			return Token{}, r.refuse(nil, "has an element whose name has more than %d bytes", maxName)
		}
	case xml.EndElement:
		t.Kind, t.Name = End, x.Name
		r.depth--
	case xml.CharData:
		t.Kind, t.Text = Text, string(x)
	case xml.Directive:
		if err := r.directive(x); err != nil {
			return Token{}, err
		}
	}
	return t, nil
}

// Each calls visit with all tokens up to the end, or to its error.
func (r *Reader) Each(visit func(t Token) error) error {
	for {
		t, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = visit(t)
		}
		if err != nil {
			return err
		}
	}
}

// directive lets a document type pass where it may be there.
func (r *Reader) directive(d xml.Directive) error {
	if !r.doctype {
		return r.refuse(nil, "has a document type (DOCTYPE), which none of this kind needs")
	}
	if bytes.ContainsRune(d, '[') {
		return r.refuse(nil, "declares entities of its own, which are not read")
	}
	return nil
}

// failure is the error for one of the decoder.
func (r *Reader) failure(err error) error {
	var own *document.Error
	switch {
	case err == io.EOF:
		return err
	case errors.As(err, &own):
		return own
	case errors.Is(err, errToken):
		return r.refuse(err, "has a tag or a text of more than %d MiB", maxToken>>20)
	case r.window.err != nil && r.window.err != io.EOF:
		return r.window.err
	}
	return r.refuse(err, "is not well-formed XML in UTF-8: %v", err)
}

func (r *Reader) refuse(err error, format string, args ...any) error {
	return document.Refuse(err, "%s %s", r.name, fmt.Sprintf(format, args...))
}

// errToken ends the reading of a token that is too large.
var errToken = errors.New("too much in one token")

// window is what was read of the part and is not yet a token.
type window struct {
	in   io.Reader
	read []byte
	base int64 // where read starts in the part
	used int   // bytes of read that are done with
	err  error
}

// Read reads for the decoder, which asks for more than it needs.
func (w *window) Read(b []byte) (int, error) {
	if len(w.read)-w.used > maxToken {
		return 0, errToken
	}
	n, err := w.in.Read(b)
	w.read = append(w.read, b[:n]...)
	w.err = err
	return n, err
}

// drop forgets what is before an offset.
func (w *window) drop(to int64) {
	w.used = int(to - w.base)
	if w.used < len(w.read)/2 {
		return // later: moving what follows costs as much as that is long
	}
	w.read = append(w.read[:0], w.read[w.used:]...)
	w.base, w.used = to, 0
}

func (w *window) bytes(start, end int64) []byte {
	return w.read[start-w.base : end-w.base]
}
