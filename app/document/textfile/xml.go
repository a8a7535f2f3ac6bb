package textfile

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/xmlpart"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
)

// xmlFormat is a kind of XML, with what is done at the tags of its elements.
type xmlFormat struct {
	root  string                            // the root element; "": any
	isNot string                            // the fault of a document with another one
	start func(x *xmlReader, e *xmlElement) // nil: nothing
	end   func(x *xmlReader, e *xmlElement)
}

// xmlReader reads the elements of an XML document with their positions. It knows only XML's own
// entities, and in books those of HTML.
type xmlReader struct {
	*pass
	decoder *xml.Decoder
	open    []xmlElement // the open elements, with that of the current tag
	chars   []byte       // the text since the last start tag
	isText  bool         // nothing but text has followed that tag
}

// xmlElement is an element with its positions.
type xmlElement struct {
	name          string // without prefix
	space         string // URL of its namespace
	attributes    []xml.Attr
	start, inner  int    // range of the start tag
	innerEnd, end int    // range of the end tag, once read
	text          string // at the end tag: the text, unless there is anything else in the element
	stays         bool   // not translated; inherited from the parent, unless set
	preserve      bool   // its white space counts (xml:space); inherited likewise
}

// read reads a document of a format.
func (f xmlFormat) read(p *pass) {
	p.translator = p.heldElements(p.translator)
	x := &xmlReader{pass: p, decoder: xml.NewDecoder(p.looks.Reader(strings.NewReader(p.text)))}
	x.decoder.CharsetReader = func(label string, input io.Reader) (io.Reader, error) {
		if p.encoding.declared || p.encoding.isWide() && strings.HasPrefix(strings.ToLower(label), "utf-16") {
			return input, nil
		}
		p.refuse(nil, "the XML is in %s: save it as UTF-8", label)
		return nil, nil
	}
	if p.isPage {
		x.decoder.Entity = xml.HTMLEntity
	}
	found := false
	for {
		start := int(x.decoder.InputOffset())
		token, err := x.decoder.Token()
		end := int(x.decoder.InputOffset())
		if err != nil && !errors.Is(err, io.EOF) {
			p.refuse(err, "the XML cannot be read: %s", strings.TrimPrefix(err.Error(), "XML syntax error "))
		}
		switch t := token.(type) {
		case xml.StartElement:
			x.begin(t, start, end)
			found = len(x.open) > 1 || f.root == "" || t.Name.Local == f.root
			if found && f.start != nil {
				f.start(x, x.element())
			}
		case xml.EndElement:
			e := x.element()
			e.innerEnd, e.end = max(start, e.inner), end
			if x.isText {
				e.text = string(x.chars)
			}
			x.isText = false
			f.end(x, e)
			x.open = x.open[:len(x.open)-1]
		case xml.CharData:
			x.chars = append(x.chars, t...)
		case xml.Directive:
			if entity.Match(t) {
				p.refuse(nil, "the XML declares entities, which are not read: write out what they stand for")
			}
		default:
			x.isText = false
		}
		if !found && (token == nil || len(x.open) > 0) {
			p.refuse(nil, "the XML %s: its root element is not %s", f.isNot, f.root)
		}
		if token == nil {
			return
		}
	}
}

// begin opens an element, whose start tag is the bytes [start, end).
func (x *xmlReader) begin(t xml.StartElement, start, end int) {
	if len(x.open) == maxDepth {
		x.refuse(nil, "the XML is nested deeper than %d elements", maxDepth)
	}
	e := xmlElement{name: t.Name.Local, space: t.Name.Space, attributes: t.Attr, start: start, inner: end}
	if len(x.open) > 0 {
		e.stays, e.preserve = x.element().stays, x.element().preserve
	}
	if space := e.attribute("space"); space != "" {
		e.preserve = space == "preserve"
	}
	x.open = append(x.open, e)
	x.chars, x.isText = x.chars[:0], true
}

var entity = regexp.MustCompile(`<!ENTITY`)

// element returns the element of the current tag, or the innermost open one.
func (x *xmlReader) element() *xmlElement { return &x.open[len(x.open)-1] }

// heldElements returns a translator that keeps the elements of a text that are in another language than the source. Elements in the
// language of the source get that of the target.
func (p *pass) heldElements(t document.Translate) document.Translate {
	if p.options.From == "" || p.options.To == "" {
		return t
	}
	return func(text string) (string, error) {
		translation, err := t(inlineLanguage.ReplaceAllStringFunc(text, func(tag string) string {
			if p.isForeign(inlineLanguage.FindStringSubmatch(tag)[1]) {
				name := 1 + len(xmlpart.NameOf(tag))
				return tag[:name] + stayMark + tag[name:]
			}
			return tag
		}))
		return inlineLanguage.ReplaceAllStringFunc(translation, func(tag string) string {
			if !strings.Contains(tag, stayMark) {
				return xmlpart.SetAttribute(tag, "xml:lang", p.options.To)
			}
			return strings.Replace(tag, stayMark, "", 1)
		}), err
	}
}

var inlineLanguage = regexp.MustCompile(`<[\w:.-]+(?:\s[^<>]*)?\sxml:lang\s*=\s*["']([\w-]+)["'][^<>]*>`)

// parent returns the name of the parent of the current tag's element.
func (x *xmlReader) parent() string {
	if len(x.open) < 2 {
		return ""
	}
	return x.open[len(x.open)-2].name
}

// attribute returns the value of an element's attribute, or "".
func (e *xmlElement) attribute(name string) string {
	for _, a := range e.attributes {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// put replaces the content of an element by text, and its start tag by tag.
func (x *xmlReader) put(e *xmlElement, tag, text string) {
	if name, ok := strings.CutSuffix(tag, "/>"); ok {
		name = strings.TrimRight(name, " \t\r\n")
		x.replace(e.start, e.end, name+">"+text+"</"+xmlpart.NameOf(name)+">")
		return
	}
	x.replace(e.start, e.innerEnd, tag+text)
}

// insert writes text behind an element, indented like it.
func (x *xmlReader) insert(e *xmlElement, text string) {
	indent := x.text[len(strings.TrimRight(x.text[:e.start], " \t\r\n")):e.start]
	x.replace(e.end, e.end, indent+text)
}

// setLanguage sets the language of the translations in a start tag, if it is known.
func (x *xmlReader) setLanguage(e *xmlElement, attribute string) {
	if x.options.To == "" {
		return
	}
	to, other := x.languageOf(e.attribute(attribute))
	x.other = other
	if attribute == "language" {
		to = posix(to)
	}
	x.replace(e.start, e.inner, xmlpart.SetAttribute(x.text[e.start:e.inner], attribute, to))
}

// posix returns a language code in the form of gettext and Qt: pt_BR, zh_CN.
func posix(code string) string {
	l := language.LocaleOf(code)
	switch {
	case l.Language == "" || !strings.Contains(code, "-"):
		return code
	case l.Language == "zh" || slices.Contains(strings.Split(code, "-"), l.Region):
		return l.Language + "_" + l.Region
	}
	return l.Language
}

// fragment returns a well-formed translation: one that is not is escaped as text.
func fragment(translation string) string {
	if xmlpart.IsWellFormed(translation, nil) {
		return translation
	}
	return markup.XML.Escape(translation)
}

// content translates the content of an element, and returns it well-formed, with the white space at its ends. It is not changed if
// it has nothing to translate, or if its translation equals it.
func (x *xmlReader) content(e *xmlElement, translate func(fragment string) string) (text string, isChanged bool) {
	before, inner, after := trimmed(plainSections(x.text[e.inner:e.innerEnd]))
	if !x.hasUnits(inner) {
		return "", false
	}
	broken, lines := inner, []string(nil)
	if e.preserve {
		broken, lines = withBreaks(inner)
	}
	translation := translate(broken)
	if translation == broken {
		return "", false
	}
	if len(lines) > 0 {
		var whole strings.Builder
		for i, line := range strings.Split(translation, lineBreak) {
			if i > 0 {
				whole.WriteString(lines[min(i, len(lines))-1])
			}
			whole.WriteString(line)
		}
		translation = whole.String()
	}
	return before + fragment(translation) + after, true
}

// lineBreak stands for a line end that counts in a segment, where white space does not.
const lineBreak = "<br/>"

// withBreaks writes the line ends in the text of a fragment as tags, and returns them, with the white space beside them.
func withBreaks(fragment string) (broken string, lines []string) {
	if strings.Contains(fragment, lineBreak) || !strings.Contains(fragment, "\n") {
		return fragment, nil
	}
	var out strings.Builder
	for _, part := range xmlParts(fragment) {
		if part.sort == 't' {
			lines = append(lines, spacedLine.FindAllString(part.raw, -1)...)
			part.raw = spacedLine.ReplaceAllLiteralString(part.raw, lineBreak)
		}
		out.WriteString(part.raw)
	}
	return out.String(), lines
}

var spacedLine = regexp.MustCompile(`[ \t]*\r?\n[ \t]*`)

// hasUnits reports whether an XML fragment has anything to translate.
func (p *pass) hasUnits(fragment string) bool {
	pieces, err := markup.SplitXML(p.ctx, fragment)
	p.looks.Check(err)
	return slices.ContainsFunc(pieces, func(piece markup.HTMLPiece) bool {
		return piece.Unit && p.hasLanguage(piece.Parse(p.ctx))
	})
}

// textPart is a part of a text: what a pattern matches, or what is between two matches.
type textPart struct {
	raw  string
	sort byte // 't' between matches, 'c' the group of a match, otherwise the first byte of a match without it: '<' a tag or a comment
}

// xmlMark matches the text of a CDATA section as its group, or a tag or a comment, without a group.
var xmlMark = regexp.MustCompile(`<!\[CDATA\[((?s:.*?))\]\]>|<!--(?s:.*?)-->|<\?(?s:.*?)\?>|<(?:[^"'<>]|"[^"]*"|'[^']*')*>`)

// xmlParts splits a well-formed fragment into its parts.
func xmlParts(fragment string) []textPart { return partsOf(fragment, xmlMark) }

// partsOf splits a text into its parts.
func partsOf(text string, mark *regexp.Regexp) (list []textPart) {
	at := 0
	for _, m := range append(mark.FindAllStringSubmatchIndex(text, -1), []int{len(text), len(text)}) {
		if m[0] > at {
			list = append(list, textPart{text[at:m[0]], 't'})
		}
		if len(m) > 2 && m[2] >= 0 {
			list = append(list, textPart{text[m[2]:m[3]], 'c'})
		} else if m[0] < m[1] {
			list = append(list, textPart{text[m[0]:m[1]], text[m[0]]})
		}
		at = m[1]
	}
	return list
}
