package markup

import (
	"regexp"
	"strings"
)

// The most bytes that a placeholder of each sort has. Longer ones are rather text
// with a bracket in it.
const (
	longestName       = 64
	longestExpression = 128
	longestTemplate   = 512
	longestICU        = 1024
)

// braces returns the length of the placeholder that starts with the { here:
//
//	{{mustache}} {{{raw}}} {% if x %} {# note #}
//	{name} {0} {} {:.2f} {user.name!r:>10} {items[0]} {first name}
//	{count, plural, one {# file} other {# files}}
//
// The last one, a message of ICU, is kept as a whole: the words in it are not
// translated.
func (s *scanner) braces() int {
	n := 0
	switch s.at(1) {
	case '{':
		n = s.closed(2, "}}", longestTemplate)
		if n > 0 && s.at(2) == '{' && s.at(n) == '}' {
			n++
		}
	case '%':
		n = s.closed(2, "%}", longestTemplate)
	case '#':
		n = s.closed(2, "#}", longestTemplate)
	}
	if n > 0 {
		return n
	}
	rest := s.text[s.pos:min(len(s.text), s.pos+longestName+2)]
	if i := strings.IndexAny(rest[1:], "{}\n"); i >= 0 && rest[i+1] == '}' && fieldName.MatchString(rest[1:i+1]) {
		return i + 2
	}
	if icuMessage.MatchString(rest) {
		return balanced(s.text[s.pos:], '{', '}', longestICU)
	}
	return 0
}

// fieldName is what stands between braces: nothing, or up to three words, and how
// to write the value behind a sign. Tables of constants: they are never changed.
var (
	fieldName  = regexp.MustCompile(`^(?:[\pL\pN_$@.#-][\pL\pN_$@.\-\[\]'"()]*(?: [\pL\pN_]+){0,2})? *(?:[:!|,?].*)?$`)
	icuMessage = regexp.MustCompile(`^\{\s*[\pL\pN_.]+\s*,\s*(?:plural|select|selectordinal|number|date|time|spellout|ordinal|duration|choice)\b`)
)

// balanced returns the length of the start of text in which each bracket that is
// opened is closed: 0 where that takes more than limit bytes. The first bracket
// may stand a little further on.
func balanced(text string, opening, closing byte, limit int) int {
	depth := 0
	for i := 0; i < min(len(text), limit); i++ {
		switch text[i] {
		case opening:
			depth++
		case closing:
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return 0
}

// erb returns the length of <% … %>. Tags are not looked for here.
func (s *scanner) erb() int {
	if s.at(1) != '%' {
		return 0
	}
	return s.closed(2, "%>", longestTemplate)
}

// dollar returns the length of ${x}, $(x) or $name. $5 is a number.
func (s *scanner) dollar() int {
	switch c := s.at(1); {
	case c == '{':
		return balanced(s.text[s.pos:], '{', '}', longestExpression)
	case c == '(':
		return balanced(s.text[s.pos:], '(', ')', longestName)
	case (isASCIILetter(c) || c == '_') && !isWord(s.before()):
		n := 2
		for isIdent(s.at(n)) {
			n++
		}
		return n
	}
	return 0
}

// percent returns the length of a verb of printf, or of its likes:
//
//	%s %d %5.2f %-10s %1$s %@ %% %(name)s %{name} %name% %1
//
// The sign of a percentage is part of its number, so "100% sure" has none, and neither
// has "%50", which is Turkish.
func (s *scanner) percent() int {
	rest := s.text[s.pos:min(len(s.text), s.pos+longestName)]
	// "%dx%d" is no name between two signs.
	if m := named.FindString(rest); m != "" && (m[len(m)-1] != '%' || !isIdent(s.at(len(m)))) {
		return len(m)
	}
	m := printf.FindString(rest)
	if m == "" {
		return 0
	}
	// "%d" may touch a unit, as in "%dpx"; other letters are rather those of a word.
	verb := m[len(m)-1]
	if isASCIILetter(s.at(len(m))) && (!oneOf(verb, "sdf@%") || isASCIILetter(s.at(len(m)+3))) {
		return 0
	}
	if isASCIIDigit(verb) && (isASCIIDigit(s.at(len(m))) || isASCIILetter(s.at(len(m)))) {
		return 0
	}
	return len(m)
}

var (
	named  = regexp.MustCompile(`^%(?:\([\w. -]+\)[-+0# ]*\d*(?:\.\d+)?[a-zA-Z]|\{[\w.: -]+\}|[A-Za-z_]\w+%)`)
	printf = regexp.MustCompile(`^%(?:%|@|(?:\d+\$)?[-+0#]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|L|q|j|z|t)?[sdiufeEgGxXocpvTq@bt]|[1-9])`)
)

// hash returns what starts with #: #{x}, a keycap, #topic or #1.
func (s *scanner) hash() (Kind, int) {
	switch r := s.before(); {
	case s.at(1) == '{':
		return Placeholder, balanced(s.text[s.pos:], '{', '}', longestExpression)
	case s.keycap(s.pos) > 0:
		return Emoji, s.emojiEnd(s.pos) - s.pos
	case isWord(r) || r == '&' || r == '/':
		return 0, 0 // C#, &#38;
	}
	if n := s.signedNumber(); n > 0 {
		return Number, n
	}
	return Hashtag, s.hashtag()
}

// backslash returns the length of \n and other escapes of a string, or of a path
// such as \\host\share. What Markdown escapes is text.
func (s *scanner) backslash() (Kind, int) {
	switch c := s.at(1); {
	case c == '\\' && isIdent(s.at(2)):
		return Path, s.pathEnd(s.pos+2, true) - s.pos
	case oneOf(c, "nrt") && !isASCIILower(s.at(2)), oneOf(c, `"'`):
		return Placeholder, 2
	}
	return 0, 0
}

func isASCIILower(c byte) bool { return c >= 'a' && c <= 'z' }

// identifier returns the length of a word that no language has: snake_case, or
// letters with digits in or behind them, such as iPhone15, H2O and x86_64.
func (s *scanner) identifier() (Kind, int) {
	end := s.pos
	for i := s.pos; i < len(s.text); {
		r, n := decode(s.text, i)
		// Beside Latin, Greek and Cyrillic, prefixes are written right before digits.
		if word := isWord(r) && (r <= 0x052F || r >= 0x1E00); word {
			end = i + n
		} else if r != '_' {
			break
		}
		i += n
	}
	word := s.text[s.pos:end]
	switch {
	case strings.Contains(word, "_"):
		return Code, len(word)
	case word != "" && !isASCIIDigit(word[0]) && strings.ContainsAny(word, "0123456789"):
		if s.byte(end) == '.' && isASCIIDigit(s.byte(end+1)) {
			return Number, s.numberEnd(end+1) - s.pos // v1.2.3
		}
		return Number, len(word)
	}
	return 0, 0
}
