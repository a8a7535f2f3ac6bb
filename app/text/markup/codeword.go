package markup

import (
	"regexp"
	"strings"

	"dragoman/app/text/char"
)

// codeWord returns the length of the program name that starts here, if its form cannot be a word:
//
//	f() std::vector app.config.get("x") java.util.List Map<String, Integer> items_of[0]
//	Ctrl+Alt+Del PATH=$HOME/bin text/html r/golang 2>&1
func (s *scanner) codeWord() int {
	if isIdentRune(s.before()) {
		return 0
	}
	rest := s.rest(longestExpression)
	end := 0
	for end < len(rest) && char.IsIdent(rest[end]) {
		end++
	}
	switch {
	case end == 0 || end == len(rest) || end == len(s.text)-s.pos:
		return 0
	case char.IsASCIILetter(rest[0]) && mayCall(rest, end):
		if n := len(calls.FindString(rest)); n > 0 {
			return n
		}
	case rest[end] == '=':
		return s.assignment(end)
	case char.OneOf(rest[end], "+-"):
		return len(keys.FindString(rest))
	case rest[end] == '/':
		return len(slashed.FindString(rest))
	case rest[end] == '>':
		return len(redirection.FindString(rest))
	}
	return 0
}

// mayCall reports whether a word of end bytes may match calls. Regular expressions are slow, so a cheap check precedes each of
// them.
func mayCall(text string, end int) bool {
	next := byte(0)
	if end+1 < len(text) {
		next = text[end+1]
	}
	switch text[end] {
	case '(':
		return next == ')' || char.IsIdent(next)
	case ':', '-':
		return next == ':' || next == '>'
	case '.', '<':
		return char.IsASCIILetter(next)
	}
	return text[end] == '[' && strings.IndexByte(text[:end], '_') >= 0
}

// Forms of program names.
var (
	calls = regexp.MustCompile(`^(?:` +
		`\w+(?:(?:\.|::|->)\w+)*\(\)(?:(?:\.|::)\w+(?:\(\))?)*` + // f(), a.f().g
		`|\w+(?:(?:\.|::)\w+)+\((?:"[^"\n]*"|'[^'\n]*')\)` + // a.f("x")
		`|\w+\(\w+(?:, ?\w+)+\)` + // f(a, b)
		`|\w+(?:::\w+)+(?:<[\w:, ]+>)?` + // a::b<int>
		`|[A-Za-z]\w+(?:\.[A-Za-z]\w+){2,}` + // a.b.c
		`|\w*_\w*(?:\[\w+\])+` + // a_b[0]
		`|[A-Z]\w+<[A-Z]\w*(?:, ?[A-Z]\w*)+>)`) // Map<K, V>
	keys        = regexp.MustCompile(`^(?:Ctrl|Strg|Alt|AltGr|Shift|Umschalt|Cmd|Command|Win|Meta|Option|Maj|Fn)(?:(?:\+\w+)+|(?:-(?:Ctrl|Alt|Shift|Cmd|Win))*-(?:[A-Z]|F\d{1,2})\b)`)
	slashed     = regexp.MustCompile(`^(?:application/[\w.+-]*\w|text/(?:plain|html|css|csv|xml|markdown)\b|image/(?:png|jpeg|gif|webp|svg\+xml)|multipart/form-data|[ru]/\w{3,})`)
	redirection = regexp.MustCompile(`^[012]>&[012]\b`)
)

// assignment returns the length of name=value, where the name has n bytes. If "name=" starts a line and the value may be a word,
// as in "greeting=Good morning", it returns the length of "name=" alone.
func (s *scanner) assignment(n int) int {
	if c := s.at(n + 1); c == 0 || c == '=' || c <= ' ' {
		return 0
	}
	if m := quotedValue.FindString(s.text[s.pos+n : min(len(s.text), s.pos+longestExpression)]); m != "" {
		return n + len(m)
	}
	end, plain := n+1, true
	for end < longestExpression && s.at(end) > ' ' && s.at(end) < 0x80 && !char.OneOf(s.at(end), "\"'`,;<>)]") {
		plain = plain && (char.IsASCIILetter(s.at(end)) || char.OneOf(s.at(end), ".!?:"))
		end++
	}
	if plain && (s.pos == 0 || s.text[s.pos-1] == '\n') {
		return n + 1
	}
	for end > n+1 && char.OneOf(s.at(end-1), ".,:!?") {
		end--
	}
	return end
}

var quotedValue = regexp.MustCompile(`^="[^"\n]*"`)
