package markup

import (
	"regexp"
	"slices"

	"dragoman/app/text/char"
)

// argument returns the length of $1, which is a price unless the text has $2, too.
func (s *scanner) argument() int {
	if c := s.at(1); char.IsASCIIDigit(c) && !char.IsASCIIDigit(s.at(2)) && !(char.OneOf(s.at(2), ".,") && char.IsASCIIDigit(s.at(3))) && s.isPositional() {
		return 2
	}
	return 0
}

// isPositional reports whether the text has both $1 and $2, which then are more likely arguments than prices.
func (s *scanner) isPositional() bool {
	if s.positional == 0 {
		s.positional = -1
		if first := positional.FindAllString(s.text, -1); slices.Contains(first, "$1") && slices.Contains(first, "$2") {
			s.positional = 1
		}
	}
	return s.positional > 0
}

var positional = regexp.MustCompile(`\$\d[\d.,]*\b`)

// percent returns the length of a conversion of printf, strftime or a similar function:
//
//	%s %d %5.2f %-10s %1$s %@ %% %Y %(name)s %{name} %<name>s %name% %#@name@ %1 %L1 %1%
//
// The sign of a percentage is part of its number, so "100% sure" has no conversion, and neither
// has "%50", which is Turkish.
func (s *scanner) percent() int {
	rest := s.rest(longestName)
	// "%dx%d" and "%ld%%" are not names between two percent signs.
	if c := s.at(1); c <= ' ' || c >= 0x80 {
		return 0
	}
	if m := named.FindString(rest); m != "" && (m[len(m)-1] != '%' || !char.IsIdent(s.at(len(m))) && s.at(len(m)) != '%') {
		return len(m)
	}
	m := printf.FindString(rest)
	if m == "" {
		return 0
	}
	// "%d" may touch a unit, as in "%dpx"; other letters more likely belong to a word.
	verb := m[len(m)-1]
	if char.IsASCIILetter(s.at(len(m))) && (!char.OneOf(verb, "sdf@%") || char.IsASCIILetter(s.at(len(m)+3))) {
		return 0
	}
	if char.IsASCIIDigit(verb) && (char.IsASCIIDigit(s.at(len(m))) || char.IsASCIILetter(s.at(len(m)))) {
		return 0
	}
	n := len(m)
	if next := s.at(n + 1); char.IsASCIIDigit(verb) && s.at(n) == '%' && next != '%' && !char.IsIdent(next) {
		n++ // %1% of Boost
	}
	for char.OneOf(s.at(n), "-/:.") && s.at(n+1) == '%' && char.IsASCIILetter(s.at(n+2)) && !char.IsASCIILetter(s.at(n+3)) {
		n += len("-%d") // the parts of a date
	}
	return n
}

var (
	named  = regexp.MustCompile(`^%(?:\([\w. -]+\)[-+0# ]*\d*(?:\.\d+)?[a-zA-Z]|\{[\w.: -]+\}|<[\w.]+>[-+0#]*\d*(?:\.\d+)?[a-zA-Z]?|#@\w+@|arg\b|[A-Za-z_]\w+%)`)
	printf = regexp.MustCompile(`^%(?:%|@|L[1-9]|(?:\d+\$)?[-+0#'_,]*(?:\d+|\*(?:\d+\$)?)?(?:\.(?:\d+|\*(?:\d+\$)?)?)?(?:hh|h|ll|l|L|q|j|z|t|I64)?[a-zA-Z@]|[1-9])`)
)
