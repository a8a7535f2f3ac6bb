package catalog

import (
	"cmp"
	"context"
	"strings"

	"dragoman/model/repository"
)

// Load loads a model now, in the version that its name means, after a look at what the
// repositories hold: what turned out to be broken before is tried again, and what was unloaded by
// hand is served again. It returns when the model is ready.
func (c *Catalog) Load(ctx context.Context, name string, now repository.Snapshot) error {
	v, err := c.admit(name, now)
	if err != nil {
		return err
	}
	_, release, err := handle{version: v, exact: true}.Acquire(ctx)
	if err != nil {
		return err
	}
	release()
	return nil
}

// admit is what Load does before it loads.
func (c *Catalog) admit(name string, now repository.Snapshot) (*version, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Err == nil {
		c.snapshot = now
	}
	delete(c.withheld, name)
	for _, v := range c.versions {
		if v.source.Name == name {
			v.broken = nil
		}
	}
	c.refresh()
	e := c.table.models[name]
	if e == nil {
		return nil, unknown("there is no model %s that can be loaded: use %s", quote(name), list(c.table.names))
	}
	for _, v := range e.versions { // a newer one that is on trial is what is meant
		if v.onTrial {
			return v, nil
		}
	}
	return e.current, nil
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
