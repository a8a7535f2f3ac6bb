package tagged

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"dragoman/app/markup"
)

// formulas makes one special of each unit, formula or ordinal with something raised or lowered in it (m², H₂O, 1st),
// and of what is raised and has no word in it, such as a note's number that somebody typed.
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
		// What follows is part of it where it is as short: H₂SO₄.
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

// wordStart and wordEnd are the part of a word that a text starts and ends with.
func wordStart(t string) string {
	return t[:len(t)-len(strings.TrimLeftFunc(t, markup.IsWord))]
}

func wordEnd(t string) string { return t[len(strings.TrimRightFunc(t, markup.IsWord)):] }

// undivided leaves out of a list's texts what says where their words may be divided, and puts points that stand in a
// word behind it.
func undivided(list []*node) []*node {
	before := ' '
	var out []*node
	word := -1 // the last text in out, where nothing but points follow it
	for _, n := range list {
		n.children = undivided(n.children)
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

// joined makes one text of those of one style beside each other, and leaves empty ones out.
func joined(list []*node) []*node {
	var out []*node
	for _, n := range list {
		if k := len(out) - 1; n.kind == text && k >= 0 && out[k].kind == text && out[k].style.Key == n.style.Key && len(out[k].text) < long {
			out[k].text += n.text
		} else if n.kind != text || n.text != "" {
			out = append(out, n)
		}
	}
	return out
}

// wholeWords gives each word one style, and takes one that is partly in a link or a field into it: nobody can say
// which part of the word's translation that would be. The style is that of the word's largest part, unless
// another one would be nowhere any more. Where a capital follows a small letter no word goes on.
// It returns how many styles are lost.
func wholeWords(list []*node) (out []*node, lost int) {
	base := usual(list)
	isLost := func(n *node, part string) bool {
		return n.style.Key != base.Key && wordsOf(part) >= digits && wordsOf(strings.Replace(n.text, part, "", 1)) < digits
	}
	for i, n := range list {
		if n.kind != group {
			continue
		}
		inner := 0
		n.children, inner = wholeWords(n.children)
		lost += inner
		if before := neighbour(list, i-1); before != nil {
			if t := firstText(n.children[:min(1, len(n.children))]); t != nil && markup.GoesOn(before.text, t.text) {
				part := wordEnd(before.text)
				if isLost(before, part) && before.style.Key != t.style.Key {
					lost++
				}
				before.text, t.text = strings.TrimSuffix(before.text, part), part+t.text
			}
		}
		if next := neighbour(list, i+1); next != nil {
			if t := lastText(n.children); t != nil && markup.GoesOn(t.text, next.text) {
				part := wordStart(next.text)
				if isLost(next, part) && next.style.Key != t.style.Key {
					lost++
				}
				t.text, next.text = t.text+part, strings.TrimPrefix(next.text, part)
			}
		}
	}
	for i := 0; i < len(list); i++ {
		last := i
		for last+1 < len(list) && list[last].kind == text && list[last+1].kind == text && list[last].style.Key != list[last+1].style.Key && markup.GoesOn(list[last].text, list[last+1].text) {
			last++
			if wordStart(list[last].text) != list[last].text {
				break
			}
		}
		if last == i {
			continue
		}
		parts, whole := make([]string, 0, last-i+1), i
		var only []int // those whose style is nowhere else
		for k := i; k <= last; k++ {
			part := wordStart(list[k].text)
			if k == i {
				part = wordEnd(list[k].text)
			}
			if parts = append(parts, part); isLost(list[k], part) {
				only = append(only, k)
			}
		}
		size := func(k int) int { return utf8.RuneCountInString(parts[k-i]) }
		for k := i; k <= last; k++ {
			if size(k) > size(whole) {
				whole = k
			}
		}
		if len(only) > 0 {
			whole = slices.MaxFunc(only, func(a, b int) int { return cmp.Or(cmp.Compare(size(a), size(b)), cmp.Compare(b, a)) })
			lost += len(only) - 1
		}
		for k := i; k <= last; k++ {
			if k == i {
				list[k].text = strings.TrimSuffix(list[k].text, parts[0])
			} else {
				list[k].text = strings.TrimPrefix(list[k].text, parts[k-i])
			}
		}
		word := strings.Join(parts, "")
		if whole == i {
			list[i].text += word
		} else {
			list[whole].text = word + list[whole].text
		}
		i = last - 1 // which may begin another word
	}
	return joined(list), lost
}

// neighbour is the text at a place in a list, nil where there is none.
func neighbour(list []*node, i int) *node {
	if i < 0 || i >= len(list) || list[i].kind != text {
		return nil
	}
	return list[i]
}

// lastText is the text at the very end of a list.
func lastText(list []*node) *node {
	for len(list) > 0 {
		n := list[len(list)-1]
		if n.kind == text {
			return n
		}
		list = n.children
	}
	return nil
}
