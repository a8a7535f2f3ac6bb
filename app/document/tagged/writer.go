package tagged

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dragoman/app/text/markup"
)

// writer writes nodes. It joins consecutive texts of one style.
type writer struct {
	encode func(text string) string
	out    strings.Builder
	style  Style
	text   strings.Builder // text in style, not yet written

	readings *markup.Readings
	read     map[string]int // by word: how often its reading has been written
}

// maxWritten is the maximum size in bytes of a rewritten paragraph: the markup of a style is repeated with each text in it.
const maxWritten = 32 << 20

func (w *writer) isFull() bool { return w.out.Len() > maxWritten }

func (w *writer) plain(style Style, t string) {
	if t == "" {
		return
	}
	if w.text.Len() > 0 && w.style.Key != style.Key {
		w.flush()
	}
	if w.text.Len() == 0 {
		w.style = style
	}
	w.text.WriteString(t)
}

func (w *writer) flush() {
	if w.text.Len() == 0 {
		return
	}
	for part, isRaw := range w.readings.Within(w.text.String(), w.read) {
		if w.isFull() {
			break
		}
		if !isRaw {
			part = w.style.Open + w.encode(part) + w.style.Close
		}
		w.out.WriteString(part)
	}
	w.text.Reset()
}

func (w *writer) raw(markup string) {
	if markup == "" {
		return
	}
	if w.flush(); !w.isFull() {
		w.out.WriteString(markup)
	}
}

// nodes writes nodes unchanged.
func (w *writer) nodes(list []*node) {
	for _, n := range list {
		switch n.kind {
		case text:
			w.plain(n.style, n.text)
		case ending:
			w.ending(n, n.style)
		default:
			w.raw(n.open)
			w.raw(n.raw)
			w.nodes(n.children)
			w.raw(n.close)
		}
	}
}

func (w *writer) ending(n *node, style Style) {
	if n.raw == "" {
		w.plain(style, n.text)
		return
	}
	w.raw(n.style.Open + n.raw + n.style.Close)
}

// pairs are the open tags of a translation, the innermost last.
type pairs []*pairTag

// pairTag is an open pair. closed reports that the group had to be closed before its end tag.
type pairTag struct {
	node   *node
	closed bool
}

// translated writes a translation.
//
// A group may be nested only in its original groups: a link cannot be in a link. If the translation nests it in another one, the
// other one ends before it, and the rest of its text takes the style around it.
func (s *segment) translated(w *writer, tokens []token) {
	var open pairs
	for i, t := range tokens {
		switch n := t.node; {
		case n == nil:
			before, inner, after := spaces(t.text)
			g := open.group(s.path[len(s.path)-1])
			if i > 0 && tokens[i-1].end && tokens[i-1].node.after != nil {
				w.plain(*tokens[i-1].node.after, before)
				before = ""
			}
			follows := i+1 < len(tokens) && tokens[i+1].node != nil && !tokens[i+1].end && tokens[i+1].node.before != nil
			if !follows {
				inner, after = inner+after, ""
			}
			if w.separated(g, before+inner); follows {
				w.plain(*tokens[i+1].node.before, after)
			}
		case n.kind == ending:
			w.ending(n, open.group(s.path[len(s.path)-1]).base)
		case t.end:
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if n.kind == group && !last.closed {
				w.raw(n.close)
			}
		case !n.isPair():
			w.nodes([]*node{n})
		default:
			if n.kind == group {
				open.leave(w, n)
				w.raw(n.open)
			}
			open = append(open, &pairTag{node: n})
		}
	}
}

// group returns the group of text at this position, or a node with its style as the base.
func (open pairs) group(root *node) *node {
	for _, p := range slices.Backward(open) {
		switch {
		case p.node.kind == styled:
			return &node{base: p.node.style}
		case !p.closed:
			return p.node
		}
	}
	return root
}

// spaces separates the white space at the ends of a text.
func spaces(t string) (before, inner, after string) {
	inner = strings.TrimLeftFunc(t, unicode.IsSpace)
	before = t[:len(t)-len(inner)]
	inner = strings.TrimRightFunc(inner, unicode.IsSpace)
	return before, inner, t[len(before)+len(inner):]
}

var separator = regexp.MustCompile(`[\s\p{P}\p{S}]+`)

// sameSigns replaces the separators of other scripts by those of English.
var sameSigns = strings.NewReplacer("，", ",", "、", ",", "،", ",", "；", ";", "؛", ";")

// separated writes text of a group, with separators in their style.
func (w *writer) separated(g *node, t string) {
	if g.signs == "" { // there are none in another style
		w.plain(g.base, t)
		return
	}
	at := 0
	for _, m := range separator.FindAllStringIndex(t, -1) {
		if strings.ContainsAny(sameSigns.Replace(t[m[0]:m[1]]), g.signs) {
			w.plain(g.base, t[at:m[0]])
			w.plain(g.between, t[m[0]:m[1]])
			at = m[1]
		}
	}
	w.plain(g.base, t[at:])
}

// leave closes the groups that did not contain n.
func (open pairs) leave(w *writer, n *node) {
	around := map[*node]bool{}
	for g := n.parent; g != nil; g = g.parent {
		around[g] = true
	}
	for _, p := range slices.Backward(open) {
		if p.node.kind == group && !p.closed && !around[p.node] {
			w.raw(p.node.close)
			p.closed = true
		}
	}
}
