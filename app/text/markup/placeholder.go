package markup

import (
	"regexp"
	"strings"

	"dragoman/app/text/char"
)

// The maximum lengths in bytes of placeholders. Longer ones are more likely text with a bracket.
const (
	longestName       = 64
	longestExpression = 128
	longestTemplate   = 512
)

// templates are the delimiters of template languages.
var templates = [...]struct{ open, close string }{
	{"{{", "}}"}, // Mustache, Jinja, Handlebars, i18next, Hugo
	{"{%", "%}"}, // Jinja, Liquid
	{"{#", "#}"}, // comments of Jinja
	{"{!", "!}"}, // Blade, Salesforce
	{"{\\", "}"}, // overrides of Advanced SubStation Alpha
	{"<%", "%>"}, // ERB, EJS
	{"<?", "?>"}, // PHP
}

// template returns the length of the template that starts here:
//
//	{{mustache}} {{{raw}}} {% if x %} {# note #} <%= x %> {\b1}
func (s *scanner) template() int {
	if !char.OneOf(s.at(1), "{%#!\\?") {
		return 0
	}
	rest := s.text[s.pos:]
	for _, t := range templates {
		if !strings.HasPrefix(rest, t.open) {
			continue
		}
		if n := s.closed(len(t.open), t.close, longestTemplate); n > 0 && strings.HasPrefix(rest, "{{{") && s.at(n) == '}' {
			return n + 1
		} else if n > 0 {
			return n
		}
	}
	return 0
}

// braces returns the length of the placeholder that starts with the { here:
//
//	{name} {0} {} {:.2f} {user.name!r:>10} {items[0]} {first name} {x:{width}} {#id .class} { -brand-name }
//	{"an": "object of JSON"}
//	{count, plural, one {# file} other {# files}}
//
// An ICU message, the last one, is one span; [Sentence.Messages] returns its branches.
func (s *scanner) braces() int {
	rest := s.rest(longestName + 2)
	if i := strings.IndexAny(rest[1:], "{}\n"); i >= 0 {
		switch inner := rest[1 : i+1]; {
		case rest[i+1] == '}' && fieldName.MatchString(inner):
			return i + 2
		case rest[i+1] == '{' && fieldFormat.MatchString(inner):
			return balanced(rest, '{', '}', len(rest))
		}
	}
	if strings.Contains(rest, ",") && icuMessage.MatchString(rest) || jsonObject.MatchString(rest) {
		if s.braced == nil {
			s.braced = partners(s.text, s.pos, '{', '}')
		}
		if end := s.braced[s.pos]; end > 0 {
			return end + 1 - s.pos
		}
	}
	return 0
}

// fieldName matches the text between braces: nothing, or up to three words and an optional format specification behind a sign; or
// quoted text.
var (
	fieldName   = regexp.MustCompile(`^(?:(?:[\pL\pN_$@.#-][\pL\pN_$@.\-\[\]'"()]*(?: [\pL\pN_.#=-]+){0,2})? *(?:[:!|,?=].*)?|'[^']*'| +[-$@.\pL\d_][^\s{}]*(?:\([^{}\n]*\))? *)$`)
	fieldFormat = regexp.MustCompile(`^[\pL\pN_.\[\]]*(?:![rsa])?:[^ ]*$`)
	icuMessage  = regexp.MustCompile(`^\{\s*[\pL\pN_.]+\s*,\s*(?:plural|select|selectordinal|number|date|time|spellout|ordinal|duration|choice)\b`)
	jsonObject  = regexp.MustCompile(`^\{\s*"[^"\n]*"\s*:`)
)

// balanced returns the length of the start of text up to the closing bracket that balances the first opening one, or 0 if that
// takes more than limit bytes. The first bracket may stand a little further on.
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

func isASCIILower(c byte) bool { return c >= 'a' && c <= 'z' }

// partners returns, for each sign opening at or behind byte i, the position of the sign that closes it.
func partners(text string, i int, opening, closing rune) map[int]int {
	ends := map[int]int{}
	set := string([]rune{opening, closing})
	var opened []int
	for {
		next := strings.IndexAny(text[i:], set)
		if next < 0 {
			return ends
		}
		i += next
		r, size := char.Decode(text, i)
		if r == opening {
			opened = append(opened, i)
		} else if n := len(opened) - 1; n >= 0 {
			ends[opened[n]] = i
			opened = opened[:n]
		}
		i += size
	}
}
