// Package xmlpart reads XML parts of documents token by token, each with its bytes: writing the bytes of all tokens reproduces
// the part.
package xmlpart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"dragoman/app/document"
)

// The limits of a part: bytes of a tag or text, depth of elements, bytes of a name.
const (
	maxToken = 4 << 20
	maxDepth = 256
	maxName  = 256 // of an element: its name is repeated wherever the element is written again
)

// Kind is the kind of a token.
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
	Name xml.Name   // of Start and End: the namespace URL and the local name
	Attr []xml.Attr // of Start
	Text string     // of Text, with references and CDATA sections resolved
	// Raw is the bytes of the token, valid until the next call of Next. The End of <a/>, which follows its Start, has none.
	Raw []byte
}

// Attribute returns the value of an attribute by its local name, or "".
func (t Token) Attribute(local string) string {
	for _, a := range t.Attr {
		if a.Name.Local == local && a.Name.Space != "xmlns" {
			return a.Value
		}
	}
	return ""
}

// Reader reads tokens. It refuses parts that are not well-formed, document types unless allowed, and excessive depth or size; it
// never resolves references to other files.
type Reader struct {
	name    string
	doctype bool
	decoder *xml.Decoder
	window  window
	depth   int
}

// Options are the differences between parts.
type Options struct {
	// DOCTYPE allows a document type that declares nothing, as publications have.
	DOCTYPE bool
	// Entities are further entities to which the part may refer.
	Entities map[string]string
}

// NewReader returns a reader of a part. Errors use name.
func NewReader(in io.Reader, name string, o Options) *Reader {
	r := &Reader{name: name, doctype: o.DOCTYPE, window: window{in: in}}
	r.decoder = xml.NewDecoder(&r.window)
	r.decoder.Entity = o.Entities
	r.decoder.CharsetReader = func(label string, _ io.Reader) (io.Reader, error) {
		return nil, r.refuse(nil, "is not well-formed XML in UTF-8, but in %s", label)
	}
	return r
}

// Next returns the next token, or [io.EOF] at the end. Other errors are a [*document.Error], or errors of the underlying reader.
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

// Each calls visit with each token until the end, or visit's error.
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

// EachStart calls visit with each start tag until the end.
func (r *Reader) EachStart(visit func(t Token)) error {
	return r.Each(func(t Token) error {
		if t.Kind == Start {
			visit(t)
		}
		return nil
	})
}

// directive accepts a document type if it is allowed.
func (r *Reader) directive(d xml.Directive) error {
	if !r.doctype {
		return r.refuse(nil, "has a document type (DOCTYPE), which none of this kind needs")
	}
	if bytes.ContainsRune(d, '[') {
		return r.refuse(nil, "declares entities of its own, which are not read")
	}
	return nil
}

// failure converts an error of the decoder.
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

// errToken is returned for a token that is too large.
var errToken = errors.New("too much in one token")

// window holds the bytes read that are not yet part of a token.
type window struct {
	in   io.Reader
	read bytes.Buffer
	base int64 // offset of read in the part
	err  error
}

// Read reads for the decoder, which reads ahead.
func (w *window) Read(b []byte) (n int, err error) {
	if w.read.Len() > maxToken {
		return 0, errToken
	}
	n, w.err = w.in.Read(b)
	w.read.Write(b[:n])
	return n, w.err
}

// drop discards the bytes before an offset.
func (w *window) drop(to int64) {
	w.read.Next(int(to - w.base))
	w.base = to
}

func (w *window) bytes(start, end int64) []byte {
	return w.read.Bytes()[start-w.base : end-w.base]
}
