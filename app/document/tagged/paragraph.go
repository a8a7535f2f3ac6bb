// Package tagged joins the pieces of a document's paragraph into one text, and splits its translation into pieces again.
//
// The text has a tag wherever the paragraph has anything other than text of its usual style:
//
//	Press <g id="1">Save</g><x id="2"/> and wait.<br/>That is all.
//
// g encloses text in another style, or in a link or field. x stands for an element without text: a picture, a tab. a is an
// element that belongs behind a word: a reference to a note, a bookmark. br ends a line. Elements at the ends of the paragraph,
// or around all of it, are not part of the text. A translation must have each tag once, in any order, and closed pairs.
package tagged

import (
	"strings"
	"unicode"

	"dragoman/app/text/markup"
)

// Style is the markup that gives a text its appearance.
type Style struct {
	Key         string // equal for styles of equal appearance
	Open, Close string
	Raised      bool // superscript or subscript
	Spaceless   bool // spaces at the ends of its texts have the style of other texts
}

// Paragraph is built from start to end by the methods that add to it.
type Paragraph struct {
	// IsIn reports whether a text is in a language with which it is marked; see [Paragraph.Marked]. nil: none is.
	IsIn func(language, text string) bool

	root   node
	opened []*node // groups that are not closed yet, from the root on
	floats strings.Builder
	parts  int    // number of nodes, including rejected ones
	lost   int    // number of styles that no longer apply to any text
	lead   string // see StartWith
	start  string // the translation of lead

	readings markup.Readings
	base     *strings.Builder // the text with a reading so far; nil outside of one
}

// maxParts is the maximum number of runs, breaks, pictures and other parts of a paragraph: each takes memory.
const maxParts = 100_000

// New returns an empty paragraph.
func New() *Paragraph {
	p := &Paragraph{root: node{kind: group}}
	p.opened = []*node{&p.root}
	return p
}

// kind is the kind of a node.
type kind uint8

const (
	text   kind = iota
	ending      // a line break
	special
	group  // a link or a range: text between two pieces of markup
	styled // texts in one style that is not the base of their group
)

// node is a part of a paragraph.
type node struct {
	kind     kind
	text     string // of text, and of a line break that is written as text
	style    Style  // of text, ending and styled
	raw      string // of special, and of an ending that is markup: the markup
	language string // of a text that is marked as one in another language
	own      Style  // of such a text, if it stays
	mark     string // links the two ends of a range, "" for other specials
	opens    bool
	ordered  bool // a special that keeps its order among ordered ones
	point    bool // a special that belongs behind a word
	children []*node
	open     string // of a group
	close    string
	base     Style  // of a group: the usual style of its text
	between  Style  // of a group: the style of its separators
	signs    string // of a group: the signs and spaces that only separators have
	before   *Style // of a styled node: the style of the white space before it, and behind it; nil: that of the group
	after    *Style
	parent   *node // of a numbered group: the group that contains it
	words    words
}

// words classifies the text in a node.
type words uint8

const (
	none    words = iota
	space         // white space only
	signs         // neither letters nor digits
	digits        // digits, but no letters
	letters       // text to translate
)

// long is the length of a text from which on no more text is appended to it, to keep the work linear.
const long = 256

// Text adds a text.
func (p *Paragraph) Text(style Style, t string) { p.Marked(style, t, "", Style{}) }

// Marked adds a text that is marked as one in a language. It stays, in its own style, if it and the marked texts beside it are in that
// language.
func (p *Paragraph) Marked(style Style, t, language string, own Style) {
	if t == "" {
		return
	}
	if p.base != nil {
		p.base.WriteString(t)
	}
	list := p.top().children
	if n := len(list) - 1; n >= 0 && language+list[n].language == "" && list[n].kind == text && list[n].style.Key == style.Key && len(list[n].text) < long {
		list[n].text += t
		return
	}
	p.add(&node{kind: text, style: style, text: t, language: language, own: own})
}

// Break adds a line break, written as markup in its style, or as the text t if markup is "".
func (p *Paragraph) Break(style Style, markup, t string) {
	p.add(&node{kind: ending, style: style, raw: markup, text: t})
}

// Special adds markup without text.
func (p *Paragraph) Special(raw string) { p.special(node{raw: raw}) }

// Point adds markup without text that belongs behind a word, such as a note.
func (p *Paragraph) Point(raw string) { p.special(node{raw: raw, point: true}) }

// Lost reports whether a style is lost: the style of a part of a word, which takes on another one, or the usual style, if a
// translation has all of its words in tags. It is valid after Rewrite.
func (p *Paragraph) Lost() bool { return p.lost > 0 }

// Ordered adds a special that keeps its order among ordered ones, such as a part of a field.
func (p *Paragraph) Ordered(raw string) { p.special(node{raw: raw, ordered: true}) }

// special adds a special, unless it is empty.
func (p *Paragraph) special(n node) {
	if n.kind = special; n.raw != "" {
		p.add(&n)
	}
}

// Mark adds an end of a range, such as a bookmark; both ends have the same name.
func (p *Paragraph) Mark(raw, name string, opens bool) {
	p.add(&node{kind: special, raw: raw, mark: name, opens: opens, ordered: true, point: true})
}

// Open begins a group, such as a link. Close ends it.
func (p *Paragraph) Open(raw string) {
	g := &node{kind: group, open: raw}
	p.add(g)
	p.opened = append(p.opened, g)
}

// Close ends the last open group.
func (p *Paragraph) Close(raw string) {
	if n := len(p.opened) - 1; n > 0 {
		p.opened[n].close = raw
		p.opened = p.opened[:n]
	}
}

// BeginReading begins a text with a reading above or beside it.
func (p *Paragraph) BeginReading() { p.base = new(strings.Builder) }

// EndReading ends the text with a reading. raw is the markup of both: it is kept where the translation contains the text.
func (p *Paragraph) EndReading(raw string) {
	if p.base != nil && p.base.Len() > 0 {
		p.readings.Add(p.base.String(), raw)
	}
	p.base = nil
}

// Float adds markup that may stand at any position: it moves to the start.
func (p *Paragraph) Float(raw string) { p.floats.WriteString(raw) }

func (p *Paragraph) top() *node { return p.opened[len(p.opened)-1] }

func (p *Paragraph) add(n *node) {
	if p.parts++; p.parts > maxParts {
		return // reported by Rewrite
	}
	top := p.top()
	top.children = append(top.children, n)
}

// wordsOf classifies a text.
func wordsOf(t string) words {
	w := none
	for _, r := range t {
		switch {
		case unicode.IsLetter(r):
			return letters
		case unicode.IsNumber(r):
			w = max(w, digits)
		case unicode.IsSpace(r):
			w = max(w, space)
		default:
			w = max(w, signs)
		}
	}
	return w
}

// count sets and returns the class of the text in a node, recursively.
func (n *node) count() words {
	switch n.kind {
	case text:
		n.words = wordsOf(n.text)
	case group, styled:
		n.words = none
		for _, child := range n.children {
			n.words = max(n.words, child.count())
		}
	}
	return n.words
}
