package tagged

import (
	"slices"
	"strings"
	"unicode/utf8"

	"dragoman/app/text/char"
	"dragoman/app/text/markup"
)

// formulas makes one special of each unit, formula or ordinal with a superscript or subscript (m², H₂O, 1st), and of each
// superscript without a word, such as a typed note number.
func formulas(list []*node) []*node {
	for _, n := range list {
		n.children = formulas(n.children)
	}
	var out []*node
	for i := 0; i < len(list); i++ {
		n := list[i]
		if n.kind != text || !n.style.Raised {
			out = append(out, n)
			continue
		}
		f := &node{kind: special, words: digits}
		base := ""
		if k := len(out) - 1; k >= 0 && out[k].kind == text && markup.IsRaised(n.text) {
			if base = wordEnd(out[k].text); base != "" && markup.IsBase(base) {
				f.children = append(f.children, &node{kind: text, style: out[k].style, text: base})
				out[k].text = strings.TrimSuffix(out[k].text, base)
				if out[k].text == "" {
					out = out[:k]
				}
			} else {
				base = ""
			}
		}
		if base == "" && wordsOf(n.text) != digits {
			out = append(out, n)
			continue
		}
		f.children = append(f.children, n)
		// Following text is part of the formula if it is as short: H₂SO₄.
		for base != "" && i+1 < len(list) && list[i+1].kind == text {
			next := list[i+1]
			if next.style.Raised && markup.IsRaised(next.text) {
				f.children = append(f.children, next)
				i++
				continue
			}
			start := wordStart(next.text)
			if next.style.Raised || start == "" || !markup.IsBase(start) {
				break
			}
			f.children = append(f.children, &node{kind: text, style: next.style, text: start})
			if next.text = strings.TrimPrefix(next.text, start); next.text != "" {
				break
			}
			i++
		}
		out = append(out, f)
	}
	return out
}

// wordStart and wordEnd return the part of a word at the start and at the end of a text.
func wordStart(t string) string {
	return t[:len(t)-len(strings.TrimLeftFunc(t, char.IsWord))]
}

func wordEnd(t string) string { return t[len(strings.TrimRightFunc(t, char.IsWord)):] }

// undivided removes hyphenation hints from the texts of a list, and moves points within a word behind it.
func undivided(list []*node) []*node {
	before := ' '
	var out []*node
	word := -1 // index of the last text in out that only points follow
	for _, n := range list {
		if n.kind != special { // a phrase that stays
			n.children = undivided(n.children)
		}
		switch {
		case n.kind == text:
			n.text = markup.Undivided(n.text, before)
			if before = ' '; n.text != "" {
				before, _ = utf8.DecodeLastRuneInString(n.text)
			}
			if word >= 0 && word < len(out)-1 && markup.GoesOn(out[word].text, n.text) {
				part := &node{kind: text, style: n.style, text: wordStart(n.text)}
				n.text = strings.TrimPrefix(n.text, part.text)
				out = slices.Insert(out, word+1, part)
				if word++; n.text == "" {
					continue
				}
			}
			out, word = append(out, n), len(out)
			continue
		case !n.point:
			before, word = ' ', -1
		}
		out = append(out, n)
	}
	return joined(out)
}

// joined joins adjacent texts of one style, and drops empty texts.
func joined(list []*node) []*node {
	var out []*node
	for _, n := range list {
		if k := len(out) - 1; n.kind == text && k >= 0 && out[k].kind == text && out[k].style.Key == n.style.Key && len(out[k].text) < long {
			out[k].text += n.text
		} else if n.kind != text || n.text != "" {
			n.children = joined(n.children)
			out = append(out, n)
		}
	}
	return out
}

// leaf is a text with the groups around it. A leaf without a node interrupts words.
type leaf struct {
	*node
	groups []*node // from the root on
	base   Style   // base style of the innermost group
}

// within reports whether a text is in the innermost group of another one.
func (l leaf) within(other leaf) bool {
	n := len(other.groups)
	return n <= len(l.groups) && l.groups[n-1] == other.groups[n-1]
}

// isLost reports whether a text in a style of its own has no word left without part.
func (l leaf) isLost(part string) bool {
	return l.style.Key != l.base.Key && wordsOf(part) >= digits && wordsOf(strings.Replace(l.text, part, "", 1)) < digits
}

// leaves returns the texts below the last group.
func leaves(groups ...*node) (list []leaf) {
	children := groups[len(groups)-1].children
	base := usual(children)
	for _, n := range children {
		switch n.kind {
		case text:
			list = append(list, leaf{n, groups, base})
		case group:
			list = append(list, leaves(append(groups[:len(groups):len(groups)], n)...)...)
		default:
			list = append(list, leaf{})
		}
	}
	return list
}

// wholeWords gives each word below a group a single style, and moves words that are partly in a link or field into it entirely,
// as the corresponding part of the word's translation is unknown. The style is that of the word's largest part, unless another
// style would no longer occur. A word ends where a capital follows a small letter. It returns the number of lost styles.
func wholeWords(root *node) (lost int) {
	list := leaves(root)
	for i := 0; i < len(list); {
		innermost, end := list[i], i+1
		for ; end < len(list) && list[end-1].node != nil && list[end].node != nil && markup.GoesOn(list[end-1].text, list[end].text); end++ {
			if end > i+1 && wordStart(list[end-1].text) != list[end-1].text {
				break
			}
			if list[end].within(innermost) {
				innermost = list[end]
			} else if !innermost.within(list[end]) {
				break
			}
		}
		if end > i+1 {
			lost += unite(list[i:end], innermost)
		}
		i = max(i+1, end-1) // the last one may begin another word
	}
	root.children = joined(root.children)
	return lost
}

// unite moves the word shared by all texts of list into one text of the innermost group. It returns the number of lost styles.
func unite(list []leaf, innermost leaf) (lost int) {
	parts, isLost := make([]string, len(list)), make([]bool, len(list))
	whole := -1
	for k, l := range list {
		if parts[k] = wordStart(l.text); k == 0 {
			parts[k] = wordEnd(l.text)
		}
		isLost[k] = l.isLost(parts[k])
		size := utf8.RuneCountInString(parts[k])
		if l.within(innermost) && (whole < 0 || isLost[k] && !isLost[whole] || isLost[k] == isLost[whole] && size > utf8.RuneCountInString(parts[whole])) {
			whole = k
		}
	}
	for k, l := range list {
		if k == 0 {
			l.text = strings.TrimSuffix(l.text, parts[0])
		} else {
			l.text = strings.TrimPrefix(l.text, parts[k])
		}
		if isLost[k] && l.style.Key != list[whole].style.Key {
			lost++
		}
	}
	word := strings.Join(parts, "")
	if whole == 0 {
		list[0].text += word
	} else {
		list[whole].text = word + list[whole].text
	}
	return lost
}
