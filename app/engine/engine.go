// Package engine decodes sentences on a model: it decides who decodes when.
//
// One request decodes at a time, and all of its sentences share every decoder
// step as far as there is room; the others wait, as many as the configuration
// allows. Who holds the turn owns the model's batch, so nothing here needs a
// lock. An [Engine] reads top-down: [Engine.Translate] admits a request, a run
// (run.go) decodes it.
package engine

import (
	"context"
	"errors"
	"fmt"

	"dragoman/model"
	"dragoman/model/search"
)

var (
	// ErrBusy means that as many requests as may wait do so already. The request
	// can be tried again later.
	ErrBusy = errors.New("too many requests are waiting")
	// ErrClosed means that the engine is shutting down.
	ErrClosed = errors.New("the service is shutting down")
)

// Config is what an [Engine] works with.
type Config struct {
	// Model is used until Close returns; the caller closes it after that.
	Model model.Model
	// Search are the settings that every sentence is decoded with.
	Search search.Options
	// Rows are decoded together at most; a sentence takes Search.Beams of them.
	// One sentence decodes even where it takes more.
	Rows int
	// Concurrency is the number of requests that may run or wait.
	Concurrency int
}

// Job is one sentence to translate.
type Job struct {
	Source model.Source
}

// Engine decodes requests one after the other. It is safe for concurrent use.
type Engine struct {
	model  model.Model
	search search.Options
	room   int // sentences that decode together

	admitted chan struct{} // a token for each request that runs or waits
	turn     chan struct{} // the token of the request that runs
	closing  context.Context
	close    context.CancelFunc
}

// New makes an engine. It fails on settings that no sentence could be decoded with.
func New(cfg Config) (*Engine, error) {
	if err := cfg.Search.Validate(); err != nil {
		return nil, err
	}
	if limit := cfg.Model.Spec().MaxPositions; cfg.Search.MaxLength > limit {
		return nil, fmt.Errorf("max length is %d, but the model has %d positions: use at most that", cfg.Search.MaxLength, limit)
	}
	if cfg.Rows < 1 || cfg.Concurrency < 1 {
		return nil, fmt.Errorf("%d rows and %d requests at a time: both must be at least 1", cfg.Rows, cfg.Concurrency)
	}
	e := &Engine{
		model:    cfg.Model,
		search:   cfg.Search,
		room:     max(1, cfg.Rows/cfg.Search.Beams),
		admitted: make(chan struct{}, cfg.Concurrency),
		turn:     make(chan struct{}, 1),
	}
	e.closing, e.close = context.WithCancel(context.Background())
	return e, nil
}

// Translate decodes the jobs and returns their results in the same order; equal
// jobs are decoded once. It fails as a whole: with ErrBusy at once when too many
// requests wait, with ErrClosed when the engine shuts down, with ctx's error at
// the next step after ctx is done, and with the model's error.
func (e *Engine) Translate(ctx context.Context, jobs []Job) ([]search.Result, error) {
	if len(jobs) == 0 {
		return nil, ctx.Err()
	}
	select {
	case e.admitted <- struct{}{}:
		defer func() { <-e.admitted }()
	default:
		return nil, fmt.Errorf("%w: %d requests run or wait", ErrBusy, cap(e.admitted))
	}

	// From here on closing the engine is a reason to stop like ctx's own.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.closing, func() { cancel(ErrClosed) })()

	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	// The select above picks by chance when both are ready, and AfterFunc may
	// not have run yet.
	if e.closing.Err() != nil {
		return nil, ErrClosed
	}
	results, err := e.decode(ctx, jobs)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return results, err
}

// Close stops the engine: the running request ends at its next step and the
// waiting ones at once, all with ErrClosed. When Close returns, the engine does
// not use the model any more. It must be called once.
func (e *Engine) Close() {
	e.close()
	e.turn <- struct{}{} // never given back
}
