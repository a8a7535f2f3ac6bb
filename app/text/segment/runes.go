package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// letter is unicode.IsLetter with a short way for the most frequent ones.
func letter(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	case r >= 0x4E00 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7A3: // Han, Hangul
		return true
	}
	return unicode.IsLetter(r)
}

func hasLetter(s string) bool { return strings.IndexFunc(s, letter) >= 0 }

// wordly says whether a rune is of a word or a number.
func wordly(r rune) bool { return letter(r) || unicode.IsNumber(r) }

// blank says whether a rune shows nothing: white space, controls, marks of direction.
// The joiners do not count: they change how letters look.
func blank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r >= 0x200B && !joiner(r) && unicode.Is(unicode.Cf, r)
}

// joiner says whether a rune only says how its neighbours look.
func joiner(r rune) bool { return r == 0x200C || r == 0x200D || r == 0xFE0E || r == 0xFE0F }

// ornament says whether a rune is an emoji, an arrow, a box or the like. Symbols that
// are read as words, such as "℃" or "㈱", are not.
func ornament(r rune) bool {
	switch {
	case r < 0x2190, r > 0x2BFF && r < 0x1F000, r > 0x1FAFF:
		return false
	}
	return unicode.In(r, unicode.So, unicode.Sm, unicode.Sk)
}

// terminal says whether a rune can end a sentence.
func terminal(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == '.' || r == '!' || r == '?'
	case r < 0x589, r > 0x3002 && r < 0xA4FF, r >= 0xAC00 && r <= 0xD7FF:
		return false
	case r == '។' || r == '៕': // Khmer, which Go's tables do not have yet
		return true
	}
	return ellipsis(r) || unicode.Is(unicode.Sentence_Terminal, r)
}

func ellipsis(r rune) bool { return r == '…' || r == '‥' }

// closing says whether a rune closes a quotation or bracket, Markdown's included.
func closing(r rune) bool {
	return strings.ContainsRune("\"')]}*_`＂＇", r) || r >= utf8.RuneSelf && unicode.In(r, unicode.Pe, unicode.Pf)
}

// opening says whether a rune opens a quotation or bracket or a Spanish sentence.
func opening(r rune) bool {
	return strings.ContainsRune("\"'([{*_`¿¡＂＇", r) || r >= utf8.RuneSelf && unicode.In(r, unicode.Ps, unicode.Pi)
}

// openBracket says whether a rune opens one of the brackets that are kept together, and
// closeBracket whether it closes one.
func openBracket(r rune) bool  { return strings.ContainsRune("([{（［｛「『【〈《〔", r) }
func closeBracket(r rune) bool { return strings.ContainsRune(")]}）］｝」』】〉》〕", r) }

func dash(r rune) bool { return r == '-' || r >= '–' && r <= '―' || r == '−' }

// wide says whether a rune belongs to Chinese or Japanese, letters and punctuation.
func wide(r rune) bool {
	return r >= 0x2E80 && r <= 0x312F || r >= 0x3190 && r <= 0xA4CF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0xFF01 && r <= 0xFF9F || r >= 0x20000 && r <= 0x3FFFF
}

// unspaced says whether a rune is of a script that has no spaces between words and
// few marks between sentences: Thai, Lao, Burmese, Khmer.
func unspaced(r rune) bool {
	return r >= 0x0E00 && r <= 0x0EFF || r >= 0x1000 && r <= 0x109F || r >= 0x1780 && r <= 0x17FF
}

// indic says whether a rune is of a script of India that has dandas.
func indic(r rune) bool { return r >= 0x0900 && r <= 0x0D7F }

// hebrew says whether a rune is of Hebrew, which has quotes inside of abbreviations.
func hebrew(r rune) bool { return r >= 0x0590 && r <= 0x05FF }

// alphabetic says whether a rune is of a script where a single letter with a full
// stop is an initial or an abbreviation, not a word.
func alphabetic(r rune) bool {
	return letter(r) && (r < 0x0700 || r >= 0x10A0 && r <= 0x10FF || r >= 0x1E00 && r <= 0x1FFF)
}

// lastRune is the last rune of s, or U+FFFD where there is none.
func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// small says whether a rune is a small letter of a script that starts sentences with a
// capital, which that of Georgian does not.
func small(r rune) bool { return unicode.IsLower(r) && (r < 0x10D0 || r > 0x10FF) }
