package markup

import (
	"regexp"
	"strings"

	"dragoman/app/text/char"
)

// signs are characters that are rare in prose and have a meaning elsewhere. Percent and dollar signs are not among them:
// languages have words for them.
const signs = "{}[]<>|\\^~=*_#@`"

// operators are counted, too; they start with a character that is not in signs.
var operators = [...]string{"-->", "->", "!==", "!=", ":=", "+=", "'''''", "'''", "''"}

// isSymbol reports whether r is a symbol that occurs in prose and that models drop.
func isSymbol(r rune) bool {
	return isArrow(r) || char.OneOfRunes(r, "©®™§¶†‡")
}

func isArrow(r rune) bool { return r >= '←' && r <= '⇿' }

// bracketedWord returns the length of the word in brackets here, such as [name], unless it is a link.
func (s *scanner) bracketedWord() int {
	if !char.IsASCIILetter(s.at(1)) {
		return 0
	}
	name := wordInBrackets.FindString(s.rest(longestName))
	if name == "" || name == "[sic]" || char.OneOf(s.at(len(name)), "([:") {
		return 0
	}
	return len(name)
}

// wordInBrackets matches a word in brackets.
var wordInBrackets = regexp.MustCompile(`^\[[A-Za-z][\w-]+\]`)

func isIdentRune(r rune) bool { return r < 0x80 && char.IsIdent(byte(r)) }

// sign returns the length of the run of signs or the operator here. A sign before a digit, as in "#1", is part of the number.
func (s *scanner) sign() int {
	if !char.OneOf(s.at(0), signs) {
		rest := s.rest(len("-->"))
		for _, operator := range operators {
			if strings.HasPrefix(rest, operator) {
				return len(operator)
			}
		}
		return 0
	}
	n := 1
	for char.OneOf(s.at(n), signs) && !s.isNumberSign(n) && !s.starts(n) {
		n++
	}
	if n == 1 && s.at(0) == '<' && char.OneOf(s.at(1), "3-") && !char.IsASCIIDigit(s.at(2)) {
		n++ // <3, <-
	}
	return n
}

// isNumberSign reports whether the sign n bytes ahead belongs to a number.
func (s *scanner) isNumberSign(n int) bool {
	return s.at(n) == '#' && char.IsASCIIDigit(s.at(n+1))
}

// starts reports whether the sign n bytes ahead may start a span of another kind, given that no sign before it does.
func (s *scanner) starts(n int) bool { return char.OneOf(s.at(n), "{[<\\`&*_~@#^]") }
