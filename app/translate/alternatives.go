package translate

import (
	"slices"

	"dragoman/model/search"
)

// Alternative is one of the best translations of a text.
type Alternative struct {
	Text string
	// Score is as [Result.Score], of the last step of a route alone.
	Score float64
}

// hypothesis is one of the best translations of a sentence.
type hypothesis struct {
	Alternative
	tokens int
}

// mostAlternatives are more than any search can have: what they take can be reckoned with.
const mostAlternatives = 1 << 10

// How alternatives come about.
//
// A sentence is first translated as it is without them, in all ways that it needs, so that the
// best translation is the same. The hypotheses of the search that gave it are its alternatives.
// Where that followed fewer hypotheses than are wanted, a second, wider search follows in the
// same way. Each hypothesis is restored and checked like a translation, and dropped where it has
// a flaw. A sentence that was translated in parts has alternatives as a text of several sentences
// has: the k-th takes the k-th of each part, or its best where it has fewer. Those of a route with
// several steps are the last step's.

// alternative says whether alternatives of what a step translates are answered.
func (w *work) alternative(s *step) bool { return w.req.Alternatives > 0 && s.next == nil }

// widens says whether what a step translates needs a second search for its alternatives.
func (w *work) widens(s *step) bool {
	return w.alternative(s) && s.search.Beams < w.req.Alternatives
}

// checkAlternatives fails where the last model of a route can follow fewer hypotheses than are
// wanted.
func (w *work) checkAlternatives(m *Model) error {
	if n, most := w.req.Alternatives, m.Limits.Beams; n > most {
		return invalid(CodeInvalidOption, "alternatives",
			"%d translations of each text are wanted, the best one included: ask for %d or fewer, for so many beams are allowed (MAX_BEAMS)", n, most)
	}
	return nil
}

// widen has the alternatives of a sentence decoded that is about to settle, where the search that
// gave it was too narrow for them.
func (w *work) widen(x *sentence) bool {
	if x.best.by == nil || x.strategy.wide || !w.widens(x.step) {
		return false
	}
	s := *x.best.by
	s.wide = true
	x.decodeAgain(s)
	return true
}

// collect adds those to the hypotheses of an outcome, which come after its own, that have no flaw
// and differ.
func (w *work) collect(x *sentence, o *outcome, found []search.Result) error {
	o.hypotheses = []hypothesis{o.hypothesis(0)}
	for _, r := range found {
		if len(o.hypotheses) >= w.req.Alternatives {
			break
		}
		other, err := w.examine(x, r)
		if err != nil {
			return err
		}
		if other.flags == 0 {
			o.hypotheses = addNew(o.hypotheses, other.hypothesis(0))
		}
	}
	return nil
}

// addNew adds a hypothesis that is none of a list's.
func addNew(list []hypothesis, h hypothesis) []hypothesis {
	if slices.ContainsFunc(list, func(known hypothesis) bool { return known.Text == h.Text }) {
		return list
	}
	return append(list, h)
}

// hypothesis is the k-th best translation, from 0 on, or the best one where there are fewer.
func (o *outcome) hypothesis(k int) hypothesis {
	switch {
	case k < len(o.hypotheses):
		return o.hypotheses[k]
	case len(o.hypotheses) > 0:
		return o.hypotheses[0]
	}
	return hypothesis{Alternative{o.text, o.score}, o.targetTokens}
}

func (o *outcome) alternatives() []Alternative {
	list := make([]Alternative, max(1, len(o.hypotheses)))
	for k := range list {
		list[k] = o.hypothesis(k).Alternative
	}
	return list
}

// combine makes at most n different hypotheses of a text of those of its sentences: join makes
// the text of a translation of each.
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
		list = addNew(list, hypothesis{Alternative{text, sum.score}, sum.targetTokens})
	}
	return list, nil
}
