package markup

import (
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"dragoman/app/text/char"
)

// longestTag is the maximum length in bytes of a tag in plain text. In HTML there is no limit.
const longestTag = 4096

// tag is a tag, or another span that starts with <.
type tag struct {
	kind Kind
	size int    // in bytes; of the whole element if its content is not translated
	name string // in lower case; "" for comments and other tags that are not in pairs
	end  bool   // </name>
}

// tag adds a span for the tag that starts here, and reports whether there is one.
func (s *scanner) tag() bool {
	if s.text[s.pos] != '<' {
		return false
	}
	read := s.textTag
	if s.form.hasTags() {
		read = s.htmlTag
	}
	t := read()
	if t.size == 0 {
		return false
	}
	s.add(t.kind, t.size, s.pairTag(t))
	return true
}

// pairTag returns the pair number of the next span. A tag without a partner has a number of its own.
func (s *scanner) pairTag(t tag) int {
	if t.name == "" || voidElements[t.name] && s.form != XML {
		return 0
	}
	if t.end {
		// Tags opened since then and not closed have no partner.
		if span, ok := s.opened.close(t.name, func(int) {}); ok {
			return -s.spans[span].Pair
		}
	}
	s.pairs++
	if t.end {
		return -s.pairs
	}
	s.opened.add(t.name, len(s.spans))
	return s.pairs
}

// waiting are spans that wait for their partner, in order.
type waiting struct {
	list  []opening
	count map[string]int // by name
}

type opening struct {
	name string
	span int
}

func (w *waiting) add(name string, span int) {
	w.list = append(w.list, opening{name, span})
	if w.count == nil {
		w.count = map[string]int{}
	}
	w.count[name]++
}

// close removes and returns the last span of that name, and calls skip for each span behind it. ok is false if there is none of
// that name.
func (w *waiting) close(name string, skip func(span int)) (span int, ok bool) {
	if w.count[name] == 0 {
		return 0, false
	}
	for {
		last := w.list[len(w.list)-1]
		w.list = w.list[:len(w.list)-1]
		w.count[last.name]--
		if last.name == name {
			return last.span, true
		}
		skip(last.span)
	}
}

// voidElements have no end tag.
var voidElements = set(`area base br col embed hr img input link meta param source track wbr`)

// opaqueElements are elements whose content is not translated.
var opaqueElements = set(`code kbd samp var tt pre script style textarea svg math template
	xmp plaintext noembed noframes noscript iframe object canvas`)

// set returns the set of words in a text.
func set(words string) map[string]bool { return setOf(strings.Fields(words)) }

// htmlTag reads the tag here from the tokens of HTML or XML.
func (s *scanner) htmlTag() tag {
	for s.nextTag < len(s.tags) && s.tags[s.nextTag].Start < s.pos {
		s.nextTag++
	}
	if s.nextTag == len(s.tags) || s.tags[s.nextTag].Start != s.pos || s.tags[s.nextTag].Kind == html.TextToken {
		return tag{}
	}
	t := s.tags[s.nextTag]
	if t.opaque && t.Partner > 0 {
		return tag{kind: Code, size: s.tags[t.Partner].End - t.Start}
	}
	if t.Kind == html.SelfClosingTagToken {
		t.Name = "" // a tag closed in itself is not in a pair
	}
	return tag{kind: Tag, size: t.End - t.Start, name: t.Name, end: t.Kind == html.EndTagToken}
}

// textTag reads a tag in plain text. It must look like one: "<b class=x>" does, "a <b and c> d" does not.
func (s *scanner) textTag() tag {
	for _, section := range sections {
		if strings.HasPrefix(s.text[s.pos:], section.open) && (len(section.open) > 2 || char.IsASCIILetter(s.at(2))) {
			return tag{kind: Tag, size: s.closed(len(section.open), section.close, section.limit)}
		}
	}
	if c := s.at(1); !char.IsIdent(c) && c != '/' {
		return tag{}
	}
	if s.subtitles == webVTT || char.OneOf(s.at(1), "vl") {
		if m := cueTag.FindStringSubmatch(s.rest(longestTemplate)); m != nil && (s.subtitles == webVTT || m[1] == "v" || m[1] == "lang") {
			return tag{kind: Tag, size: len(m[0]), name: m[1]}
		}
	}
	if n := len(autolink.FindString(s.rest(longestTemplate))); n > 0 {
		return tag{kind: Code, size: n}
	}
	return s.elementTag()
}

// sections are markup other than elements, with their maximum lengths in bytes. A letter must follow an opening of two
// characters.
var sections = [...]struct {
	open, close string
	limit       int
}{
	{"<!--", "-->", math.MaxInt},
	{"<![CDATA[", "]]>", math.MaxInt},
	{"<!", ">", longestTemplate},
	{"<?", "?>", longestTag},
}

// autolink matches <https://example.com> and <a@example.com>.
var autolink = regexp.MustCompile(`^<(?:[A-Za-z][A-Za-z0-9+.-]{1,19}:[^\s<>]+|[^\s<>@/]+@[^\s<>@]+\.\pL{2,})>`)

// cueTag matches the start tag of a span in a WebVTT cue: <v Mary>, <c.yellow>.
var cueTag = regexp.MustCompile(`^<(v|c|lang|b|i|u|ruby|rt)(?:\.[\w.-]+)?(?:[ \t][^<>\n]*)?>`)

// elementTag reads an element's tag in plain text.
func (s *scanner) elementTag() tag {
	if end := s.find(">", s.pos); end < 0 || end-s.pos > longestTag {
		return tag{}
	}
	m := elementForm.FindStringSubmatch(s.rest(longestTag))
	if m == nil || m[1] != "" && m[3]+m[4] != "" {
		return tag{}
	}
	for _, a := range attribute.FindAllStringSubmatch(m[4], -1) {
		if a[2] == "" && !booleanAttributes[strings.ToLower(a[1])] {
			return tag{}
		}
	}
	t := tag{kind: Tag, size: len(m[0]), name: strings.ToLower(m[2]), end: m[1] != ""}
	switch {
	case t.end:
	case m[7] != "" || strings.HasSuffix(m[3]+m[4], "/"): // <br class=x/> is read as closed in itself
		t.name = ""
	case opaqueElements[t.name]:
		closing := "</" + m[2] + ">"
		if at := s.find(closing, s.pos+t.size); at >= 0 {
			return tag{kind: Code, size: at + len(closing) - s.pos}
		}
	}
	return t
}

// Parts of a tag. Element names may be numbers: some libraries mark parts of a message as <0>…</0>. They may have a value:
// <color=red>, in rich text of games.
var (
	elementName = regexp.MustCompile(`^` + nameOfElement)
	elementForm = regexp.MustCompile(`^<(/?)(` + nameOfElement + `)(` + attributeValue + `)?((?:` + attributeForm + `)*)[` + htmlSpace + `]*(/?)>`)
	attribute   = regexp.MustCompile(attributeForm)
)

const (
	nameOfElement  = `(?:[A-Za-z][\w:.-]*|\d+)`
	attributeForm  = `[` + htmlSpace + `]+([\w:.@#*()\[\]-]+)(` + attributeValue + `)?`
	attributeValue = "(?:=\"[^\"]*\"|='[^']*'|=[^\\x00-\\x20\"'<>=`]+)"
)

// booleanAttributes are attributes without a value.
var booleanAttributes = set(`allowfullscreen async autofocus autoplay checked controls default defer
	disabled download formnovalidate hidden inert ismap itemscope loop multiple muted nomodule
	noshade novalidate nowrap open playsinline readonly required reversed selected`)

// entity returns the length of &amp; or another character reference, or of a whole escaped tag or reference: &lt;b&gt;,
// &amp;nbsp;.
func (s *scanner) entity() int {
	const longest = len("&CounterClockwiseContourIntegral;")
	rest := s.rest(longest)
	if strings.HasPrefix(rest, "&lt;") {
		if n := len(escapedTag.FindString(s.rest(longestTemplate))); n > 0 {
			return n
		}
	}
	if n := len(escapedReference.FindString(rest)); n > 0 {
		return n
	}
	end := strings.IndexByte(rest, ';')
	if end < 2 {
		return 0
	}
	reference := rest[:end+1]
	for i, c := range []byte(reference[1:end]) {
		if !char.IsIdent(c) && (c != '#' || i > 0) && (i == 0 || s.form != XML || !char.OneOf(c, ".-:")) {
			return 0
		}
	}
	// "&copyx;" is a reference that needs no semicolon, followed by text. An XML document may define its own references.
	if plain := html.UnescapeString(reference); s.form != XML && (plain == reference || utf8.RuneCountInString(plain) > 2) {
		return 0
	}
	return len(reference)
}

// Escaped markup in documents about HTML.
var (
	escapedReference = regexp.MustCompile(`^&amp;#?\w+;`)
	escapedTag       = regexp.MustCompile(`^&lt;(?:/?[A-Za-z][\w:.-]*(?:\s+[\w:.-]+=(?:"[^"<>&]*"|'[^'<>&]*'|&quot;[^"<>&]*&quot;))*\s*/?|!--[^<>&]*--)(?:&gt;|>)`)
)
