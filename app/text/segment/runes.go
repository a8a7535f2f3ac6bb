package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// letter is unicode.IsLetter with a fast path for frequent letters.
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

// wordly reports whether r is part of a word or number.
func wordly(r rune) bool { return letter(r) || unicode.IsNumber(r) }

// blank reports whether r is invisible: white space, controls, direction marks. Joiners are not blank: they change the shape of
// letters.
func blank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r >= 0x200B && !joiner(r) && unicode.Is(unicode.Cf, r)
}

// joiner reports whether r only affects the shape of its neighbours.
func joiner(r rune) bool { return r == 0x200C || r == 0x200D || r == 0xFE0E || r == 0xFE0F }

// ornament reports whether r is an emoji, an arrow, a box or a similar symbol. Symbols that are read as words, such as "℃" or
// "㈱", are not ornaments.
func ornament(r rune) bool {
	switch {
	case r < 0x2190, r > 0x2BFF && r < 0x1F000, r > 0x1FAFF:
		return false
	}
	return unicode.In(r, unicode.So, unicode.Sm, unicode.Sk)
}

// terminal reports whether r can end a sentence.
func terminal(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == '.' || r == '!' || r == '?'
	case r < 0x589, r > 0x3002 && r < 0xA4FF, r >= 0xAC00 && r <= 0xD7FF:
		return false
	case r == '។' || r == '៕': // Khmer; missing from Go's tables
		return true
	}
	return ellipsis(r) || unicode.Is(unicode.Sentence_Terminal, r)
}

func ellipsis(r rune) bool { return r == '…' || r == '‥' }

// closing reports whether r closes a quotation or bracket, also of Markdown.
func closing(r rune) bool {
	return strings.ContainsRune("\"')]}*_`＂＇", r) || r >= utf8.RuneSelf && unicode.In(r, unicode.Pe, unicode.Pf)
}

// opening reports whether r opens a quotation, a bracket or a Spanish sentence.
func opening(r rune) bool {
	return strings.ContainsRune("\"'([{*_`¿¡＂＇", r) || r >= utf8.RuneSelf && unicode.In(r, unicode.Ps, unicode.Pi)
}

// openBracket reports whether r opens a bracket whose content is kept together, closeBracket whether it closes one.
func openBracket(r rune) bool  { return strings.ContainsRune("([{（［｛「『【〈《〔", r) }
func closeBracket(r rune) bool { return strings.ContainsRune(")]}）］｝」』】〉》〕", r) }

func dash(r rune) bool { return r == '-' || r >= '–' && r <= '―' || r == '−' }

// wide reports whether r is a letter or punctuation of Chinese or Japanese.
func wide(r rune) bool {
	return r >= 0x2E80 && r <= 0x312F || r >= 0x3190 && r <= 0xA4CF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0xFF01 && r <= 0xFF9F || r >= 0x20000 && r <= 0x3FFFF
}

// unspaced reports whether r belongs to a script without spaces between words and with few marks between sentences: Thai, Lao,
// Burmese, Khmer.
func unspaced(r rune) bool {
	return r >= 0x0E00 && r <= 0x0EFF || r >= 0x1000 && r <= 0x109F || r >= 0x1780 && r <= 0x17FF
}

// indic reports whether r belongs to a script of India that has dandas.
func indic(r rune) bool { return r >= 0x0900 && r <= 0x0D7F }

// hebrew reports whether r is Hebrew, which has quotes inside abbreviations.
func hebrew(r rune) bool { return r >= 0x0590 && r <= 0x05FF }

// alphabetic reports whether r belongs to a script in which a single letter with a full stop is an initial or abbreviation, not a
// word.
func alphabetic(r rune) bool {
	return letter(r) && (r < 0x0700 || r >= 0x10A0 && r <= 0x10FF || r >= 0x1E00 && r <= 0x1FFF)
}

// lastRune returns the last rune of s, or U+FFFD for an empty string.
func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// small reports whether r is a small letter of a script that starts sentences with a capital. Georgian does not.
func small(r rune) bool { return unicode.IsLower(r) && (r < 0x10D0 || r > 0x10FF) }
