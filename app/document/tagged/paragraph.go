// Package tagged makes one text of a paragraph that a document has in pieces, and pieces of its
// translation.
//
// The text has a tag wherever the paragraph has something that is no text of its usual style:
//
//	Press <g id="1">Save</g><x id="2"/> and wait.<br/>That is all.
//
// g has text in another style, or in a link or a field. x stands for what has no text: a picture, a tab. a is
// that which belongs behind a word: a reference to a note, a bookmark. br ends a line. What is at the paragraph's ends, or around the whole of
// it, is not part of the text. A translation has each tag once, in any order, and pairs that are closed.
package tagged

import (
	"strings"
	"unicode"

	"dragoman/app/text/markup"
)

// Style is what a text is put into so that it looks as it does.
type Style struct {
	Key         string // equal for styles that look the same
	Open, Close string
	Raised      bool // or lowered: a superscript, a subscript
}

// Paragraph is built from its start to its end by the methods that add to it.
type Paragraph struct {
	root   node
	opened []*node // groups that are not closed, from the root on
	floats strings.Builder
	parts  int    // nodes, and those that were not added
	lost   int    // styles that no text has any more
	lead   string // see StartWith
	start  string // what became of it

	readings markup.Readings
	base     *strings.Builder // the text that has come of what has a reading; nil outside of it
}

// maxParts is how many runs, breaks, pictures and so on a paragraph may have: each takes memory.
const maxParts = 100_000

// New returns a paragraph without anything in it.
func New() *Paragraph {
	p := &Paragraph{root: node{kind: group}}
	p.opened = []*node{&p.root}
	return p
}

// kind is what a node is.
type kind uint8

const (
	text   kind = iota
	ending      // a line's end
	special
	group  // a link or a range: text between two pieces of markup
	styled // texts of one style that is not its group's base
)

// node is a part of a paragraph.
type node struct {
	kind     kind
	text     string // of text, and of a line's end that is written as text
	style    Style  // of text, ending and styled
	raw      string // of special, and of an ending that is markup, as it is written
	mark     string // what ties the two ends of a range together, "" for other specials
	opens    bool
	ordered  bool // a special that stays in its order among those that are
	point    bool // a special that belongs behind a word
	children []*node
	open     string // of a group
	close    string
	base     Style // of a group: its text's usual one
	parent   *node // of a group that has got a number: the group that it is in
	words    words
}

// words says what text a node has in it.
type words uint8

const (
	none    words = iota
	space         // white space only
	signs         // no letters and no digits
	digits        // no letters
	letters       // something to translate
)

// long is a text that no other is added to: so that is linear.
const long = 256

// Text adds a text.
func (p *Paragraph) Text(style Style, t string) {
	if t == "" {
		return
	}
	if p.base != nil {
		p.base.WriteString(t)
	}
	list := p.top().children
	if n := len(list) - 1; n >= 0 && list[n].kind == text && list[n].style.Key == style.Key && len(list[n].text) < long {
		list[n].text += t
		return
	}
	p.add(&node{kind: text, style: style, text: t})
}

// Break adds a line's end, which is written as markup in its style, or as text where markup is "".
func (p *Paragraph) Break(style Style, markup, t string) {
	p.add(&node{kind: ending, style: style, raw: markup, text: t})
}

// Special adds what has no text, as it is written.
func (p *Paragraph) Special(raw string) { p.special(node{raw: raw}) }

// Point adds what has no text and belongs behind a word, such as a note.
func (p *Paragraph) Point(raw string) { p.special(node{raw: raw, point: true}) }

// Lost says whether a style is lost: one that had only a part of a word, which has another one now, or the usual one, where
// a translation has all of its words in tags. It is known when the paragraph is rewritten.
func (p *Paragraph) Lost() bool { return p.lost > 0 }

// Ordered adds a special that has to stay in its order among its like, such as a part of a field.
func (p *Paragraph) Ordered(raw string) { p.special(node{raw: raw, ordered: true}) }

// special adds a special, unless nothing is written for it.
func (p *Paragraph) special(n node) {
	if n.kind = special; n.raw != "" {
		p.add(&n)
	}
}

// Mark adds an end of a range, such as a bookmark; both have the same name.
func (p *Paragraph) Mark(raw, name string, opens bool) {
	p.add(&node{kind: special, raw: raw, mark: name, opens: opens, ordered: true, point: true})
}

// Open begins a group, such as a link, which Close ends.
func (p *Paragraph) Open(raw string) {
	g := &node{kind: group, open: raw}
	p.add(g)
	p.opened = append(p.opened, g)
}

// Close ends the group that was opened last.
func (p *Paragraph) Close(raw string) {
	if n := len(p.opened) - 1; n > 0 {
		p.opened[n].close = raw
		p.opened = p.opened[:n]
	}
}

// BeginReading says that the text which comes has a reading above or beside it.
func (p *Paragraph) BeginReading() { p.base = new(strings.Builder) }

// EndReading ends that text. raw is the text and its reading as they are written: they stay so where the translation has
// the text.
func (p *Paragraph) EndReading(raw string) {
	if p.base != nil && p.base.Len() > 0 {
		p.readings.Add(p.base.String(), raw)
	}
	p.base = nil
}

// Float adds what may stand anywhere: it goes to the start.
func (p *Paragraph) Float(raw string) { p.floats.WriteString(raw) }

func (p *Paragraph) top() *node { return p.opened[len(p.opened)-1] }

func (p *Paragraph) add(n *node) {
	if p.parts++; p.parts > maxParts {
		return // Rewrite says so
	}
	top := p.top()
	top.children = append(top.children, n)
}

// wordsOf says what a text has.
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

// count sets what text a node and those below it have.
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
