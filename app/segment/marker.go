package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// marker is the length of what a line starts with and that is not translated:
// indentation, marks of quotations, headings and lists, of which several may follow
// each other ("> 1. [x] ").
func marker(line string, rules *rules) int {
	i := skip(line, 0, blank)
	for {
		n := oneMarker(line[i:], rules)
		if n == 0 {
			return i
		}
		i = skip(line, i+n, blank)
	}
}

// oneMarker is the length of one marker, without the white space after it, or 0.
func oneMarker(s string, rules *rules) int {
	r, w := decode(s, 0)
	switch {
	case w == 0:
		return 0
	case r == '>' && !strings.HasPrefix(s, ">="):
		return w
	case r == '#':
		if n := skip(s, 0, func(r rune) bool { return r == '#' }); n <= 6 && spaceAt(s, n) {
			return n
		}
		return 0
	case strings.ContainsRune("-*+•‣⁃◦∙·–—―−", r):
		if spaceAt(s, w) {
			return w
		}
		return 0
	case circled(r):
		return w
	case r == '[' && len(s) >= 3 && strings.IndexByte(" xX", s[1]) >= 0 && s[2] == ']' && spaceAt(s, 3):
		return 3
	}
	return numbered(s, rules)
}

// circled says whether a rune is a number of a list by itself: "①", "⑴", "⓶", "❸".
func circled(r rune) bool {
	return r >= 0x2460 && r <= 0x24FF || r >= 0x2776 && r <= 0x2793 || r >= 0x3251 && r <= 0x325F
}

// label is what numbers an item of a list.
type label int

const (
	none   label = iota
	number       // 1, 12, 1.2.3, １
	single       // a, б
	roman        // iv, IV
	han          // 一, 十二
)

// readLabel reads the label that s starts with.
func readLabel(s string) (kind label, end int) {
	if end = skip(s, 0, unicode.IsDigit); end > 0 {
		if utf8.RuneCountInString(s[:end]) > 3 { // a year, or an amount
			return none, 0
		}
		for { // 1.2.3
			if end+1 >= len(s) || s[end] != '.' {
				return number, end
			}
			next := skip(s, end+1, unicode.IsDigit)
			if next == end+1 {
				return number, end
			}
			end = next
		}
	}
	if end = skip(s, 0, func(r rune) bool { return strings.ContainsRune("一二三四五六七八九十百", r) }); end > 0 {
		return han, end
	}
	end = skip(s, 0, unicode.IsLetter)
	switch n := utf8.RuneCountInString(s[:end]); {
	case end == 0 || n > 5:
		return none, 0
	case n == 1 && alphabetic(lastRune(s[:end])):
		return single, end
	case n > 1 && (romanNumeral(s[:end]) || romanNumeral(strings.ToUpper(s[:end])) && s[:end] == strings.ToLower(s[:end])):
		return roman, end
	}
	return none, 0
}

// numbered is the length of a marker such as "1.", "1)", "(1)", "1.)", "a)", "(iv)",
// "一、", "（一）", or 0.
func numbered(s string, rules *rules) int {
	_, i := decode(s, 0)
	open := s[:i] == "(" || s[:i] == "（"
	if !open {
		i = 0
	}
	kind, n := readLabel(s[i:])
	if kind == none {
		return 0
	}
	name := s[i : i+n]
	i += n
	suffix, w := decode(s, i)
	i += w
	switch suffix {
	case ')', '）':
		if spaceAt(s, i) || suffix == '）' || wideAt(s, i) {
			return i
		}
	case '.', '．', '、':
		if !open && s[i:] != "" && s[i] == ')' && spaceAt(s, i+1) { // "1.)"
			return i + 1
		}
		if !open && dotted(s, i, kind, name, suffix, rules) {
			return i
		}
	}
	return 0
}

// dotted says whether the label name with the suffix "." before s[i] is a marker: not
// so are initials, abbreviations, ordinal numbers and decimals.
func dotted(s string, i int, kind label, name string, suffix rune, rules *rules) bool {
	switch kind {
	case han:
		return suffix == '、'
	case number:
		if suffix != '.' && !digitAt(s, i) || wideAt(s, i) {
			return true
		}
		return spaceAt(s, i) && !rules.ordinal(s[i:])
	case roman:
		return suffix == '.' && spaceAt(s, i) && (name != strings.ToUpper(name) || !rules.ordinal(s[i:]))
	}
	// A single letter: "a. First", but not "A. Smith", "p. 55", "z. B.", "e. g.".
	at := skip(s, i, blank)
	next, w := decode(s, at)
	return suffix == '.' && name >= "a" && name <= "h" && at > i && letter(next) && !strings.HasPrefix(s[at+w:], ".")
}

func spaceAt(s string, i int) bool {
	r, w := decode(s, i)
	return w == 0 || unicode.IsSpace(r)
}

func wideAt(s string, i int) bool {
	r, _ := decode(s, i)
	return wide(r) && letter(r)
}

func digitAt(s string, i int) bool {
	r, _ := decode(s, i)
	return unicode.IsDigit(r)
}

// romanNumeral says whether s is a number from 1 to 39 in Roman capitals.
func romanNumeral(s string) bool {
	return s != "" && len(s) <= 6 && strings.Trim(s, "IVX") == "" && !strings.Contains(s, "IIII")
}
