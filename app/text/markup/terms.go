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

// Term is a term of a text and its translation.
type Term struct {
	Source string
	Target string // equal to Source if the term is not translated
}

// Terms is a set of terms to find in texts. It is immutable and safe for concurrent use.
//
// A term matches its characters in any equivalent Unicode form (NFC), with any white space between its words. A term without
// capitals matches in any case, other terms only as written. At an end that is a letter or digit of a script with spaces, no
// further letter or digit may follow: "cat" is not in "category", but 猫 is in 子猫. Of overlapping matches the first wins, and
// among those with the same start the longest.
type Terms struct {
	exact, lower []entry // sorted by key; lower has the terms without capitals
}

// entry is a term with the folded form by which it is found.
type entry struct {
	key  string
	term *Term
}

// NewTerms returns the set of a list of terms. Of terms with equal sources the first wins; terms without any character are left
// out.
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

// termMatch is an occurrence of a term in a text.
type termMatch struct {
	start, end int // in bytes of the text
	term       *Term
}

// find returns the matches in a text, in order and without overlaps.
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

// findIn returns the longest match at each position of a text.
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

// folded is a text in the form in which terms are compared.
type folded struct {
	text []byte
	// at maps each byte of text to the start of its character in the original, or -1 inside characters; its last element is the
	// length of the original. If at is nil, the positions are equal.
	at []int
}

// original returns the position in the original of byte at, or -1 inside a character.
func (f folded) original(at int) int {
	if f.at == nil {
		return at
	}
	return f.at[at]
}

// newFolded converts a text to NFC, with single spaces for white space, and to lower case if lower is set.
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

// isPlain reports whether a text is ASCII whose only white space is single spaces.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == ' ' && i > 0 && text[i-1] == ' ' {
			return false
		}
	}
	return true
}

// isBoundary reports whether no word continues across byte at.
func (f folded) isBoundary(at int) bool {
	before, _ := utf8.DecodeLastRune(f.text[:at])
	behind, _ := utf8.DecodeRune(f.text[at:])
	return at == 0 || at == len(f.text) || !char.IsWord(before) || !char.IsWord(behind)
}

// longest returns the longest entry of a sorted list that matches at a byte, and its end, or nil. It narrows the list to the
// entries with the prefix of the text: first by the common prefix of all entries, known from the first and last one, then by the
// next byte. It thereby examines each byte of the longest term about once.
func (f folded) longest(list []entry, at int) (found *entry, end int) {
	for depth := 0; len(list) > 0; {
		first, last := list[0].key, list[len(list)-1].key
		n := commonPrefix(first[depth:], last[depth:])
		if !bytes.HasPrefix(f.text[at+depth:], []byte(first[depth:depth+n])) {
			break
		}
		depth += n
		here := at + depth
		if len(first) == depth { // the shortest of the entries with this prefix comes first
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

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
