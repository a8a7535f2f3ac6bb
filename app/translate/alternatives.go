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
	text   string
	score  float64
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

// alternative says whether alternatives of what a hop translates are answered.
func (w *work) alternative(h *hop) bool { return w.req.Alternatives > 0 && h.next == nil }

// widens says whether what a hop translates needs a second search for its alternatives.
func (w *work) widens(h *hop) bool {
	return w.alternative(h) && h.lane.search.Beams < w.req.Alternatives
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

// searchFor are the settings that a sentence is decoded with in its present way.
func (w *work) searchFor(x *sentence) search.Options {
	o := x.way.apply(x.hop.lane.search)
	// Whoever asks for more tokens than the service gives by itself gets as many as a sentence can be
	// worth: a few letters that lead astray would else cost a hundred times what they are charged for.
	if own := x.hop.model.Search.MaxLength; x.way.length == 0 && o.MaxLength > own {
		o.MaxLength = min(o.MaxLength, max(own, w.longest(x)))
	}
	if x.way.wide {
		o.Beams = w.req.Alternatives
	}
	if w.alternative(x.hop) && w.req.Alternatives > 1 && o.Beams >= w.req.Alternatives {
		o.Hypotheses = o.Beams // all that there are: some will have the same text, or a flaw
	}
	return o
}

// widen has the alternatives of a sentence decoded that is about to settle, where the search that
// gave it was too narrow for them.
func (w *work) widen(x *sentence) bool {
	if x.best.by == nil || x.way.wide || !w.widens(x.hop) {
		return false
	}
	x.way = *x.best.by
	x.way.wide = true
	x.hop.lane.again = append(x.hop.lane.again, x)
	return true
}

// widened takes what the wider search found for a sentence, and settles it.
func (w *work) widened(x *sentence, found search.Result) error {
	o := *x.best
	o.queued, o.computed = x.queued, x.computed
	w.collect(x, &o, append([]search.Result{found}, found.Others...))
	return w.settle(x, o)
}

// collect adds those to the hypotheses of an outcome, which come after its own, that have no flaw
// and differ.
func (w *work) collect(x *sentence, o *outcome, found []search.Result) {
	if len(o.hypotheses) == 0 {
		o.hypotheses = []hypothesis{{o.text, o.score, o.targetTokens}}
	}
	for _, r := range found {
		if len(o.hypotheses) >= w.req.Alternatives {
			return
		}
		other := w.judge(x, r)
		known := slices.ContainsFunc(o.hypotheses, func(h hypothesis) bool { return h.text == other.text })
		if other.flags == 0 && !known {
			o.hypotheses = append(o.hypotheses, hypothesis{other.text, other.score, other.targetTokens})
		}
	}
}

// hypothesis is the k-th best translation, from 0 on, or the best one where there are fewer.
func (o *outcome) hypothesis(k int) hypothesis {
	switch {
	case k < len(o.hypotheses):
		return o.hypotheses[k]
	case len(o.hypotheses) > 0:
		return o.hypotheses[0]
	}
	return hypothesis{o.text, o.score, o.targetTokens}
}

// alternatives are those of a sentence.
func (o *outcome) alternatives() []Alternative {
	list := make([]Alternative, max(1, len(o.hypotheses)))
	for k := range list {
		h := o.hypothesis(k)
		list[k] = Alternative{h.text, h.score}
	}
	return list
}

// combine makes at most n different hypotheses of a text of those of its sentences: join makes
// the text of what it asks for of each.
func combine(n, most int, join func(text func(x *sentence) string) string) (list []hypothesis) {
	for k := 0; k < most && len(list) < n; k++ {
		var sum outcome
		text := join(func(x *sentence) string {
			h := x.best.hypothesis(k)
			sum.add(&outcome{score: h.score, targetTokens: h.tokens})
			return h.text
		})
		if !slices.ContainsFunc(list, func(h hypothesis) bool { return h.text == text }) {
			list = append(list, hypothesis{text, sum.score, sum.targetTokens})
		}
	}
	return list
}

// alternativeBytes is the memory that an alternative of a sentence takes beside its text.
const alternativeBytes = 150

// alternativesOf are at most n alternatives of a record, all of whose sentences have an outcome.
func (rec *record) alternativesOf(n int, r Result) []Alternative {
	if len(r.Segments) == 0 {
		return []Alternative{{Text: r.Text}}
	}
	most := 1
	for _, s := range r.Segments {
		most = max(most, len(s.Alternatives))
	}
	found := combine(n, most, func(text func(x *sentence) string) string { return joinBlocks(rec.blocks, rec.route.pair(), text) })
	list := make([]Alternative, len(found))
	for i, h := range found {
		list[i] = Alternative{h.text, h.score}
	}
	return list
}
