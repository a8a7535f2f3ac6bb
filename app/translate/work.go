package translate

import (
	"cmp"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dragoman/app/engine"
	"dragoman/app/markup"
)

// work is a request on its way. What it does outside of the engines, it does on the
// goroutine of its caller, or on those of the streams to the engines, one at a time.
type work struct {
	service   *Service
	req       Request
	selection Selection
	from      string   // the code of the source language, or Auto
	to        []string // those of the target languages
	terms     *markup.Terms
	yield     func(i int, r Result) error
	taken     int64 // bytes of the memory for requests

	routes  map[pair]*route
	lanes   map[Handle]*lane   // of the models of the routes
	release func()             // says that these are not used any more
	asked   map[modelName]bool // models and pipelines of the routes, also where they could not be loaded

	mu      sync.Mutex // guards the rest while lanes run
	records []*record
	known   map[question]*sentence // whole sentences
	places  int                    // of sentences in records
	fresh   []*sentence            // whole sentences that no lane has yet
	open    int                    // whole sentences without an outcome
	running bool                   // the lanes are
	tokens  int                    // source tokens of what was to do at first
	retries int                    // source tokens that may still be tried again
	spent   bool                   // a sentence was not tried again for want of them
	failed  error                  // the first record that cannot be answered
}

// outcome is the translation of a sentence.
type outcome struct {
	text                       string
	flags                      Flags
	score                      float64
	sourceTokens, targetTokens int
	cached, decoded            bool
	extra                      int // terms that are there more often than in the source
	queued, computed           time.Duration

	by         *way         // that it was decoded in, in one piece; nil where it was not
	hypotheses []hypothesis // the best translations, this one first, where alternatives are answered and something was decoded
}

// run answers the records that need nothing, has the sentences of all others decoded,
// and tries those again that need it.
func (w *work) run(ctx context.Context) error {
	for _, rec := range w.records {
		if rec.open == 0 {
			if err := w.finish(rec); err != nil {
				return err
			}
		}
	}
	if err := w.count(ctx); err != nil {
		return err
	}
	if w.open > 0 {
		if err := w.decode(ctx); err != nil {
			return err
		}
	}
	w.observe()
	return w.failed
}

// observe counts the time of the stages that have none for each sentence.
func (w *work) observe() {
	var spent Statistics
	for _, l := range w.lanes {
		spent.add(l.spent)
	}
	stages := w.service.cfg.Metrics.Stages
	for stage, took := range map[string]time.Duration{stageTokenize: spent.Tokenized, stageDetokenize: spent.Detokenized} {
		if took > 0 {
			stages.Observe(stage, took)
		}
	}
}

// decode has everything decoded that is to do. Where there are several models, each has a
// stream until the last sentence has its outcome: what one makes of a sentence goes on to
// the next at once.
func (w *work) decode(ctx context.Context) error {
	w.running = true
	if len(w.lanes) == 1 {
		for _, l := range w.lanes {
			return l.run(ctx)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range w.lanes {
		l.more = make(chan struct{}, 1)
	}
	for _, l := range w.lanes {
		if l.tokens > 0 {
			group.Go(func() error { // who recovers from panics for the caller is on its goroutine
				return engine.Protect(func() error { return l.run(ctx) })
			})
		}
	}
	return group.Wait()
}

// receive takes what the engine decoded for a sentence.
func (w *work) receive(x *sentence, r engine.Result) error {
	x.queued = max(x.queued, r.Queued)
	x.computed += r.Computed
	x.decoded = len(r.Tokens)
	start := time.Now()
	if x.way.wide {
		defer func() { x.hop.lane.spent.Detokenized += time.Since(start) }()
		return w.widened(x, r.Result)
	}
	if x.way.small {
		defer func() { x.hop.lane.spent.Detokenized += time.Since(start) }()
		return w.probed(x, r.Result)
	}
	o := w.check(x, r)
	x.hop.lane.spent.Detokenized += time.Since(start)
	if x.best == nil || o.beats(x.best, x.way.terms == constrainedInPlace) {
		x.best = &o
	}
	return w.conclude(x, o.flags)
}

// beats says whether an outcome is better than one of another way, by their scores, too, where they
// are of searches that placed terms.
func (o *outcome) beats(other *outcome, scored bool) bool {
	if o.flags != other.flags || !scored {
		return o.flags < other.flags
	}
	return cmp.Or(cmp.Compare(o.extra, other.extra), cmp.Compare(other.score, o.score)) < 0
}

// conclude tries a sentence, whose last way led to these flags, in another one, or gives
// it the best outcome of all ways.
func (w *work) conclude(x *sentence, flags Flags) error {
	if again, err := w.retry(x, flags); again || err != nil {
		return err
	}
	if x.best == nil { // none of the styles of markers can be written
		x.best = &outcome{text: x.Original(), flags: flags}
	}
	if w.probe(x) {
		return nil
	}
	w.doubt(x)
	return w.settle(x, *x.best)
}

// settle gives a sentence its outcome, and with the last part of a sentence, or the
// last sentence of a record, these too.
func (w *work) settle(x *sentence, o outcome) error {
	x.best = &o
	if w.widen(x) {
		return nil
	}
	if p := x.parent; p != nil {
		x.attempts, x.Sentence = nil, markup.Sentence{} // there may be very many
		if p.open--; p.open > 0 {
			return nil
		}
		return w.settle(p, w.joined(p))
	}
	if !o.cached {
		w.remember(x)
	}
	if x.hop.next != nil && o.text != "" {
		return w.advance(x)
	}
	x.conclude()
	w.close()
	x.attempts, x.Spans = nil, nil
	records := x.records
	x.records = nil
	for _, rec := range records {
		if rec.open--; rec.open > 0 {
			continue
		}
		if err := w.finish(rec); err != nil {
			return err
		}
	}
	return nil
}

// finish hands out a record, all of whose sentences have an outcome.
func (w *work) finish(rec *record) error {
	r := rec.join(w.req.Alternatives)
	rec.blocks = nil
	if r.Flags.Has(Truncated) && !w.req.Flagged {
		if w.failed == nil {
			w.failed = recordError(CodeUnfinished, rec.source, r.Record,
				"the translation reached the limit of %d tokens before its end: send shorter sentences, or ask for details to get what there is",
				rec.route.maxLength())
		}
		return nil
	}
	counted := r
	counted.To = rec.to
	w.service.cfg.Metrics.Count(w.req.Records[rec.source].Text, counted)
	return w.yield(rec.number, r)
}
