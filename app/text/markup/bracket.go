package markup

import (
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// longestBracket is the maximum distance in bytes from a bracket to its closing bracket.
const longestBracket = 80

// bracket returns the end of the bracketed expression that the token from start to end opens, with the name before it, if its
// content is not natural language. Otherwise it returns 0.
func (e *expressions) bracket(start, end int, spans []Span) int {
	m := bracketForm.FindStringSubmatchIndex(e.text[start:end])
	if m == nil || len(spans) > 0 && spans[0].Start == start && spans[0].Kind != Sign {
		return 0
	}
	name, open := strings.TrimLeft(e.text[start+m[2]:start+m[3]], "&*'"), start+m[3]
	closing := closingBracket(e.text[open:min(len(e.text), open+longestBracket)])
	if closing == 0 {
		return 0
	}
	inner := e.text[open+1 : open+closing-1]
	end = open + closing
	if !e.isFree(start, end) {
		return 0
	}
	if c := e.text[open]; name == "" && c == '(' && strings.HasPrefix(inner, "?") { // (?i)abc
		end = char.Skip(e.text, end, func(r rune) bool { return !unicode.IsSpace(r) })
	}
	odd := false
	switch c := e.text[open]; {
	case name == "" && c == '(':
		odd = pairForm.MatchString(inner) || strings.HasPrefix(inner, "?") || strings.Contains(inner, "|") && !strings.Contains(inner, " ")
	case name == "":
		odd = c != '<' && len(inner) > 1 && !plainWord.MatchString(inner) && strings.ContainsFunc(inner, char.IsLetterOrDigit)
	case strings.HasSuffix(name, "!"):
		odd = c != '{'
	case c == '<':
		odd = typeForm.MatchString(e.text[open : open+2+len(inner)])
	case c != '{':
		odd = (c == '(' || strings.ContainsFunc(inner, unicode.IsLetter)) && inner != "" && inner != "sic" && !e.isInflection(name, inner) &&
			(!strings.Contains(strings.ReplaceAll(inner, ", ", ","), " ") || strings.Index(inner, " ") == 1) && (c == '[' || e.lang == "en" || !argumentWord.MatchString(inner))
	}
	if !odd {
		return 0
	}
	for closing > 0 { // m[i][j], f(x)?.name
		end = char.Skip(e.text, end, func(r rune) bool {
			return isCodeSign(r) && !unicode.IsSpace(r) && !char.OneOfRunes(r, "[{") || name != "" && (char.IsWord(r) || char.OneOfRunes(r, ".?!"))
		})
		closing = 0
		if end < len(e.text) && char.OneOf(e.text[end], "[({") {
			closing = closingBracket(e.text[end:min(len(e.text), end+longestBracket)])
		}
		end += closing
	}
	return start + len(strings.TrimRight(e.text[start:end], ".?!"))
}

// isInflection reports whether a word may take the ending inner: year(s), Schüler(innen), bateau(x).
func (e *expressions) isInflection(name, inner string) bool {
	return len(name) > 1 && inflection.MatchString(inner) && (inner != "x" || strings.HasSuffix(name, "u")) && (e.lang != "en" || len(inner) < 3 || inner == "ies" || inner == "ing")
}

// closingBracket returns the position behind the bracket that closes the first one of text, or 0 if it is not closed.
func closingBracket(text string) int {
	opened := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n':
			return 0
		case char.OneOf(c, "([{<") && (c != '<' || text[0] == '<'):
			opened++
		case char.OneOf(c, ")]}>") && (c != '>' || text[0] == '<'):
			if opened--; opened == 0 {
				return i + 1
			}
		}
	}
	return 0
}

var (
	plainWord    = regexp.MustCompile(`\pL[aeiouyAEIOUY]|[aeiouyAEIOUY]\pL|[^\x00-\x7f]\pL`)
	bracketForm  = regexp.MustCompile(`^([&*']?(?:[A-Za-z_]\w*(?:\.\w+)*!?)?)[\[({<]`)
	typeForm     = regexp.MustCompile(`^<(?:[A-Z]|[A-Z][a-z]\w*|[a-z]\d+)(?:, ?\w+)*>$`)
	pairForm     = regexp.MustCompile(`^(?:-?\d+(?:\.\d+)?|[A-Za-z])(?:, ?(?:-?\d+(?:\.\d+)?|[A-Za-z]))+$`)
	inflection   = regexp.MustCompile(`^(?:[senrdx]|\pL{0,4}[aeiouy]\pL{0,4})$`)
	argumentWord = regexp.MustCompile(`^[a-z]*[aeiouy][a-z]+$`)
)
