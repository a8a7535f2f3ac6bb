package markup

import (
	"strconv"
	"strings"
	"unicode"
)

// style is how a marker is written: the number of its group between two signs.
type style struct{ open, close string }

// styles are the ones that Mask knows, in the order in which they are to be tried. They
// differ in kind, so that a model which drops one may copy the next. A table of
// constants: it is never changed.
//
// scripts/markers measures how often a model copies each of them. The bundled model has
// learned to copy these four (scripts/training/things.py). The order is a guess about
// models that learned from web pages, which have footnotes and product codes in them;
// measure it with yours.
var styles = [...]style{
	{"[", "]"},
	{"XA", ""},
	{"<", ">"},
	{"#", ""},
}

// Styles is the number of styles that [Sentence.Mask] knows.
const Styles = len(styles)

func (s style) marker(number int) string { return s.open + strconv.Itoa(number) + s.close }

// mark is a marker in a text.
type mark struct {
	start, end int
	number     int // 0 where it is none that Mask makes
}

// longestNumber is the most digits that a marker has.
const longestNumber = 7

// find returns the markers of a text, in order.
func (s style) find(text string) []mark {
	var marks []mark
	previous := ' '
	for i := 0; i < len(text); {
		if m, ok := s.at(text, i, previous); ok {
			marks = append(marks, m)
			i, previous = m.end, ' '
			continue
		}
		r, n := decode(text, i)
		i, previous = i+n, r
	}
	return marks
}

// at returns the marker that starts at byte i.
func (s style) at(text string, i int, previous rune) (mark, bool) {
	if isASCIIWord(s.open[0]) && previous < 0x80 && isASCIIWord(byte(previous)) {
		return mark{}, false // the end of a word
	}
	end, ok := follow(text, i, s.open)
	if !ok {
		return mark{}, false
	}
	digits, end := digitRun(text, skipSpaces(text, end))
	if digits == "" || len(digits) > longestNumber {
		return mark{}, false
	}
	if s.close != "" {
		if end, ok = follow(text, skipSpaces(text, end), s.close); !ok {
			return mark{}, false
		}
	}
	if r, _ := decode(text, end); isASCIIWord(lastByte(s.close)) && r < 0x80 && isASCIIWord(byte(r)) {
		return mark{}, false
	}
	number, err := strconv.Atoi(digits)
	if err != nil || digits[0] == '0' {
		number = 0
	}
	return mark{start: i, end: end, number: number}, true
}

// follow returns where sign ends in text, if it stands at i: in any form, and with
// spaces between its characters.
func follow(text string, i int, sign string) (end int, ok bool) {
	for k, want := range sign {
		if k > 0 {
			i = skipSpaces(text, i)
		}
		r, n := decode(text, i)
		if fold(r) != fold(want) {
			return 0, false
		}
		i += n
	}
	return i, true
}

// skipSpaces goes over the two spaces at most that a model puts into a marker.
func skipSpaces(text string, i int) int {
	for range 2 {
		if r, n := decode(text, i); n > 0 && isSpace(r) {
			i += n
		}
	}
	return i
}

// fold returns the plain form of a character: ASCII for a full-width one, a small
// letter for a capital, and the usual bracket for those that stand for it elsewhere.
func fold(r rune) rune {
	switch r = halfWidth(r); r {
	case '⟦', '【', '〔', '〚', '「':
		return '['
	case '⟧', '】', '〕', '〛', '」':
		return ']'
	case '〈', '《', '‹', '«':
		return '<'
	case '〉', '》', '›', '»':
		return '>'
	}
	return unicode.ToLower(r)
}

func halfWidth(r rune) rune {
	if r >= '！' && r <= '～' {
		return r - '！' + '!'
	}
	return r
}

// residue counts the signs of markers in a text without markers. Those of letters
// count where they are a word.
func (s style) residue(text string) int {
	text = strings.Map(halfWidth, text)
	n := countSign(text, s.open)
	if s.close != "" && s.close != s.open {
		n += countSign(text, s.close)
	}
	return n
}

func countSign(text, sign string) int {
	if !isASCIIWord(sign[0]) {
		return strings.Count(text, sign)
	}
	count := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= 0x80 || !isASCIIWord(byte(r)) }) {
		if word == sign {
			count++
		}
	}
	return count
}

func isASCIIWord(c byte) bool { return isASCIILetter(c) || isASCIIDigit(c) }

func lastByte(text string) byte {
	if text == "" {
		return 0
	}
	return text[len(text)-1]
}
