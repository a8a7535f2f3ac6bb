package markup

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// compareResidue returns an error that wraps ErrLost if the counts of code in source and translation differ: symbols that are not
// punctuation, single letters and names without vowels that are soft spans, halves of paths. It examines the texts themselves,
// independently of the recognizers, and so detects spans that they missed.
func (s Sentence) compareResidue(both *tally) error {
	source, translation := both.source, both.translation
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
		if strings.Contains(source, text) && halfChanged(text, source, translation) {
			return fmt.Errorf("%w: one of two words with a slash was changed", ErrLost)
		}
		if len(text) > 1 && strings.Contains(source, text) && !strings.ContainsFunc(text, char.IsWord) {
			want[text] = strings.Count(source, text)
		} else if char.IsWord(char.First(text)) && !alternative.MatchString(text) && strings.Contains(source, text) {
			want[text] = countApart(source, text)
		}
	}
	for _, at := range s.looks.FindAll(ratios, source) { // 1:0; not a time
		text := source[at[0]:at[1]]
		if isTimeOfDay.MatchString(text) {
			continue
		}
		switch there, kept, err := both.count(text); {
		case err != nil:
			return err
		case there > kept:
			return fmt.Errorf("%w: a ratio was changed", ErrLost)
		}
	}
	if s.growsDashed(source, translation) {
		return fmt.Errorf("%w: numbers with dashes are longer", ErrLost)
	}
	if len(want) == 0 {
		return nil
	}
	got := residueOf(translation)
	for text, n := range want {
		m := got[text]
		if hasLetter(text) {
			if m = countApart(translation, text); strings.Contains(letterWords[s.to], strings.ToLower(text)) {
				m = min(n, m) // the others are words
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

// halfChanged reports whether one of two words joined by a slash was kept and the other was not, or whether slashes were added:
// in he/she both words change, in origin/main neither should.
func halfChanged(text, source, translation string) bool {
	first, second, ok := strings.Cut(text, "/")
	if !ok || !alternative.MatchString(text) {
		return false
	}
	if joinedWords[text] {
		return false
	}
	return !strings.ContainsAny(translation, "/／") || strings.Count(translation, "/") > strings.Count(source, "/") || (countApart(translation, first+"/") > 0) != (countApart(translation, "/"+second) > 0)
}

var (
	ratios      = regexp.MustCompile(`\d+(?::\d+)+`)
	dashed      = regexp.MustCompile(`\d+(?:[-‐–]\d+)+`)
	dashes      = regexp.MustCompile(`[-‐–]`)
	isTimeOfDay = regexp.MustCompile(`^\d{1,2}(?::\d\d){1,2}$`)
)

// growsDashed reports whether a translation has a longer run of numbers joined by dashes than the source, with numbers of the
// source in it: 121-21-16 for 121-16.
func (s Sentence) growsDashed(source, translation string) bool {
	parts := map[string]bool{}
	longest := 0
	for _, at := range s.looks.FindAll(dashed, source) {
		numbers := dashes.Split(source[at[0]:at[1]], -1)
		longest = max(longest, len(numbers))
		for _, n := range numbers {
			parts[n] = true
		}
	}
	return longest > 0 && slices.ContainsFunc(s.looks.FindAll(dashed, translation), func(at []int) bool {
		numbers := dashes.Split(translation[at[0]:at[1]], -1)
		return len(numbers) > longest && slices.ContainsFunc(numbers, func(n string) bool { return parts[n] })
	})
}

// joinedWords are words with a slash that may be translated without it.
var joinedWords = set("and/or or/and he/she she/he his/her her/his him/her s/he und/oder et/ou y/o e/o er/sie il/elle")

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
// signs by compareSigns; they are not residue.
func isResidue(r rune) bool {
	switch {
	case r == '+':
		return true
	case r < 0x80, char.IsMinus(r), isSymbol(r), r == removedRune, r == '\uFFFD', r == '～':
		return false
	case unicode.In(r, unicode.Sm, unicode.So):
		return true
	}
	return char.OneOfRunes(r, "‰‱•‣※‖")
}

// LosesCapitals reports whether a translation has fewer words in capitals than a sentence in mixed case. Such words are mostly
// names of programs and organizations.
func (s Sentence) LosesCapitals(translation string) bool {
	at, count := 0, 0
	for _, span := range append(slices.Clone(s.Spans), Span{Start: len(s.Text), End: len(s.Text)}) {
		if !span.Kind.isSoft() || span.Start == len(s.Text) {
			count += countCapitals(s.Text[at:span.Start])
			at = span.End
		}
	}
	if count == 0 || strings.IndexFunc(s.Text, unicode.IsLower) < 0 {
		return false
	}
	for i, span := range s.Spans { // held words may also be in the translation
		if !span.Kind.isSoft() {
			count += countCapitals(s.spanText(i))
		}
	}
	return countCapitals(translation) < count
}

// IsCapitals reports whether the sentence is one word in capitals: NULL, or EXIT.
func (s Sentence) IsCapitals() bool { return capitalForm.MatchString(s.Text) }

func countCapitals(text string) int {
	n := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !char.IsWord(r) && r != '.' }) {
		if word = strings.ReplaceAll(word, ".", ""); capitalForm.MatchString(strings.TrimSuffix(word, "s")) {
			n++
		}
	}
	return n
}

const removedRune = '\uFFFC'

// compareNames combines compareTokens and compareResidue.
func (s Sentence) compareNames(source, translation string) error {
	both := tally{source: source, translation: translation, known: map[string][2]int{}}
	return errors.Join(s.compareTokens(&both), s.compareResidue(&both))
}

// mostNames limits the number of different names counted in a sentence and its translation, as each is searched in both. A
// sentence that fits a model has fewer.
const mostNames = 256

var errManyNames = fmt.Errorf("%w: more than %d names to compare", ErrLost, mostNames)

// tally counts names in a source and its translation, and caches the counts.
type tally struct {
	source, translation string
	known               map[string][2]int
}

// count returns how often a name occurs by itself in each text. Above mostNames names, it fails with an error that wraps ErrLost.
func (t *tally) count(name string) (source, translation int, err error) {
	counts, known := t.known[name]
	if !known && len(t.known) == mostNames {
		return 0, 0, errManyNames
	}
	if !known {
		counts = [2]int{countApart(t.source, name), countApart(t.translation, name)}
		t.known[name] = counts
	}
	return counts[0], counts[1], nil
}

// countApart counts the occurrences of a name by itself.
func countApart(text, name string) (count int) {
	for range apartIn(text, name) {
		count++
	}
	return count
}

// apartIn yields the positions at which a name occurs by itself: no word continues at either end.
func apartIn(text, name string) iter.Seq[int] {
	return func(yield func(start int) bool) {
		for at := 0; ; at += len(name) {
			n := strings.Index(text[at:], name)
			if n < 0 {
				return
			}
			at += n
			inWord := char.IsWord(char.Last(text[:at])) && char.IsWord(char.First(name)) || char.IsWord(char.First(text[at+len(name):])) && char.IsWord(char.Last(name))
			if !inWord && !yield(at) {
				return
			}
		}
	}
}
