package segment

import (
	"cmp"
	_ "embed" // the table
	"maps"
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
	// capitals and so do not show that a sentence starts. None say that a capital does.
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
	if r, ok := languages[cmp.Or(lang, "en")]; ok {
		return r
	}
	return languages["*"]
}

//go:embed languages.txt
var languagesTable string

// languages are the rules of languages.txt, which says what they are. Nothing changes them.
var languages = func() map[string]*rules {
	newRules := func(kinds map[string]kind) *rules {
		return &rules{kinds: kinds, starters: map[string]bool{}, months: map[string]bool{}}
	}
	all := map[string]*rules{"*": newRules(map[string]kind{})}
	for line := range strings.Lines(languagesTable) {
		if line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		lang, list, words := fields[0], fields[1], fields[2:]
		if list == "as" {
			all[lang] = all[words[0]]
			continue
		}
		if all[lang] == nil {
			all[lang] = newRules(maps.Clone(all["*"].kinds))
		}
		for _, word := range words {
			all[lang].add(list, word)
		}
	}
	return all
}()

func (r *rules) add(list, word string) {
	switch list {
	case "title":
		r.kinds[word] = title
	case "counter":
		r.kinds[word] = counter
	case "either":
		r.kinds[word] = either
	case "unit":
		r.kinds[word] = unit
	case "starter":
		r.starters[word] = true
	case "month":
		r.months[word] = true
	case "mark":
		r.mark, _ = utf8.DecodeRuneInString(word)
	case "ordinals":
		r.ordinals = ordinalsSmall
		if word == "any" {
			r.ordinals = ordinalsAny
		}
	}
}
