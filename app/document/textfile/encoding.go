package textfile

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	xencoding "golang.org/x/text/encoding"
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

// encodings are the byte order marks and the forms of text behind them.
var encodings = [...]struct {
	mark string
	form xencoding.Encoding
}{
	utf8Plain:   {"", xencoding.Nop},
	utf8Marked:  {"\xEF\xBB\xBF", xencoding.Nop},
	utf16Little: {"\xFF\xFE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	utf16Big:    {"\xFE\xFF", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	latin1:      {"", charmap.ISO8859_1},
}

// decode returns the text of a document, without its byte order mark. What is not UTF-8 is ISO 8859-1
// where that is allowed.
func decode(raw []byte, allowLatin1 bool) (string, encoding, error) {
	e := utf8Plain
	for _, marked := range []encoding{utf8Marked, utf16Little, utf16Big} {
		if bytes.HasPrefix(raw, []byte(encodings[marked].mark)) {
			e = marked
		}
	}
	if e <= utf8Marked && allowLatin1 && !utf8.Valid(raw) {
		e = latin1
	}
	text := string(raw[len(encodings[e].mark):])
	if form := encodings[e].form; form != xencoding.Nop {
		// What does not come back would change bytes that nobody translated, such as half a
		// surrogate pair.
		decoded, err := form.NewDecoder().String(text)
		if again, _ := form.NewEncoder().String(decoded); err != nil || again != text {
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

// writer writes a text in the encoding, with its byte order mark. Close is to be called after the last
// write; it leaves out open.
func (e encoding) writer(out io.Writer) io.WriteCloser {
	buffer := bufio.NewWriter(out)
	_, _ = buffer.WriteString(encodings[e].mark) // its error is that of Flush
	return &encoder{transform.NewWriter(buffer, encodings[e].form.NewEncoder()), buffer}
}

// encoder collects what is written.
type encoder struct {
	*transform.Writer
	buffer *bufio.Writer
}

// Close writes what is left.
func (w *encoder) Close() error {
	if err := w.Writer.Close(); err != nil {
		return err
	}
	return w.buffer.Flush()
}
