package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// rules are what is special in a language.
type rules struct {
	// kinds are the abbreviations, in small letters, without the last full stop.
	kinds map[string]kind
	// starters are words that often start a sentence and are hardly ever written with
	// a capital elsewhere. They are needed where names (or, in German, all nouns) have
	// capitals and so do not show that a sentence starts. nil says that a capital does.
	starters map[string]bool
	// ordinals says whether "3." is a number that goes on.
	ordinals ordinals
	// months are names that have capitals and follow ordinals.
	months map[string]bool
	// mark ends sentences in this language, but not in others; 0 where there is none.
	mark rune
}

// kind says what a full stop behind an abbreviation may mean.
type kind int

const (
	ordinary kind = iota // no abbreviation
	title                // never ends a sentence: something has to follow
	counter              // ends none if a number follows: "No. 5", but "No. Never."
	either               // may end one
	unit                 // ends one behind a number only: "в 1990 г. Он", but "г. Москва"
)

// ordinals says how numbers with full stops are used.
type ordinals int

const (
	ordinalsNone  ordinals = iota
	ordinalsSmall          // before small letters: "3. oktober"
	ordinalsAny            // also before capitals: "3. Oktober"
)

// ordinal says whether a number with a full stop before rest is one of these, not the
// number of an item of a list.
func (r *rules) ordinal(rest string) bool {
	word, _ := firstWord(rest)
	first, _ := utf8.DecodeRuneInString(word)
	return r.ordinals != ordinalsNone && (unicode.IsLower(first) || r.months[strings.ToLower(word)])
}

// rulesOf returns the rules of a language, or those that fit most languages.
func rulesOf(lang string) *rules {
	if r, ok := languages[lang]; ok {
		return r
	}
	return international
}

// source is how rules are written: words with spaces between them.
type source struct {
	titles, counters, either, units, starters, months string

	ordinals ordinals
	mark     rune
}

// The rules of the languages. Nothing changes them.
var (
	international = compile(source{})
	languages     = compileAll()
)

func compileAll() map[string]*rules {
	all := make(map[string]*rules, len(sources)+len(sameAs))
	for lang, s := range sources {
		all[lang] = compile(s)
	}
	for lang, other := range sameAs {
		all[lang] = all[other]
	}
	return all
}

// compile makes rules; those of one language come on top of what is understood
// everywhere.
func compile(s source) *rules {
	r := &rules{kinds: map[string]kind{}, starters: set(s.starters), months: set(s.months), ordinals: s.ordinals, mark: s.mark}
	for _, list := range []struct {
		words string
		kind  kind
	}{
		{"mr mrs ms dr prof vs", title}, {"etc inc ltd co corp jr sr a.m p.m ph.d", either}, {"no nr n° tel", counter},
		{s.titles, title}, {s.counters, counter}, {s.either, either}, {s.units, unit},
	} {
		for word := range strings.FieldsSeq(list.words) {
			r.kinds[word] = list.kind
		}
	}
	return r
}

// set is nil where there are no words.
func set(words string) map[string]bool {
	if words == "" {
		return nil
	}
	all := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}
