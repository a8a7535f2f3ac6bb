// Package catalog serves many models from one process: it selects the models that translate a request, and decides which of them
// are in memory.
//
//	Select ─▶ Selection.Route ─▶ Acquire ─▶ models, loaded
//	(what a request   (which models,   (waits for loads,
//	 may use)          in which order)  or begins them)
//
// The models come from a [repository.Snapshot]: [Catalog.Update] takes the next one, the inventory determines the served part of
// it (inventory.go), and the selections for requests (offer.go). A new version of a model is first loaded and tried beside the
// old one, which stays in service if the new one is broken (trial.go).
//
// Models that translate alike share one instance, whatever their names. An instance is unloaded, loading, ready or draining. The
// first request loads the instance, and others wait for the load (claim.go). When memory is short, idle instances are unloaded,
// the least recently used one first, and then, in turns, instances in use. policy.go decides this in a pure function of the
// residency, the state of the models in memory (residency.go); the controller carries it out (controller.go, load.go, trial.go).
package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/app/wait"
	"dragoman/model"
	"dragoman/model/repository"
)

// Config configures a [Catalog].
type Config struct {
	Loader Loader
	// Memory is the maximum number of bytes that the loaded models and their decoding state take together; 0: no limit. One
	// sentence of each model is always decoded.
	Memory int64
	// KeepAlive is the time that an idle model stays loaded; 0: for ever.
	KeepAlive time.Duration
	// Waiting is the maximum number of requests that wait for a loading model.
	Waiting int
	Hint    string // advice for a catalog without models
	// Away returns the error for which the models are unknown, while there are none; may be nil.
	Away func() error
	// Outage returns the reason why a model of a server cannot translate at present: requests that may use another do. It does not
	// block; nil: there are no such models.
	Outage  func(Source) error
	Fetcher Fetcher  // nil: no models can be fetched
	Metrics *Metrics // nil: none
	Log     *slog.Logger
}

// Loader loads models. It is safe for concurrent use.
type Loader interface {
	// Needs returns the estimated memory of a model before it is loaded, without its decoding state, in bytes. It does not block.
	Needs(s Source) int64
	// Load loads a model, whose decoding state takes its memory from state; nil: no limit. A local model has decoded a sentence
	// when Load returns. The caller must close the instance.
	Load(ctx context.Context, s Source, state engine.Pool) (Instance, error)
	// Check compares a model's files with its manifest, as Load does. An instance that was loaded from equal files must not serve
	// a version that Load would refuse.
	Check(ctx context.Context, s Source) error
}

// Source identifies the files of a model.
type Source struct {
	Name, Version string
	Dir           string // the exported folder
	Manifest      *model.Manifest
	Identity      string // equal for models that translate alike
	Config        repository.Config
}

// Instance is a loaded model.
type Instance interface {
	// Model returns the instance under one of its names.
	Model(name, version string) (*translate.Model, error)
	// Bytes returns the memory of the instance, without its decoding state.
	Bytes() int64
	Stats() []engine.Stats
	Rows() int // maximum rows that each worker decodes together
	Device() string
	Close() error
}

// Catalog implements [translate.Models]. It is safe for concurrent use. Its methods take the controller's mu.
type Catalog struct {
	controller
}

// New returns a catalog without models.
func New(cfg Config) *Catalog {
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	c := &Catalog{controller{cfg: cfg, changes: wait.NewSignal(), inventory: newInventory(cfg), residency: newResidency(cfg)}}
	c.hold = c.holdVersion
	c.closing, c.close = context.WithCancel(context.Background())
	c.alarm = time.AfterFunc(never, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.proceed()
	})
	return c
}

// Update takes the current snapshot of the repositories. Update returns at once; new versions of served models take over after
// their trial.
func (c *Catalog) Update(s repository.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inventory.take(s)
	c.refresh()
}

// Changes returns a channel that receives a value after the served models have changed.
func (c *Catalog) Changes() <-chan struct{} { return c.changes }

// Preload loads the models that are configured to be loaded at the start. It returns the errors of all models that cannot be
// loaded; the others are loaded all the same.
func (c *Catalog) Preload(ctx context.Context) error {
	var errs []error
	c.mu.Lock()
	names, models := c.inventory.names, c.inventory.models // a change replaces these two and does not modify them
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

// Healthy implements [translate.Models]: it fails if a loaded model does not decode any more.
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

// Close unloads all models. Requests that wait fail, and so do requests that use a model, because its engine ends.
func (c *Catalog) Close() error {
	c.mu.Lock()
	c.close() // no new work begins from now on
	c.alarm.Stop()
	c.mu.Unlock()
	c.running.Wait()
	c.mu.Lock()
	left := c.residency.clear()
	c.mu.Unlock()
	var errs []error
	for _, i := range left { // closed without the lock, which engines need to return their memory
		errs = append(errs, i.Close())
	}
	return errors.Join(errs...)
}
