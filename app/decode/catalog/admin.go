package catalog

import (
	"cmp"
	"context"
	"strings"

	"dragoman/model/repository"
)

// Load loads a model now, in the version that its name means, after a look at what the
// repositories hold: what turned out to be broken before is tried again, and what was unloaded by
// hand is served again. It returns when the model is ready, and a new version has taken over.
func (c *Catalog) Load(ctx context.Context, name string, now repository.Snapshot) error {
	v, trial, err := c.admit(name, now)
	if err != nil {
		return err
	}
	if trial != nil {
		select {
		case <-trial:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		return c.verdict(v)
	}
	_, release, err := c.acquire(ctx, newClaim(handle{version: v, exact: true}))
	if err != nil {
		return err
	}
	release()
	return nil
}

// admit is what Load does before it loads. The version may be on a trial, which is to be waited
// for.
func (c *Catalog) admit(name string, now repository.Snapshot) (v *version, trial <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take(now)
	delete(c.withheld, name)
	for _, v := range c.versions {
		if v.source.Name == name {
			v.broken = nil
		}
	}
	c.refresh()
	e := c.table.models[name]
	if err := c.table.absent[name]; e == nil && err != nil {
		return nil, nil, err
	}
	if e == nil {
		return nil, nil, unknown("there is no model %s that can be loaded: use %s", quote(name), list(c.table.names))
	}
	v = e.current
	for _, tried := range c.versions {
		if tried.source.Name == name && tried.trial != nil && (trial == nil || tried.number > v.number) {
			v, trial = tried, tried.trial
		}
	}
	return v, trial, nil
}

// verdict is how the trial of a version has ended.
func (c *Catalog) verdict(v *version) error {
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

// Unload takes a model out of service: it is refused from now on, until it is loaded by hand,
// and leaves memory as soon as the last request with it ends.
func (c *Catalog) Unload(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.table.models[name] == nil {
		return unknown("there is no model %s that is served: use %s", quote(name), list(c.table.names))
	}
	c.withheld[name] = true
	c.refresh()
	return nil
}

// compare compares names and versions.
func compare(name, version, otherName, otherVersion string) int {
	return cmp.Or(strings.Compare(name, otherName), cmp.Compare(len(version), len(otherVersion)), strings.Compare(version, otherVersion))
}
