package markup

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dragoman/app/text/char"
	"dragoman/app/text/entity"
)

// check compares a translation with its sentence, each without the spans that are masked.
type check struct {
	sentence            Sentence
	source, translation string
}

// run returns the first error of signs, symbols, names and brackets.
func (c check) run() error {
	for _, compare := range [...]func(check) error{check.signs, check.residue, check.acronyms, check.brackets} {
		if err := compare(c); err != nil {
			return err
		}
	}
	return nil
}

// residue returns an error that wraps ErrLost if the counts of symbols in source and translation differ: those that are not
// punctuation, and signs and single letters that are soft spans. It counts in the texts themselves, independently of the
// recognizers, and so detects spans that they missed.
func (c check) residue() error {
	s, source, translation := c.sentence, c.source, c.translation
	want := residueOf(source)
	seen := map[string]bool{}
	for i, span := range s.Spans {
		text := s.spanText(i)
		if span.Kind != Sign || seen[text] {
			continue
		}
		if seen[text] = true; len(seen) > mostNames {
			return errManyNames
		}
		if len(text) > 1 && (text != "''" || twoApostrophes.MatchString(source)) && strings.Contains(source, text) && !strings.ContainsFunc(text, char.IsWord) && !strings.HasSuffix(text, ">") {
			want[text] = strings.Count(source, text)
		} else if isLetterAlone(text) && strings.Contains(source, text) {
			want[text] = countApart(source, text)
		}
	}
	if len(want) == 0 {
		return nil
	}
	got := residueOf(translation)
	for text, n := range want {
		m := got[text]
		if hasLetter(text) {
			if m = countApart(translation, text); m < n {
				m += countApart(translation, otherCase(text)) // the y direction, Y-Richtung
			}
			if m < n && (text == "x" && strings.Contains(translation, "×") || entity.Says(text, translation, s.to)) {
				m = n // 2 s, 2 秒
			}
			if strings.Contains(letterWords[s.to], strings.ToLower(text)) {
				m = min(n, m) // the others are words
			}
			if m < n && unicode.IsUpper(char.First(text)) && strings.Count(s.Text, " ") > 1 {
				m = n // the X direction is horizontal
			}
		} else if m == 0 {
			m = strings.Count(translation, text)
		}
		if n != m {
			return fmt.Errorf("%w: a symbol is there %d times, %d in the translation", ErrLost, n, m)
		}
	}
	return nil
}

// twoApostrophes matches the apostrophe of an ICU message within a word: elsewhere, two are a quote.
var twoApostrophes = regexp.MustCompile(`\pL''\pL`)

// residueOf counts the symbols in a text.
func residueOf(text string) map[string]int {
	count := map[string]int{}
	for _, r := range text {
		if r > 0xFF00 && r < 0xFF5E { // full-width forms
			r -= 0xFF00 - 0x20
		}
		if isResidue(r) {
			count[string(r)]++
		}
	}
	return count
}

// isResidue reports whether r is a symbol that no sentence needs. Currencies, minus signs and percents are compared with numbers,
// signs by check.signs; they are not residue.
func isResidue(r rune) bool {
	switch {
	case r < 0x80, char.IsMinus(r), isSymbol(r), r == removedRune, r == '\uFFFD', char.OneOfRunes(r, "～×▸►"):
		return false
	case unicode.In(r, unicode.Sm, unicode.So):
		return true
	}
	return char.OneOfRunes(r, "‰‱•‣※‖")
}

// acronyms returns an error that wraps ErrLost if an acronym of the source is missing in the translation and one that looks
// like it has come in: NYC must not become NYK. A translation may have words for an acronym, or for a word in capitals.
func (c check) acronyms() error {
	want := acronyms(c.source)
	if len(want) == 0 || strings.IndexFunc(c.source, unicode.IsLower) < 0 {
		return nil
	}
	got := acronyms(c.translation)
	for word, n := range want {
		c.sentence.looks.Past(len(word))
		if got[word] >= n {
			continue
		}
		for other := range got {
			if want[other] == 0 && !strings.Contains(c.source, other) && resembles(word, other) {
				return fmt.Errorf("%w: an acronym was changed", ErrLost)
			}
		}
	}
	return nil
}

// resembles reports whether one acronym may be a distorted other one: one letter differs, or a short one without vowels has the
// same first letter. Translations of acronyms have other letters, or the same ones in another order, as NATO and OTAN.
func resembles(a, b string) bool {
	const short, long = 4, 6
	if max(len(a), len(b)) > longestAcronym || isAnagram(a, b) || translated[a+" "+b] {
		return false
	}
	prefix := 0
	for prefix < min(len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	suffix := 0
	for suffix < min(len(a), len(b))-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return max(len(a), len(b))-prefix-suffix <= 1 && len(a) <= long || prefix > 0 && len(a) <= short && !strings.ContainsAny(a, "AEIOU")
}

// translated are acronyms whose translations look like them.
var translated = map[string]bool{"RGB RVB": true, "RGB RVA": true, "RGBA RVBA": true, "HSV TSV": true, "HSL TSL": true, "HSB TSL": true,
	"RGBE RVBE": true, "BGR BVR": true, "CMY CMJ": true, "CMYK CMJN": true, "CJK CJC": true, "AI KI": true, "HP TP": true, "BG HG": true, "FG VG": true,
	"US USA": true, "US UU": true, "USA UU": true, "PPI PPP": true, "DPI PPP": true, "GDP PIB": true, "NOT NON": true, "OR OU": true, "TIP TIPP": true, "MIN MN": true}

// longestAcronym is the maximum length of an acronym that is compared.
const longestAcronym = 16

// acronyms counts the words of two or more capitals in a text, also with digits or a plural ending.
func acronyms(text string) map[string]int {
	count := map[string]int{}
	for _, at := range acronym.FindAllStringIndex(text, -1) {
		if !char.IsWord(char.Last(text[:at[0]])) && !char.IsWord(char.First(text[at[1]:])) { // ENTRÉE has none
			count[text[at[0]:at[1]]]++
		}
	}
	return count
}

var acronym = regexp.MustCompile(`\b[A-Z]{2,}\b`)

// isAnagram reports whether two words have the same letters, as NATO and OTAN do.
func isAnagram(a, b string) bool {
	sorted := func(word string) string {
		letters := []byte(word)
		slices.Sort(letters)
		return string(letters)
	}
	return sorted(a) == sorted(b)
}

// brackets returns an error that wraps ErrLost if the brackets of a translation are not in pairs where those of the source
// are, or if a pair is missing that holds one short word or the whole text. Longer asides are often written in another way. Square
// brackets, commas, dashes and colons may stand for round brackets.
func (c check) brackets() error {
	source, translation := c.source, c.translation
	want, got := parenthesesOf(source), parenthesesOf(translation)
	switch {
	case len(emptied.FindAllString(translation, -1)) > len(emptied.FindAllString(source, -1)):
		return fmt.Errorf("%w: brackets have nothing in them any more", ErrLost)
	case want.open == want.closed && got.open != got.closed:
		return fmt.Errorf("%w: a bracket is missing", ErrLost)
	case got.open < want.open && countPauses(translation) <= countPauses(source) && shortAside.MatchString(source):
		return fmt.Errorf("%w: %d brackets, %d in the translation", ErrLost, want.open, got.open)
	}
	return nil
}

// shortAside matches a text with an aside of one short word, and a text that is one aside.
var shortAside = regexp.MustCompile(`[(（][\pL\pN]{1,4}[)）]|^\s*[(（].*[)）]\s*$`)

// countPauses counts the signs that set a part of a sentence apart.
func countPauses(text string) (n int) {
	for _, r := range text {
		if char.OneOfRunes(r, ",:;–—、，：；،") {
			n++
		}
	}
	return n
}

type parentheses struct{ open, closed int }

// parenthesesOf counts the round brackets of a text, without those of endings, as in year(s).
func parenthesesOf(text string) (count parentheses) {
	for _, r := range ending.ReplaceAllString(text, "") {
		switch r {
		case '(', '（', '[', '【', '［':
			count.open++
		case ')', '）', ']', '】', '］':
			count.closed++
		}
	}
	return count
}

var emptied = regexp.MustCompile(`[(（]\s*[)）]|\[\s*\]`)

var ending = regexp.MustCompile(`[\p{Lu}\p{Ll}]\(\p{Ll}{1,4}\)`)

// IsCapitals reports whether the sentence is one word in capitals: NULL, or EXIT.
func (s Sentence) IsCapitals() bool { return capitalForm.MatchString(s.Text) }

const removedRune = '\uFFFC'

// mostNames limits the number of different names counted in a sentence and its translation, as each is searched in both. A
// sentence that fits a model has fewer.
const mostNames = 256

var errManyNames = fmt.Errorf("%w: more than %d names to compare", ErrLost, mostNames)

// countApart counts the occurrences of a name by itself.
func countApart(text, name string) (count int) {
	for range apartIn(text, name) {
		count++
	}
	return count
}

// apartIn yields the positions at which a name occurs by itself: no word or number continues at either end.
func apartIn(text, name string) iter.Seq[int] {
	return func(yield func(start int) bool) {
		for at := 0; ; at += len(name) {
			n := strings.Index(text[at:], name)
			if n < 0 {
				return
			}
			at += n
			if !continues(text[:at], name, text[at+len(name):]) && !yield(at) {
				return
			}
		}
	}
}

// continues reports whether a word or a number continues beyond a name between two texts.
func continues(before, name, behind string) bool {
	first, last := char.First(name), char.Last(name)
	return char.IsWord(char.Last(before)) && (char.IsWord(first) || first == '-') || char.IsWord(char.First(behind)) && char.IsWord(last) ||
		unicode.IsDigit(first) && numberBefore.MatchString(before[max(0, len(before)-4):]) ||
		unicode.IsDigit(last) && numberBehind.MatchString(behind[:min(len(behind), 8)])
}

var (
	numberBefore = regexp.MustCompile(`(?:^|[^\pL\pN\pP]|\p{Ps})[-−]$|\d[.,]$`)
	numberBehind = regexp.MustCompile(`^(?:[.,]\d|[ \x{a0}\x{202f}]\d{3}(?:\D|$))`)
)

// otherCase returns a letter in the other case.
func otherCase(text string) string {
	if upper := strings.ToUpper(text); upper != text {
		return upper
	}
	return strings.ToLower(text)
}

// isLetterAlone reports whether a text is one letter, with its marks.
func isLetterAlone(text string) bool {
	r, n := char.Decode(text, 0)
	return unicode.IsLetter(r) && strings.TrimFunc(text[n:], unicode.IsMark) == ""
}
