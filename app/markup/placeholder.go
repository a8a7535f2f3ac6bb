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
)

// delimiter is what a placeholder starts and ends with. Between them is a name, or
// anything where limit is above 0.
type delimiter struct {
	open, close string
	limit       int
}

// delimiters are those of the languages of templates, the longest first.
var delimiters = [...]delimiter{
	{"{{", "}}", longestTemplate}, // Mustache, Jinja, Handlebars, i18next, Hugo
	{"{%", "%}", longestTemplate}, // Jinja, Liquid
	{"{#", "#}", longestTemplate}, // comments of Jinja
	{"{!", "!}", longestTemplate}, // Blade, Salesforce
	{"{\\", "}", longestTemplate}, // overrides of Advanced SubStation Alpha
	{"<%", "%>", longestTemplate}, // ERB, EJS
	{"[[", "]]", 0},
	{"<<", ">>", 0},
	{"*|", "|*", 0}, // Mailchimp
	{"%%", "%%", 0},
	{"@@", "@@", 0},
	{"##", "##", 0},
	{"__", "__", 0},
}

// delimited returns the length of the placeholder between delimiters that starts here:
//
//	{{mustache}} {{{raw}}} {% if x %} {# note #} <%= x %> {\b1} [[x]] *|NAME|* __NAME__
func (s *scanner) delimited() int {
	if !oneOf(s.at(1), "{%#!\\[<|@_") {
		return 0
	}
	rest := s.text[s.pos:]
	for _, d := range delimiters {
		if !strings.HasPrefix(rest, d.open) {
			continue
		}
		n := 0
		if d.limit == 0 {
			n = delimitedName(s.rest(longestName), d)
		} else if n = s.closed(len(d.open), d.close, d.limit); n > 0 && strings.HasPrefix(rest, "{{{") && s.at(n) == '}' {
			n++
		}
		if n > 0 {
			return n
		}
	}
	return 0
}

// delimitedName returns the length of the name between the delimiters d that text
// starts with. Only [[ ]] may have more than a name between them, and __ __ only capitals:
// __bold__ is Markdown.
func delimitedName(text string, d delimiter) int {
	end := strings.Index(text[len(d.open):], d.close)
	if end <= 0 {
		return 0
	}
	name := text[len(d.open) : len(d.open)+end]
	for i := range len(name) {
		c := name[i]
		switch {
		case d.open == "[[" && !oneOf(c, "[]\n"):
		case d.open == "__" && isASCIILower(c) && !dunders[name]:
			return 0
		case !isIdent(c) && (i == 0 || !oneOf(c, ".-:")):
			return 0
		}
	}
	if after := len(d.open) + end + len(d.close); d.open != "__" || after == len(text) || !isIdent(text[after]) {
		return after
	}
	return 0
}

// dunders are names of Python between underscores.
var dunders = set(`all author call class del dict doc enter eq exit file getattr hash init iter len main name new
	next repr setattr str version`)

// braces returns the length of the placeholder that starts with the { here:
//
//	{name} {0} {} {:.2f} {user.name!r:>10} {items[0]} {first name} {x:{width}} {#id .class}
//	{"an": "object of JSON"}
//	{count, plural, one {# file} other {# files}}
//
// The last one, a message of ICU, is one span: the branches in it are [Sentence.Messages].
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
			s.braced = braceEnds(s.text, s.pos)
		}
		if end := s.braced[s.pos]; end > 0 {
			return end - s.pos
		}
	}
	return 0
}

// fieldName is what stands between braces: nothing, or up to three words, and how
// to write the value behind a sign; or a text in quotes. Tables of constants: they are
// never changed.
var (
	fieldName   = regexp.MustCompile(`^(?:(?:[\pL\pN_$@.#-][\pL\pN_$@.\-\[\]'"()]*(?: [\pL\pN_.#=-]+){0,2})? *(?:[:!|,?=].*)?|'[^']*')$`)
	fieldFormat = regexp.MustCompile(`^[\pL\pN_.\[\]]*(?:![rsa])?:[^ ]*$`)
	icuMessage  = regexp.MustCompile(`^\{\s*[\pL\pN_.]+\s*,\s*(?:plural|select|selectordinal|number|date|time|spellout|ordinal|duration|choice)\b`)
	jsonObject  = regexp.MustCompile(`^\{\s*"[^"\n]*"\s*:`)
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

// interpolation returns the length of #{x}, or of #!/bin/sh.
func (s *scanner) interpolation() int {
	if s.at(1) == '!' && s.at(2) == '/' {
		return s.pathEnd(s.pos+2, false) - s.pos
	}
	if s.at(1) != '{' {
		return 0
	}
	return balanced(s.text[s.pos:], '{', '}', longestExpression)
}

// hashNumber returns the length of #1.
func (s *scanner) hashNumber() int {
	if s.touches() {
		return 0
	}
	return s.signedNumber()
}

// touches says whether the # here belongs to what is before it, as in C# and &#38;, or stands
// for a number by itself.
func (s *scanner) touches() bool {
	r := s.before()
	return s.branch || isWord(r) || r == '&' || r == '/'
}

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

func isASCIILower(c byte) bool { return c >= 'a' && c <= 'z' }
