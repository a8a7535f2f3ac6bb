package translate

import (
	"context"
	"math"
	"time"
	"unicode/utf8"

	"dragoman/app/engine"
	"dragoman/app/telemetry"
	"dragoman/model/search"
)

// work is a request on its way. What is called back by the engine is called one at a
// time, so nothing here has a lock.
type work struct {
	service *Service
	req     Request
	search  search.Options
	options string // all that a translation depends on beside its text, languages and model
	yield   func(i int, r Result) error

	records []*record
	todo    []*sentence // to be decoded next, or again
	failed  error       // the first record that cannot be answered

	detokenizing time.Duration // all of it, restoring markup included
}

// outcome is the translation of a sentence.
type outcome struct {
	text                       string
	flags                      Flags
	score                      float64
	sourceTokens, targetTokens int
	cached, decoded            bool
	queued, computed           time.Duration
}

// run decodes in rounds: all sentences, then those together that have to be tried in
// another way. There are few of them, and ever fewer.
func (w *work) run(ctx context.Context) error {
	for _, rec := range w.records {
		if rec.open == 0 {
			if err := w.finish(rec); err != nil {
				return err
			}
		}
	}
	for round := 0; len(w.todo) > 0; round++ {
		jobs, decoding, err := w.encode(ctx)
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			continue
		}
		if err := w.decode(ctx, jobs, decoding, round > 0); err != nil {
			return err
		}
	}
	if w.detokenizing > 0 {
		w.service.cfg.Metrics.Observe(telemetry.Detokenize, w.detokenizing)
	}
	return w.failed
}

// decode has the jobs of a round decoded, each of which is of a sentence.
func (w *work) decode(ctx context.Context, jobs []engine.Job, of []*sentence, continued bool) error {
	metrics, start := w.service.cfg.Metrics, time.Now()
	waited := time.Duration(math.MaxInt64) // until the first sentence joined the batch
	req := engine.Request{Jobs: jobs, Priority: w.req.Priority, Continued: continued}
	err := w.service.cfg.Engine.Stream(ctx, req, func(job int, r engine.Result) error {
		metrics.Observe(telemetry.Queue, r.Queued)
		metrics.Observe(telemetry.Decode, r.Computed)
		waited = min(waited, r.Queued)
		return w.receive(of[job], r)
	})
	if err == nil {
		metrics.Span(ctx, telemetry.Queue, start, start.Add(waited))
		metrics.Span(ctx, telemetry.Decode, start.Add(waited), time.Now())
	}
	return err
}

// receive takes what the engine decoded for a sentence.
func (w *work) receive(x *sentence, r engine.Result) error {
	x.queued = max(x.queued, r.Queued)
	x.computed += r.Computed
	x.decoded = len(r.Tokens)
	start := time.Now()
	o := w.judge(x, r)
	w.detokenizing += time.Since(start)
	if x.best == nil || o.flags < x.best.flags {
		x.best = &o
	}
	if again, err := w.retry(x, o.flags); again || err != nil {
		return err
	}
	return w.settle(x, *x.best)
}

// settle gives a sentence its outcome, and with the last part of a sentence, or the
// last sentence of a record, these too.
func (w *work) settle(x *sentence, o outcome) error {
	x.best = &o
	if p := x.parent; p != nil {
		if p.open--; p.open > 0 {
			return nil
		}
		return w.settle(p, p.joined())
	}
	if !o.cached {
		w.remember(x)
	}
	if x.record.open--; x.record.open > 0 {
		return nil
	}
	return w.finish(x.record)
}

// finish hands out a record, all of whose sentences have an outcome.
func (w *work) finish(rec *record) error {
	r := rec.join()
	if r.Flags.Has(Truncated) && !w.req.Flagged {
		if w.failed == nil {
			w.failed = recordError(CodeUnfinished, rec.source, r.Record,
				"the translation reached the limit of %d tokens before its end: send shorter sentences, or ask for details to get what there is",
				w.service.cfg.Limits.MaxLength)
		}
		return nil
	}
	w.count(rec, r)
	return w.yield(rec.number, r)
}

// count counts a result.
func (w *work) count(rec *record, r Result) {
	t := telemetry.Translation{
		From: r.From, To: r.To, Outcome: telemetry.Untouched, SourceTokens: r.SourceTokens, TargetTokens: r.TargetTokens,
		SourceCharacters: utf8.RuneCountInString(w.req.Records[rec.source].Text), TargetCharacters: utf8.RuneCountInString(r.Text),
	}
	switch {
	case r.Decoded:
		t.Outcome = telemetry.Decoded
	case r.Cached:
		t.Outcome = telemetry.Cached
	}
	w.service.cfg.Metrics.Translated(t)
	for _, flag := range r.Flags.Names() {
		w.service.cfg.Metrics.Flagged(flag)
	}
}
