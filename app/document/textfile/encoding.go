package textfile

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	xencoding "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"

	"dragoman/app/document"
	"dragoman/app/text/language"
)

// encoding is the encoding of a document: a byte order mark, and the encoding of the bytes behind it.
type encoding struct {
	mark       string
	form       xencoding.Encoding
	declared   bool // declared in the head of the document
	isCodePage bool // of an old program, which may lack the letters of another language
}

var (
	utf8Plain   = encoding{form: xencoding.Nop}
	utf8Marked  = encoding{mark: "\xEF\xBB\xBF", form: xencoding.Nop}
	utf16Little = encoding{mark: "\xFF\xFE", form: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}
	utf16Big    = encoding{mark: "\xFE\xFF", form: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}
	utf32Little = encoding{mark: "\xFF\xFE\x00\x00", form: utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)}
	utf32Big    = encoding{mark: "\x00\x00\xFE\xFF", form: utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)}
	latin1      = encoding{form: charmap.ISO8859_1}
)

// isWide reports whether the encoding is UTF-16 or UTF-32.
func (e encoding) isWide() bool {
	return slices.Contains([]xencoding.Encoding{utf16Little.form, utf16Big.form, utf32Little.form, utf32Big.form}, e.form)
}

// lacks reports whether some letters can be written only as references.
func (e encoding) lacks() bool { return e.declared && !e.isWide() }

var declaration = regexp.MustCompile(`^<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']`)

// metaCharset captures the encoding that a page of HTML declares.
var metaCharset = regexp.MustCompile(`(?i)<meta\s[^<>]*charset\s*=\s*["']?([A-Za-z0-9._-]+)`)

// declaredIn returns the encoding that the head of XML or HTML without a mark declares, or UTF-8 if it is unknown, or has state
// between characters.
func declaredIn(raw []byte) encoding {
	for _, e := range []encoding{utf16Little, utf16Big} {
		if head, err := e.form.NewEncoder().String("<?xml"); err == nil && bytes.HasPrefix(raw, []byte(head)) {
			return encoding{form: e.form, declared: true}
		}
	}
	m := declaration.FindSubmatch(raw[:min(len(raw), 200)])
	if m == nil {
		m = metaCharset.FindSubmatch(raw[:min(len(raw), 16<<10)])
	}
	if m == nil {
		return utf8Plain
	}
	label := string(m[1])
	if strings.EqualFold(label, "ascii") {
		label = "us-ascii" // which is Windows 1252 for browsers
	}
	form, err := ianaindex.IANA.Encoding(label)
	if err != nil || form == nil {
		form, _ = htmlindex.Get(label)
	}
	if form == charmap.ISO8859_1 && !bytes.HasPrefix(raw, []byte("<?xml")) {
		form = charmap.Windows1252 // as browsers read HTML
	}
	switch form {
	case nil, unicode.UTF8, japanese.ISO2022JP, simplifiedchinese.HZGB2312:
		return utf8Plain
	}
	if ascii, _ := form.NewDecoder().String("<?xml"); ascii != "<?xml" { // the declaration would not be readable
		return utf8Plain
	}
	return encoding{form: form, declared: true}
}

// codePages are the encodings of old programs for languages.
var codePages = map[xencoding.Encoding]string{
	charmap.Windows1250: "bs cs hr hu pl ro sk sl", charmap.Windows1251: "be bg kk mk mn ru sr tt uk", charmap.Windows1253: "el",
	charmap.Windows1252: "af ca da de en es eu fi fr ga gl id is it ms nb nl nn no oc pt sv sw tl", charmap.Windows1254: "az tr uz", charmap.Windows1255: "he",
	charmap.Windows1256: "ar fa ur", charmap.Windows1257: "et lt lv", charmap.Windows1258: "vi", charmap.Windows874: "th",
	japanese.ShiftJIS: "ja", korean.EUCKR: "ko", simplifiedchinese.GB18030: "zh",
}

// codePage returns the encoding of old programs for a language, or UTF-8.
func codePage(code string) encoding {
	base := language.Base(code)
	for form, languages := range codePages {
		if base != "" && strings.Contains(" "+languages+" ", " "+base+" ") {
			return encoding{form: form, isCodePage: true}
		}
	}
	return utf8Plain
}

// decode returns the text of a document without its byte order mark, and its encoding. Bytes that are not UTF-8 are read as ISO
// 8859-1 if that is allowed, in XML and HTML as the head declares, or in the code page of language from if that is known.
func decode(raw []byte, r rewriter, from string) (string, encoding, error) {
	if r.isRaw {
		return string(raw), utf8Plain, nil
	}
	e, isMarked := utf8Plain, false
	for _, marked := range []encoding{utf8Marked, utf16Little, utf16Big, utf32Little, utf32Big} { // a mark may start with another one
		if bytes.HasPrefix(raw, []byte(marked.mark)) {
			e, isMarked = marked, true
		}
	}
	if r.isXML && !isMarked {
		e = declaredIn(raw)
	}
	if !e.isWide() && r.isLatin1 && !utf8.Valid(raw) {
		e = latin1
	} else if !isMarked && r.isCodePage && !e.declared && !utf8.Valid(raw) {
		e = codePage(from)
	}
	text := string(raw[len(e.mark):])
	if e.form != xencoding.Nop {
		// Text that does not survive a round trip, such as half a surrogate pair, would change untranslated bytes.
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

// writer writes text in the encoding, with its byte order mark. Close it after the last write; it does not close out.
func (e encoding) writer(out io.Writer) io.WriteCloser {
	_, _ = io.WriteString(out, e.mark) // out returns its error again
	encode := e.form.NewEncoder()
	if e.lacks() {
		encode = xencoding.HTMLEscapeUnsupported(encode)
	}
	return transform.NewWriter(out, encode)
}

var cdataSection = regexp.MustCompile(`(?s)<!\[CDATA\[.*?\]\]>`)

// sections moves letters that the encoding lacks out of CDATA sections, in which references have no meaning.
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
