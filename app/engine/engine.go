// Package engine schedules the decoding of sentences at the level of decoder
// steps: it decides who decodes when (continuous batching).
//
// All sentences of all requests share one [model.Batch]. Between any two steps
// finished sentences leave it and waiting ones join it, so a request waits
// neither for a batch to fill up nor for the longest sentence of another one;
// greedy and beam search, languages and priorities mix in a step.
//
//	Translate ─▶ mailbox ─▶ queue ─▶ batch ─▶ results
//	 (bounded, by anyone) (the loop's own from here on)
//
// One goroutine, the loop, owns the queue, the batch and everything else that is
// scheduled, so none of it has a lock; what it has in common with the callers is
// the mailbox and a copy of its numbers. A round of the loop (loop.go)
//
//  1. takes new and cancelled requests from the mailbox;
//  2. lets sentences leave that nobody waits for any more;
//  3. admits sentences from the queue (queue.go) as far as rows and memory
//     (budget.go) allow, encodes them together and lets them join the batch;
//  4. takes one decoder step with all rows;
//  5. hands out the results of the sentences that ended.
//
// Identical sentences that wait or run at the same time are decoded once.
package engine

import (
	"context"
	"fmt"
	"time"

	"dragoman/model"
)

// Engine decodes requests. It is safe for concurrent use.
type Engine struct {
	cfg     Config
	spec    model.Spec
	mailbox *mailbox
	board   *board // the loop's numbers

	closing context.Context // done when the engine is to stop
	close   context.CancelFunc
	stopped chan struct{} // closed when the loop has ended
}

// New starts an engine. The caller closes it. It fails on settings that no
// sentence, or not every sentence that they allow, could be decoded with.
func New(cfg Config) (*Engine, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	e := &Engine{
		cfg:     cfg,
		spec:    cfg.Model.Spec(),
		mailbox: newMailbox(cfg.QueueRequests, cfg.QueueTokens),
		board:   &board{},
		stopped: make(chan struct{}),
	}
	e.closing, e.close = context.WithCancel(context.Background())
	l := newLoop(cfg, e.mailbox, e.board)
	go func() {
		defer close(e.stopped)
		l.run(e.closing)
	}()
	return e, nil
}

// Translate decodes the jobs of a request and returns their results in the same
// order, when all are there. Otherwise it is like [Engine.Stream].
func (e *Engine) Translate(ctx context.Context, req Request) ([]Result, error) {
	return collect(ctx, req, e.Stream)
}

// collect gathers the results of a stream in the order of the jobs.
func collect(ctx context.Context, req Request,
	stream func(context.Context, Request, func(int, Result) error) error) ([]Result, error) {
	results := make([]Result, len(req.Jobs))
	err := stream(ctx, req, func(job int, r Result) error {
		results[job] = r
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// Stream decodes the jobs of a request and calls each with the result of every job,
// as soon as it is there, on the goroutine of the caller. The results belong to the
// caller, and the request is not used any more after the return.
//
// It fails at once with an error that wraps [ErrInvalid] on a job that cannot be
// decoded, and with a [*BusyError] when too much waits already, for the engine or for
// ctx's deadline; with ctx's cause as soon as ctx is done, after which its sentences
// leave before the next step; with each's own error, in the same way; with
// [ErrClosed] when the engine is closed; and with the model's error, or a
// [*PanicError], when the model fails. An error that wraps [model.ErrLost] is the
// model's last.
func (e *Engine) Stream(ctx context.Context, req Request, each func(job int, r Result) error) error {
	if err := e.validate(req); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(req.Jobs) == 0 {
		return nil
	}
	if e.closing.Err() != nil {
		return ErrClosed
	}
	if err := e.board.err(); err != nil {
		return err
	}
	c := newCall(req, e.cfg.Model.Footprint())
	if err := e.post(ctx, c, req.Continued); err != nil {
		return err
	}
	return e.receive(ctx, c, each)
}

// post leaves a call for the loop, or refuses it.
func (e *Engine) post(ctx context.Context, c *call, continued bool) error {
	if continued {
		e.mailbox.postAnyway(c)
		return nil
	}
	stats := e.board.read()
	rate, wait := stats.SourceTokensPerSecond, e.cfg.QueueWait
	if deadline, ok := ctx.Deadline(); ok {
		// What begins too late to end in time would only take the place of others.
		if left := time.Until(deadline) - stats.SentenceTime; wait == 0 || left < wait {
			wait = max(left, 1)
		}
	}
	if err := e.mailbox.post(c, tokensAhead(rate, wait)); err != nil {
		err.Wait = waitFor(err.Tokens, rate)
		return err
	}
	return nil
}

// receive hands out the results of a call that was posted.
func (e *Engine) receive(ctx context.Context, c *call, each func(job int, r Result) error) error {
	for left := len(c.results); left > 0; {
		select {
		case job := <-c.ready:
			left--
			if err := each(job, c.results[job]); err != nil {
				e.mailbox.cancel(c)
				return err
			}
		case err := <-c.failed:
			return err
		case <-ctx.Done():
			e.mailbox.cancel(c)
			return context.Cause(ctx)
		case <-e.closing.Done():
			return ErrClosed
		}
	}
	return nil
}

// Close stops the engine: requests that run or wait fail with [ErrClosed] at
// once. It returns when the step at hand is over; the model is not used any more
// then. It may be called more than once.
func (e *Engine) Close() {
	e.close()
	<-e.stopped
}

// Stats returns what the engine has done and does. It is cheap and can be called
// at any time.
func (e *Engine) Stats() Stats {
	s := e.board.read()
	s.QueuedRequests, s.QueuedTokens, s.RequestsRefused = e.mailbox.load()
	return s
}

// InRound is how long the engine has been in the round at hand: a step, and what comes
// before it. A round takes milliseconds, or seconds where a large model shares few
// cores; a model that does not return shows as one that takes minutes.
func (e *Engine) InRound() time.Duration { return e.board.inRound() }

// Err is why the model fails for good; nil while it works.
func (e *Engine) Err() error { return e.board.err() }

// waitFor is how long a queue of some source tokens takes at a rate in tokens per
// second, at least a second and at most ten minutes. Without a rate, where nothing
// has ever waited, it is a second.
func waitFor(tokens int, rate float64) time.Duration {
	const least, most = time.Second, 10 * time.Minute
	if rate <= 0 {
		return least
	}
	seconds := min(float64(tokens)/rate, most.Seconds())
	return max(least, time.Duration(seconds*float64(time.Second)))
}

// validate refuses a request that cannot be decoded.
func (e *Engine) validate(req Request) error {
	if req.Priority < Low || req.Priority > High {
		return fmt.Errorf("%w: priority %d is none of low, normal and high", ErrInvalid, req.Priority)
	}
	for i, job := range req.Jobs {
		if err := e.validateJob(job); err != nil {
			return fmt.Errorf("%w %d: %w", ErrInvalid, i, err)
		}
	}
	return nil
}
