package textfile

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"

	htmltoken "golang.org/x/net/html"

	"dragoman/app/document/xmlpart"
	"dragoman/app/text/markup"
	"dragoman/app/text/wrap"
)

// htmlUnits translates HTML: the units of package markup, and the attributes and hidden contents that are shown.
func htmlUnits(p *pass) {
	tokens := p.tokens(p.text)
	h := &htmlFile{pass: p, languages: p.languages(tokens)}
	h.attributes = p.shownAttributes(tokens, h.languages, p.options.To)
	at := 0
	pieces, err := markup.SplitTokens(p.ctx, p.text, tokens)
	p.looks.Check(err)
	for _, piece := range pieces {
		p.looks.Past(len(piece.Raw))
		h.piece(at, piece)
		at += len(piece.Raw)
	}
}

// svg translates SVG: its texts, titles and descriptions. Each positioned part of a text is a text by itself.
func svg(p *pass) {
	if !svgRoot.MatchString(p.text) {
		p.refuse(nil, "the XML is no SVG: its root element is not svg")
	}
	htmlUnits(p)
}

var svgRoot = regexp.MustCompile(`^\s*(?:<[?!](?s:[^>]|--.*?--)*>\s*(?:\]>\s*)?)*<(?:\w+:)?svg[\s/>]`)

// htmlFile goes through the pieces of a document.
type htmlFile struct {
	*pass
	attributes []attribute // the remaining ones, and hidden contents, in order
	languages  languages
}

// declared is an element that declares a language.
type declared struct {
	wrap.Line
	isForeign bool // it is another one than the source
}

// languages are the elements that declare a language, up to a position, in order.
type languages struct{ open, rest []declared }

// languages returns the elements of a document that declare a language, but for its root. A document of unknown language has none.
func (p *pass) languages(tokens []markup.Token) (l languages) {
	for i, t := range tokens {
		p.looks.Past(t.End - t.Start)
		if p.options.From == "" || t.Partner <= i && endedBy[t.Name] == nil || t.Name == "html" || !strings.Contains(strings.ToLower(p.text[t.Start:t.End]), "lang") {
			continue
		}
		raw := readAttributes(p.text, t.Start, t.End)
		if code := cmp.Or(find(raw, "lang"), find(raw, "xml:lang"), find(raw, "systemlanguage")); code != "" { // the last one in SVG
			l.rest = append(l.rest, declared{wrap.Line{Start: t.Start, End: tokens[p.lastOf(tokens, i)].End}, p.isForeign(code)})
		}
	}
	return l
}

// to moves to a byte, and reports whether the text there is in another language than the source.
func (l *languages) to(at int) bool {
	for {
		next := at
		if len(l.rest) > 0 {
			next = min(at, l.rest[0].Start)
		}
		for len(l.open) > 0 && l.open[len(l.open)-1].End <= next {
			l.open = l.open[:len(l.open)-1]
		}
		if next == at {
			return len(l.open) > 0 && l.open[len(l.open)-1].isForeign
		}
		l.open, l.rest = append(l.open, l.rest[0]), l.rest[1:]
	}
}

// endedBy has the elements whose end tag HTML lets authors omit, with the start tags that end them.
var endedBy = map[string][]string{
	"p": strings.Fields(`address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5
		h6 header hgroup hr main menu nav ol p pre search section table ul`),
	"li": {"li"}, "dt": {"dt", "dd"}, "dd": {"dt", "dd"}, "rt": {"rt", "rp"}, "rp": {"rt", "rp"},
	"td": {"td", "th", "tr", "thead", "tbody", "tfoot"}, "th": {"td", "th", "tr", "thead", "tbody", "tfoot"},
	"tr": {"tr", "thead", "tbody", "tfoot"}, "thead": {"thead", "tbody", "tfoot"}, "tbody": {"thead", "tbody", "tfoot"},
	"tfoot": {"thead", "tbody", "tfoot"}, "option": {"option", "optgroup", "hr"}, "optgroup": {"optgroup", "hr"},
}

// lastOf returns the last token of an element: its end tag or, where that may be missing, the token before the one that ends it, which
// is a start tag or the end tag of its parent.
func (p *pass) lastOf(tokens []markup.Token, i int) int {
	ends, isOptional := endedBy[tokens[i].Name]
	if !isOptional {
		return max(i, tokens[i].Partner)
	}
	for j := i + 1; j < len(tokens); j++ {
		t := tokens[j]
		p.looks.Past(1)
		switch {
		case j == tokens[i].Partner:
			return j
		case t.Kind == htmltoken.StartTagToken && slices.Contains(ends, t.Name), t.Kind == htmltoken.EndTagToken:
			return j - 1
		}
		j = max(j, t.Partner)
	}
	return len(tokens) - 1
}

// isForeign reports whether a range is in an element in another language; if not, within are such elements in the range.
func (h *htmlFile) isForeign(start, end int) (all bool, within []wrap.Line) {
	if h.languages.to(start) {
		return true, nil
	}
	last := start // the end of the last element of within
	for _, d := range h.languages.rest {
		switch {
		case d.Start >= end:
			return false, within
		case d.Start == start && d.End >= end && d.isForeign:
			return true, nil
		case d.Start >= last && d.isForeign:
			within, last = append(within, d.Line), d.End
		}
	}
	return false, within
}

// stayMark marks an element in a unit that stays.
const stayMark = ` translate="no"`

// marked marks elements in another language in a unit that starts at byte at.
func (h *htmlFile) marked(at int, raw string, foreign []wrap.Line) string {
	for _, f := range slices.Backward(foreign) {
		if i := f.Start - at; i >= 0 && i < len(raw) {
			i += 1 + len(xmlpart.NameOf(raw[i:]))
			raw = raw[:i] + stayMark + raw[i:]
		}
	}
	return raw
}

// upTo takes the attributes before byte end.
func (h *htmlFile) upTo(end int) []attribute {
	n := 0
	for n < len(h.attributes) && h.attributes[n].start < end {
		n++
	}
	taken := h.attributes[:n]
	h.attributes = h.attributes[n:]
	return taken
}

// piece translates a piece that starts at byte at, and the attributes in it.
func (h *htmlFile) piece(at int, piece markup.HTMLPiece) {
	text := piece.Raw
	within := h.upTo(at + len(text))
	if !piece.Unit {
		for _, a := range within {
			h.replace(a.start, a.end, h.attribute(a))
		}
		return
	}
	within = slices.DeleteFunc(within, func(a attribute) bool { return a.isHidden })
	all, foreign := h.isForeign(at, at+len(text))
	if !all && (plainStart.MatchString(text) || h.hasWords(piece)) {
		text = h.marked(at, text, foreign)
		text = h.translate(text)
		if len(foreign) > 0 {
			text = strings.ReplaceAll(text, stayMark+" ", " ")
		}
	}
	tags := map[string]string{} // tags of the unit, with their attributes translated
	for i := 0; i < len(within); {
		tag := h.text[within[i].tag[0]:within[i].tag[1]]
		var out strings.Builder
		written := within[i].tag[0]
		for last := within[i].tag; i < len(within) && within[i].tag == last; i++ {
			translation := h.attribute(within[i])
			out.WriteString(h.text[written:within[i].start] + translation)
			written = within[i].end
		}
		out.WriteString(h.text[written:within[i-1].tag[1]])
		tags[tag] = out.String()
	}
	h.replace(at, at+len(piece.Raw), h.replaceTags(text, tags))
}

// hasWords reports whether a unit has anything to translate. In a book, which has little code, that is each letter.
func (h *htmlFile) hasWords(unit markup.HTMLPiece) bool {
	if h.isPage {
		start, _, _ := strings.Cut(unit.Raw, "<")
		return !strings.Contains(start, "&") && hasLetter(start) || hasLetter(tagOrReference.ReplaceAllString(unit.Raw, ""))
	}
	return h.hasLanguage(unit.Parse(h.ctx))
}

var tagOrReference = regexp.MustCompile(`<[^<>]*>|&#?\w+;`)

// plainStart matches the start of a text of plain words, which has thus something to translate: most texts of pages need no closer look.
var plainStart = regexp.MustCompile(`^[\p{Lu}\p{Ll}]\p{Ll}+\s+\p{Ll}{2,}\s+\p{Ll}`)

// replaceTags replaces the tags of a translation, in which they may be in another order.
func (p *pass) replaceTags(text string, tags map[string]string) string {
	if len(tags) == 0 {
		return text
	}
	var out strings.Builder
	for _, t := range p.tokens(text) {
		raw := text[t.Start:t.End]
		if other, ok := tags[raw]; ok {
			raw = other
		}
		out.WriteString(raw)
	}
	return out.String()
}

// attribute returns the text to write for the value of an attribute.
func (h *htmlFile) attribute(a attribute) string {
	raw := h.text[a.start:a.end]
	if a.isHidden {
		return h.within(raw, htmlUnits)
	}
	if a.value != "" {
		return a.value
	}
	if a.name == "srcdoc" && h.nested < mostNested { // a document
		if out := h.within(a.text, htmlUnits); out != a.text {
			return `"` + html.EscapeString(out) + `"`
		}
		return raw
	}
	before, inner, after := trimmed(a.text)
	if !hasLetter(inner) || h.isCode(inner) {
		return raw
	}
	segment := markup.HTML.Escape(inner)
	translation := h.translate(segment)
	if translation == segment {
		return raw
	}
	text := before + html.UnescapeString(translation) + after
	text = strings.ReplaceAll(strings.ReplaceAll(text, "&", "&amp;"), "<", "&lt;")
	if a.quote == "'" {
		return "'" + strings.ReplaceAll(text, "'", "&#39;") + "'"
	}
	return `"` + strings.ReplaceAll(text, `"`, "&quot;") + `"`
}
