package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"dragoman/app/text/char"
)

// cell finds the sentences of text[start:end], which has no line end in it.
//
// Every run of terminals (".", "?!", "。") may end a sentence. UAX #29 decides about the place behind it, unless a rule of
// [cell.breaks] overrides it. The library is clipperhouse/uax29: rivo/uniseg has the tables of Unicode 15 instead of 17 and takes
// three to five times as long. Both are quadratic in runs of white space and of closing marks, which longFill keeps short.
func (s *splitter) cell(start, end int) {
	c := cell{text: s.text[start:end], rules: s.rules, brackets: s.brackets, standard: boundaries{text: s.text[start:end], looks: s.looks}}
	letters := false // in the current sentence
	var before rune
	for i, at := 0, 0; i < len(c.text); {
		s.looks.Past(i - at)
		at = i
		if b := c.text[i]; b < utf8.RuneSelf && b != '.' && b != '!' && b != '?' && b != '|' && rune(b) != c.rules.mark {
			letters = letters || char.IsASCIILetter(b)
			before = rune(b)
			i++
			continue
		}
		r, w := char.Decode(c.text, i)
		if !c.ends(r, before) {
			letters = letters || letter(r)
			before = r
			i += w
			continue
		}
		e := c.ending(i)
		before, i = r, e.stop
		if letters && e.next < len(c.text) && c.breaks(e) {
			s.sentence(start+c.from, start+e.next)
			c.from, i, letters = e.next, e.next, false
		}
	}
	s.sentence(start+c.from, end)
}

// cell is a part of a line during the search for its sentences.
type cell struct {
	text     string
	rules    *rules
	brackets bool // whether it may have brackets
	from     int  // where the current sentence starts
	standard boundaries
}

// boundaries are the sentence boundaries of UAX #29, found on demand.
type boundaries struct {
	looks    *char.Looks
	text     string
	iterator *sentences.Iterator[string] // nil where the search starts again
	from     int                         // where it started
	at       int                         // the last boundary found
}

// between reports whether a boundary lies between a and b. a must not decrease from call to call.
func (u *boundaries) between(a, b int) bool {
	if u.iterator == nil {
		u.iterator, u.from = sentences.FromString(u.text[u.at:]), u.at
	}
	for u.at < a && u.iterator.Next() {
		u.at = u.from + u.iterator.End()
		u.looks.Past(1)
	}
	return u.at >= a && u.at <= b
}

// behind reports whether a boundary lies behind e, whose white space and opening signs end at byte end. A mark, spaces and an ASCII
// letter need no table: a sentence ends there, unless it is a full stop before a small letter.
func (u *boundaries) behind(e ending, end int) bool {
	mark, next := u.text[e.stop-1], u.text[e.next]
	if !char.OneOf(mark, ".!?") || e.tail > e.stop || e.next == e.stop || !char.IsASCIILetter(next) || strings.Trim(u.text[e.stop:e.next], " ") != "" {
		return u.between(e.stop, end)
	}
	if mark == '.' && next >= 'a' {
		return false
	}
	u.at, u.iterator = e.next, nil
	return true
}

// ending is a possible end of a sentence, as byte positions in the cell:
//
//	He said: "Stop?!"  Then
//	             │ │ │ └ next
//	             │ │ └ tail
//	             │ └ stop
//	             └ start
type ending struct {
	start int // start of the terminals
	stop  int // end of the terminals
	tail  int // end of closing quotes, brackets, note references and emoji
	next  int // end of the white space
	// apart reports whether the closing marks stand apart, as in "« Quoi ? »" or "Fine. :-)".
	apart bool
	first rune // the first letter or digit of the following text, or U+FFFD
}

// ends reports whether rune r behind before may end a sentence. It adds ends that UAX #29 does not know: marks of one language,
// "|" for the danda, the marks of Tibetan.
func (c *cell) ends(r, before rune) bool {
	switch r {
	case '|':
		return indic(before)
	case '།', '༎', '༑':
		return true
	case '\u037E': // equivalent to ";"
		r = ';'
	}
	return terminal(r) || c.rules.mark != 0 && r == c.rules.mark
}

// ending returns the ending whose terminals start at i.
func (c *cell) ending(i int) ending {
	e := ending{start: i}
	_, w := char.Decode(c.text, i)
	e.stop = char.Skip(c.text, i+w, terminal)
	e.tail = closers(c.text, e.stop)
	e.next = char.Skip(c.text, e.tail, blank)
	if e.next > e.tail {
		if end := closersApart(c.text, e.next); end > e.next {
			e.apart, e.tail, e.next = true, end, char.Skip(c.text, end, blank)
		}
	}
	e.first, _ = char.Decode(c.text, char.Skip(c.text, e.next, func(r rune) bool {
		return opening(r) || closing(r) || hidden(r) || dash(r) || r == '+' || unicode.Is(unicode.Sc, r)
	}))
	return e
}

// closers returns the end of the quotes, brackets, emoji and note references that start at i.
func closers(s string, i int) int {
	for i < len(s) {
		r, w := char.Decode(s, i)
		switch {
		case closing(r), ornament(r), joiner(r), r == '¹', r == '²', r == '³', r >= '⁰' && r <= '⁹':
		case r == '“', r == '‘', r == '«': // close in German ("„…“", "»…«") if no word follows
			if next, w := char.Decode(s, i+w); w > 0 && !blank(next) && !unicode.IsPunct(next) {
				return i
			}
		case r == '[': // "[12]"
			w = 1 + char.Skip(s[i+1:], 0, unicode.IsDigit)
			if w == 1 || w > 4 || !strings.HasPrefix(s[i+w:], "]") {
				return i
			}
			w++
		default:
			return i
		}
		i += w
	}
	return i
}

// closersApart is closers behind white space, where "»" may also open: it counts only if no word follows. An emoticon belongs to
// the sentence before it.
func closersApart(s string, i int) int {
	end := char.Skip(s, i, func(r rune) bool { return closing(r) && !opening(r) })
	if end == i && i < len(s) && strings.IndexByte(":;=<^xX", s[i]) >= 0 {
		for _, face := range emoticons {
			if strings.HasPrefix(s[i:], face) {
				end = i + len(face)
				break
			}
		}
	}
	if r, w := char.Decode(s, end); w > 0 && !blank(r) && !unicode.IsPunct(r) {
		return i
	}
	return end
}

// emoticons is not complete; "8)" is missing because it numbers list items.
var emoticons = strings.Fields(":) :-) ;) ;-) :( :-( :D :-D ;D :P :-P :p :-p ;P xD XD :o :O :/ :-/ :| <3 ^^ ^_^ :'( =) =D")
