// Package char classifies the characters of any script, and goes through texts without allocating.
package char

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsASCIILetter reports whether c is an ASCII letter.
func IsASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// IsASCIIDigit reports whether c is an ASCII digit.
func IsASCIIDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsASCII reports whether a text has only ASCII characters.
func IsASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// IsIdent reports whether c may be part of an identifier.
func IsIdent(c byte) bool { return IsASCIILetter(c) || IsASCIIDigit(c) || c == '_' }

// IsWord reports whether r is part of a word in a script with spaces between words. A word of another script may touch a URL or a
// name without being part of it: "example.comを" ends before を.
func IsWord(r rune) bool {
	if r < 0x80 {
		return IsASCIILetter(byte(r)) || IsASCIIDigit(byte(r))
	}
	return !IsUnspaced(r) && (IsPlainLetter(r) || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}

// IsUnspaced reports whether r belongs to a script without spaces between words, or, like Korean, with particles right behind
// foreign words.
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

// IsLetterOrDigit reports whether r is a letter or digit of any script.
func IsLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// IsPlainLetter reports whether r is one of the letters of most texts in most languages. It is faster than [unicode.IsLetter].
func IsPlainLetter(r rune) bool {
	switch {
	case r < 0x80:
		return IsASCIILetter(byte(r))
	case r < 0x250: // Latin
		return r >= 0xC0 && r != '×' && r != '÷'
	}
	return r >= 0x3B1 && r <= 0x3C9 || r >= 0x410 && r <= 0x44F || // Greek, Cyrillic
		r >= 0x3041 && r <= 0x3096 || r >= 0x30A1 && r <= 0x30FA || r >= 0x4E00 && r <= 0x9FA5 || r >= 0xAC00 && r <= 0xD7A3 // kana, Han, Hangul
}

// IsMinus reports whether r is a minus sign.
func IsMinus(r rune) bool { return r == '-' || r == '−' || r == '－' }

// IsSpace reports whether r is a space between words of a line.
func IsSpace(r rune) bool { return r == ' ' || r == '\t' || unicode.Is(unicode.Zs, r) }

// PlainDigit returns the ASCII digit for a decimal digit of any script, and any other character unchanged.
func PlainDigit(r rune) rune {
	if r < 0x80 || !unicode.IsDigit(r) {
		return r
	}
	// Unicode has the ten digits of a script in order, and adjacent sets start with a zero.
	n := rune(0)
	for unicode.IsDigit(r - n - 1) {
		n++
	}
	return '0' + n%10
}

// OneOf reports whether c is a byte of set. It is false for 0.
func OneOf(c byte, set string) bool { return c != 0 && strings.IndexByte(set, c) >= 0 }

// Decode returns the character at byte i of text and its length in bytes.
func Decode(text string, i int) (rune, int) { return utf8.DecodeRuneInString(text[i:]) }

// Skip returns the end of the characters from byte i on for which fits is true.
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

// First returns the first character of text, or a space if text is empty.
func First(text string) rune {
	if text == "" {
		return ' '
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// Last returns the last character of text, or a space if text is empty.
func Last(text string) rune {
	if text == "" {
		return ' '
	}
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// OneOfRunes reports whether r is a character of set.
func OneOfRunes(r rune, set string) bool { return strings.ContainsRune(set, r) }
