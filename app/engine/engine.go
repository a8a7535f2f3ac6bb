// Package engine schedules the decoding of sentences at the level of decoder steps (continuous batching).
//
// All sentences of all requests share the [model.Batch] of each worker. Between any two steps, finished sentences leave the batch
// and waiting ones join it, so a request waits neither for a batch to fill up nor for the longest sentence of another request.
// Greedy and beam search, languages and priorities mix in a step.
//
//	Stream ─▶ admission ─▶ session ─▶ worker: mailbox ─▶ queue ─▶ batch ─▶ results
//	                       (a window       (the loop's own from here on)
//	                       at a time)
//
// The [Admission] (admission.go) admits a request, or refuses it before any work is done for it. Its [Session]
// (session.go) pulls its sentences one by one and keeps at most a window of them waiting, however many there are. Both are
// independent of where sentences are decoded; the [Decoder] is not. The decoder of this package (local.go) assigns sentences to
// workers. Package schedule decides: its Queue shares a worker fairly between callers, and between the requests of each.
//
// A worker has a model, or a device, of its own. One goroutine, its loop, owns its queue, its batch and all other scheduling
// state, so these need no lock. The loop shares with the sessions only the mailbox, their outcomes, and a copy of its statistics.
// A round of the loop (loop.go)
//
//  1. takes new sentences and cancelled requests from the mailbox;
//  2. removes sentences that no call waits for;
//  3. waits for its turn if several engines share the cores (cores.go);
//  4. admits sentences from the queue as far as time, rows and memory (schedule.Rounds) allow,
//     encodes them together and lets them join the batch;
//  5. takes one decoder step with all rows;
//  6. delivers the results of the sentences that ended.
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

	"dragoman/app/schedule"
	"dragoman/model"
)

// Engine decodes requests on one or more workers. It is safe for concurrent use.
type Engine struct {
	cfg        Config
	workers    []*worker
	models     []model.Model // by worker
	insiders   *insiders
	assignment *assignment

	closing     context.Context // done when the engine closes
	close       context.CancelFunc
	closeModels sync.Once
}

// Start starts a worker on each model. The engine owns the models: it closes them when it is closed or cannot be started. The
// caller must close the engine. Start fails on settings with which no sentence, or not every sentence that they allow, could be
// decoded.
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

// Stream decodes the sentences of a request. Stream takes the sentences from next, a window at a time, and calls each with every
// result as soon as the result arrives. next and each are called on the caller's goroutine, one call at a time. If next returns
// ok false, there is no job at present: next is called again after results, because each may cause more jobs, and after a receive
// from [Request.More]. The request ends when all jobs have their result, next has no more jobs, and More is closed or nil. job is
// the number of the job in the order of next, from 0. The results belong to the caller.
//
// Stream fails at once, without a call of next, with a [*BusyError] if too much is being decoded for the engine or for ctx's
// deadline, and with a [*TooLargeError] if the request could not meet the deadline even alone. It fails with an error that wraps
// [ErrInvalid] on a job that cannot be decoded; with ctx's cause as soon as ctx is done (then the request's sentences leave
// before the next step); with the error of next or each, in the same way; with [ErrClosed] when the engine is closed; and with
// the model's error, or a [*fault.PanicError], when the model fails. If a worker loses its model, another worker decodes the
// remaining sentences; an error that wraps [model.ErrLost] means that the last worker lost its model.
func (e *Engine) Stream(ctx context.Context, req Request,
	next func() (job Job, ok bool, err error), each func(job int, r Result) error) error {
	s, err := e.open(ctx, req)
	if err != nil {
		return err
	}
	return s.Run(ctx, s, next, each)
}

// WarmUp decodes a job on every worker, because batches initialize themselves on first use. It fails if one worker fails.
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

// Rows returns the maximum number of rows that each worker decodes together; see [Config].
func (e *Engine) Rows() int { return e.cfg.Rows }

// Stats returns the statistics of each worker. Refused requests, which no worker saw, count for the first worker; sentences that
// requests have not handed over yet are divided evenly between all.
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

// stuckAfter is far longer than a round of the largest model on the smallest machine: a round mostly takes milliseconds, and
// seconds if a large model shares few cores.
const stuckAfter = time.Minute

// Err returns the reason why the engine does not decode any more: all workers have lost their models, or the longest current
// round has lasted more than a minute. A round is a step with the work before it, without the wait for the cores. Err returns nil
// while the engine decodes.
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

// lost returns the error of the last worker if all workers have lost their models, else nil.
func (e *Engine) lost() (err error) {
	for _, w := range e.workers {
		if err = w.lost(); err == nil {
			return nil
		}
	}
	return err
}

// Close stops the engine, and then closes the models: requests that run or wait fail with [ErrClosed] at once. Close returns when
// the current steps are over. A second call only waits for the first.
func (e *Engine) Close() error {
	e.close()
	for _, w := range e.workers {
		<-w.stopped
	}
	var err error
	e.closeModels.Do(func() { err = CloseModels(e.models) })
	return err
}

// backlog returns the recent speed and sentence time of all workers together.
func (e *Engine) backlog() (b schedule.Backlog) {
	for _, w := range e.workers {
		stats := w.snapshot.get()
		b.Speed += stats.WorkPerSecond
		b.Sentence = max(b.Sentence, stats.SentenceTime)
	}
	return b
}

// open admits a request and returns its session, which the caller must run or cancel.
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
