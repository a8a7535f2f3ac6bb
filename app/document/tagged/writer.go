package tagged

import (
	"slices"
	"strings"

	"dragoman/app/text/markup"
)

// writer writes nodes. Texts of one style that follow each other become one.
type writer struct {
	encode func(text string) string
	out    strings.Builder
	style  Style
	text   strings.Builder // in that style, not written yet

	readings *markup.Readings
	read     map[string]int // how often each word was written with its reading
}

// maxWritten is how many bytes a paragraph may become: a style is written again with each text that has it.
const maxWritten = 32 << 20

func (w *writer) isFull() bool { return w.out.Len() > maxWritten }

func (w *writer) plain(style Style, t string) {
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

// nodes writes nodes as they are.
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

// pairs are the tags that are open in a translation, the last one innermost.
type pairs []*pairTag

// pairTag is a pair that is open. A group that had to be closed before its end tag is no more written.
type pairTag struct {
	node   *node
	closed bool
}

// translated writes a translation.
//
// A group may only be in those that it was in: a link cannot be in a link. Where the translation puts
// it into another, that one ends before it, and its further text has the style around it.
func (s *segment) translated(w *writer, tokens []token) {
	var open pairs
	for _, t := range tokens {
		switch n := t.node; {
		case n == nil:
			w.plain(open.style(s.path[len(s.path)-1].base), t.text)
		case n.kind == ending:
			w.ending(n, open.style(s.path[len(s.path)-1].base))
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

// style is that of text here.
func (open pairs) style(base Style) Style {
	for _, p := range slices.Backward(open) {
		switch {
		case p.node.kind == styled:
			return p.node.style
		case !p.closed:
			return p.node.base
		}
	}
	return base
}

// leave closes the groups that n was not in.
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
