package markup

import (
	"fmt"
	"regexp"
	"strings"
)

// signs are the characters that are rare in prose and mean something elsewhere.
// Percent and dollar signs are missing: languages have words for them.
const signs = "{}[]<>|\\^~=*_#&@`"

// operators start with a character that is no such sign.
var operators = [...]string{"-->", "->", "!==", "!=", ":=", "+=", "'''''", "'''", "''"}

// isSymbol says whether r is an arrow or another symbol that prose has here and there and
// models drop.
func isSymbol(r rune) bool { return r >= '←' && r <= '⇿' || oneOfRunes(r, "©®™§¶†‡") }

// bracketedWord returns the length of a word in brackets, such as [name], that is no link.
func (s *scanner) bracketedWord() int {
	if !isASCIILetter(s.at(1)) {
		return 0
	}
	return len(wordInBrackets(s.rest(longestName)))
}

// wordInBrackets returns the word in brackets that text starts with, "" where it is a part of
// a link.
func wordInBrackets(text string) string {
	m := inWordBrackets.FindString(text)
	if m == "" || m == "[sic]" || len(m) < len(text) && oneOf(text[len(m)], "([:") {
		return ""
	}
	return m
}

var inWordBrackets = regexp.MustCompile(`^\[[A-Za-z][\w-]+\]`)

// sign returns the length of a run of signs, or of an operator. A sign before a digit,
// as in "#1", is part of the number.
func (s *scanner) sign() int {
	if !oneOf(s.at(0), signs) {
		rest := s.rest(len("-->"))
		for _, operator := range operators {
			if strings.HasPrefix(rest, operator) {
				return len(operator)
			}
		}
		return 0
	}
	n := 1
	for oneOf(s.at(n), signs) && !s.isNumberSign(n) && !s.starts(n) {
		n++
	}
	if n == 1 && s.at(0) == '<' && oneOf(s.at(1), "3-") && !isASCIIDigit(s.at(2)) {
		n++ // <3, <-
	}
	return n
}

// isNumberSign says whether the sign n bytes from here is that of a number.
func (s *scanner) isNumberSign(n int) bool {
	return s.at(n) == '#' && isASCIIDigit(s.at(n+1))
}

// starts says whether the sign n bytes from here may start something else. What
// stands before here does not.
func (s *scanner) starts(n int) bool { return oneOf(s.at(n), "{[<\\`&*_~@#^]") }

// camelCase returns the length of the word that starts here if it is a name of a
// program, such as userName, or has a sign in it, such as AT&T and C#.
func (s *scanner) camelCase() int {
	if isIdentRune(s.before()) {
		return 0
	}
	return nameLength(s.text[s.pos:])
}

func isIdentRune(r rune) bool { return r < 0x80 && isIdent(byte(r)) }

// nameLength returns the length of the name at the start of text: two small letters
// before a capital, or letters with signs.
func nameLength(text string) int {
	n, small, inner := 0, 0, false
	for n < len(text) && isASCIILetter(text[n]) {
		if isASCIILower(text[n]) {
			if small == n {
				small++
			}
		} else if small >= 2 {
			inner = true
		}
		n++
	}
	if n < len(text) && (isIdent(text[n]) || text[n] >= 0x80 && isWord(first(text[n:]))) {
		return 0
	}
	switch {
	case inner:
		return n
	case n > 0 && n <= 3 && small == 0 && n+1 < len(text) && text[n] == '&' && !isASCIILower(text[n+1]) && isASCIILetter(text[n+1]):
		end := n + 1
		for end < len(text) && isASCIILetter(text[end]) {
			end++
		}
		return end
	case n == 1 && small == 0 && strings.HasPrefix(text[n:], "++"):
		return n + 2
	case n == 1 && small == 0 && strings.HasPrefix(text[n:], "#") && (n+1 == len(text) || !isIdent(text[n+1])):
		return n + 1
	}
	return 0
}

// compareSigns returns an error that wraps ErrLost where a translation has not as many
// of each sign and name of a program as its source; and of quotes, where they end what is
// translated.
func (s Sentence) compareSigns(source, translation string) error {
	if s.isQuoted() && strings.Count(source, `"`) != strings.Count(translation, `"`) {
		return fmt.Errorf("%w: a quote came in or is missing", ErrLost)
	}
	want, got := countSigns(source), countSigns(translation)
	for i := range want {
		if want[i] != got[i] {
			return fmt.Errorf("%w: %d of the sign %q, %d in the translation", ErrLost, want[i], signs[i], got[i])
		}
	}
	for _, operator := range operators {
		if n, m := strings.Count(source, operator), strings.Count(translation, operator); n != m {
			return fmt.Errorf("%w: %d of the sign %q, %d in the translation", ErrLost, n, operator, m)
		}
	}
	names := countNames(source)
	if len(names) == 0 {
		return nil
	}
	kept := countNames(translation)
	for name, n := range names {
		if n != kept[name] {
			return fmt.Errorf("%w: a name is there %d times, %d in the translation", ErrLost, n, kept[name])
		}
	}
	return nil
}

// isQuoted says whether the end of a line of a file of messages is in the sentence.
func (s Sentence) isQuoted() bool {
	for i := len(s.Spans) - 1; i >= 0; i-- {
		if s.Spans[i].Kind == Code && strings.HasPrefix(s.spanText(i), `"`) {
			return true
		}
	}
	return false
}

func countSigns(text string) (count [len(signs)]int) {
	for i := range len(text) {
		if k := strings.IndexByte(signs, text[i]); k >= 0 && (text[i] != '#' || i+1 == len(text) || !isASCIIDigit(text[i+1])) {
			count[k]++
		}
	}
	return count
}

// count counts a name, in a map that is made for the first.
func count(names map[string]int, name string) map[string]int {
	if names == nil {
		names = map[string]int{}
	}
	names[name]++
	return names
}

// countNames counts the names that nameLength finds, words in brackets, and symbols.
func countNames(text string) map[string]int {
	var names map[string]int
	for i := 0; i < len(text); {
		if !isASCIILetter(text[i]) {
			n := 1
			if text[i] == '[' {
				if word := wordInBrackets(text[i:min(len(text), i+longestName)]); word != "" {
					names, n = count(names, word), len(word)
				}
			} else if r, size := decode(text, i); size > 1 {
				if n = size; isSymbol(r) {
					names = count(names, text[i:i+n])
				}
			}
			i += n
			continue
		}
		if n := nameLength(text[i:]); n > 0 && (i == 0 || !isIdent(text[i-1]) && (text[i-1] < 0x80 || !isWord(last(text[:i])))) {
			names = count(names, text[i:i+n])
			i += n
			continue
		}
		for i < len(text) && isIdent(text[i]) {
			i++
		}
	}
	return names
}
