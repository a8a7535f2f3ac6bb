package textfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	xencoding "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"dragoman/app/document"
)

// encoding is how the bytes of a document stand for its text: a byte order mark, and the form of what is behind it.
type encoding struct {
	mark     string
	form     xencoding.Encoding
	declared bool // by the document, in its head
}

var (
	utf8Plain   = encoding{form: xencoding.Nop}
	utf8Marked  = encoding{mark: "\xEF\xBB\xBF", form: xencoding.Nop}
	utf16Little = encoding{mark: "\xFF\xFE", form: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}
	utf16Big    = encoding{mark: "\xFE\xFF", form: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}
	latin1      = encoding{form: charmap.ISO8859_1}
)

// isUTF16 says whether it is one of those.
func (e encoding) isUTF16() bool { return e.form == utf16Little.form || e.form == utf16Big.form }

// lacks says whether there are letters that cannot be written but as references.
func (e encoding) lacks() bool { return e.declared && !e.isUTF16() }

var declaration = regexp.MustCompile(`^<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']`)

// declarable are the encodings that a head can tell. None is in a state that what is written in between would have to know of,
// as ISO 2022 is.
var declarable = func() []xencoding.Encoding {
	ascii, _ := ianaindex.IANA.Encoding("US-ASCII")
	list := []xencoding.Encoding{ascii, japanese.ShiftJIS, japanese.EUCJP, simplifiedchinese.GBK, simplifiedchinese.GB18030, traditionalchinese.Big5, korean.EUCKR}
	return append(list, charmap.All...)
}()

// declaredIn is the encoding of a document of XML that has no mark, which its head tells: a declarable one, or UTF-16. It is
// UTF-8 where that tells none.
func declaredIn(raw []byte) encoding {
	for _, e := range []encoding{utf16Little, utf16Big} {
		if head, err := e.form.NewEncoder().String("<?xml"); err == nil && bytes.HasPrefix(raw, []byte(head)) {
			return encoding{form: e.form, declared: true}
		}
	}
	m := declaration.FindSubmatch(raw[:min(len(raw), 200)])
	if m == nil {
		return utf8Plain
	}
	name := plainName(string(m[1]))
	for _, form := range declarable {
		if c, ok := form.(fmt.Stringer); ok && plainName(c.String()) == name {
			return encoding{form: form, declared: true}
		}
	}
	return utf8Plain
}

// plainName is the name of an encoding without what people write in different ways: ISO_8859-1, iso 8859-1, latin1.
func plainName(name string) string {
	name = strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	return strings.NewReplacer("cp125", "windows125", "latin1", "iso88591", "gb2312", "gbk", "usascii", "ascii").Replace(name)
}

// decode returns the text of a document, without its byte order mark. What is not UTF-8 is ISO 8859-1
// where that is allowed, and in XML what its head says.
func decode(raw []byte, allowLatin1, isXML bool) (string, encoding, error) {
	e, isMarked := utf8Plain, false
	for _, marked := range []encoding{utf8Marked, utf16Little, utf16Big} {
		if bytes.HasPrefix(raw, []byte(marked.mark)) {
			e, isMarked = marked, true
		}
	}
	if isXML && !isMarked {
		e = declaredIn(raw)
	}
	if !e.isUTF16() && allowLatin1 && !utf8.Valid(raw) {
		e = latin1
	}
	text := string(raw[len(e.mark):])
	if e.form != xencoding.Nop {
		// What does not come back would change bytes that nobody translated, such as half a
		// surrogate pair.
		decoded, err := e.form.NewDecoder().String(text)
		if again, _ := e.form.NewEncoder().String(decoded); err != nil || again != text {
			return "", e, document.Refuse(err, "the text is not valid %s: save it as UTF-8", e.form)
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
	_, _ = buffer.WriteString(e.mark) // its error is that of Flush
	encode := e.form.NewEncoder()
	if e.lacks() {
		encode = xencoding.HTMLEscapeUnsupported(encode)
	}
	return &encoder{transform.NewWriter(buffer, encode), buffer}
}

var cdataSection = regexp.MustCompile(`(?s)<!\[CDATA\[.*?\]\]>`)

// sections has letters that the encoding lacks outside of the sections of a text, where references to them are none.
func (e encoding) sections(text string) string {
	if !e.lacks() {
		return text
	}
	encode := e.form.NewEncoder()
	return cdataSection.ReplaceAllStringFunc(text, func(section string) string {
		var out strings.Builder
		for _, r := range section {
			if _, err := encode.String(string(r)); err != nil {
				out.WriteString("]]>" + string(r) + "<![CDATA[")
			} else {
				out.WriteRune(r)
			}
		}
		return out.String()
	})
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
