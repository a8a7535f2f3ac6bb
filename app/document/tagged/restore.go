package tagged

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// Rewrite translates the paragraph's text by translate, if it has a letter, and returns the paragraph's new content; encode
// writes a text between the Open and Close of its style. It returns false if nothing changes. A translation with other tags than
// the text is an error that wraps [markup.ErrLost], a paragraph of too many parts a [*document.Error].
//
// A paragraph can be rewritten only once.
func (p *Paragraph) Rewrite(translate func(text string) (string, error), encode func(text string) string) (string, bool, error) {
	if p.parts > maxParts {
		return "", false, document.Refuse(nil, "the file has a paragraph of more than %d parts", maxParts)
	}
	s := p.segment()
	if s == nil {
		return "", false, nil
	}
	translation, err := translate(s.text)
	if err != nil || translation == s.text {
		return "", false, err
	}
	tokens, err := s.parse(translation)
	if err != nil {
		return "", false, err
	}
	if s.isEmptied(tokens) {
		p.lost++
	}
	if p.lead != "" {
		p.cut(tokens)
	}
	w := &writer{encode: encode, readings: &p.readings, read: map[string]int{}}
	w.raw(p.floats.String())
	s.write(w, s.path, tokens)
	if w.flush(); w.isFull() {
		return "", false, fmt.Errorf("%w: more than %d MiB would be written", markup.ErrLost, maxWritten>>20)
	}
	return w.out.String(), true, nil
}

// write writes the first group of a path with its content. In the last group of the path, the translation replaces the text.
func (s *segment) write(w *writer, path []*node, tokens []token) {
	g := path[0]
	w.raw(g.open)
	if len(path) == 1 {
		w.nodes(g.children[:s.start])
		s.translated(w, tokens)
		w.nodes(g.children[s.end:])
	} else {
		at := slices.Index(g.children, path[1])
		w.nodes(g.children[:at])
		s.write(w, path[1:], tokens)
		w.nodes(g.children[at+1:])
	}
	w.raw(g.close)
}

// token is a part of a translation: text or a tag.
type token struct {
	text string
	node *node // of a tag
	end  bool  // the end tag of a pair
}

// tagForm matches tags. No other < may occur.
var tagForm = regexp.MustCompile(`<(?:g id="(\d+)"|(/)g|[xa] id="(\d+)"/|(br)/)>`)

// parse reads a translation and checks its tags.
func (s *segment) parse(translation string) ([]token, error) {
	p := parser{segment: s, seen: make([]bool, len(s.tags))}
	at := 0
	for _, m := range tagForm.FindAllStringSubmatchIndex(translation, -1) {
		p.text(translation[at:m[0]])
		p.tag(translation, m)
		at = m[1]
	}
	p.text(translation[at:])
	all := len(s.tags) + len(s.endings)
	if missing := all - p.found - p.lines + len(p.opened); missing > 0 {
		p.lose("%d of %d tags are missing", missing, all)
	}
	if p.err != nil {
		return nil, p.err
	}
	s.reorder(p.tokens)
	return p.tokens, nil
}

// isEmptied reports whether the text has letters outside its pairs, in the usual style, and the translation has none.
func (s *segment) isEmptied(tokens []token) bool {
	scope := s.path[len(s.path)-1]
	if !slices.ContainsFunc(scope.children[s.start:s.end], func(n *node) bool { return n.kind == text && n.words == letters }) {
		return false
	}
	depth := 0
	for _, t := range tokens {
		switch {
		case t.end:
			depth--
		case t.node != nil && t.node.isPair():
			depth++
		case t.node == nil && depth == 0 && wordsOf(t.text) >= digits:
			return false
		}
	}
	return true
}

// parser reads a translation.
type parser struct {
	*segment
	tokens []token
	opened []*node // pairs that are not closed yet
	seen   []bool  // by number: whether the tag has occurred
	found  int     // number of tags
	lines  int     // number of line breaks
	err    error   // the first fault
}

// lose records a fault.
func (p *parser) lose(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: "+format, append([]any{markup.ErrLost}, args...)...)
	}
}

func (p *parser) text(t string) {
	if strings.Contains(t, "<") {
		p.lose("a tag that the text does not have")
	} else if t != "" {
		p.tokens = append(p.tokens, token{text: html.UnescapeString(t)})
	}
}

// tag reads a tag. m is the match of tagForm.
func (p *parser) tag(translation string, m []int) {
	last := len(p.opened) - 1
	switch isPair, isEnd, isEnding := m[2] >= 0, m[4] >= 0, m[8] >= 0; {
	case isEnding && p.lines == len(p.endings):
		p.lose("more than %d ends of lines", len(p.endings))
	case isEnding:
		p.tokens = append(p.tokens, token{node: p.endings[p.lines]})
		p.lines++
	case isEnd && last < 0:
		p.lose("a pair is closed that is not open")
	case isEnd:
		p.tokens = append(p.tokens, token{node: p.opened[last], end: true})
		p.opened = p.opened[:last]
	default:
		p.numbered(translation[max(m[2], m[6]):max(m[3], m[7])], isPair)
	}
}

// numbered reads a tag with a number, which has not occurred yet.
func (p *parser) numbered(id string, isPair bool) {
	number, err := strconv.Atoi(id)
	switch {
	case err != nil || number < 1 || number > len(p.tags) || p.tags[number-1].isPair() != isPair:
		p.lose("there is no tag %.20s", id)
		return
	case p.seen[number-1]:
		p.lose("tag %d is there twice", number)
		return
	}
	p.seen[number-1] = true
	p.found++
	n := p.tags[number-1]
	if p.tokens = append(p.tokens, token{node: n}); isPair {
		p.opened = append(p.opened, n)
	}
}

func (n *node) isPair() bool { return n.kind != special && n.words >= digits }

// reorder restores the order of the ordered specials, at the positions that they have in the translation.
func (s *segment) reorder(tokens []token) {
	var inOrder []*node
	for _, n := range s.tags {
		if !n.isPair() && n.ordered {
			inOrder = append(inOrder, n)
		}
	}
	for i, t := range tokens {
		if t.node != nil && !t.node.isPair() && t.node.ordered {
			tokens[i].node, inOrder = inOrder[0], inOrder[1:]
		}
	}
}
