package language

import (
	"iter"
	"math"
	"slices"
	"strings"

	"dragoman/app/text/language/internal/ngrams"
)

// group is the languages that share a script.
type group struct {
	codes  []string // all of them: the detector's own first
	own    int      // number of own ones
	plain  []string // own ones without ownLetters, or all if each has some; without own ones, the others
	known  []string // languages of plain with a model, then others with one
	likely int      // number of known languages that are preferred
	// scorer compares the known languages.
	scorer *ngrams.Scorer
}

// ownLetters are lower-case letters that no other language of a model has in this script, or none with a model of letters. The
// languages here have no such model.
var ownLetters = map[string]string{
	"as":  "ৰ",
	"ba":  "ҡҙҫ",
	"ha":  "ɓɗƙ",
	"ps":  "ټډړږښڼۍځڅ",
	"sd":  "ٻڀٺٽڄڃڇڏڌڊڍڙڦڪڳڱڻ",
	"shn": "ၵၶၷၸၹၺၻၼၽၾၿႀႁ",
	"ti":  "ቐቑቒቓቔቕቘቚቛቜቝ",
	"yi":  "װױײ",
}

// newGroup returns a group of a detector's own languages and others. Others are compared only if all own ones can be compared.
func newGroup(own, others []string, models *ngrams.Table) group {
	g := group{codes: slices.Concat(own, others), own: len(own)}
	var scored []string // the models of the known languages
	g.plain, g.known, scored = modelled(own, models)
	g.likely = len(g.known)
	if len(g.known) == len(g.plain) {
		plain, known, more := modelled(others, models)
		if len(own) == 0 {
			g.plain = plain
		}
		g.known, scored = append(g.known, known...), append(scored, more...)
	}
	g.scorer = models.Scorer(scored)
	return g
}

// modelled returns the languages of codes without own letters, those of them with a model, and the names of their models.
func modelled(codes []string, models *ngrams.Table) (plain, known, scored []string) {
	for _, code := range codes {
		if ownLetters[code] != "" {
			continue
		}
		plain = append(plain, code)
		model := code
		if code == "nb" { // most of Norwegian is Bokmål
			model = "no"
		}
		if slices.Contains(models.Languages(), model) && !slices.Contains(scored, model) {
			known, scored = append(known, code), append(scored, model)
		}
	}
	if len(plain) == 0 {
		plain = codes
	}
	return plain, known, scored
}

// choose returns the language of words in a script, and its certainty. ok is false for a group without languages. Single letters,
// as in formulas, do not establish a script that none of the detector's own languages has.
func (g group) choose(s script, words []word) (code string, certainty float64, ok bool) {
	sign := func(w word) bool { return w.script&dense == 0 && w.letters == 1 }
	if len(g.codes) == 0 || g.own == 0 && !slices.ContainsFunc(words, func(w word) bool { return !sign(w) }) {
		return "", 0, false
	}
	if s == han {
		return g.chooseHan(words)
	}
	if code, ok := g.byLetters(words); ok {
		return code, 1, true
	}
	// If models do not decide, all languages are equally likely.
	switch even := 1 / float64(len(g.plain)); len(g.known) {
	case 0:
		return g.plain[0], even, true
	case 1:
		return g.known[0], even, true
	}
	return g.byModels(words)
}

// byLetters returns the language whose own letters are at least one in a hundred letters of the words: a foreign name in a long
// text does not count.
func (g group) byLetters(words []word) (code string, ok bool) {
	for _, code := range g.codes {
		if ownLetters[code] == "" {
			continue
		}
		own, all := 0, 0
		for _, w := range words {
			all += w.letters
			for _, r := range strings.ToLower(w.text) {
				if strings.ContainsRune(ownLetters[code], r) {
					own++
				}
			}
		}
		if own > 0 && own*100 >= all {
			return code, true
		}
	}
	return "", false
}

// temperature flattens the probabilities of languages. The models assume that a letter depends only on the last four letters
// before it, which is not true, and are therefore overconfident; TestConfidence shows that this compensates for it.
const temperature = 1.5

// prior returns, in bits, how much likelier a text is in a language than in a rare one before it is read. It decides for one or
// two words that several languages share (water, no); by the third word the letters outweigh it. The languages are the twenty
// most frequent ones on the web among those that share a script.
func prior(code string) float64 {
	switch code {
	case "en":
		return 4
	case "ar", "cs", "da", "de", "es", "fa", "fi", "fr", "hu", "id", "it", "nl", "pl", "pt", "ro", "ru", "sv", "tr", "uk", "vi":
		return 3
	}
	return 0
}

// foreignBits is the penalty for languages that are none of the detector's: of 2,997 sentences and 15,395 words of English,
// French and German, one in a thousand is assigned to another language, and of 265 times three words in other languages 231 are
// detected; see TestForeign.
const foreignBits = 12

// maxScored is the number of letters that suffice for the models.
const maxScored = 600

// byModels returns the most likely language of the words.
func (g group) byModels(words []word) (code string, certainty float64, ok bool) {
	bits := g.scorer.Score(lower(words))
	if slices.Min(bits) == slices.Max(bits) {
		return "", 0, false // no language has any of these letters
	}
	for i, code := range g.known {
		bits[i] -= prior(code)
		if g.likely > 0 && i >= g.likely {
			bits[i] += foreignBits
		}
	}
	least := slices.Min(bits)
	sum := 0.0
	for _, b := range bits {
		sum += math.Exp2((least - b) / temperature)
	}
	return g.known[slices.Index(bits, least)], 1 / sum, true
}

// lower yields the first words in lower case.
func lower(words []word) iter.Seq[string] {
	return func(yield func(string) bool) {
		letters := 0
		for _, w := range words {
			if letters >= maxScored || !yield(strings.ToLower(w.text)) {
				return
			}
			letters += w.letters
		}
	}
}
