package tagged

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dragoman/app/text/markup"
)

// segment is the text of a paragraph and its position.
type segment struct {
	path       []*node // groups around the text, from the root on; the last one contains it
	start, end int     // range of the last group's children that form the text
	text       string
	tags       []*node // by number minus 1
	endings    []*node
}

// segment returns the text to translate, or nil if there is none.
func (p *Paragraph) segment() *segment {
	p.root.children = formulas(undivided(pair(p.foreign(p.root.children))))
	p.lost = wholeWords(&p.root)
	if p.root.count() != letters {
		return nil
	}
	s := &segment{}
	scope := &p.root
	for {
		s.path = append(s.path, scope)
		inner := only(scope.children)
		if inner == nil {
			break
		}
		scope = inner
	}
	scope.children = trim(scope.children)
	s.start, s.end = ends(scope.children)
	head, tail := scope.children[:s.start:s.start], scope.children[s.end:]
	inner := regroup(scope, scope.children[s.start:s.end])
	s.end = s.start + len(inner)
	scope.children = append(append(head, inner...), tail...)
	var out strings.Builder
	s.tag(&out, inner)
	s.text = out.String()
	return s
}

// mostBetween is the maximum number of parts without words between two marked texts that are judged as one.
const mostBetween = 8

// foreign returns a list in which the texts that are in the language with which they are marked are specials. Texts with the same mark
// are judged as one, with what is between them.
func (p *Paragraph) foreign(list []*node) (out []*node) {
	for i := 0; i < len(list); i++ {
		n := list[i]
		n.children = p.foreign(n.children)
		if out = append(out, n); n.language == "" || p.IsIn == nil {
			continue
		}
		end := i + 1
		for k := end; k < len(list) && k <= end+mostBetween && (list[k].language == n.language || list[k].joins()); k++ {
			if list[k].language == n.language {
				end = k + 1
			}
		}
		var whole strings.Builder
		for _, part := range list[i:end] {
			whole.WriteString(part.text)
		}
		if !p.IsIn(n.language, whole.String()) {
			out = append(out, list[i+1:end]...)
		} else {
			style := n.style
			_, after := list[end-1].cutSpace(false, true)
			before, _ := n.cutSpace(true, false)
			for _, part := range list[i:end] {
				if part.language != "" {
					part.style = part.own
				}
			}
			phrase := &node{kind: special, children: list[i:end:end]}
			out = slices.Concat(out[:len(out)-1], spacing(before, style), []*node{phrase}, spacing(after, style))
		}
		i = end - 1
	}
	return out
}

// joins reports whether a node may stand within a phrase in another language.
func (n *node) joins() bool {
	return n.mark == "" && n.language == "" && (n.kind == special || n.kind == text && wordsOf(n.text) < digits)
}

// only returns the group that has all words of a list, or nil.
func only(list []*node) *node {
	var found *node
	for _, n := range list {
		if n.words < digits {
			continue
		}
		if found != nil {
			return nil
		}
		found = n
	}
	if found == nil || found.kind != group {
		return nil
	}
	return found
}

// trim splits off the white space at the ends of a list's text as nodes of their own.
func trim(list []*node) []*node {
	start, end := ends(list)
	var out []*node
	for i, n := range list {
		before, after := n.cutSpace(i == start, i == end-1)
		out = append(append(append(out, spacing(before, n.style)...), n), spacing(after, n.style)...)
	}
	return out
}

// cutSpace removes the white space from the start and the end of a text node.
func (n *node) cutSpace(start, end bool) (before, after string) {
	if n.kind == text && end {
		bare := strings.TrimRightFunc(n.text, unicode.IsSpace)
		n.text, after = bare, n.text[len(bare):]
	}
	if n.kind == text && start {
		bare := strings.TrimLeftFunc(n.text, unicode.IsSpace)
		n.text, before = bare, n.text[:len(n.text)-len(bare)]
	}
	return before, after
}

// spacing returns a node of white space, or none for an empty text.
func spacing(t string, style Style) []*node {
	if t == "" {
		return nil
	}
	return []*node{{kind: text, style: style, text: t, words: space}}
}

// ends returns the range of a list's nodes that have more than white space.
func ends(list []*node) (start, end int) {
	start = len(list)
	for i, n := range list {
		if n.words >= signs {
			start, end = min(start, i), i+1
		}
	}
	return start, end
}

// regroup determines the base style of a group, and encloses texts of other styles in styled nodes.
func regroup(g *node, list []*node) []*node {
	g.base = usual(list)
	g.absorb(list)
	var out []*node
	for i := 0; i < len(list); i++ {
		n := list[i]
		switch {
		case n.kind == group:
			n.children = regroup(n, n.children)
			n.parent = g
			out = append(out, loosen(n, g.base)...)
			continue
		case n.kind == text && n.style.Key != g.base.Key:
			end := i + 1 // behind the last text of the style; specials may stand between its texts
			for k := end; k < len(list) && (list[k].kind == special || list[k].kind == text && list[k].style.Key == n.style.Key); k++ {
				if list[k].kind == text {
					end = k + 1
				}
			}
			n = &node{kind: styled, style: n.style, children: list[i:end:end], before: n.before, after: list[end-1].after}
			n.count()
			i = end - 1
			out = append(out, loosen(n, g.base)...)
			continue
		}
		out = append(out, n)
	}
	return out
}

// loosen moves the white space at the ends of a pair outside: word processors leave it on either side, and models expect it
// between words.
func loosen(n *node, base Style) []*node {
	if len(n.children) == 0 || n.words < digits {
		return []*node{n}
	}
	first, last := n.children[0], n.children[len(n.children)-1]
	_, after := last.cutSpace(false, true)
	before, _ := first.cutSpace(true, false)
	isOwn := n.kind == styled && !n.style.Spaceless
	if isOwn && before != "" {
		n.before = &n.style
	}
	if isOwn && after != "" {
		n.after = &n.style
	}
	return slices.Concat(spacing(before, base), []*node{n}, spacing(after, base))
}

// absorb gives the base style to signs and spaces in a style of their own: a bold full stop behind regular text is not worth a
// tag. Separators, which have words on both sides, get their style again in the translation: the comma between two bold words. So do
// full stops, and spaces beside a pair.
func (g *node) absorb(list []*node) {
	const few = 3
	base, others := g.base, ""
	hasWords := func(list []*node) bool {
		return slices.ContainsFunc(list, func(n *node) bool { return n.words >= digits })
	}
	isAlike := func(i int, style Style) bool {
		return i >= 0 && i < len(list) && list[i].kind == text && list[i].style.Key == style.Key
	}
	for i, n := range list {
		if n.kind != text || n.words > signs || n.style.Key == base.Key || isAlike(i-1, n.style) || isAlike(i+1, n.style) {
			continue
		}
		if len([]rune(n.text)) <= few && !strings.ContainsFunc(n.text, unicode.IsSymbol) {
			if style := n.style; n.words == space {
				if i > 0 {
					list[i-1].after = &style
				}
				if i+1 < len(list) {
					list[i+1].before = &style
				}
			}
			if hasWords(list[:i]) && (g.signs == "" || g.between.Key == n.style.Key) {
				g.between, g.signs = n.style, g.signs+n.text
			} else {
				others += n.text
			}
			n.style = base
		}
	}
	for _, n := range list {
		if n.kind == text && n.words >= digits && n.style.Key == base.Key {
			others += n.text
		}
	}
	g.signs = strings.Map(func(r rune) rune {
		if strings.ContainsRune(others, r) {
			return -1
		}
		return r
	}, g.signs)
}

// usual returns the most frequent style of a list's text. If all text is in groups, it is the style of the first text, as a
// translation may have text between groups.
func usual(list []*node) Style {
	size := map[string]int{}
	var most *node
	for _, n := range list {
		if n.kind != text {
			continue
		}
		size[n.style.Key] += len(strings.TrimSpace(n.text)) + 1
		if most == nil || size[n.style.Key] > size[most.style.Key] {
			most = n
		}
	}
	if most == nil {
		most = firstText(list)
	}
	if most == nil {
		return Style{}
	}
	return most.style
}

// firstText returns the first text in a list and its groups, or nil.
func firstText(list []*node) *node {
	for _, n := range list {
		if n.kind == text {
			return n
		}
		if found := firstText(n.children); found != nil {
			return found
		}
	}
	return nil
}

// tag writes nodes as text with tags, and numbers the nodes that become tags.
func (s *segment) tag(out *strings.Builder, list []*node) {
	for i := 0; i < len(list); i++ {
		switch n := list[i]; {
		case n.kind == text:
			out.WriteString(markup.XML.Escape(n.text))
		case n.kind == ending:
			s.endings = append(s.endings, n)
			out.WriteString("<br/>")
		case n.kind == special || n.words < digits:
			last := i
			for last+1 < len(list) && (list[last+1].kind == special || list[last+1].kind != text && list[last+1].kind != ending && list[last+1].words < digits) {
				last++
			}
			all := together(list[i : last+1])
			name := "x"
			if all.point {
				name = "a"
			}
			out.WriteString("<" + name + ` id="` + s.number(all) + `"/>`)
			i = last
		default:
			out.WriteString(`<g id="` + s.number(n) + `">`)
			s.tag(out, n.children)
			out.WriteString("</g>")
		}
	}
}

// together combines adjacent nodes into one.
func together(list []*node) *node {
	n := &node{kind: special, children: list, point: true}
	for _, part := range list {
		n.ordered, n.point = n.ordered || part.ordered, n.point && part.point
	}
	return n
}

func (s *segment) number(n *node) string {
	s.tags = append(s.tags, n)
	return strconv.Itoa(len(s.tags))
}
