package translate

import (
	"slices"

	"dragoman/app/markup"
	"dragoman/model/search"
)

// termWay is how the terms of a sentence come into its translation. The ways are tried in this
// order, until all terms are there; where constrained leads to something, constrainedInPlace is
// tried as well, and the more likely one of both translations is taken. docs/terminology.md has the figures behind it.
type termWay uint8

const (
	// leftToModel translates the sentence as it is: often the model writes the term by itself,
	// and nothing makes a better translation.
	leftToModel termWay = iota
	// constrained has a search that places what the terms become. That is best for words that the
	// model knows as translations of the terms.
	constrained
	// constrainedInPlace does so from a sentence that has what the terms become in the place of the
	// terms. That is best for names and words that the model does not know: it copies them.
	constrainedInPlace
	// asMarkers masks the terms as markup is: of what the tokenizer cannot write, or searches may not place.
	asMarkers
)

// termTries are the ways beside the first one.
const termTries = 3

// What a search that places terms has.
const (
	termBeams = 8 // where the model may have as many
	fewBeams  = 3 // at least: with fewer, a term comes too early or too late
)

// startTerms puts a sentence that has terms into the first way. What they become is words of the
// last language of a route: no model writes them by itself on the way there.
func (x *sentence) startTerms() {
	if x.HasTerms() && x.hop.next != nil && !x.staysAsItIs() {
		x.way.terms = constrained
		x.way, _ = x.nextTermWay()
	}
}

// staysAsItIs says whether all terms of the sentence stay as they are.
func (x *sentence) staysAsItIs() bool { return x.InPlace().Text == x.Text }

// form is the sentence with its terms as its present way has them.
func (x *sentence) form() markup.Sentence {
	switch x.way.terms {
	case constrainedInPlace:
		return x.InPlace()
	case asMarkers:
		return x.Protected()
	}
	return x.Sentence
}

// tryTerms is the way in which to try the terms of a sentence next, after one that led to these
// flags.
func (x *sentence) tryTerms(flags Flags) (next way, ok bool) {
	switch x.way.terms {
	case leftToModel:
		if !flags.Has(GlossaryMissed) {
			return x.way, false
		}
	case constrained, constrainedInPlace:
		last := x.way.terms == constrainedInPlace || x.staysAsItIs()
		if last && x.best.flags&(GlossaryMissed|MarkupLost|Loop|Truncated|Empty) == 0 {
			return x.way, false
		}
	case asMarkers:
		next = x.way
		next.mask++
		return next, flags.Has(MarkupLost) && next.mask < len(x.hop.model.styles)
	}
	return x.nextTermWay()
}

// nextTermWay is the first way behind the present one that the sentence can be tried in.
func (x *sentence) nextTermWay() (next way, ok bool) {
	for terms := x.way.terms + 1; terms <= asMarkers; terms++ {
		switch {
		case terms == asMarkers:
			return way{terms: terms}, len(x.hop.model.styles) > 0
		case terms == constrainedInPlace && x.staysAsItIs(), !x.canPlace():
			continue
		}
		next = way{terms: terms, mask: unmasked}
		if !x.AsIs() {
			next.mask = 0
		}
		return next, true
	}
	return next, false
}

// canPlace says whether a search may place the terms of the sentence.
func (x *sentence) canPlace() bool {
	m := x.hop.model
	if x.phrases == nil {
		x.phrases = m.phrasesOf(x.hop, x.TermForms())
	}
	constraints := search.Constraints{Phrases: x.phrases}
	// Of a translation that is mostly terms no search makes a good one.
	return len(x.phrases) > 0 && m.Limits.Beams >= fewBeams &&
		constraints.Validate(len(x.hop.prefix), x.hop.lane.search.MaxLength/2, m.Spec.VocabSize) == nil
}

// placed are the phrases that a search has to place in the present way, and its settings.
func (x *sentence) placed(options search.Options) ([]search.Phrase, search.Options) {
	if x.way.terms != constrained && x.way.terms != constrainedInPlace {
		return nil, options
	}
	options.Beams = max(options.Beams, min(termBeams, x.hop.model.Limits.Beams))
	return x.phrases, options
}

// phrasesOf are what terms become, in tokens; empty where the tokenizer cannot write one of them.
func (m *Model) phrasesOf(h *hop, forms []markup.TermForm) []search.Phrase {
	phrases := make([]search.Phrase, len(forms))
	for i, form := range forms {
		phrases[i].Forms = m.writings(h, form.Inside)
		if form.First != form.Inside {
			phrases[i].First = m.writings(h, form.First)
		}
		if len(phrases[i].Forms) == 0 {
			return []search.Phrase{}
		}
	}
	return phrases
}

// writings are the ways in which tokens write some words: behind a space, and behind a sign.
func (m *Model) writings(h *hop, text string) (list [][]int64) {
	sign := "'"
	if r := []rune(text)[0]; !markup.IsWord(r) {
		sign = "。"
	}
	behind, alone := m.pieces(h, sign+text), m.pieces(h, sign)
	written := [][]int64{m.pieces(h, text)}
	if n := len(alone); len(behind) > n && slices.Equal(behind[:n], alone) && !slices.Equal(behind[n:], written[0]) {
		written = append(written, behind[n:])
	}
	for _, ids := range written {
		if len(ids) > 0 && m.Tokenizer.Decode(ids) == text {
			list = append(list, ids)
		}
	}
	return list
}

// pieces are the tokens of a text, without those that stand around it; nil where there are none.
func (m *Model) pieces(h *hop, text string) []int64 {
	ids, err := m.Tokenizer.Encode(h.from, h.to, text)
	around, errAround := m.Tokenizer.Encode(h.from, h.to, "")
	if err != nil || errAround != nil || len(ids) <= len(around) {
		return nil
	}
	before := 0
	for before < len(around) && ids[before] == around[before] {
		before++
	}
	return ids[before : len(ids)-(len(around)-before)]
}
