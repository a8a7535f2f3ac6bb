// Package char says what a character is in a text of any script, and goes through texts without allocating.
package char

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsASCIILetter says whether c is a letter of ASCII.
func IsASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// IsASCIIDigit says whether c is a digit of ASCII.
func IsASCIIDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsIdent says whether c can be in the name of a variable.
func IsIdent(c byte) bool { return IsASCIILetter(c) || IsASCIIDigit(c) || c == '_' }

// IsWord says whether r is part of a word in a script that has spaces between its
// words. A word of another script may touch a URL or a name without being part of
// it: "example.comを" ends before を.
func IsWord(r rune) bool {
	if r < 0x80 {
		return IsASCIILetter(byte(r)) || IsASCIIDigit(byte(r))
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)) && !IsUnspaced(r)
}

// IsUnspaced says whether r is of a script that has no spaces between its words,
// or, as Korean, puts its particles right behind a foreign one.
func IsUnspaced(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0FFF, // Thai, Lao, Tibetan
		r >= 0x1000 && r <= 0x109F, // Myanmar
		r >= 0x1100 && r <= 0x11FF, // Hangul Jamo
		r >= 0x1780 && r <= 0x17FF, // Khmer
		r >= 0x2E80 && r <= 0xA4CF, // CJK, kana, Yi
		r >= 0xAC00 && r <= 0xD7FF, // Hangul
		r >= 0xF900 && r <= 0xFAFF, // CJK
		r >= 0xFE30 && r <= 0xFE4F,
		r >= 0xFF00 && r <= 0xFFEF, // full-width and half-width forms
		r >= 0x20000 && r <= 0x3FFFF:
		return true
	}
	return false
}

// IsLetterOrDigit says whether r is one of any script.
func IsLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// IsMinus says whether r is a sign of minus.
func IsMinus(r rune) bool { return r == '-' || r == '−' || r == '－' }

// IsSpace says whether r is a space that stands between words of a line.
func IsSpace(r rune) bool { return r == ' ' || r == '\t' || unicode.Is(unicode.Zs, r) }

// PlainDigit returns the digit in ASCII for a decimal digit of any script, and any other
// character as it is.
func PlainDigit(r rune) rune {
	if r < 0x80 || !unicode.IsDigit(r) {
		return r
	}
	// Unicode has the ten digits of a script in order, and sets that stand side by
	// side start with a zero.
	n := rune(0)
	for unicode.IsDigit(r - n - 1) {
		n++
	}
	return '0' + n%10
}

// OneOf says whether c is one of the bytes of set. 0 is not.
func OneOf(c byte, set string) bool { return c != 0 && strings.IndexByte(set, c) >= 0 }

// Decode returns the character at byte i of text and its length in bytes.
func Decode(text string, i int) (rune, int) { return utf8.DecodeRuneInString(text[i:]) }

// Skip returns where the characters from byte i on end that fit.
func Skip(text string, i int, fits func(rune) bool) int {
	for i < len(text) {
		r, n := Decode(text, i)
		if !fits(r) {
			break
		}
		i += n
	}
	return i
}

// First returns the first character of text, a space where there is none.
func First(text string) rune {
	if text == "" {
		return ' '
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// Last returns the last character of text, a space where there is none.
func Last(text string) rune {
	if text == "" {
		return ' '
	}
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// OneOfRunes says whether r is one of those of set.
func OneOfRunes(r rune, set string) bool { return strings.ContainsRune(set, r) }
