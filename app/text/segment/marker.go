package segment

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// marker returns the length of the start of a line that is not translated: indentation, and markers of quotations, headings and
// lists, several of which may follow each other ("> 1. [x] ").
func marker(line string, rules *rules) int {
	i := char.Skip(line, 0, blank)
	for {
		n := oneMarker(line[i:], rules)
		if n == 0 {
			return i
		}
		i = char.Skip(line, i+n, blank)
	}
}

// oneMarker returns the length of one marker, without the white space behind it, or 0.
func oneMarker(s string, rules *rules) int {
	r, w := char.Decode(s, 0)
	switch {
	case w == 0:
		return 0
	case r == '>' && !strings.HasPrefix(s, ">="):
		return w
	case r == '#':
		if n := char.Skip(s, 0, func(r rune) bool { return r == '#' }); n <= 6 && spaceAt(s, n) {
			return n
		}
		return 0
	case r == '・':
		return w
	case strings.ContainsRune("-*+•‣⁃◦∙·–—―−/;", r):
		n, longest := char.Skip(s, 0, func(c rune) bool { return c == r }), w
		if strings.ContainsRune("-/;", r) {
			longest = 3 // of one sign: "--", "///"
		}
		if n <= longest && spaceAt(s, n) && !(r == '/' && n == w) {
			return n
		}
		if strings.ContainsRune("-–—", r) && n == w && spoken.MatchString(s[w:min(len(s), w+longestLabel)]) {
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

// spoken matches the start of a line of a dialogue behind its dash: "-It rains."
var spoken = regexp.MustCompile(`^\p{Lu}\p{Ll}*[ ,]`)

// longestLabel is the maximum length in bytes of a label.
const longestLabel = 64

// circled reports whether r alone is the number of a list item: "①", "⑴", "⓶", "❸".
func circled(r rune) bool {
	return r >= 0x2460 && r <= 0x24FF || r >= 0x2776 && r <= 0x2793 || r >= 0x3251 && r <= 0x325F
}

// label matches the number of a list item, in brackets or with a sign behind it: a number that is not a year ("1", "1.2.3", "１"),
// a Chinese number, or letters.
var label = regexp.MustCompile(`^([(（]?)(?:(\p{Nd}{1,3}(?:\.\p{Nd}+)*)|([一二三四五六七八九十百]+)|(\pL{1,5}))([)）.．、])`)

// numbered returns the length of a marker such as "1.", "1)", "(1)", "1.)", "a)", "(iv)", "一、", "（一）", or 0.
func numbered(s string, rules *rules) int {
	m := label.FindStringSubmatch(s[:min(len(s), longestLabel)])
	if m == nil {
		return 0
	}
	open, number, han, letters, suffix, i := m[1] != "", m[2], m[3], m[4], m[5], len(m[0])
	if letters != "" && !countsItems(letters) {
		return 0
	}
	switch {
	case suffix == ")" || suffix == "）":
		if spaceAt(s, i) || suffix == "）" || wideAt(s, i) {
			return i
		}
	case open:
	case strings.HasPrefix(s[i:], ")") && spaceAt(s, i+1): // "1.)"
		return i + 1
	case han != "" && suffix == "、", number != "" && numberDotted(s, i, suffix, rules), letters != "" && suffix == "." && lettersDotted(s, i, letters, rules):
		return i
	}
	return 0
}

// countsItems reports whether letters may number an item: a single letter or a Roman number.
func countsItems(letters string) bool {
	if utf8.RuneCountInString(letters) == 1 {
		return alphabetic(lastRune(letters))
	}
	return romanNumeral(letters) || letters == strings.ToLower(letters) && romanNumeral(strings.ToUpper(letters))
}

// numberDotted reports whether the number with the suffix before s[i] is a marker, as opposed to an ordinal or decimal number.
func numberDotted(s string, i int, suffix string, rules *rules) bool {
	if suffix != "." && !digitAt(s, i) || wideAt(s, i) {
		return true
	}
	return spaceAt(s, i) && !rules.ordinal(s[i:])
}

// lettersDotted reports the same for letters with a full stop: "a. First" and "iv. Fourth" are markers, "A. Smith", "p. 55", "z.
// B.", "e. g." are not.
func lettersDotted(s string, i int, letters string, rules *rules) bool {
	if utf8.RuneCountInString(letters) > 1 {
		return spaceAt(s, i) && (letters != strings.ToUpper(letters) || !rules.ordinal(s[i:]))
	}
	at := char.Skip(s, i, blank)
	next, w := char.Decode(s, at)
	return letters >= "a" && letters <= "h" && at > i && letter(next) && !strings.HasPrefix(s[at+w:], ".")
}

func spaceAt(s string, i int) bool {
	r, w := char.Decode(s, i)
	return w == 0 || unicode.IsSpace(r)
}

func wideAt(s string, i int) bool {
	r, _ := char.Decode(s, i)
	return wide(r) && letter(r)
}

func digitAt(s string, i int) bool {
	r, _ := char.Decode(s, i)
	return unicode.IsDigit(r)
}

// romanNumeral reports whether s is a number from 1 to 39 in Roman capitals.
func romanNumeral(s string) bool {
	return s != "" && len(s) <= 6 && strings.Trim(s, "IVX") == "" && !strings.Contains(s, "IIII")
}
