package translate

import (
	"slices"

	"dragoman/model/prompt"
	"dragoman/model/search"
)

// Alternative is one of the best translations of a text.
type Alternative struct {
	Text string
	// Score is like [Result.Score], but of the last step of a route only.
	Score float64
	// Memory is the entry of the translation memory whose translation this is, or nil.
	Memory *MemoryMatch `json:",omitzero"`
}

// hypothesis is one of the best translations of a sentence.
type hypothesis struct {
	Alternative
	tokens int
}

// mostAlternatives limits the number of alternatives for which memory is planned. No search gives as many.
const mostAlternatives = 1 << 10

// Alternatives.
//
// A sentence is first translated as without alternatives, with all retries, so that the best translation is the same. The
// hypotheses of the search that found that translation are its alternatives. If that search had fewer beams than alternatives are
// wanted, a second, wider search follows with the same strategy. Each hypothesis is restored and checked like a translation, and
// dropped if it has a flaw. The alternatives of a sentence translated in parts are combined like the alternatives of a text of
// several sentences: the k-th consists of the k-th alternative of each part, or of the part's best one if the part has fewer.
// Alternatives of a route with several steps are alternatives of its last step. Translations of similar sentences, from a
// translation memory, come right after the best translation.

// alternative reports whether alternatives are answered for the translations of a step.
func (c *codec) alternative(s *step) bool { return c.req.Alternatives > 0 && s.next == nil }

// widens reports whether the translations of a step need a second search for their alternatives.
func (c *codec) widens(s *step) bool {
	return c.alternative(s) && s.search.Beams < c.req.Alternatives
}

// checkAlternatives fails if the last model of a route allows fewer beams than alternatives are wanted.
func (g *routing) checkAlternatives(m *Model) error {
	if n, most := g.req.Alternatives, m.Limits.Beams; n > most {
		return invalid(CodeInvalidOption, "alternatives",
			"%d translations of each text are wanted, the best one included: ask for %d or fewer, for so many beams are allowed (MAX_BEAMS)", n, most)
	}
	return nil
}

// widen queues the wider search for alternatives of a sentence that is about to settle, if its search was too narrow.
func (w *work) widen(x *sentence) bool {
	if x.best.by == nil || x.strategy.wide || !w.widens(x.step) {
		return false
	}
	s := *x.best.by
	s.wide = true
	x.decodeAgain(s)
	return true
}

// collect adds the hypotheses of found that have no flaw and differ to the outcome's own hypothesis.
func (c *codec) collect(x *sentence, o *outcome, found []search.Result) error {
	o.hypotheses = []hypothesis{o.hypothesis(0)}
	for _, r := range found {
		if len(o.hypotheses) >= c.req.Alternatives {
			break
		}
		other, err := c.examine(x, r, prompt.NoFault)
		if err != nil {
			return err
		}
		if other.flags == 0 {
			o.hypotheses = addNew(o.hypotheses, other.hypothesis(0))
		}
	}
	return nil
}

// addNew adds a hypothesis unless the list already has its text.
func addNew(list []hypothesis, h hypothesis) []hypothesis {
	if slices.ContainsFunc(list, func(known hypothesis) bool { return known.Text == h.Text }) {
		return list
	}
	return append(list, h)
}

// hypothesis returns the k-th best translation, from 0 on, or the best one if there are fewer.
func (o *outcome) hypothesis(k int) hypothesis {
	switch {
	case k < len(o.hypotheses):
		return o.hypotheses[k]
	case len(o.hypotheses) > 0:
		return o.hypotheses[0]
	}
	return hypothesis{Alternative{o.text, o.score, o.memory}, o.targetTokens}
}

func (o *outcome) alternatives() []Alternative {
	list := make([]Alternative, max(1, len(o.hypotheses)))
	for k := range list {
		list[k] = o.hypothesis(k).Alternative
	}
	return list
}

// combine returns at most n different hypotheses of a text, combined from the hypotheses of its sentences. join joins
// translations, one of each sentence.
func combine(n int, sentences []*sentence, join func(translations []string) (string, error)) (list []hypothesis, err error) {
	most := 1
	for _, x := range sentences {
		most = max(most, len(x.best.hypotheses))
	}
	texts := make([]string, len(sentences))
	for k := 0; k < most && len(list) < n; k++ {
		var sum outcome
		for i, x := range sentences {
			h := x.best.hypothesis(k)
			texts[i] = h.Text
			sum.add(&outcome{score: h.Score, targetTokens: h.tokens})
		}
		text, err := join(texts)
		if err != nil {
			return nil, err
		}
		alternative := Alternative{Text: text, Score: sum.score}
		if len(sentences) == 1 {
			alternative.Memory = sentences[0].best.hypothesis(k).Memory
		}
		list = addNew(list, hypothesis{alternative, sum.targetTokens})
	}
	return list, nil
}
