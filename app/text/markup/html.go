package markup

import (
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"dragoman/app/text/char"
)

// blockElements are the elements that start a new unit, br included.
var blockElements = set(`address article aside audio blockquote body br button canvas caption center col
	colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2
	h3 h4 h5 h6 head header hgroup hr html iframe legend li link main menu meta nav noembed noframes
	noscript object ol optgroup option p param plaintext pre script search section select source style
	summary table tbody td template textarea tfoot th thead title tr track ul video xmp`)

// runningElements are the elements that occur within a sentence: un<b>believ</b>able. All other elements, also those unknown to
// HTML, are inline too if their parent has text of its own. If the parent has only elements, as a form with labels has, each of
// them is a unit.
var runningElements = set(`abbr acronym b basefont bdi bdo big blink cite code data del dfn em font i img ins kbd
	map mark math nobr picture q rb rp rt rtc ruby s samp small span strike strong sub sup svg time tt u var wbr`)

// HTMLPiece is a part of a document of HTML or XML.
type HTMLPiece struct {
	// Raw is the piece as it is in the document.
	Raw string
	// Unit reports whether the piece is to be translated: text that belongs together, with its inline tags and comments. Other
	// pieces stay as they are.
	Unit   bool
	format Format // XML, CDATA, or else HTML
}

// SplitHTML cuts a document, or a part of one, into pieces. The pieces, joined, are the document. A unit is the text of a
// paragraph, a cell, a heading or another block, or the text between line breaks in a block. Elements beside each other without
// text, such as labels, are units too, unless they only format text. White space around a unit is not part of it.
//
// Comments, script, style, pre, code, textarea, svg and other elements whose content is not natural language stay as they are, as
// do elements with translate="no" or the class notranslate. Inside a unit such an element is one span. Attributes stay as they
// are, also title, alt and placeholder.
//
// Translate the unit as piece.Parse(). If it is not translated, write Raw.
func SplitHTML(ctx context.Context, text string) ([]HTMLPiece, error) {
	return split(ctx, text, HTML, outline{})
}

// SplitTokens is [SplitHTML] with the result of [Tokens].
func SplitTokens(ctx context.Context, text string, tokens []Token) (list []HTMLPiece, err error) {
	end := len(text)
	if last := len(tokens) - 1; last >= 0 && tokens[last].partial {
		tokens, end = tokens[:last], tokens[last].Start
	}
	err = char.Look(ctx, len(text), func(l *char.Looks) {
		p := pieces{text: text, format: HTML, looks: l}
		p.split(tokens, end, outline{})
		list = p.list
	})
	return list, err
}

// SplitXML cuts an XML document, or a part of one, like SplitHTML. It knows no element by name: an element whose parent has text
// of its own is inline, every other element is a unit. Text in a CDATA section without other text beside it is a unit. Names are
// case-sensitive. Elements with translate="no", translatable="false" or mtype="protected" stay as they are, as do references to entities
// that the document defines. An [Outline] gives other rules for units.
func SplitXML(ctx context.Context, text string) ([]HTMLPiece, error) {
	return split(ctx, text, XML, outline{})
}

func split(ctx context.Context, text string, format Format, o outline) (list []HTMLPiece, err error) {
	err = char.Look(ctx, len(text), func(l *char.Looks) {
		p := pieces{text: text, format: format, looks: l}
		tokens, end := tokenize(l, text, format)
		p.split(tokens, end, o)
		list = p.list
	})
	return list, err
}

// split cuts the text before byte end, of which the tokens are known.
func (p *pieces) split(tokens []Token, end int, o outline) {
	text, format := p.text, p.format
	apart := standApart(p.looks, text, tokens, format, o)
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		p.looks.Past(t.End - t.Start)
		switch {
		case t.Kind == html.StartTagToken && t.opaque && (format == XML || !voidElements[t.Name]):
			i = opaqueEnd(tokens, i)
			if apart[i] || t.Partner == 0 {
				p.fixed(t.Start, tokens[i].End)
			}
		case t.Kind == html.TextToken && apart[i]:
			p.cdata(t.Start, t.End)
		case t.Kind == html.TextToken && o.lines && !strings.HasPrefix(text[t.Start:t.End], cdata):
			p.lines(t.Start, t.End)
		case t.Kind == html.TextToken:
			p.letters = p.letters || isLanguage(text[t.Start:t.End])
		case t.Kind == html.DoctypeToken, apart[i]:
			p.fixed(t.Start, t.End)
		}
	}
	p.fixed(end, len(text))
}

// standApart returns for each token whether it separates units. In HTML these are the tags of blocks, and of other elements
// without text beside them unless they are running elements; in XML the outline decides.
func standApart(looks *char.Looks, text string, tokens []Token, format Format, o outline) []bool {
	parents, mixed := family(looks, text, tokens, format)
	apart := make([]bool, len(tokens))
	for i, t := range tokens {
		looks.Past(1)
		switch {
		case t.Kind == html.TextToken:
			apart[i] = format == XML && strings.HasPrefix(text[t.Start:t.End], cdata) && !mixed[parents[i]]
		case t.Name == "":
		case format == XML:
			apart[i] = apart[i] || o.splits(t, !mixed[parents[i]])
			if t.Partner > 0 {
				apart[t.Partner] = apart[i]
			}
		case blockElements[t.Name]:
			apart[i] = true
		case runningElements[t.Name]:
		case t.Kind == html.SelfClosingTagToken, t.Partner > 0:
			apart[i] = !mixed[parents[i]]
			if t.Partner > 0 {
				apart[t.Partner] = apart[i]
			}
		}
	}
	return apart
}

// family returns the index of each token's parent start tag, and the set of parents that have text of their own. Index -1 is the
// document.
func family(looks *char.Looks, text string, tokens []Token, format Format) (parents []int, mixed map[int]bool) {
	parents, mixed = make([]int, len(tokens)), map[int]bool{}
	type element struct{ start, end int }
	var opened []element
	for i, t := range tokens {
		looks.Past(t.End - t.Start)
		for n := len(opened) - 1; n >= 0 && i >= opened[n].end; n-- {
			opened = opened[:n]
		}
		parents[i] = -1
		if n := len(opened) - 1; n >= 0 {
			parents[i] = opened[n].start
		}
		raw := text[t.Start:t.End]
		if t.Kind == html.TextToken && !strings.HasPrefix(raw, cdata) && strings.TrimSpace(html.UnescapeString(raw)) != "" ||
			format == HTML && runningElements[t.Name] && t.Kind != html.EndTagToken && t.Name != "img" {
			mixed[parents[i]] = true
		}
		if format == HTML && (t.Name == "sup" || t.Name == "sub") { // a link to a note in it belongs to the text
			mixed[i] = true
		}
		if t.Partner > 0 {
			opened = append(opened, element{i, t.Partner})
		}
	}
	return parents, mixed
}

// opaqueEnd returns the index of the last token of an element that is not translated. An element without an end tag ends before
// the next block.
func opaqueEnd(tokens []Token, i int) int {
	if tokens[i].Partner > 0 {
		return tokens[i].Partner
	}
	for i++; i < len(tokens); i++ {
		if blockElements[tokens[i].Name] {
			break
		}
	}
	return i - 1
}

// isLanguage reports whether raw has letters or numbers, and so something to translate.
func isLanguage(raw string) bool {
	return strings.IndexFunc(html.UnescapeString(raw), func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r)
	}) >= 0
}

// htmlSpace is the white space of HTML and XML.
const htmlSpace = " \t\r\n\f"

// pieces collects the pieces of a document. Text between two fixed ranges is a unit.
type pieces struct {
	text    string
	looks   *char.Looks
	format  Format
	list    []HTMLPiece
	start   int  // where the last piece starts
	at      int  // where the current unit starts
	letters bool // whether the current unit has anything to translate
}

// fixed ends the current unit at start and adds [start, end) as a piece that stays as it is.
func (p *pieces) fixed(start, end int) {
	if p.letters {
		unit := p.text[p.at:start]
		from := start - len(strings.TrimLeft(unit, htmlSpace))
		to := p.at + len(strings.TrimRight(unit, htmlSpace))
		p.add(p.at, from, false)
		p.add(from, to, true)
		p.add(to, start, false)
	} else {
		p.add(p.at, start, false)
	}
	p.add(start, end, false)
	p.at, p.letters = end, false
}

// lines adds text whose line ends separate units.
func (p *pieces) lines(start, end int) {
	for {
		n := strings.IndexByte(p.text[start:end], '\n')
		if n < 0 {
			break
		}
		p.looks.Past(n)
		p.letters = p.letters || isLanguage(p.text[start:start+n])
		p.fixed(start+n, start+n+1)
		start += n + 1
	}
	p.letters = p.letters || isLanguage(p.text[start:end])
}

// cdata adds a CDATA section whose text is a unit.
func (p *pieces) cdata(start, end int) {
	p.fixed(start, start+len(cdata))
	p.letters = isLanguage(p.text[start+len(cdata) : end-len("]]>")])
	document := p.format
	p.format = CDATA
	p.fixed(end-len("]]>"), end)
	p.format = document
}

// add appends a piece. A piece that stays as it is extends a previous one that does, too.
func (p *pieces) add(start, end int, unit bool) {
	if start == end {
		return
	}
	if last := len(p.list) - 1; !unit && last >= 0 && !p.list[last].Unit {
		p.list[last].Raw = p.text[p.start:end]
		return
	}
	p.start = start
	p.list = append(p.list, HTMLPiece{Raw: p.text[start:end], Unit: unit, format: p.format})
}

// Parse returns a unit as a sentence with its spans.
func (p HTMLPiece) Parse(ctx context.Context) (Sentence, error) {
	return Sentence{}.within(ctx, len(p.Raw), func(s Sentence) Sentence { return p.parse(s.looks) })
}

func (p HTMLPiece) parse(looks *char.Looks) Sentence {
	format := p.format
	if format == Text {
		format = HTML
	}
	return parse(scanner{text: p.text(looks, true), form: format, looks: looks})
}

// Text returns the text of a unit to be translated: entities decoded, each run of white space collapsed to one space, tags
// unchanged. Signs that would be read as markup without their entity keep it.
func (p HTMLPiece) Text(ctx context.Context) (text string, err error) {
	err = char.Look(ctx, len(p.Raw), func(l *char.Looks) { text = p.text(l, true) })
	return text, err
}

// Prose returns the text of a unit that a reader sees: without tags, comments and elements that stay as they are. The text of a
// CDATA section is returned as it is.
func (p HTMLPiece) Prose(ctx context.Context) (prose string, err error) {
	err = char.Look(ctx, len(p.Raw), func(l *char.Looks) { prose = html.UnescapeString(p.text(l, false)) })
	return prose, err
}

func (p HTMLPiece) text(looks *char.Looks, tags bool) string {
	decode := func(raw string) string { return decodeText(looks, raw, false) }
	switch p.format {
	case CDATA:
		return p.Raw
	case XML:
		decode = func(raw string) string { return decodeXML(looks, raw) }
	}
	tokens, end := tokenize(looks, p.Raw, p.format)
	var out strings.Builder
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		raw := p.Raw[t.Start:t.End]
		switch {
		case t.Kind == html.TextToken && (p.format != XML || !strings.HasPrefix(raw, cdata)):
			out.WriteString(decode(raw))
			continue
		case t.opaque && t.Partner > 0:
			i = t.Partner
		}
		if tags || t.Kind == html.TextToken {
			out.WriteString(p.Raw[t.Start:tokens[i].End])
		}
	}
	out.WriteString(p.Raw[end:])
	return out.String()
}

// Entities returns a replacer that writes symbols of a translation as references, such as &copy; or &#8230;, if raw, the HTML or
// XML unit of the sentence, writes them only so. It is nil if there are no such symbols.
func (s Sentence) Entities(raw string) *strings.Replacer {
	if s.format != HTML && s.format != XML || !strings.Contains(raw, "&") {
		return nil
	}
	var pairs []string
	known := map[rune]bool{} // symbols that occur unescaped in raw, or already have a pair
	for _, r := range strings.ToValidUTF8(raw, "") {
		if r >= 0x80 {
			known[r] = true
		}
	}
	for _, written := range symbolReference.FindAllString(raw, -1) {
		symbol := html.UnescapeString(written)
		r := char.First(symbol)
		if len(symbol) == utf8.RuneLen(r) && r >= 0x80 && !unicode.IsLetter(r) && !unicode.IsMark(r) && !known[r] {
			pairs = append(pairs, symbol, written)
			known[r] = true
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	return strings.NewReplacer(pairs...)
}

var symbolReference = regexp.MustCompile(`&(?:#\d{2,7}|#[xX][0-9A-Fa-f]{2,6}|[A-Za-z][A-Za-z0-9]{1,30});`)

// decodeText decodes the entities of a text and collapses its white space. In XML the & of references stays escaped.
func decodeText(looks *char.Looks, raw string, xml bool) string {
	text := html.UnescapeString(raw)
	var out strings.Builder
	space, tag := false, false
	for i := range len(text) {
		c := text[i]
		looks.Past(1)
		if char.OneOf(c, htmlSpace) {
			if !space {
				out.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		switch {
		case c == '<' && (startsMarkup(text[i:]) || xml && startsTag(text[i:])):
			out.WriteString("&lt;")
			tag = true
		case c == '>' && tag: // the end of an apparent tag
			out.WriteString("&gt;")
			tag = false
		case c == '&' && (startsEntity(text[i:]) || xml && reference.MatchString(text[i:])):
			out.WriteString("&amp;")
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// startsMarkup reports whether text, which starts with <, would be read as a tag.
func startsMarkup(text string) bool {
	return len(text) > 1 && (char.IsASCIILetter(text[1]) || char.OneOf(text[1], "/!?"))
}

// startsEntity reports whether text, which starts with &, would be decoded.
func startsEntity(text string) bool {
	const longest = len("&CounterClockwiseContourIntegral;")
	text = text[:min(len(text), longest)]
	if next := strings.IndexByte(text[1:], '&'); next >= 0 {
		text = text[:1+next]
	}
	return html.UnescapeString(text) != text
}
