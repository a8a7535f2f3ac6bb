package markup

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// htmlToken is a tag, a comment or a text of HTML.
type htmlToken struct {
	start, end int
	kind       html.TokenType
	name       string // of a tag, in lower case
	opaque     bool   // a start tag whose element is not to be translated
	partner    int    // the number of the end tag of a start tag, 0 where there is none
}

// pairName is the name by which the start tag and the end tag of an element know
// each other, "" where they are none.
func (t htmlToken) pairName() string {
	if t.kind == html.StartTagToken || t.kind == html.EndTagToken {
		return t.name
	}
	return ""
}

// tokenizeHTML cuts text into tokens, as browsers do. They join to text[:end]: what
// is left is a tag without an end.
func tokenizeHTML(text string) (tokens []htmlToken, end int) {
	z := html.NewTokenizer(strings.NewReader(text))
	opened := map[string][]int{} // the start tags that wait for their end, by name
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return tokens, end
		}
		t := htmlToken{start: end, end: end + len(z.Raw()), kind: kind}
		end = t.end
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			t.name = string(name)
			t.opaque = opaqueElements[t.name] || more && hasNoTranslate(z)
			if kind == html.StartTagToken && !voidElements[t.name] {
				opened[t.name] = append(opened[t.name], len(tokens))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			t.name = string(name)
			if waiting := opened[t.name]; len(waiting) > 0 {
				tokens[waiting[len(waiting)-1]].partner = len(tokens)
				opened[t.name] = waiting[:len(waiting)-1]
			}
		}
		tokens = append(tokens, t)
	}
}

// hasNoTranslate says whether the attributes of the tag keep translators out.
func hasNoTranslate(z *html.Tokenizer) bool {
	found := false
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "translate":
			found = found || strings.EqualFold(string(value), "no")
		case "class":
			for class := range strings.FieldsSeq(string(value)) {
				found = found || class == "notranslate"
			}
		}
	}
	return found
}

// blockElements start a new unit, as does br. All others are inline, those that
// HTML does not know included.
var blockElements = set(`address article aside audio blockquote body br button canvas caption center col
	colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2
	h3 h4 h5 h6 head header hgroup hr html iframe legend li link main menu meta nav noembed noframes
	noscript object ol optgroup option p param plaintext pre script search section select source style
	summary table tbody td template textarea tfoot th thead title tr track ul video xmp`)

// HTMLPiece is a part of an HTML document.
type HTMLPiece struct {
	// Raw is the piece as it is in the document.
	Raw string
	// Unit says that there is something to translate in it: text that belongs
	// together, with the inline tags and comments in it. Other pieces stay as they are.
	Unit bool
}

// SplitHTML cuts a document, or a part of one, into pieces that join to it. A unit
// is the text of a paragraph, a cell, a heading or another block, or what is between
// the line breaks in it. White space around a unit is not part of it.
//
// Comments, script, style, pre, code, textarea, svg and other elements whose text is
// not language stay as they are, and so do elements with translate="no" or the class
// notranslate. Inside of a unit they are one span. Attributes stay as they are, title,
// alt and placeholder included.
//
// A unit is to be translated as Parse(piece.Text(), HTML). Where nothing is
// translated, write Raw.
func SplitHTML(text string) []HTMLPiece {
	tokens, end := tokenizeHTML(text)
	p := pieces{text: text}
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		block := blockElements[t.name]
		switch {
		case t.kind == html.StartTagToken && t.opaque && !voidElements[t.name]:
			i = opaqueEnd(tokens, i)
			if block || t.partner == 0 {
				p.fixed(t.start, tokens[i].end)
			}
		case t.kind == html.TextToken:
			p.letters = p.letters || isLanguage(text[t.start:t.end])
		case t.kind == html.DoctypeToken, block:
			p.fixed(t.start, t.end)
		}
	}
	p.fixed(end, len(text))
	return p.list
}

// opaqueEnd returns the number of the last token of an element that is not to be
// translated. One without an end tag ends before the next block.
func opaqueEnd(tokens []htmlToken, i int) int {
	if tokens[i].partner > 0 {
		return tokens[i].partner
	}
	for i++; i < len(tokens); i++ {
		if blockElements[tokens[i].name] {
			break
		}
	}
	return i - 1
}

// isLanguage says whether a text has anything to translate.
func isLanguage(raw string) bool {
	return strings.IndexFunc(html.UnescapeString(raw), func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r)
	}) >= 0
}

// pieces collects them. What is between two fixed ranges is a unit.
type pieces struct {
	text    string
	list    []HTMLPiece
	start   int  // where the last piece starts
	at      int  // where the unit in the making starts
	letters bool // whether it has any
}

// fixed ends the unit in the making before start and adds what comes up to end.
func (p *pieces) fixed(start, end int) {
	if p.letters {
		const space = " \t\r\n\f"
		unit := p.text[p.at:start]
		from := start - len(strings.TrimLeft(unit, space))
		to := p.at + len(strings.TrimRight(unit, space))
		p.add(p.at, from, false)
		p.add(from, to, true)
		p.add(to, start, false)
	} else {
		p.add(p.at, start, false)
	}
	p.add(start, end, false)
	p.at, p.letters = end, false
}

// add appends a piece, or makes the one before longer where both stay as they are.
func (p *pieces) add(start, end int, unit bool) {
	if start == end {
		return
	}
	if last := len(p.list) - 1; !unit && last >= 0 && !p.list[last].Unit {
		p.list[last].Raw = p.text[p.start:end]
		return
	}
	p.start = start
	p.list = append(p.list, HTMLPiece{Raw: p.text[start:end], Unit: unit})
}

// Text is what is to be translated of a unit: its entities decoded, each run of
// white space one space, its tags as they are. Signs that would be read as markup
// without their entity keep it.
func (p HTMLPiece) Text() string {
	tokens, end := tokenizeHTML(p.Raw)
	var out strings.Builder
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.kind == html.TextToken:
			out.WriteString(decodeHTML(p.Raw[t.start:t.end]))
			continue
		case t.opaque && t.partner > 0:
			i = t.partner
		}
		out.WriteString(p.Raw[t.start:tokens[i].end])
	}
	out.WriteString(p.Raw[end:])
	return out.String()
}

// decodeHTML decodes the entities of a text and collapses its white space.
func decodeHTML(raw string) string {
	text := html.UnescapeString(raw)
	var out strings.Builder
	space := false
	for i := range len(text) {
		c := text[i]
		if oneOf(c, " \t\r\n\f") {
			if !space {
				out.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		switch {
		case c == '<' && i+1 < len(text) && (isASCIILetter(text[i+1]) || oneOf(text[i+1], "/!?")):
			out.WriteString("&lt;")
		case c == '&' && startsEntity(text[i:]):
			out.WriteString("&amp;")
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// startsEntity says whether text, which starts with &, would be decoded there.
func startsEntity(text string) bool {
	const longest = len("&CounterClockwiseContourIntegral;")
	text = text[:min(len(text), longest)]
	if next := strings.IndexByte(text[1:], '&'); next >= 0 {
		text = text[:1+next]
	}
	return html.UnescapeString(text) != text
}
