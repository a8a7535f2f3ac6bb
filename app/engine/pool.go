package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dragoman/model"
)

// Pool shares requests out between engines, each with a model, or a device, of its
// own. It is safe for concurrent use, but for Close.
type Pool struct {
	engines []*Engine
	models  []model.Model // of the engines

	mu   sync.Mutex // guards load
	load []int      // of each engine: source tokens of the jobs that it was given
}

// StartPool opens a model for each of a number of workers, one at least, and starts
// an engine on it. cfg is each engine's configuration but for the model. The caller
// closes the pool.
func StartPool(workers int, cfg Config, open func() (model.Model, error)) (_ *Pool, err error) {
	p := &Pool{load: make([]int, workers)}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	for range workers {
		if cfg.Model, err = open(); err != nil {
			return nil, err
		}
		p.models = append(p.models, cfg.Model)
		e, err := New(cfg)
		if err != nil {
			return nil, err
		}
		p.engines = append(p.engines, e)
	}
	return p, nil
}

// Translate is [Engine.Translate] on all engines: each job goes to the one that has
// the least to do, identical jobs to the same.
func (p *Pool) Translate(ctx context.Context, req Request) ([]Result, error) {
	return collect(ctx, req, p.Stream)
}

// Stream is [Engine.Stream] on all engines, as in [Pool.Translate]. Calls of each come
// one after the other, but from several goroutines.
func (p *Pool) Stream(ctx context.Context, req Request, each func(job int, r Result) error) error {
	if len(p.engines) == 1 {
		return p.engines[0].Stream(ctx, req, each)
	}
	shares := p.assign(req.Jobs)
	var mu sync.Mutex // held during calls of each
	group, ctx := errgroup.WithContext(ctx)
	for e, share := range shares {
		if len(share) == 0 {
			continue
		}
		part := Request{Priority: req.Priority, Continued: req.Continued, Jobs: make([]Job, len(share))}
		for i, job := range share {
			part.Jobs[i] = req.Jobs[job]
		}
		group.Go(func() error {
			defer p.done(e, part.Jobs)
			return p.engines[e].Stream(ctx, part, func(i int, r Result) error {
				mu.Lock()
				defer mu.Unlock()
				return each(share[i], r)
			})
		})
	}
	return group.Wait()
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

// idlest is the engine with the least to do.
func (p *Pool) idlest() int {
	best := 0
	for e, load := range p.load {
		if load < p.load[best] {
			best = e
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

// Close closes all engines, and then their models. Closing again does nothing.
func (p *Pool) Close() error {
	var group sync.WaitGroup
	for _, e := range p.engines {
		group.Go(e.Close)
	}
	group.Wait()
	var errs []error
	for _, m := range p.models {
		errs = append(errs, m.Close())
	}
	p.models = nil
	return errors.Join(errs...)
}
