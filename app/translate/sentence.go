package translate

import (
	"cmp"
	"context"
	"errors"
	"time"

	"dragoman/app/text/language"
	"dragoman/app/text/markup"
	"dragoman/app/text/segment"
	"dragoman/model/prompt"
	"dragoman/model/search"
)

// sentence is a sentence, or a part of one, in progress. It may occur in several places: equal whole sentences of a request share
// one value.
type sentence struct {
	markup.Sentence
	step     *step            // the translating step
	parent   *sentence        // the sentence of which this one is a part; nil for a whole sentence
	depth    int              // 0 for a whole sentence, 1 for its parts, and so on
	records  []*record        // records that wait for a whole sentence, once for each place
	best     *outcome         // best outcome of the strategies tried; nil before the first
	before   string           // the texts before a whole sentence that a language model is told, a line each
	examples []prompt.Example // similar sentences, for a language model
	chain    *chain           // results of earlier steps of its route; nil in the first
	siblings *siblings        // nil if it has none
	near     []hypothesis     // translations of similar sentences, from the translation memory

	*attempts // nil once the sentence has its outcome
}

// attempts is the state of a sentence without an outcome.
type attempts struct {
	strategy strategy        // the present strategy
	form     markup.Sentence // the sentence with its terms in the form of the strategy
	masked   markup.Masked   // if the strategy masks
	phrases  []search.Phrase // the targets of the terms; nil until needed
	source   []int64         // the decoded ids
	retries  int             // source tokens left of its retry budget, or unmeasured
	tries    int             // jobs so far
	flags    Flags           // of the last result

	queued, computed time.Duration // in all strategies together

	pieces []segment.Piece // if the sentence is translated in parts
	parts  []*sentence
	open   int // number of parts without an outcome
}

// outcome is the translation of a sentence.
type outcome struct {
	text                       string
	flags                      Flags
	score                      float64
	sourceTokens, targetTokens int
	cached, decoded            bool
	memory                     *MemoryMatch // the entry of the translation memory that has the translation, or nil
	extra                      int          // number of terms that occur more often than in the source
	queued, computed           time.Duration

	by         *strategy    // the strategy that decoded the sentence in one piece, or nil
	hypotheses []hypothesis // the best translations, the outcome's own first, if alternatives are answered and something was decoded
}

// begin starts a sentence with a text that a step translates.
func (c *codec) begin(x *sentence, s *step, text markup.Sentence) error {
	whole, err := text.Whole(c.ctx)
	if err != nil {
		return err
	}
	x.step, x.Sentence = s, whole.Between(language.Base(s.from), language.Base(s.to))
	x.best, x.attempts = nil, &attempts{strategy: strategy{markers: unmasked}, retries: unmeasured}
	// A first try without markers would change 1 of 15 such sentences, half of them for the worse, and cost as many tokens again.
	if !c.req.Once && !text.AsIs() {
		x.strategy.markers = 0
	}
	x.startTerms()
	return nil
}

// add adds the figures of a part's outcome.
func (o *outcome) add(part *outcome) {
	if tokens := o.targetTokens + part.targetTokens; tokens > 0 {
		o.score = (o.score*float64(o.targetTokens) + part.score*float64(part.targetTokens)) / float64(tokens)
	}
	o.sourceTokens += part.sourceTokens
	o.targetTokens += part.targetTokens
	o.flags |= part.flags
	o.cached = o.cached || part.cached
	o.decoded = o.decoded || part.decoded
	o.queued = max(o.queued, part.queued)
	o.computed = max(o.computed, part.computed)
}

// joined returns the outcome of a sentence that was translated in parts, or its previous outcome if that is better.
func (c *codec) joined(x *sentence) (outcome, error) {
	o := outcome{queued: x.queued}
	texts := make([]string, len(x.parts))
	for i, part := range x.parts {
		o.add(part.best)
		texts[i] = part.best.text
	}
	o.computed += x.computed
	if x.best != nil && x.best.flags < o.flags {
		return *x.best, nil
	}
	join := func(texts []string) (string, error) {
		text, err := pair{x.step.from, x.step.to}.join(c.ctx, x.pieces, texts)
		if err == nil {
			text, err = x.Spaced(c.ctx, text)
		}
		return text, err
	}
	var err error
	if o.text, err = join(texts); err == nil && c.alternative(x.step) {
		o.hypotheses, err = combine(c.req.Alternatives, x.parts, join)
	}
	if err == nil && errors.Is(x.Compare(c.ctx, o.text), markup.ErrLost) {
		o.flags |= MarkupLost
	}
	return o, cmp.Or(err, c.compareLengths(x, &o, language.LettersOf(o.text)), c.ctx.Err())
}

// chain holds the results of a whole sentence's previous steps.
type chain struct {
	source string // the sentence's text before the first step
	steps  []StepResult
	sum    outcome // figures of all steps together
}

// add adds the current step of a sentence, which has its outcome.
func (c *chain) add(x *sentence) {
	m, o := x.step.model, x.best
	c.steps = append(c.steps, StepResult{
		Model: m.Name, Version: m.Version, From: x.step.from, To: x.step.to, Text: o.text, Flags: o.flags, Score: o.score, Cached: o.cached,
	})
	computed := c.sum.computed + o.computed
	c.sum.add(o)
	c.sum.text, c.sum.computed, c.sum.hypotheses = o.text, computed, o.hypotheses
}

// original returns the text of a whole sentence before the first step.
func (x *sentence) original() string {
	if x.chain != nil {
		return x.chain.source
	}
	return x.Text
}

// segment returns the segment of a whole sentence.
func (x *sentence) segment(alternatives bool) Segment {
	s := Segment{Source: x.original(), Text: x.best.text, Flags: x.best.flags, Memory: x.best.memory}
	if x.chain != nil {
		s.Steps = x.chain.steps
	}
	if alternatives {
		s.Alternatives = x.best.alternatives()
	}
	return s
}

// join returns the result of a record whose sentences all have an outcome, with at most the given number of alternatives. It
// fails with ctx's error.
func (rec *record) join(ctx context.Context, alternatives int) (Result, error) {
	r := rec.result
	if rec.route == nil {
		if alternatives > 0 {
			r.Alternatives = []Alternative{{Text: r.Text}}
		}
		return r, nil
	}
	var sum outcome
	texts := make([]string, len(rec.sentences))
	for i, x := range rec.sentences {
		sum.add(x.best)
		texts[i] = x.best.text
		r.Segments = append(r.Segments, x.segment(alternatives > 0))
		if x.best.memory != nil {
			r.Remembered++
		}
	}
	join := func(texts []string) (string, error) { return join(ctx, rec.units, rec.route.pair(), &texts) }
	var err error
	if r.Text, err = join(texts); err != nil {
		return Result{}, err
	}
	r.Flags, r.Score, r.SourceTokens, r.TargetTokens = sum.flags, sum.score, sum.sourceTokens, sum.targetTokens
	r.Cached, r.Decoded, r.Queued, r.Computed = sum.cached, sum.decoded, sum.queued, sum.computed
	if alternatives > 0 {
		list, err := combine(alternatives, rec.sentences, join)
		if err != nil {
			return Result{}, err
		}
		for _, h := range list {
			r.Alternatives = append(r.Alternatives, h.Alternative)
		}
	}
	return r, nil
}
