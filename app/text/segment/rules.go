package segment

import (
	"cmp"
	_ "embed" // the table
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rules are the rules of a language.
type rules struct {
	// kinds are the abbreviations, in lower case, without the last full stop.
	kinds map[string]kind
	// starters are words that often start a sentence and rarely have a capital elsewhere. They are needed in languages in which
	// names (or, in German, all nouns) have capitals, so that a capital does not show the start of a sentence. If the set is
	// empty, it does.
	starters map[string]bool
	// ordinals tells whether "3." may be an ordinal number inside a sentence.
	ordinals ordinals
	// months are names with capitals that follow ordinals.
	months map[string]bool
	// mark ends sentences in this language only; 0 if there is none.
	mark rune
}

// kind tells how a full stop behind an abbreviation is read.
type kind int

const (
	ordinary kind = iota // not an abbreviation
	title                // never ends a sentence: more must follow
	counter              // does not end a sentence if a number follows: "No. 5", but "No. Never."
	either               // may end a sentence
	unit                 // ends a sentence only behind a number: "в 1990 г. Он", but "г. Москва"
)

// ordinals tells how numbers with full stops are used.
type ordinals int

const (
	ordinalsNone  ordinals = iota
	ordinalsSmall          // before small letters: "3. oktober"
	ordinalsAny            // also before capitals: "3. Oktober"
)

// ordinal reports whether a number with a full stop before rest is an ordinal, as opposed to the number of a list item.
func (r *rules) ordinal(rest string) bool {
	word, _ := firstWord(rest)
	first, _ := utf8.DecodeRuneInString(word)
	return r.ordinals != ordinalsNone && (unicode.IsLower(first) || r.months[strings.ToLower(word)])
}

// rulesOf returns the rules of a language, or rules that suit most languages.
func rulesOf(lang string) *rules {
	if r, ok := languages[cmp.Or(lang, "en")]; ok {
		return r
	}
	return languages["*"]
}

//go:embed languages.txt
var languagesTable string

// languages are the rules of languages.txt, which documents them. They are read-only.
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
