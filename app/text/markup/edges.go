package markup

import (
	"strings"

	"dragoman/app/text/char"
)

// edges answers what is in a part of a token that only gets smaller, in time that is linear in the token for all answers
// together.
type edges struct {
	token    string
	firsts   map[string]int          // of each set of signs: the first one at or behind the start; -1 without one
	lasts    map[string]int          // the last one before the end
	partners map[[2]rune]map[int]int // of each sign and the one that closes it; see [partners]
}

// first returns where the first of a set of signs is from byte from to before byte to, -1 without one.
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

// last returns where the last of a set of signs is from byte from to before byte to, -1 without one.
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

// isClosed says whether what is opened at byte from is closed at byte to.
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

// partners finds where each of the signs opening is closed that are opened from byte i on.
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
