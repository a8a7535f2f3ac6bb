package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dragoman/model"
)

// Pool shares requests out between engines, each with a model, or a device, of its
// own. It is safe for concurrent use, but for Close.
type Pool struct {
	rows    int
	engines []*Engine
	models  []model.Model // of the engines

	mu   sync.Mutex // guards load
	load []int      // of each engine: source tokens of the jobs that it was given
}

// OpenModels opens n models: all of them, or with an error none.
func OpenModels[M model.Model](n int, open func() (M, error)) ([]M, error) {
	var models []M
	for range n {
		m, err := open()
		if err != nil {
			return nil, errors.Join(err, CloseModels(models))
		}
		models = append(models, m)
	}
	return models, nil
}

// CloseModels closes models.
func CloseModels[M model.Model](models []M) error {
	var errs []error
	for _, m := range models {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

// StartPool starts an engine on each model. cfg is each engine's configuration but for
// the model. The pool closes the models when it is closed, or cannot be started; the
// caller closes the pool.
func StartPool(cfg Config, models ...model.Model) (_ *Pool, err error) {
	p := &Pool{rows: cfg.Rows, models: models, load: make([]int, len(models))}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if len(models) == 0 {
		return nil, errors.New("a pool needs at least one model")
	}
	for _, m := range models {
		cfg.Model = m
		e, err := New(cfg)
		if err != nil {
			return nil, err
		}
		p.engines = append(p.engines, e)
	}
	return p, nil
}

// WarmUp decodes a job on every engine: batches make themselves ready when they are
// used first. It fails where one engine does.
func (p *Pool) WarmUp(ctx context.Context, job Job) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, e := range p.engines {
		group.Go(func() error {
			_, err := e.Translate(ctx, Request{Jobs: []Job{job}})
			return err
		})
	}
	return group.Wait()
}

// Translate is [Engine.Translate] on all engines: each job goes to the one that has
// the least to do, identical jobs to the same.
func (p *Pool) Translate(ctx context.Context, req Request) ([]Result, error) {
	return collect(ctx, req, p.Stream)
}

// Stream is [Engine.Stream] on all engines, as in [Pool.Translate]. Calls of each come
// one after the other, but from several goroutines. What an engine has not translated
// when its model is lost is translated by another.
func (p *Pool) Stream(ctx context.Context, req Request, each func(job int, r Result) error) error {
	if len(p.engines) == 1 {
		return p.engines[0].Stream(ctx, req, each)
	}
	shares := p.assign(req.Jobs)
	var mu sync.Mutex // held during calls of each
	group, ctx := errgroup.WithContext(ctx)
	for e, jobs := range shares {
		if len(jobs) == 0 {
			continue
		}
		s := share{request: req, jobs: jobs, each: func(job int, r Result) error {
			mu.Lock()
			defer mu.Unlock()
			return each(job, r)
		}}
		group.Go(func() error { return p.run(ctx, e, &s) })
	}
	return group.Wait()
}

// share is the part of a request that one engine gets.
type share struct {
	request Request
	jobs    []int // of the request
	each    func(job int, r Result) error
}

// run has an engine work on a share, and where that is lost, another on the rest of it.
// That one is the last: a sentence that is to blame shall not go through all of them.
func (p *Pool) run(ctx context.Context, engine int, s *share) error {
	err := p.try(ctx, engine, s)
	if !errors.Is(err, model.ErrLost) {
		return err
	}
	other, ok := p.reassign(s)
	if !ok {
		return err
	}
	s.request.Continued = true
	return p.try(ctx, other, s)
}

// try has an engine work on a share, of which the jobs without a result are left.
func (p *Pool) try(ctx context.Context, engine int, s *share) error {
	part := Request{Priority: s.request.Priority, Continued: s.request.Continued, Jobs: make([]Job, len(s.jobs))}
	for i, job := range s.jobs {
		part.Jobs[i] = s.request.Jobs[job]
	}
	defer p.done(engine, part.Jobs)
	done := make(map[int]bool)
	err := p.engines[engine].Stream(ctx, part, func(i int, r Result) error {
		done[s.jobs[i]] = true
		return s.each(s.jobs[i], r)
	})
	s.jobs = slices.DeleteFunc(s.jobs, func(job int) bool { return done[job] })
	return err
}

// reassign gives a share to the engine with the least to do; ok is false where none is
// left.
func (p *Pool) reassign(s *share) (engine int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	engine = p.idlest()
	if p.engines[engine].Err() != nil {
		return 0, false
	}
	for _, job := range s.jobs {
		p.load[engine] += len(s.request.Jobs[job].Source)
	}
	return engine, true
}

// assign returns the numbers of the jobs that each engine gets.
func (p *Pool) assign(jobs []Job) [][]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	shares := make([][]int, len(p.engines))
	known := make(map[key]int, len(jobs))
	for i, job := range jobs {
		k := keyOf(job)
		e, ok := known[k]
		if !ok {
			e = p.idlest()
			known[k] = e
		}
		p.load[e] += len(job.Source)
		shares[e] = append(shares[e], i)
	}
	return shares
}

// idlest is the engine with the least to do; of those that are lost only where all are.
func (p *Pool) idlest() int {
	best, found := 0, false
	for e, load := range p.load {
		if p.engines[e].Err() == nil && (!found || load < p.load[best]) {
			best, found = e, true
		}
	}
	return best
}

// done says that an engine has finished jobs.
func (p *Pool) done(engine int, jobs []Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, job := range jobs {
		p.load[engine] -= len(job.Source)
	}
}

// Rows are how many each engine decodes together at most; see [Config].
func (p *Pool) Rows() int { return p.rows }

// Stats returns the numbers of each engine.
func (p *Pool) Stats() []Stats {
	stats := make([]Stats, len(p.engines))
	for i, e := range p.engines {
		stats[i] = e.Stats()
	}
	return stats
}

// InRound is the longest [Engine.InRound] of all engines.
func (p *Pool) InRound() time.Duration {
	var longest time.Duration
	for _, e := range p.engines {
		longest = max(longest, e.InRound())
	}
	return longest
}

// Err is why the last engine, of those that there are, does not work any more; nil while
// one works.
func (p *Pool) Err() (err error) {
	for _, e := range p.engines {
		if err = e.Err(); err == nil {
			return nil
		}
	}
	return err
}

// Close closes all engines, and then their models. Closing again does nothing.
func (p *Pool) Close() error {
	var group sync.WaitGroup
	for _, e := range p.engines {
		group.Go(e.Close)
	}
	group.Wait()
	err := CloseModels(p.models)
	p.models = nil
	return err
}
