package translate

import "dragoman/model/search"

// Retries of a sentence. [judge] decides the next step after an attempt by the table retries, which maps flaws to possible
// remedies. Each sentence has a budget of tokens for retries; a sentence that has used it up keeps its best outcome.

// strategy is a way of decoding a sentence.
type strategy struct {
	markers int  // index in Model.styles of the style of markers for spans; below 0 for none
	length  int  // maximum number of tokens; 0 for the request's maximum
	strict  bool // repetitions are banned
	wide    bool // a search for alternatives
	small   bool // in small letters: see [work.probe]
	again   int  // how often a language model was asked again
	terms   termStrategy
}

// unmasked is the markers field of a strategy without markers.
const unmasked = -1

func (s strategy) masks() bool { return s.markers != unmasked }

// Minimum settings of a strict strategy. 3-grams rarely repeat in a sentence, but often in loops; the penalty is that of CTRL
// (Keskar et al. 2019).
const (
	strictNgram   = 3
	strictPenalty = 1.2
)

// apply returns the settings of a search changed by the strategy.
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

// attempt describes the result of a strategy for a sentence, as far as it determines the next step.
type attempt struct {
	strategy
	flags, best Flags      // flags of this attempt, and of the best outcome of all strategies
	source      int        // number of tokens
	depth       int        // how often the sentences of which it is a part were split
	kept        bool       // the sentence has spans that must be preserved
	styles      int        // number of styles of markers
	prompted    bool       // a language model translates
	longest     int        // a higher limit of tokens for its translation; 0 if none is possible
	otherTerms  []strategy // further strategies for its terms, in order
}

// verdict is the next step for a sentence.
type verdict struct {
	action   action
	strategy strategy // strategy of the verdict tryAgain
}

type action int

const (
	keepBest action = iota
	tryAgain
	splitFiner  // translate the sentence in parts
	splitAround // translate the parts between its spans
)

// retries maps flaws to next steps. The first matching row decides, even if its step is to keep the best outcome.
var retries = []struct {
	after func(a attempt) bool
	next  func(a attempt) verdict
}{
	{func(a attempt) bool {
		return a.prompted && a.flags&misunderstood != 0 && a.flags&(Truncated|Loop) == 0 && a.again < mostAgain
	}, askAgain},
	{func(a attempt) bool { return a.terms != leftToModel }, nextTerms},
	{func(a attempt) bool {
		return a.flags.Has(Truncated) && !a.flags.Has(Loop) && a.length == 0 && a.longest > 0
	}, longer},
	{func(a attempt) bool { return a.flags&(Truncated|Loop) != 0 && !a.strict }, withoutRepetitions},
	{func(a attempt) bool { return a.flags&(Truncated|Loop) != 0 }, inParts},
	{func(a attempt) bool { return a.flags.Has(GlossaryMissed) }, nextTerms},
	// A marker, or a number in words, was made up.
	{func(a attempt) bool { return a.flags.Has(MarkupLost) && !a.kept && !a.strict }, withoutRepetitions},
	{func(a attempt) bool { return a.flags.Has(MarkupLost) && a.kept && a.markers+1 < a.styles }, nextMarkers},
	{func(a attempt) bool { return a.flags.Has(MarkupLost) && a.kept }, func(attempt) verdict { return verdict{action: splitAround} }},
	{func(a attempt) bool { return a.flags.Has(TooShort) }, inParts},
}

// misunderstood are the flags after which a language model is asked again, at most mostAgain times. The others have better remedies.
const (
	misunderstood = Refused | Chatter | TooShort | WrongLanguage | WrongScript | SourceEcho | Empty
	mostAgain     = 2
)

// judge returns the next step for a sentence after an attempt.
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

func askAgain(a attempt) verdict {
	a.again++
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

// maxDepth is how often a sentence may be split because of its outcome; sentences too long for the model are split as often as
// needed. splitTokens is the minimum number of tokens of a sentence that is split for its outcome, because parts of shorter
// sentences have too little context.
const maxDepth, splitTokens = 2, 16

func inParts(a attempt) verdict {
	if a.depth >= maxDepth || a.source < splitTokens {
		return verdict{}
	}
	return verdict{action: splitFiner}
}

// nextTerms returns the next strategy for the terms of a sentence, unless all its terms are present.
func nextTerms(a attempt) verdict {
	if len(a.otherTerms) == 0 {
		return verdict{}
	}
	next := a.otherTerms[0]
	switch {
	case a.terms == asMarkers && !a.flags.Has(MarkupLost),
		a.places() && !next.places() && a.best&(GlossaryMissed|MarkupLost|Loop|Truncated|Empty|TooShort) == 0:
		return verdict{}
	}
	return verdict{tryAgain, next}
}

// The retry budget of a sentence, in source tokens, is retryFactor times its own tokens, termTries times more if it has terms,
// plus retryTokens. Each sentence has its own budget, so that a translation never depends on which other sentence was decoded
// first.
const retryFactor, retryTokens = 4, 32

// unmeasured is the retry budget of a sentence that has not been encoded yet.
const unmeasured = -1

// retryBudget returns the budget of a sentence before its first decoding.
func (x *sentence) retryBudget() int {
	factor := retryFactor
	if x.HasTerms() {
		factor += termTries
	}
	return factor*len(x.source) + retryTokens
}

// takeRetryBudget takes the tokens of a sentence from its budget, and reports whether the budget was large enough.
func (x *sentence) takeRetryBudget() bool {
	if len(x.source) > max(0, x.retries) {
		return false
	}
	if x.retries != unmeasured {
		x.retries -= len(x.source)
	}
	return true
}

// attemptAt returns the last attempt at a sentence, which led to flags.
func attemptAt(x *sentence, flags Flags) attempt {
	a := attempt{
		strategy: x.strategy, flags: flags, source: len(x.source), depth: x.depth,
		kept: len(x.Spans) > 0, styles: len(x.step.model.styles), longest: x.longest(), prompted: x.step.model.Prompted != nil,
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

// longest returns the maximum number of tokens of a plausible translation of a sentence: more than three times the source
// indicates a failure.
func (x *sentence) longest() int {
	const ratio, least = 3, 32
	return min(ratio*len(x.source)+least, x.step.model.Limits.MaxLength)
}
