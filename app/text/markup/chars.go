package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isASCIIDigit(c byte) bool  { return c >= '0' && c <= '9' }

// isIdent says whether c can be in the name of a variable.
func isIdent(c byte) bool { return isASCIILetter(c) || isASCIIDigit(c) || c == '_' }

// isWord says whether r is part of a word in a script that has spaces between its
// words. A word of another script may touch a URL or a name without being part of
// it: "example.comを" ends before を.
func isWord(r rune) bool {
	if r < 0x80 {
		return isASCIILetter(byte(r)) || isASCIIDigit(byte(r))
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)) && !isUnspaced(r)
}

// IsWord says whether r is a letter or digit of a script that has spaces between its words.
func IsWord(r rune) bool { return isWord(r) }

// isUnspaced says whether r is of a script that has no spaces between its words,
// or, as Korean, puts its particles right behind a foreign one.
func isUnspaced(r rune) bool {
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

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isMinus(r rune) bool { return r == '-' || r == '−' || r == '－' }

// isSpace says whether r is a space that stands between words of a line.
func isSpace(r rune) bool { return r == ' ' || r == '\t' || unicode.Is(unicode.Zs, r) }

// plainDigit returns the digit in ASCII for a decimal digit of any script, and any other
// character as it is.
func plainDigit(r rune) rune {
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

// oneOf says whether c is one of the bytes of set. 0 is not.
func oneOf(c byte, set string) bool { return c != 0 && strings.IndexByte(set, c) >= 0 }

// decode returns the character at byte i of text and its length in bytes.
func decode(text string, i int) (rune, int) { return utf8.DecodeRuneInString(text[i:]) }

// skip returns where the characters from byte i on end that fit.
func skip(text string, i int, fits func(rune) bool) int {
	for i < len(text) {
		r, n := decode(text, i)
		if !fits(r) {
			break
		}
		i += n
	}
	return i
}

// first returns the first character of text, a space where there is none.
func first(text string) rune {
	if text == "" {
		return ' '
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// last returns the last character of text, a space where there is none.
func last(text string) rune {
	if text == "" {
		return ' '
	}
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}
