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
//	{name} {0} {} {:.2f} {user.name!r:>10} {items[0]} {first name} {x:{width}} {#id .class} {#b}x{/b} { -brand-name }
//	{"an": "object of JSON"}
//	{count, plural, one {# file} other {# files}}
//
// An ICU message, the last one, is one span; [Sentence.Messages] returns its branches.
func (s *scanner) braces() int {
	rest := s.rest(longestName + 2)
	limit := len(rest)
	switch i := 1 + strings.IndexAny(rest[1:], "{}\n"); {
	case i > 0 && rest[i] == '}' && fieldName.MatchString(rest[1:i]):
		return i + 1
	case i > 0 && rest[i] == '{' && fieldFormat.MatchString(rest[1:i]):
	case strings.Contains(rest, ",") && icuMessage.MatchString(rest), jsonObject.MatchString(rest):
		limit = len(s.text)
	default:
		return 0
	}
	if s.braced == nil {
		s.braced = bracePairs(s.text, s.pos)
	}
	if end := s.braced[s.pos] + 1; end > 1 && end-s.pos <= limit {
		return end - s.pos
	}
	return 0
}

// fieldName matches the text between braces: nothing, or up to three words and an optional format specification behind a sign; or
// quoted text.
var (
	fieldName   = regexp.MustCompile(`^(?:(?:[\pL\pN_$@.#/-][\pL\pN_$@.\-\[\]'"()]*(?: [\pL\pN_.#=-]+){0,2})? *(?:[:!|,?=].*)?|'[^']*'| +[-$@.\pL\d_][^\s{}]*(?:\([^{}\n]*\))? *)$`)
	fieldFormat = regexp.MustCompile(`^[\pL\pN_.\[\]]*(?:![rsa])?:[^ ]*$`)
	icuMessage  = regexp.MustCompile(`^\{\s*[\pL\pN_.]+\s*,\s*(?:plural|select|selectordinal|number|date|time|spellout|ordinal|duration|choice)\b`)
	jsonObject  = regexp.MustCompile(`^\{\s*"[^"\n]*"\s*:`)
)

func isASCIILower(c byte) bool { return c >= 'a' && c <= 'z' }

// bracePairs returns, for each brace that opens at or behind byte i, the position of the brace that closes it.
func bracePairs(text string, i int) map[int]int {
	ends := map[int]int{}
	var opened []int
	for ; i < len(text); i++ {
		switch n := len(opened) - 1; {
		case text[i] == '{':
			opened = append(opened, i)
		case text[i] == '}' && n >= 0:
			ends[opened[n]] = i
			opened = opened[:n]
		}
	}
	return ends
}
