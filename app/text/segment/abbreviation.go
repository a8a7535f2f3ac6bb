package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// abbreviated reports whether the full stop at e belongs to the word before it and does not end the sentence.
func (c *cell) abbreviated(e ending) bool {
	sentence := c.text[c.from:e.start]
	token := lastToken(sentence)
	if token == "" {
		return false
	}
	before := sentence[:len(sentence)-len(token)]
	if digits := strings.TrimFunc(token, unicode.IsDigit) == ""; digits || len(token) > 1 && romanNumeral(token) {
		return c.rules.ordinals == ordinalsAny && (!digits || len(token) <= 2) && !c.starter(e.next)
	}
	switch word, kind := c.rules.find(token, before); {
	case kind == title:
		return true
	case kind == counter && c.numberAt(e):
		return true
	case kind == unit:
		last := lastRune(strings.TrimRightFunc(before, blank))
		return !unicode.IsDigit(last) && !strings.ContainsRune("IVXІХ", last)
	case kind == either, acronym(word):
		return len(c.rules.starters) > 0 && !c.starter(e.next)
	case initial(token):
		first := strings.IndexFunc(before, wordly) < 0
		next, _ := firstWord(c.text[e.next:])
		return first || !c.starter(e.next) || particle(next)
	}
	return false
}

// numberAt reports whether a number follows e.
func (c *cell) numberAt(e ending) bool {
	word, _ := firstWord(c.text[e.next:])
	return unicode.IsDigit(e.first) || len(word) > 1 && romanNumeral(word)
}

// starter reports whether the word at i often starts a sentence. A letter with a full stop is an initial, not a word.
func (c *cell) starter(i int) bool {
	word, end := firstWord(c.text[i:])
	if strings.HasPrefix(c.text[i+end:], ".") && utf8.RuneCountInString(word) == 1 {
		return false
	}
	return c.rules.starters[strings.ToLower(word)]
}

// longWord reports whether a word is too long for an abbreviation: it has four letters or more and does not end in three
// consonants, as "Hauptstr" and "Abschn" do.
func longWord(token string) bool {
	const least = 4 // letters
	if utf8.RuneCountInString(token) < least {
		return false
	}
	return strings.ContainsFunc(token[len(token)-3:], func(r rune) bool {
		return r >= utf8.RuneSelf || strings.ContainsRune("aeiouyAEIOUY", r)
	})
}

// find looks up a word, first together with preceding parts of an abbreviation written with spaces ("z. B", "и т. д"), then
// alone. It returns the last form that it looked up, in lower case.
func (r *rules) find(token, before string) (word string, k kind) {
	token = strings.ToLower(token)
	joined := token
	for range 3 {
		rest := strings.TrimRightFunc(before, blank)
		if !strings.HasSuffix(rest, ".") {
			break
		}
		part := lastToken(rest[:len(rest)-1])
		if n := utf8.RuneCountInString(part); n == 0 || n > 2 || strings.TrimFunc(part, letter) != "" {
			break
		}
		joined = strings.ToLower(part) + "." + joined
		before = rest[:len(rest)-1-len(part)]
		if k = r.kinds[joined]; k != ordinary {
			return joined, k
		}
	}
	return token, r.kinds[token]
}

// lastToken returns the end of s without white space, quotes, brackets, Chinese or Japanese. It returns "" if that is too long
// for an abbreviation.
func lastToken(s string) string {
	const longest = 32 // bytes
	i := len(s)
	for i > 0 && len(s)-i < longest && (char.IsASCIILetter(s[i-1]) || char.IsASCIIDigit(s[i-1])) {
		i--
	}
	for i > 0 && s[i-1] != ' ' {
		r, w := utf8.DecodeLastRuneInString(s[:i])
		behind, _ := char.Decode(s, i)
		inside := r == '"' && hebrew(behind) && hebrew(lastRune(s[:i-w])) // ש"ח
		if wide(r) || !wordly(r) && !inside && (blank(r) || closing(r) || opening(r) || r == '–' || r == '—' || r == '/') {
			break
		}
		if i -= w; len(s)-i > longest {
			return ""
		}
	}
	return s[i:]
}

// firstWord returns the first word of s behind quotes and brackets, up to the first character that is not a letter, such as an
// apostrophe, and its end. It reads at most 16 bytes.
func firstWord(s string) (word string, end int) {
	const longest = 16
	start := char.Skip(s, 0, func(r rune) bool { return opening(r) || blank(r) })
	end = start + char.Skip(s[start:min(len(s), start+longest)], 0, letter)
	return s[start:end], end
}

// initial reports whether a token is a single letter of a script that has initials.
func initial(token string) bool {
	r, w := char.Decode(token, 0)
	return alphabetic(r) && strings.TrimFunc(token[w:], unicode.IsMark) == ""
}

// particle reports whether a word is a name particle: "J. De Niro", "M. La Rue".
func particle(word string) bool {
	switch strings.ToLower(word) {
	case "de", "del", "della", "di", "da", "do", "dos", "das", "du", "des", "la", "le", "les", "el", "los", "las", "lo",
		"van", "von", "der", "den":
		return true
	}
	return false
}

// acronym reports whether a word consists of at least two short parts separated by dots: "u.s", "ph.d", "j.-p".
func acronym(word string) bool {
	parts := 0
	if strings.IndexByte(word, '.') < 0 {
		return false
	}
	for part := range strings.SplitSeq(word, ".") {
		part = strings.TrimPrefix(part, "-")
		if n := utf8.RuneCountInString(part); n == 0 || n > 3 || strings.TrimFunc(part, letter) != "" {
			return false
		}
		parts++
	}
	return parts > 1
}
