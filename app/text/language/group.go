package language

import (
	"iter"
	"math"
	"slices"
	"strings"

	"dragoman/app/text/language/internal/ngrams"
)

// group are the languages that share a script.
type group struct {
	codes  []string // all of them: the detector's own first
	own    int      // how many those are
	plain  []string // the own ones without ownLetters, or all where each has some; where there are none, the others
	known  []string // those of plain that have a model, then others that do
	likely int      // how many of known are likelier than the others
	// scorer compares the known ones.
	scorer *ngrams.Scorer
}

// ownLetters are letters in lower case that no other language of a model has in this
// script, or none that has a model of letters. The languages here have none.
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

// newGroup makes a group of a detector's own languages and of others. Others are compared with them
// only where all own ones can be.
func newGroup(own, others []string, models *ngrams.Table) group {
	g := group{codes: slices.Concat(own, others), own: len(own)}
	var scored []string // the models of those that have one
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

// modelled returns the plain ones of some languages, those of them that have a model, and its name.
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

// choose returns the language of words that are in a script, and how certain it is.
// A group without languages chooses none, and single letters, as formulas have them, make no word of a
// script that the detector's own languages do not have.
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
	// Where models do not decide, each of the languages is as likely.
	switch even := 1 / float64(len(g.plain)); len(g.known) {
	case 0:
		return g.plain[0], even, true
	case 1:
		return g.known[0], even, true
	}
	return g.byModels(words)
}

// byLetters returns the language whose own letters are among those of the words:
// at least one in a hundred, so that a foreign name in a long text does not count.
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

// temperature flattens the probabilities of languages. The models take letters for
// independent of all but the last four before them, which they are not, and so are
// surer than they should be; TestConfidence shows that this makes up for it.
const temperature = 1.5

// prior says, in bits, how much likelier a text is to be in a language than in a
// rare one before it is read. It decides on a word or two that several languages
// have (water, no); by the third word the letters outweigh it. The languages are
// the twenty that most of the web is written in, of those that share a script.
func prior(code string) float64 {
	switch code {
	case "en":
		return 4
	case "ar", "cs", "da", "de", "es", "fa", "fi", "fr", "hu", "id", "it", "nl", "pl", "pt", "ro", "ru", "sv", "tr", "uk", "vi":
		return 3
	}
	return 0
}

// foreignBits is how much less likely a text is to be in a language that is none of the detector's:
// of 2,997 sentences and 15,395 words of English, French and German, one in a thousand is taken for one
// in another language, and of 265 times three words in others 231 are told; see TestForeign.
const foreignBits = 12

// maxScored is the number of letters after which the models have seen enough.
const maxScored = 600

// byModels returns the language that the words are most likely in.
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

// lower returns the texts of the first words in lower case.
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
