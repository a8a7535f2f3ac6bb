package textfile

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"dragoman/app/document"
)

// encoding is how the bytes of a document stand for its text.
type encoding uint8

const (
	utf8Plain encoding = iota
	utf8Marked
	utf16Little
	utf16Big
	latin1
)

// marks are the byte order marks of those that have one.
var marks = [...]string{utf8Marked: "\xEF\xBB\xBF", utf16Little: "\xFF\xFE", utf16Big: "\xFE\xFF", latin1: ""}

// decode returns the text of a document, without its byte order mark. What is not UTF-8 is ISO 8859-1
// where that is allowed.
func decode(raw []byte, allowLatin1 bool) (string, encoding, error) {
	e := utf8Plain
	for _, marked := range []encoding{utf8Marked, utf16Little, utf16Big} {
		if bytes.HasPrefix(raw, []byte(marks[marked])) {
			e = marked
		}
	}
	if e <= utf8Marked && allowLatin1 && !utf8.Valid(raw) {
		e = latin1
	}
	text := string(raw[len(marks[e]):])
	if t := e.transformers(); t != nil {
		// What does not come back would change bytes that nobody translated, such as half a
		// surrogate pair.
		decoded, _, err := transform.String(t.decoder, text)
		if again, _, _ := transform.String(t.encoder, decoded); err != nil || again != text {
			return "", e, document.Refuse(err, "the text is not valid UTF-16: save it as UTF-8")
		}
		text = decoded
	}
	switch {
	case !utf8.ValidString(text):
		return "", e, document.Refuse(nil, "the text is neither UTF-8 nor UTF-16 with a byte order mark: save it as UTF-8")
	case strings.Contains(text, "\x00"):
		return "", e, document.Refuse(nil, "the file is not text, or UTF-16 without a byte order mark: save it as UTF-8")
	}
	return text, e, nil
}

// transformers read and write an encoding that is not UTF-8.
type transformers struct{ decoder, encoder transform.Transformer }

func (e encoding) transformers() *transformers {
	switch e {
	case utf16Little:
		u := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
		return &transformers{u.NewDecoder(), u.NewEncoder()}
	case utf16Big:
		u := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
		return &transformers{u.NewDecoder(), u.NewEncoder()}
	case latin1:
		return &transformers{charmap.ISO8859_1.NewDecoder(), charmap.ISO8859_1.NewEncoder()}
	}
	return nil
}

// writer writes a text in the encoding, with its byte order mark. Close is to be called after the last
// write; it leaves out open.
func (e encoding) writer(out io.Writer) io.WriteCloser {
	w := &buffered{buffer: bufio.NewWriter(out)}
	w.Writer = w.buffer
	_, _ = w.buffer.WriteString(marks[e]) // its error is that of Flush
	if t := e.transformers(); t != nil {
		w.encoder = transform.NewWriter(w.buffer, t.encoder)
		w.Writer = w.encoder
	}
	return w
}

// buffered collects what is written.
type buffered struct {
	io.Writer
	buffer  *bufio.Writer
	encoder *transform.Writer // nil for UTF-8
}

// Close writes what is left.
func (b *buffered) Close() error {
	if b.encoder != nil {
		if err := b.encoder.Close(); err != nil {
			return err
		}
	}
	return b.buffer.Flush()
}
