// Package catalog serves many models from one process: it chooses which of them translates a
// request, and decides which are in memory.
//
//	Select ─▶ Selection.Route ─▶ Acquire ─▶ models, loaded
//	(what a request   (which models,   (waits for loads,
//	 may use)          in which order)  or begins them)
//
// What there is comes from a [repository.Snapshot]: [Catalog.Update] takes the next one, and the inventory
// knows what is served of it (inventory.go), and what requests can choose (offer.go). A new version of a model
// is loaded and tried beside the old one first, which goes on serving if the new one is broken (trial.go).
//
// Models that translate alike share one instance, whatever they are called. An instance is unloaded, loading,
// ready or draining. A first request loads it, and others wait for that (claim.go). Idle instances leave for
// others when memory is short, the least recently used one first, then, in turns, those in use. policy.go
// decides that, a pure function of the residency, which is what is in memory (residency.go); load.go does it.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/app/wait"
	"dragoman/model"
	"dragoman/model/repository"
)

// Config is what a [Catalog] works with.
type Config struct {
	Loader Loader
	// Memory is how many bytes the loaded models and what they decode may take together; 0: no
	// bound. One sentence of each model is decoded in any case.
	Memory int64
	// KeepAlive is how long a model stays loaded that nobody uses; 0: for ever.
	KeepAlive time.Duration
	// Waiting is how many requests may wait for a model that is loading.
	Waiting int
	Hint    string // what to do where there is no model
	// Away is why it is not known whether there are models, while there is none; may be nil.
	Away    func() error
	Metrics *Metrics // nil: nobody asks for them
	Log     *slog.Logger
}

// Loader loads models. It is safe for concurrent use.
type Loader interface {
	// Needs is the memory that a model will take, estimated before it is loaded, without its
	// decoding state. It does not block.
	Needs(s Source) int64
	// Load loads a model, whose decoding state takes its memory from a pool; nil: there is no
	// bound. It has decoded a sentence, where it is here. The caller closes the instance.
	Load(ctx context.Context, s Source, state engine.Pool) (Instance, error)
	// Check compares a model's files with its manifest, as Load does; what Load would refuse must
	// not be served by an instance that was loaded from equal files.
	Check(ctx context.Context, s Source) error
}

// Source is what a model is loaded from.
type Source struct {
	Name, Version string
	Dir           string // the exported folder
	Manifest      *model.Manifest
	Identity      string // the same where models translate alike
	Config        repository.Config
}

// Instance is a loaded model.
type Instance interface {
	// Model is the instance under one of the names that it has.
	Model(name, version string) (*translate.Model, error)
	// Bytes is the memory that it takes, without its decoding state.
	Bytes() int64
	Stats() []engine.Stats
	Rows() int // that each worker decodes together at most
	Device() string
	Close() error
}

// Catalog implements [translate.Models]. It is safe for concurrent use.
type Catalog struct {
	cfg     Config
	closing context.Context
	close   context.CancelFunc
	running sync.WaitGroup // loads, checks, trials and drains
	changes wait.Signal    // see Changes

	checks sync.Mutex // held by one check of files at a time

	mu        sync.Mutex // guards the rest, which is plain data
	inventory inventory
	residency residency
	claims    claims
	alarm     *time.Timer // for [Catalog.proceed]
}

// New makes a catalog without models.
func New(cfg Config) *Catalog {
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	c := &Catalog{cfg: cfg, changes: wait.NewSignal(), inventory: newInventory(cfg), residency: newResidency(cfg)}
	c.closing, c.close = context.WithCancel(context.Background())
	c.alarm = time.AfterFunc(never, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.proceed()
	})
	return c
}

// Update takes what the repositories hold now. It returns at once; new versions of models
// that are served already take over when they were tried.
func (c *Catalog) Update(s repository.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inventory.take(s)
	c.refresh()
}

// Changes has a value after what is served has changed.
func (c *Catalog) Changes() <-chan struct{} { return c.changes }

// Preload loads the models that are to be loaded at the start. The errors are those of all that
// cannot be; others are loaded all the same.
func (c *Catalog) Preload(ctx context.Context) error {
	var errs []error
	c.mu.Lock()
	names, models := c.inventory.names, c.inventory.models // which are others after a change
	c.mu.Unlock()
	for _, name := range names {
		m := models[name]
		if m == nil || !m.current.source.Config.Preload {
			continue
		}
		release, err := c.hold(ctx, handle{version: m.current})
		if err != nil {
			errs = append(errs, fmt.Errorf("load %s: %w", m.current.source.ref(), err))
		}
		release()
	}
	return errors.Join(errs...)
}

// Healthy implements [translate.Models]: it fails where a loaded model does not go on.
func (c *Catalog) Healthy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.residency.instances {
		for name, m := range i.models {
			if err := m.Healthy(); err != nil && !i.changed() {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// Close unloads everything. Requests that wait fail, and those that use a model too: their
// engines end with it.
func (c *Catalog) Close() error {
	c.mu.Lock()
	c.close() // nothing begins from now on
	c.alarm.Stop()
	c.mu.Unlock()
	c.running.Wait()
	c.mu.Lock()
	left := c.residency.clear()
	c.mu.Unlock()
	var errs []error
	for _, i := range left { // without the lock, which engines need to give their memory back
		errs = append(errs, i.Close())
	}
	return errors.Join(errs...)
}
