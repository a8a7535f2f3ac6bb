package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// breaks reports whether a sentence ends at e.
func (c *cell) breaks(e ending) bool {
	// Opening quotes and brackets there belong to the next sentence, but UAX #29 assigns them to this one.
	behind := char.Skip(c.text, e.next, func(r rune) bool { return opening(r) || closing(r) || blank(r) })
	standard := c.standard.behind(e, behind)
	mark, _ := char.Decode(c.text, e.start)
	switch {
	case c.continues(e), c.bracketed(e):
		return false
	case e.tail == e.next:
		return standard && c.breaksTouching(e)
	case !terminal(mark): // terminals unknown to UAX #29
		return !small(e.first) && wordly(e.first)
	case strings.Trim(c.text[e.start:e.stop], ".…‥") == "":
		return c.breaksBehindDots(e, standard)
	}
	return c.breaksBehindMark(e, standard)
}

// continues reports whether the terminals cannot be an end: they stand in brackets ("[...]", "(!)"), or more of them follow
// ("Quoi ? !", ". . .").
func (c *cell) continues(e ending) bool {
	if openBracket(lastRune(c.text[:e.start])) {
		return true
	}
	dots := char.Skip(c.text, e.next, terminal)
	r, _ := char.Decode(c.text, dots)
	return dots > e.next && !wordly(r) // "...and then", ".NET" are words
}

// nearby is the maximum length in bytes of a text in brackets that is kept with its sentence.
const nearby = 240

// bracketed reports whether e is inside brackets that close soon: text in brackets is translated with the sentence around it.
func (c *cell) bracketed(e ending) bool {
	open := c.openAt(e.tail)
	if open < 0 {
		return false
	}
	depth := 0
	for i := e.next; i < min(len(c.text), open+nearby); {
		r, w := char.Decode(c.text, i)
		i += w
		switch {
		case openBracket(r):
			depth++
		case closeBracket(r) && depth == 0:
			return true
		case closeBracket(r):
			depth--
		}
	}
	return false
}

// openAt returns the position of this sentence's bracket that is still open at i, or -1.
func (c *cell) openAt(i int) int {
	if !c.brackets {
		return -1
	}
	depth := 0
	for end := max(c.from, i-nearby); i > end; {
		r, w := utf8.DecodeLastRuneInString(c.text[:i])
		i -= w
		switch {
		case closeBracket(r):
			depth++
		case openBracket(r) && depth == 0:
			return i
		case openBracket(r):
			depth--
		}
	}
	return -1
}

// breaksTouching decides at an ending without white space behind it. In scripts with spaces, ".", "!" and "?" end nothing there:
// they are part of addresses, file names, versions, numbers.
func (c *cell) breaksTouching(e ending) bool {
	last := lastRune(c.text[:e.stop])
	before := lastRune(c.text[:e.start])
	switch {
	case ellipsis(last):
		return false
	case last == '.':
		return wide(before) && wide(e.first)
	case last < utf8.RuneSelf:
		return wide(e.first) && !strings.Contains(c.text[max(c.from, e.start-128):e.start], "://")
	case c.isName(e):
		return false
	}
	closed, _ := char.Decode(c.text, e.stop)
	if open := c.openAt(e.stop); closeBracket(closed) && open >= 0 && strings.TrimFunc(c.text[c.from:open], blank) != "" {
		return false // a part of the sentence was in brackets
	}
	// In Japanese a particle continues the sentence: "「行く。」と言った", "モーニング娘。の".
	if closing(closed) {
		return !strings.ContainsRune("とっなにはをがのもでや", e.first)
	}
	return e.first != 'の' && e.first != 'を'
}

// breaksBehindMark decides for "!", "?" and the terminals of other scripts.
func (c *cell) breaksBehindMark(e ending, standard bool) bool {
	closed, _ := char.Decode(c.text, e.stop)
	switch {
	case small(e.first) && (e.apart || closing(closed) || opening(closed)): // "Why?" he asked.
		return false
	case c.isName(e):
		return !small(e.first) && c.starter(e.next)
	}
	return standard || c.startsNew(e)
}

// breaksBehindDots decides for full stops and ellipses.
func (c *cell) breaksBehindDots(e ending, standard bool) bool {
	start, dots := c.dots(e)
	switch {
	case dots > 1 || ellipsis(lastRune(c.text[:e.stop])):
		before := lastRune(c.text[:start])
		elision := dots < 4 && unicode.IsSpace(before) // "a . . . B"
		return !elision && !small(e.first) && (standard || wordly(e.first))
	case unspaced(lastRune(c.text[:e.start])): // Thai has full stops in abbreviations only
		return false
	case e.tail == e.stop && c.abbreviated(e):
		return false
	case e.tail == e.stop && unicode.IsDigit(e.first):
		return c.breaksBeforeNumber(e, standard)
	case standard, c.startsNew(e), strings.HasPrefix(c.text[e.next:], "."):
		return true
	}
	return false
}

// breaksBeforeNumber decides at a full stop before a number. UAX #29 looks behind the number for a small letter, and so misses
// "They left. 12 people stayed.". A short unknown word is more likely an abbreviation: "kl. 10".
func (c *cell) breaksBeforeNumber(e ending, standard bool) bool {
	token := lastToken(c.text[c.from:e.start])
	if first, _ := char.Decode(token, 0); !alphabetic(first) || strings.TrimFunc(token, letter) != "" {
		return standard
	}
	return longWord(token)
}

// dots returns the start of an ellipsis, which may have spaces (". . ."), and its number of dots.
func (c *cell) dots(e ending) (start, n int) {
	start, n = e.start, utf8.RuneCountInString(c.text[e.start:e.stop])
	for n < longFill && strings.HasSuffix(c.text[c.from:start], ". ") {
		start -= 2
		n++
	}
	if n < 3 { // the full stop of "etc. ." is not part of an ellipsis
		return e.start, utf8.RuneCountInString(c.text[e.start:e.stop])
	}
	return start, n
}

// startsNew reports whether the following text must start a sentence: a dash and a capital, as in dialogues, or a capital behind
// an emoticon.
func (c *cell) startsNew(e ending) bool {
	if !unicode.IsUpper(e.first) {
		return false
	}
	r, w := char.Decode(c.text, e.next)
	return e.apart || dash(r) && (r != '-' || spaceAt(c.text, e.next+w))
}

// isName reports whether the exclamation mark is part of a name.
func (c *cell) isName(e ending) bool {
	if mark := c.text[e.start:e.stop]; e.tail > e.stop || mark != "!" && mark != "！" {
		return false
	}
	switch strings.ToLower(lastToken(c.text[c.from:e.start])) {
	case "yahoo", "jeopardy", "kahoot", "joomla", "yum":
		return true
	}
	return false
}
