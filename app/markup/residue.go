package markup

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// compareResidue returns an error that wraps ErrLost where something is not in a translation as often as in
// its source that is no language: a symbol that is no punctuation of sentences, a slash between letters, letters
// alone and names without a vowel that are soft spans. It asks for what the texts are, not for what recognizers
// found in them: what they overlook is noticed here.
func (s Sentence) compareResidue(source, translation string) error {
	want := residueOf(source)
	for i, span := range s.Spans {
		text := s.spanText(i)
		if span.Kind == Sign && len(text) > 1 && strings.Contains(source, text) && !strings.ContainsFunc(text, isWord) {
			want[text] = strings.Count(source, text)
		} else if span.Kind == Sign && isWord(first(text)) && !alternative.MatchString(text) && strings.Contains(source, text) {
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
			m = min(n, countApart(translation, text))
		} else if m == 0 {
			m = strings.Count(translation, text)
		}
		if n != m {
			return fmt.Errorf("%w: a symbol is there %d times, %d in the translation", ErrLost, n, m)
		}
	}
	return nil
}

// residueOf counts the symbols of a text.
func residueOf(text string) map[string]int {
	count := map[string]int{}
	before := ' '
	for i, r := range text {
		if r < 0x80 && r != '+' && r != '/' {
			before = r
			continue
		}
		if r > 0xFF00 && r < 0xFF5E { // full-width forms
			r -= 0xFF00 - 0x20
		}
		switch {
		case r == '/':
			_, n := decode(text, i)
			if unicode.IsLetter(before) && unicode.IsLetter(first(text[i+n:])) {
				count["/"]++
			}
		case isResidue(r):
			count[string(r)]++
		}
		before = r
	}
	return count
}

// isResidue says whether no sentence needs r: currencies, minus signs and percents are compared with numbers, and
// what is counted as a sign is not counted here.
func isResidue(r rune) bool {
	switch {
	case r == '+':
		return true
	case r < 0x80, isMinus(r), isSymbol(r), r == removedRune, r == '\uFFFD', r == '～':
		return false
	case unicode.In(r, unicode.Sm, unicode.So):
		return true
	}
	return oneOfRunes(r, "‰‱•‣※‖")
}

// LosesCapitals says whether words in capitals among others, names of programs and organizations
// mostly, are fewer in a translation: neither as they were nor in capitals.
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
	for i, span := range s.Spans { // they may be in the translation
		if !span.Kind.isSoft() {
			count += countCapitals(s.spanText(i))
		}
	}
	return countCapitals(translation) < count
}

func countCapitals(text string) int {
	n := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWord(r) && r != '.' }) {
		if word = strings.ReplaceAll(word, ".", ""); capitalForm.MatchString(strings.TrimSuffix(word, "s")) {
			n++
		}
	}
	return n
}

const removedRune = '\uFFFC'

// countApart counts where a name stands by itself.
func countApart(text, name string) int {
	count := 0
	for at := 0; ; {
		n := strings.Index(text[at:], name)
		if n < 0 {
			return count
		}
		start, end := at+n, at+n+len(name)
		if !isWord(last(text[:start])) && !isWord(first(text[end:])) {
			count++
		}
		at = end
	}
}
