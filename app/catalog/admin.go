package catalog

import (
	"context"

	"dragoman/app/text/excerpt"
	"dragoman/model/repository"
)

// Load loads the current version of a model after an update to a snapshot: broken versions are tried again, and a model that was
// unloaded by hand is served again. Load returns when the model is ready, and a new version has taken over.
func (c *Catalog) Load(ctx context.Context, name string, now repository.Snapshot) error {
	c.mu.Lock()
	v, trial, err := c.prepareLoad(name, now)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if trial == nil {
		release, err := c.hold(ctx, handle{version: v, exact: true})
		release()
		return err
	}
	select {
	case <-trial:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case v.broken != nil:
		return v.broken
	case !v.tried:
		return ErrClosed
	}
	return nil
}

// prepareLoad updates the catalog for Load and returns the version to load. If the version is on a trial, the caller must wait
// for the trial's end.
func (c *controller) prepareLoad(name string, now repository.Snapshot) (v *version, trial <-chan struct{}, err error) {
	c.inventory.take(now)
	delete(c.inventory.withheld, name)
	for _, v := range c.inventory.versions {
		if v.source.Name == name {
			v.broken = nil
		}
	}
	c.refresh()
	e := c.inventory.models[name]
	if err := c.inventory.absent[name]; e == nil && err != nil {
		return nil, nil, err
	}
	if e == nil {
		return nil, nil, unknown("there is no model %s that can be loaded: use %s", excerpt.Quote(name), list(c.inventory.names))
	}
	v = e.current
	for _, tried := range c.inventory.versions {
		if tried.source.Name == name && tried.trial != nil && (trial == nil || tried.number > v.number) {
			v, trial = tried, tried.trial
		}
	}
	return v, trial, nil
}

// Unload takes a model out of service: requests for the model are refused from now on, until it is loaded by hand, and the model
// leaves memory as soon as its last request ends.
func (c *Catalog) Unload(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inventory.models[name] == nil {
		return unknown("there is no model %s that is served: use %s", excerpt.Quote(name), list(c.inventory.names))
	}
	c.inventory.withheld[name] = true
	c.refresh()
	return nil
}
