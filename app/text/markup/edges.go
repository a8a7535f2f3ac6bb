package markup

import (
	"strings"

	"dragoman/app/text/char"
)

// edges answers queries about a range of a token that only shrinks. The answers together take time linear in the token.
type edges struct {
	token    string
	firsts   map[string]int          // the first sign of each set, at or behind the start of the range; -1 if there is none
	lasts    map[string]int          // the last sign of each set before the end of the range; -1 if there is none
	partners map[[2]rune]map[int]int // for each pair of an opening and a closing sign, the result of [partners]
}

// first returns the position of the first sign of set in bytes [from, to), or -1.
func (e *edges) first(set string, from, to int) int {
	at, known := e.firsts[set]
	if !known || at >= 0 && at < from {
		if at = strings.IndexAny(e.token[from:], set); at >= 0 {
			at += from
		}
		if e.firsts == nil {
			e.firsts = map[string]int{}
		}
		e.firsts[set] = at
	}
	if at >= to {
		return -1
	}
	return at
}

// last returns the position of the last sign of set in bytes [from, to), or -1.
func (e *edges) last(set string, from, to int) int {
	at, known := e.lasts[set]
	if !known || at >= to {
		at = strings.LastIndexAny(e.token[:to], set)
		if e.lasts == nil {
			e.lasts = map[string]int{}
		}
		e.lasts[set] = at
	}
	if at < from {
		return -1
	}
	return at
}

// isClosed reports whether the sign at byte from is closed by the sign at byte to.
func (e *edges) isClosed(from, to int, opening, closing rune) bool {
	if opening == closing {
		return e.first(string(opening), from+1, to) < 0
	}
	signs := [2]rune{opening, closing}
	if e.partners[signs] == nil {
		if e.partners == nil {
			e.partners = map[[2]rune]map[int]int{}
		}
		e.partners[signs] = partners(e.token, from, opening, closing)
	}
	return e.partners[signs][from] == to
}

// partners returns, for each sign opening at or behind byte i, the position of the sign that closes it.
func partners(text string, i int, opening, closing rune) map[int]int {
	ends := map[int]int{}
	set := string([]rune{opening, closing})
	var opened []int
	for {
		next := strings.IndexAny(text[i:], set)
		if next < 0 {
			return ends
		}
		i += next
		r, size := char.Decode(text, i)
		if r == opening {
			opened = append(opened, i)
		} else if n := len(opened) - 1; n >= 0 {
			ends[opened[n]] = i
			opened = opened[:n]
		}
		i += size
	}
}
