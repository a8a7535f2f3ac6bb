package translate

import (
	"slices"

	"dragoman/app/text/char"
	"dragoman/app/text/markup"
	"dragoman/model/search"
)

// termStrategy is the way in which the terms of a sentence are put into its translation. The strategies are tried in this order
// until all terms are present; if constrained succeeds, constrainedInPlace is tried as well, and the more likely translation is
// taken. docs/terminology.md has the figures.
type termStrategy uint8

const (
	// leftToModel translates the sentence as it is: the model often writes the term by itself, which gives the best translation.
	leftToModel termStrategy = iota
	// constrained uses a search that places the targets of the terms. It suits targets that the model knows as translations of
	// the terms.
	constrained
	// constrainedInPlace does the same with a sentence whose terms are replaced by their targets. It suits names and words that
	// the model does not know, because the model copies these.
	constrainedInPlace
	// asMarkers masks the terms like markup. It suits targets that the tokenizer cannot write, or that searches may not place.
	asMarkers
)

// places reports whether a search places the terms.
func (s strategy) places() bool { return s.terms == constrained || s.terms == constrainedInPlace }

// termTries is the number of strategies besides the first one.
const termTries = 3

// Beams of a search that places terms.
const (
	termBeams = 8 // if the model allows as many
	fewBeams  = 3 // the minimum: with fewer, terms are placed too early or too late
)

// startTerms sets the first strategy of a sentence with terms. Targets are words of the last language of a route, so in earlier
// steps no model writes them by itself.
func (x *sentence) startTerms() {
	if !x.HasTerms() || x.step.next == nil || x.staysAsItIs() {
		return
	}
	x.strategy = strategy{terms: asMarkers}
	if x.canPlace() {
		x.strategy = x.placing(constrainedInPlace)
	}
}

// staysAsItIs reports whether no term of the sentence is translated.
func (x *sentence) staysAsItIs() bool { return x.InPlace().Text == x.Text }

// withTerms returns the sentence with its terms in the form of its present strategy.
func (x *sentence) withTerms() markup.Sentence {
	switch x.strategy.terms {
	case constrainedInPlace:
		return x.InPlace()
	case asMarkers:
		return x.Protected()
	}
	return x.Sentence
}

// otherTerms returns the strategies for the terms of the sentence after its present one, in order.
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

// placing returns a strategy that places terms.
func (x *sentence) placing(terms termStrategy) strategy {
	s := strategy{terms: terms, markers: unmasked}
	if !x.AsIs() {
		s.markers = 0
	}
	return s
}

// canPlace reports whether a search may place the terms of the sentence.
func (x *sentence) canPlace() bool {
	m := x.step.model
	if x.phrases == nil {
		x.phrases = m.phrasesOf(x.TermForms())
	}
	constraints := search.Constraints{Phrases: x.phrases}
	// No search translates a sentence well that is mostly terms.
	return len(x.phrases) > 0 && m.Limits.Beams >= fewBeams &&
		constraints.Validate(len(x.step.prefix), x.step.search.MaxLength/2, m.Spec.VocabSize) == nil
}

// hasOnlyTerms reports whether terms are the only spans of a sentence.
func (x *sentence) hasOnlyTerms() bool {
	return !slices.ContainsFunc(x.Spans, func(span markup.Span) bool { return span.Term == nil })
}

// phrasesOf returns the tokens of the targets of terms, or none if the tokenizer cannot write one of them.
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

// writings returns the tokenizations of a text: after a space, and after a sign.
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

// pieces returns the tokens of a text in a translation, or nil.
func (m *Model) pieces(text string) []int64 {
	ids, err := m.Tokenizer.EncodeTarget(text)
	if err != nil || len(ids) == 0 {
		return nil
	}
	return ids
}
