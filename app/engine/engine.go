// Package engine schedules the decoding of sentences at the level of decoder
// steps: it decides who decodes when (continuous batching).
//
// All sentences of all requests share the [model.Batch] of each worker. Between any
// two steps finished sentences leave it and waiting ones join it, so a request waits
// neither for a batch to fill up nor for the longest sentence of another one;
// greedy and beam search, languages and priorities mix in a step.
//
//	Stream ─▶ admission ─▶ session ─▶ worker: mailbox ─▶ queue ─▶ batch ─▶ results
//	                       (a window       (the loop's own from here on)
//	                       at a time)
//
// The [Admission] (admission.go, insiders.go) lets a request in, or refuses it before anything is done
// for it. Its [Session] (session.go) takes its sentences one by one, and has no more of them
// waiting than a window, however many there are. Both are the same where sentences are decoded
// elsewhere: what is not is a [Decoder]. The one of this package (local.go) chooses workers.
// The queue (queue.go) shares a worker fairly between callers, and between the requests of each.
//
// A worker has a model, or a device, of its own. One goroutine, its loop, owns its
// queue, batch and everything else that is scheduled, so none of it has a lock; what
// it has in common with the sessions is the mailbox, their outcomes, and a copy of its
// numbers. A round of the loop (loop.go)
//
//  1. takes new sentences and cancelled requests from the mailbox;
//  2. lets sentences leave that nobody waits for any more;
//  3. waits for its turn where several engines share the cores (cores.go);
//  4. admits sentences from the queue as far as rows and memory (budget.go) allow,
//     encodes them together and lets them join the batch;
//  5. takes one decoder step with all rows;
//  6. hands out the results of the sentences that ended.
//
// Identical sentences that wait or run at the same time are decoded once.
package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dragoman/model"
)

// Engine decodes requests on one worker or several. It is safe for concurrent use.
type Engine struct {
	cfg        Config
	workers    []*worker
	models     []model.Model // of the workers
	insiders   *insiders
	assignment *assignment

	closing     context.Context // done when the engine is to stop
	close       context.CancelFunc
	closeModels sync.Once
}

// Start starts a worker on each model. The engine closes the models when it is closed,
// or cannot be started; the caller closes the engine. It fails on settings that no
// sentence, or not every sentence that they allow, could be decoded with.
func Start(cfg Config, models ...model.Model) (_ *Engine, err error) {
	e := &Engine{cfg: cfg, models: models, insiders: newInsiders(cfg, len(models)), assignment: newAssignment(len(models))}
	e.closing, e.close = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	if len(models) == 0 {
		return nil, errors.New("an engine needs at least one model")
	}
	for i, m := range models {
		w, err := startWorker(e.closing, cfg, i, m)
		if err != nil {
			return nil, err
		}
		e.workers = append(e.workers, w)
	}
	return e, nil
}

// Stream decodes the sentences of a request. It takes them from next, a window of them
// at a time, and calls each with every result as soon as it is there; both are called
// on the goroutine of the caller, one call at a time. Without ok next has no job at
// present: it is asked again after results, so that each may cause more jobs, and after
// a receive from [Request.More]. The request ends when all jobs have their result, next
// has no more and More is closed, or nil. job is the number of the job in the order of
// next, from 0 on. The results belong to the caller.
//
// It fails at once, without a call of next, with a [*BusyError] where too much is being
// decoded already for the engine or for ctx's deadline, and with a [*TooLargeError]
// where the request could not end by then even alone. It fails with an error that
// wraps [ErrInvalid] on a job that cannot be decoded; with ctx's cause as soon as ctx
// is done, after which its sentences leave before the next step; with next's or each's
// own error, in the same way; with [ErrClosed] when the engine is closed; and with the
// model's error, or a [*fault.PanicError], when the model fails. What a worker has not decoded
// when its model is lost is decoded by another; an error that wraps [model.ErrLost] is
// that of the last.
func (e *Engine) Stream(ctx context.Context, req Request,
	next func() (job Job, ok bool, err error), each func(job int, r Result) error) error {
	s, err := e.open(ctx, req)
	if err != nil {
		return err
	}
	return s.Run(ctx, s, next, each)
}

// WarmUp decodes a job on every worker: batches make themselves ready when they are
// used first. It fails where one worker does.
func (e *Engine) WarmUp(ctx context.Context, job Job) error {
	group, ctx := errgroup.WithContext(ctx)
	for i := range e.workers {
		group.Go(func() error {
			s, err := e.open(ctx, Request{})
			if err != nil {
				return err
			}
			s.only = e.workers[i]
			return s.Run(ctx, s, List(job), func(int, Result) error { return nil })
		})
	}
	return group.Wait()
}

// Rows are how many each worker decodes together at most; see [Config].
func (e *Engine) Rows() int { return e.cfg.Rows }

// Stats returns the numbers of each worker. Requests that were refused, which no worker
// saw, are counted at the first one; sentences that requests have not handed over yet
// are shared out between all.
func (e *Engine) Stats() []Stats {
	stats := make([]Stats, len(e.workers))
	refused, tokens := e.insiders.load()
	for i, w := range e.workers {
		stats[i] = w.stats()
		stats[i].QueuedTokens += (tokens + i) / len(e.workers)
	}
	if len(stats) > 0 {
		stats[0].RequestsRefused = refused
	}
	return stats
}

// stuckAfter is far more than a round takes, of the largest model on the smallest machine: milliseconds
// mostly, and seconds where a large model shares few cores.
const stuckAfter = time.Minute

// Err is why nothing is decoded any more: all workers there are have lost their models, or one that does not return has
// been in a round, a step and what comes before it without the wait for [Cores], for more than a minute. nil: it goes on.
func (e *Engine) Err() error {
	if err := e.lost(); err != nil {
		return fmt.Errorf("the model is lost: %w", err)
	}
	var longest time.Duration
	for _, w := range e.workers {
		if round := w.snapshot.get().round; !round.IsZero() {
			longest = max(longest, time.Since(round))
		}
	}
	if longest > stuckAfter {
		return fmt.Errorf("the model has not finished a step for %s", longest.Round(time.Second))
	}
	return nil
}

// lost is why the last worker, of those that there are, does not work any more; nil while
// one works.
func (e *Engine) lost() (err error) {
	for _, w := range e.workers {
		if err = w.lost(); err == nil {
			return nil
		}
	}
	return err
}

// Close stops the engine, and then closes the models: requests that run or wait fail
// with [ErrClosed] at once. It returns when the current steps are over. Closing again
// waits for that, and does nothing else.
func (e *Engine) Close() error {
	e.close()
	for _, w := range e.workers {
		<-w.stopped
	}
	var err error
	e.closeModels.Do(func() { err = CloseModels(e.models) })
	return err
}

// backlog has what all workers together did in the recent past.
func (e *Engine) backlog() (b Backlog) {
	for _, w := range e.workers {
		stats := w.snapshot.get()
		b.Speed += stats.WorkPerSecond
		b.Sentence = max(b.Sentence, stats.SentenceTime)
	}
	return b
}

// open lets a request in and makes its session, which the caller runs or cancels.
func (e *Engine) open(ctx context.Context, req Request) (*local, error) {
	session, err := NewSession(ctx, e.closing, req)
	if err != nil {
		return nil, err
	}
	if err := e.lost(); err != nil {
		return nil, err
	}
	s := newLocal(e, session)
	if err := e.insiders.enter(ctx, s, e.backlog()); err != nil {
		return nil, err
	}
	return s, nil
}
