package markup

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// signs are characters that are rare in prose and have a meaning elsewhere. Percent and dollar signs are not among them:
// languages have words for them.
const signs = "{}[]<>|\\^~=*_#@`"

// operators are counted, too; they start with a character that is not in signs.
var operators = [...]string{"-->", "->", "!==", "!=", ":=", "+=", "'''''", "'''", "''"}

// countedOperators are those that have no other form in a translation, as -> has, and that prose does not have: two quotes may be one.
var countedOperators = operators[2 : len(operators)-1]

// wordInBrackets matches a word in brackets: [name].
const wordInBrackets = `\[[A-Za-z][\w-]+\]`

var (
	wordInBracketsHere = regexp.MustCompile(`^` + wordInBrackets)
	// countedNames matches the names that check.signs counts beside signs, and symbols that occur in prose and that models drop.
	countedNames = regexp.MustCompile(wordInBrackets + `|[©®™§¶†‡]`)
)

// isSymbol reports whether r is a symbol of countedNames.
func isSymbol(r rune) bool {
	return r >= '←' && r <= '⇿' || char.OneOfRunes(r, "©®™§¶†‡")
}

// bracketedWord returns the length of the word in brackets here, such as [name], unless it is a link.
func (s *scanner) bracketedWord() int {
	if !char.IsASCIILetter(s.at(1)) {
		return 0
	}
	if n := len(wordInBracketsHere.FindString(s.rest(longestName))); isName(s.text, s.pos, s.pos+n) {
		return n
	}
	return 0
}

func isIdentRune(r rune) bool { return r < 0x80 && char.IsIdent(byte(r)) }

// isName reports whether a match of countedNames is a name at its position: not part of a link or of a word with letters outside
// ASCII.
func isName(text string, start, end int) bool {
	switch name := text[start:end]; {
	case name == "" || name == "[sic]":
		return false
	case name[0] == '[':
		return end == len(text) || !char.OneOf(text[end], "([:")
	case char.IsASCIILetter(name[0]):
		goesOn := isASCIILower(name[0]) && char.IsWord(char.First(text[end:]))
		return !goesOn && !char.IsWord(char.Last(text[:start]))
	}
	return true
}

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

// signs returns an error that wraps ErrLost if the counts of a sign or name of a program differ between source and
// translation, or the counts of quotes if they delimit the translated text.
func (c check) signs() error {
	s, source, translation := c.sentence, c.source, c.translation
	isQuoted := slices.ContainsFunc(s.Spans, func(span Span) bool { return span.Kind == Code && s.Text[span.Start] == '"' }) // the closing quote of a line in a message file
	if isQuoted && strings.Count(source, `"`) != strings.Count(translation, `"`) {
		return fmt.Errorf("%w: a quote came in or is missing", ErrLost)
	}
	want, got := countSigns(source), countSigns(translation)
	for i := range want {
		if want[i] != got[i] && strings.IndexByte(s.Text, signs[i]) >= 0 { // a translation may have signs that are not in the sentence
			return fmt.Errorf("%w: %d of the sign %q, %d in the translation", ErrLost, want[i], signs[i], got[i])
		}
	}
	for _, operator := range countedOperators {
		if n, m := strings.Count(source, operator), strings.Count(translation, operator); n != m && strings.Contains(s.Text, operator) {
			return fmt.Errorf("%w: %d of the sign %q, %d in the translation", ErrLost, n, operator, m)
		}
	}
	names := countNames(s.looks, source)
	if len(names) == 0 {
		return nil
	}
	kept := countNames(s.looks, translation)
	for name, n := range names {
		if n != kept[name] {
			return fmt.Errorf("%w: a name is there %d times, %d in the translation", ErrLost, n, kept[name])
		}
	}
	return nil
}

func countSigns(text string) (count [len(signs)]int) {
	text = oldQuotes.ReplaceAllString(wideBrackets.Replace(text), "")
	for i := range len(text) {
		if k := strings.IndexByte(signs, text[i]); k >= 0 && (text[i] != '#' || !isNumberSign(text, i)) {
			count[k]++
		}
	}
	return count
}

// isNumberSign reports whether the # at byte i stands for "number", for which languages have other signs.
func isNumberSign(text string, i int) bool {
	next, before := char.First(text[i+1:]), char.Last(strings.TrimRight(text[:i], " "))
	return unicode.IsDigit(next) || char.OneOfRunes(next, "%{") || i > 0 && unicode.IsLetter(before) && char.OneOfRunes(next, ":.,)")
}

// oldQuotes matches text in the quotes of old programs: `name'.
var oldQuotes = regexp.MustCompile("`[^`'\n]{1,64}'")

// wideBrackets are forms of signs in Chinese and Japanese, and of arrows, which stand for > between the names of menus.
var wideBrackets = strings.NewReplacer("-->", ">", "->", ">", "=>", ">", "→", ">", "⇒", ">", "▸", ">", "＞", ">", "＜", "<", "【", "[", "】", "]", "［", "[", "］", "]", "〔", "[", "〕", "]")

// countNames counts the names and symbols in a text.
func countNames(looks *char.Looks, text string) map[string]int {
	names := map[string]int{}
	for _, at := range looks.FindAll(countedNames, text) {
		if isName(text, at[0], at[1]) {
			names[text[at[0]:at[1]]]++
		}
	}
	return names
}
