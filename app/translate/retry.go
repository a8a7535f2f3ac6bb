package translate

import "dragoman/model/search"

// How a sentence is translated once more. [judge] is told what came of a sentence, and says what to do:
// the table of retries has what may help after which flaw. Each sentence has a budget of tokens for this; a
// sentence that has used it up keeps its best outcome.

// strategy is how a sentence is decoded.
type strategy struct {
	markers int  // the number, in Model.styles, of the style of markers for what must come back as it is; below 0: none
	length  int  // tokens that it may have at most; 0: as many as were asked for
	strict  bool // without repetitions
	wide    bool // a search for alternatives
	small   bool // in small letters: see [judgeEcho]
	terms   termStrategy
}

// unmasked are the markers of a strategy that translates a sentence as it is.
const unmasked = -1

func (s strategy) masks() bool { return s.markers != unmasked }

// What a strict strategy has at least. 3-grams are seldom repeated in a sentence, and
// often in loops; the penalty is the one of CTRL (Keskar et al. 2019).
const (
	strictNgram   = 3
	strictPenalty = 1.2
)

// apply changes the settings of a search.
func (s strategy) apply(o search.Options) search.Options {
	if s.length > 0 {
		o.MaxLength = s.length
	}
	if s.strict {
		if o.NoRepeatNgramSize == 0 {
			o.NoRepeatNgramSize = strictNgram
		}
		o.RepetitionPenalty = max(o.RepetitionPenalty, strictPenalty)
	}
	return o
}

// attempt is what came of a sentence in a strategy, as far as it decides what is done next.
type attempt struct {
	strategy
	flags, best    Flags      // of what came of it, and of the best of all strategies
	source, target int        // tokens
	depth          int        // how often what it is a part of was split
	kept           bool       // something must come back as it is
	styles         int        // of markers
	longest        int        // tokens that its translation may have if more are allowed than were; 0: no more can be
	otherTerms     []strategy // in which its terms were not tried yet, in order
}

// verdict is what is done next with a sentence.
type verdict struct {
	action   action
	strategy strategy // of tryAgain
}

type action int

const (
	keepBest action = iota
	tryAgain
	splitFiner  // translate it in parts
	splitAround // translate what stands between the things that must come back as they are
)

// retries say what is done after which flaw. The first that fits decides, also where it leads to nothing.
var retries = []struct {
	after func(a attempt) bool
	next  func(a attempt) verdict
}{
	{func(a attempt) bool { return a.terms != leftToModel }, nextTerms},
	{func(a attempt) bool {
		return a.flags.Has(Truncated) && !a.flags.Has(Loop) && a.length == 0 && a.longest > 0
	}, longer},
	{func(a attempt) bool { return a.flags&(Truncated|Loop) != 0 && !a.strict }, withoutRepetitions},
	{func(a attempt) bool { return a.flags&(Truncated|Loop) != 0 || a.isShortened() }, inParts},
	{func(a attempt) bool { return a.flags.Has(GlossaryMissed) }, nextTerms},
	// A marker, or a number in words, was made up.
	{func(a attempt) bool { return a.flags.Has(MarkupLost) && !a.kept && !a.strict }, withoutRepetitions},
	{func(a attempt) bool { return a.flags.Has(MarkupLost) && a.kept && a.markers+1 < a.styles }, nextMarkers},
	{func(a attempt) bool { return a.flags.Has(MarkupLost) && a.kept }, func(attempt) verdict { return verdict{action: splitAround} }},
}

// judge says what is done with a sentence after an attempt.
func judge(a attempt) verdict {
	for _, retry := range retries {
		if retry.after(a) {
			return retry.next(a)
		}
	}
	return verdict{}
}

func longer(a attempt) verdict {
	a.length = a.longest
	return verdict{tryAgain, a.strategy}
}

func withoutRepetitions(a attempt) verdict {
	a.strict = true
	return verdict{tryAgain, a.strategy}
}

func nextMarkers(a attempt) verdict {
	a.markers++
	return verdict{tryAgain, a.strategy}
}

// maxDepth is how often a sentence is split into parts because of what came out. What
// is too long for the model is split as often as needed. splitTokens are the tokens that a sentence has
// at least that is split for that reason: what is shorter has too little to tell.
const maxDepth, splitTokens = 2, 16

func inParts(a attempt) verdict {
	if a.depth >= maxDepth || a.source < splitTokens {
		return verdict{}
	}
	return verdict{action: splitFiner}
}

// isShortened says whether so much is missing that the translation cannot be all of
// the sentence. Translations have half to twice the tokens of their source.
func (a attempt) isShortened() bool {
	const enough, ratio = 40, 4
	return a.source >= enough && a.target*ratio < a.source
}

// nextTerms is the next strategy for the terms of a sentence, as long as its terms are not there.
func nextTerms(a attempt) verdict {
	if len(a.otherTerms) == 0 {
		return verdict{}
	}
	next := a.otherTerms[0]
	switch {
	case a.terms == asMarkers && !a.flags.Has(MarkupLost),
		a.places() && !next.places() && a.best&(GlossaryMissed|MarkupLost|Loop|Truncated|Empty) == 0:
		return verdict{}
	}
	return verdict{tryAgain, next}
}

// The retry budget of a sentence, in source tokens: retryFactor times its own, termTries times more where it has terms,
// and retryTokens. It is each sentence's own, so that a translation never depends on which other sentence came back first.
const retryFactor, retryTokens = 4, 32

// unmeasured is the retry budget of a sentence whose tokens are not known yet.
const unmeasured = -1

// retryBudget returns the budget of a sentence that is about to be decoded for the first time.
func (x *sentence) retryBudget() int {
	factor := retryFactor
	if x.HasTerms() {
		factor += termTries
	}
	return factor*len(x.source) + retryTokens
}

// takeRetryBudget takes the tokens of a sentence from its budget, if they are enough.
func (x *sentence) takeRetryBudget() bool {
	if len(x.source) > max(0, x.retries) {
		return false
	}
	if x.retries != unmeasured {
		x.retries -= len(x.source)
	}
	return true
}

// attempt is what came of a sentence in its strategy, which led to these flags.
func (w *work) attempt(x *sentence, flags Flags) attempt {
	a := attempt{
		strategy: x.strategy, flags: flags, source: len(x.source), target: x.target, depth: x.depth,
		kept: len(x.Spans) > 0, styles: len(x.step.model.styles), longest: x.longest(),
	}
	if x.best != nil {
		a.best = x.best.flags
	}
	if o := x.step.search; a.longest <= o.MaxLength || (strategy{length: a.longest, strict: x.strategy.strict}).apply(o).Validate() != nil {
		a.longest = 0 // a length penalty may not allow for more
	}
	if x.strategy.terms != leftToModel || flags.Has(GlossaryMissed) {
		a.otherTerms = x.otherTerms()
	}
	return a
}

// longest are the most tokens that a sentence's translation can be worth: more than
// thrice those of its source say that it has gone astray.
func (x *sentence) longest() int {
	const ratio, least = 3, 32
	return min(ratio*len(x.source)+least, x.step.model.Limits.MaxLength)
}
