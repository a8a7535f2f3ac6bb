package markup

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// longestTag is the most bytes of a tag in plain text. In HTML there is no limit.
const longestTag = 4096

// tag is what a < starts.
type tag struct {
	kind Kind
	size int    // bytes, of the whole element where its text is not to be translated
	name string // in lower case; "" for comments and other ends of no pair
	end  bool   // </name>
}

// tag makes a span of the tag that starts here.
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

// pairTag returns the number of the pair that the next span is an end of. A tag
// without its other end has a number of its own.
func (s *scanner) pairTag(t tag) int {
	switch {
	case t.name == "" || voidElements[t.name] && s.form != XML:
		return 0
	case !t.end:
		s.pairs++
		s.opened = append(s.opened, open{t.name, len(s.spans)})
		s.names[t.name]++
		return s.pairs
	case s.names[t.name] == 0:
		s.pairs++
		return -s.pairs
	}
	// What was opened since then and not closed stays without an end.
	for {
		last := s.opened[len(s.opened)-1]
		s.opened = s.opened[:len(s.opened)-1]
		s.names[last.name]--
		if last.name == t.name {
			return -s.spans[last.span].Pair
		}
	}
}

// voidElements have no end tag.
var voidElements = set(`area base br col embed hr img input link meta param source track wbr`)

// opaqueElements have text that is not to be translated.
var opaqueElements = set(`code kbd samp var tt pre script style textarea svg math template
	xmp plaintext noembed noframes noscript iframe object canvas`)

// set makes a table of constants of words.
func set(words string) map[string]bool {
	table := map[string]bool{}
	for _, word := range strings.Fields(words) {
		table[word] = true
	}
	return table
}

// htmlTag reads a tag of HTML, as the tokenizer saw it.
func (s *scanner) htmlTag() tag {
	for s.nextTag < len(s.tags) && s.tags[s.nextTag].start < s.pos {
		s.nextTag++
	}
	if s.nextTag == len(s.tags) || s.tags[s.nextTag].start != s.pos || s.tags[s.nextTag].kind == html.TextToken {
		return tag{}
	}
	t := s.tags[s.nextTag]
	if t.opaque && t.partner > 0 {
		return tag{kind: Code, size: s.tags[t.partner].end - t.start}
	}
	return tag{kind: Tag, size: t.end - t.start, name: t.pairName(), end: t.kind == html.EndTagToken}
}

// textTag reads a tag in plain text. It has to look like one: "a <b and c> d" is
// none, "<b class=x>" is.
func (s *scanner) textTag() tag {
	switch rest := s.text[s.pos:]; {
	case strings.HasPrefix(rest, "<!--"):
		return tag{kind: Tag, size: s.closed(len("<!--"), "-->", len(s.text))}
	case strings.HasPrefix(rest, "<![CDATA["):
		return tag{kind: Tag, size: s.closed(len("<![CDATA["), "]]>", len(s.text))}
	case strings.HasPrefix(rest, "<!") && isASCIILetter(s.at(2)):
		return tag{kind: Tag, size: s.closed(2, ">", longestTemplate)}
	case strings.HasPrefix(rest, "<?") && isASCIILetter(s.at(2)):
		return tag{kind: Tag, size: s.closed(2, "?>", longestTag)}
	}
	if c := s.at(1); !isIdent(c) && c != '/' {
		return tag{}
	}
	if m := cueTag.FindStringSubmatch(s.rest(longestTemplate)); m != nil && (s.subtitles == webVTT || m[1] == "v" || m[1] == "lang") {
		return tag{kind: Tag, size: len(m[0]), name: m[1]}
	}
	if m := angled.FindString(s.rest(longestName)); m != "" {
		return tag{kind: Tag, size: len(m)}
	}
	if n := s.autolink(); n > 0 {
		return tag{kind: URL, size: n}
	}
	t := tag{kind: Tag, end: s.at(1) == '/'}
	start := 1
	if t.end {
		start = 2
	}
	name := tagName(s.text[s.pos+start : min(len(s.text), s.pos+start+longestName)])
	if name == "" {
		return tag{}
	}
	t.name = strings.ToLower(name)
	size, closed := attributes(s.text[s.pos:min(len(s.text), s.pos+longestTag)], start+len(name), t.end)
	if size == 0 {
		return tag{}
	}
	t.size = size
	if closed && !t.end {
		return tag{kind: Tag, size: size}
	}
	if opaqueElements[t.name] && !t.end {
		if end := "</" + name + ">"; s.find(end, s.pos+size) >= 0 {
			return tag{kind: Code, size: s.find(end, s.pos+size) + len(end) - s.pos}
		}
	}
	return t
}

// angled are the times of subtitles and lyrics, and names of headers of C.
var angled = regexp.MustCompile(`^<(?:(?:\d+:)?\d\d:\d\d(?:[.,]\d+)?|[\w/]+\.h(?:pp)?)>`)

// cueTag is the start of a part of a cue of WebVTT: <v Mary>, <c.yellow>.
var cueTag = regexp.MustCompile(`^<(v|c|lang|b|i|u|ruby|rt)(?:\.[\w.-]+)?(?:[ \t][^<>\n]*)?>`)

// autolink returns the length of <https://example.com> and <a@example.com>.
func (s *scanner) autolink() int {
	if !isASCIILetter(s.at(1)) && !isASCIIDigit(s.at(1)) {
		return 0
	}
	inner := *s // asked one byte further on, without changing what is remembered here
	inner.pos++
	n := inner.url()
	if n == 0 {
		n = inner.uri()
	}
	if n == 0 {
		n = inner.email()
	}
	if n == 0 || s.at(1+n) != '>' {
		return 0
	}
	return 1 + n + 1
}

// tagName returns the name of an element at the start of text.
func tagName(text string) string {
	n := 0
	for n < len(text) && (isIdent(text[n]) || n > 0 && oneOf(text[n], ":.-")) {
		n++
	}
	if n == 0 || !isASCIILetter(text[0]) && !isOnlyDigits(text[:n]) {
		return ""
	}
	return text[:n]
}

// isOnlyDigits says whether a name is a number: <0>…</0> is how some libraries mark
// the parts of a message.
func isOnlyDigits(name string) bool { return strings.Trim(name, "0123456789") == "" }

// attributes goes over the attributes of a tag from byte i on and returns where the
// tag ends: 0 where it does not look like one. closed is whether it ends in />.
func attributes(text string, i int, end bool) (size int, closed bool) {
	if value := attributeValue(text, i); value > i && !end { // <color=red>, of rich text in games
		i = value
	}
	for {
		start := i
		for i < len(text) && oneOf(text[i], " \t\r\n\f") {
			i++
		}
		switch {
		case i == len(text):
			return 0, false
		case text[i] == '>':
			return i + 1, false
		case strings.HasPrefix(text[i:], "/>"):
			return i + 2, true
		case i == start || end: // an attribute needs a space, and end tags have none
			return 0, false
		}
		if i = attribute(text, i); i == 0 {
			return 0, false
		}
	}
}

// attribute returns where the attribute that starts at i ends, 0 where none does.
func attribute(text string, i int) int {
	start := i
	for i < len(text) && (isIdent(text[i]) || oneOf(text[i], ":.-@#*()[]")) {
		i++
	}
	name := text[start:i]
	if name == "" || i == len(text) {
		return 0
	}
	if text[i] != '=' {
		if booleanAttributes[strings.ToLower(name)] {
			return i
		}
		return 0
	}
	return max(0, attributeValue(text, i))
}

// attributeValue returns where the value ends whose = is at i: i where there is no =, and
// -1 where no value is behind it.
func attributeValue(text string, i int) int {
	if i >= len(text) || text[i] != '=' {
		return i
	}
	i++
	if i < len(text) && oneOf(text[i], `"'`) {
		end := strings.IndexByte(text[i+1:], text[i])
		if end < 0 {
			return -1
		}
		return i + 1 + end + 1
	}
	start := i
	for i < len(text) && text[i] > ' ' && !oneOf(text[i], "\"'<>=`") {
		i++
	}
	if i == start {
		return -1
	}
	if text[i-1] == '/' && i < len(text) && text[i] == '>' {
		i-- // <br class=x/> is read as closed in itself
	}
	return i
}

// booleanAttributes are the ones that need no value.
var booleanAttributes = set(`allowfullscreen async autofocus autoplay checked controls default defer
	disabled download formnovalidate hidden inert ismap itemscope loop multiple muted nomodule
	noshade novalidate nowrap open playsinline readonly required reversed selected`)

// entity returns the length of &amp; and other references to characters, and of a whole
// tag or reference that is written with them: &lt;b&gt;, &amp;nbsp;.
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
		if !isIdent(c) && (c != '#' || i > 0) && (i == 0 || s.form != XML || !oneOf(c, ".-:")) {
			return 0
		}
	}
	// "&copyx;" starts with one that needs no semicolon, and goes on with text. In XML,
	// a document may define its own.
	if plain := html.UnescapeString(reference); s.form != XML && (plain == reference || utf8.RuneCountInString(plain) > 2) {
		return 0
	}
	return len(reference)
}

// What documents about HTML write. Tables of constants: they are never changed.
var (
	escapedReference = regexp.MustCompile(`^&amp;#?\w+;`)
	escapedTag       = regexp.MustCompile(`^&lt;(?:/?[A-Za-z][\w:.-]*(?:\s+[\w:.-]+=(?:"[^"<>&]*"|'[^'<>&]*'|&quot;[^"<>&]*&quot;))*\s*/?|!--[^<>&]*--)(?:&gt;|>)`)
)
