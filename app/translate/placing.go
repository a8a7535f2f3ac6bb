package translate

import (
	"slices"

	"dragoman/app/text/char"
	"dragoman/app/text/markup"
	"dragoman/model/search"
)

// termStrategy is how the terms of a sentence come into its translation. They are tried in this
// order, until all terms are there; where constrained leads to something, constrainedInPlace is
// tried as well, and the more likely one of both translations is taken. docs/terminology.md has the figures behind it.
type termStrategy uint8

const (
	// leftToModel translates the sentence as it is: often the model writes the term by itself,
	// and nothing makes a better translation.
	leftToModel termStrategy = iota
	// constrained has a search that places what the terms become. That is best for words that the
	// model knows as translations of the terms.
	constrained
	// constrainedInPlace does so from a sentence that has what the terms become in the place of the
	// terms. That is best for names and words that the model does not know: it copies them.
	constrainedInPlace
	// asMarkers masks the terms as markup is: of what the tokenizer cannot write, or searches may not place.
	asMarkers
)

// places says whether a search places the terms.
func (s strategy) places() bool { return s.terms == constrained || s.terms == constrainedInPlace }

// termTries are the strategies beside the first one.
const termTries = 3

// What a search that places terms has.
const (
	termBeams = 8 // where the model may have as many
	fewBeams  = 3 // at least: with fewer, a term comes too early or too late
)

// startTerms gives a sentence that has terms its first strategy. What they become is words of the
// last language of a route: no model writes them by itself on the way there.
func (x *sentence) startTerms() {
	if !x.HasTerms() || x.step.next == nil || x.staysAsItIs() {
		return
	}
	x.strategy = strategy{terms: asMarkers}
	if x.canPlace() {
		x.strategy = x.placing(constrainedInPlace)
	}
}

// staysAsItIs says whether all terms of the sentence stay as they are.
func (x *sentence) staysAsItIs() bool { return x.InPlace().Text == x.Text }

// withTerms is the sentence with its terms as its present strategy has them.
func (x *sentence) withTerms() markup.Sentence {
	switch x.strategy.terms {
	case constrainedInPlace:
		return x.InPlace()
	case asMarkers:
		return x.Protected()
	}
	return x.Sentence
}

// otherTerms are the strategies for the terms of the sentence behind its present one, in order.
func (x *sentence) otherTerms() (list []strategy) {
	present := x.strategy.terms
	if present < constrained && x.canPlace() {
		list = append(list, x.placing(constrained))
	}
	if present < constrainedInPlace && x.canPlace() && !x.staysAsItIs() {
		list = append(list, x.placing(constrainedInPlace))
	}
	style := 0
	if present == asMarkers {
		style = x.strategy.markers + 1
	}
	for ; style < len(x.step.model.styles); style++ {
		list = append(list, strategy{terms: asMarkers, markers: style})
	}
	return list
}

// placing is the strategy that places terms so.
func (x *sentence) placing(terms termStrategy) strategy {
	s := strategy{terms: terms, markers: unmasked}
	if !x.AsIs() {
		s.markers = 0
	}
	return s
}

// canPlace says whether a search may place the terms of the sentence.
func (x *sentence) canPlace() bool {
	m := x.step.model
	if x.phrases == nil {
		x.phrases = m.phrasesOf(x.TermForms())
	}
	constraints := search.Constraints{Phrases: x.phrases}
	// Of a translation that is mostly terms no search makes a good one.
	return len(x.phrases) > 0 && m.Limits.Beams >= fewBeams &&
		constraints.Validate(len(x.step.prefix), x.step.search.MaxLength/2, m.Spec.VocabSize) == nil
}

// hasOnlyTerms says whether nothing but terms must come back in a sentence's translation.
func (x *sentence) hasOnlyTerms() bool {
	return !slices.ContainsFunc(x.Spans, func(span markup.Span) bool { return span.Term == nil })
}

// phrasesOf are what terms become, in tokens; empty where the tokenizer cannot write one of them.
func (m *Model) phrasesOf(forms []markup.TermForm) []search.Phrase {
	phrases := make([]search.Phrase, len(forms))
	for i, form := range forms {
		phrases[i].Forms = m.writings(form.Inside)
		if form.First != form.Inside {
			phrases[i].First = m.writings(form.First)
		}
		if len(phrases[i].Forms) == 0 {
			return []search.Phrase{}
		}
	}
	return phrases
}

// writings are the ways in which tokens write some words: behind a space, and behind a sign.
func (m *Model) writings(text string) (list [][]int64) {
	sign := "'"
	if r := []rune(text)[0]; !char.IsWord(r) {
		sign = "。"
	}
	behind, alone := m.pieces(sign+text), m.pieces(sign)
	written := [][]int64{m.pieces(text)}
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

// pieces are the tokens of a text in a translation; nil where there are none.
func (m *Model) pieces(text string) []int64 {
	ids, err := m.Tokenizer.EncodeTarget(text)
	if err != nil || len(ids) == 0 {
		return nil
	}
	return ids
}
