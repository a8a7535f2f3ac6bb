package markup

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"dragoman/app/text/char"
)

// Term is a term of a text and what it becomes in a translation.
type Term struct {
	Source string
	Target string // as Source for one that stays as it is
}

// Terms are terms to look for in texts. They do not change, and are safe for concurrent use.
//
// A term is found where its characters are, in any form that Unicode holds equal (NFC), with any
// white space between its words. One without capitals is found in any case, others as they are
// written. At an end that is a letter or digit of a script with spaces between its words, no
// other one may follow: "cat" is not in "category", but 猫 is in 子猫. Where terms overlap, the
// one counts that begins first, and of those the longest.
type Terms struct {
	exact, lower []entry // sorted by key; lower has the terms without capitals
}

// entry is a term under the form that it is looked for in.
type entry struct {
	key  string
	term *Term
}

// NewTerms makes terms of a list. Of two with the same source the first one counts, and those
// without any character are left out.
func NewTerms(list []Term) *Terms {
	t := new(Terms)
	for i := range list {
		key := string(newFolded(nil, list[i].Source, false).text)
		key = strings.TrimSpace(key)
		switch lower := strings.ToLower(key); {
		case key == "":
		case key == lower:
			t.lower = append(t.lower, entry{key, &list[i]})
		default:
			t.exact = append(t.exact, entry{key, &list[i]})
		}
	}
	t.exact, t.lower = sorted(t.exact), sorted(t.lower)
	return t
}

func sorted(list []entry) []entry {
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return slices.CompactFunc(list, func(a, b entry) bool { return a.key == b.key })
}

// termMatch is a place of a term in a text.
type termMatch struct {
	start, end int // in bytes of the text
	term       *Term
}

// find returns the places of the terms in a text, in order and not overlapping.
func (t *Terms) find(looks *char.Looks, text string) []termMatch {
	matches := findIn(looks, t.exact, text, false)
	matches = append(matches, findIn(looks, t.lower, text, true)...)
	slices.SortStableFunc(matches, func(a, b termMatch) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	kept, end := matches[:0], 0
	for _, m := range matches {
		if m.start >= end {
			kept, end = append(kept, m), m.end
		}
	}
	return kept
}

// findIn returns the longest match at each place of a text where there is one.
func findIn(looks *char.Looks, list []entry, text string, lower bool) (matches []termMatch) {
	if len(list) == 0 {
		return nil
	}
	f := newFolded(looks, text, lower)
	for at := range f.text {
		looks.Past(1)
		if f.original(at) < 0 || !f.isBoundary(at) {
			continue
		}
		if e, end := f.longest(list, at); e != nil {
			matches = append(matches, termMatch{start: f.original(at), end: f.original(end), term: e.term})
		}
	}
	return matches
}

// folded is a text in the form that terms are looked for in.
type folded struct {
	text []byte
	// at are the bytes of the original that the characters begin at, and at last its length; -1
	// inside of characters. nil: they are the same.
	at []int
}

// original is the byte of the original for one of the text; -1 inside of a character.
func (f folded) original(at int) int {
	if f.at == nil {
		return at
	}
	return f.at[at]
}

// newFolded makes NFC of a text, with one space for white space, in lower case if asked to.
func newFolded(looks *char.Looks, text string, lower bool) folded {
	if isPlain(text) {
		f := folded{text: []byte(text)}
		if lower {
			f.text = bytes.ToLower(f.text)
		}
		return f
	}
	f := folded{text: make([]byte, 0, len(text)), at: make([]int, 0, len(text)+1)}
	var it norm.Iter
	start, spaced := 0, false
	for it.InitString(norm.NFC, text); !it.Done(); start = it.Pos() {
		looks.Past(1)
		part := it.Next()
		if r, _ := utf8.DecodeRune(part); unicode.IsSpace(r) {
			if spaced {
				continue
			}
			spaced, part = true, []byte{' '}
		} else {
			spaced = false
		}
		if lower {
			part = []byte(strings.ToLower(string(part)))
		}
		f.text = append(f.text, part...)
		f.at = append(f.at, start)
		for range len(part) - 1 {
			f.at = append(f.at, -1)
		}
	}
	f.at = append(f.at, len(text))
	return f
}

// isPlain says whether a text is ASCII without white space but single spaces.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == ' ' && i > 0 && text[i-1] == ' ' {
			return false
		}
	}
	return true
}

// isBoundary says whether no word goes on at a byte.
func (f folded) isBoundary(at int) bool {
	before, _ := utf8.DecodeLastRune(f.text[:at])
	behind, _ := utf8.DecodeRune(f.text[at:])
	return at == 0 || at == len(f.text) || !char.IsWord(before) || !char.IsWord(behind)
}

// longest returns the longest entry of a sorted list that is in the text at a byte, and where
// it ends; nil without one. It narrows the list down to those that begin as the text does: first
// by what all of them have in common, which the first and the last one tell, then by the next
// byte. So it looks at each byte of the longest term about once.
func (f folded) longest(list []entry, at int) (found *entry, end int) {
	for depth := 0; len(list) > 0; {
		first, last := list[0].key, list[len(list)-1].key
		n := commonPrefix(first[depth:], last[depth:])
		if !bytes.HasPrefix(f.text[at+depth:], []byte(first[depth:depth+n])) {
			break
		}
		depth += n
		here := at + depth
		if len(first) == depth { // the shortest of those that begin alike comes first
			if f.original(here) >= 0 && f.isBoundary(here) {
				found, end = &list[0], here
			}
			list = list[1:]
			continue
		}
		if here == len(f.text) {
			break
		}
		c := f.text[here]
		list = list[sort.Search(len(list), func(i int) bool { return list[i].key[depth] >= c }):]
		list = list[:sort.Search(len(list), func(i int) bool { return list[i].key[depth] > c })]
	}
	return found, end
}

// commonPrefix is how many bytes two texts begin with that are the same.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
