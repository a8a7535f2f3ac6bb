package catalog

import (
	"context"
	"errors"
	"maps"
	"slices"

	"dragoman/model/repository"
)

// refresh makes the table anew, from the snapshot and what is known of its versions, and lets go
// of what it does not have any more; mu is held.
func (c *Catalog) refresh() {
	known := make(map[versionKey]*version)
	models := make(map[string]*entry)
	for _, m := range c.snapshot.Models {
		if e := c.entryOf(m, known); e != nil {
			models[m.Name] = e
		}
	}
	c.versions = known
	c.table = newTable(tableConfig{snapshot: c.snapshot, models: models})
	for key, i := range c.instances {
		if !c.wanted(key) {
			if i.state == Ready {
				c.cfg.Metrics.evicted(i.source, "replaced")
			}
			c.drain(i)
		}
	}
	select {
	case c.changes <- struct{}{}:
	default: // nobody has looked since the last time
	}
}

// entryOf chooses what is served of a model; nil where that is nothing. All versions that it
// looks at are put into known.
func (c *Catalog) entryOf(m repository.Model, known map[versionKey]*version) *entry {
	if m.Err != nil || c.withheld[m.Name] {
		return nil
	}
	e := &entry{}
	var newest, other *version // of those that are to be served, and of all others
	for _, v := range m.Versions {
		if v.Err != nil {
			continue
		}
		made := c.versionOf(m, v)
		known[made.id()] = made
		switch {
		case made.broken != nil:
		case v.Served:
			newest = made
			e.versions = append(e.versions, made)
		default:
			other = made
		}
	}
	e.current = newest
	if newest == nil {
		e.current = other
	}
	if e.current == nil {
		return nil
	}
	if before := c.before(m.Name); before != nil && before != e.current && !e.current.tried && before.broken == nil && c.usable(before, known) {
		c.try(e.current)
		e.current = before
		known[before.id()] = before
	}
	if !slices.Contains(e.versions, e.current) {
		e.versions = append([]*version{e.current}, e.versions...)
	}
	return e
}

// before is the version that a name meant until now, nil without one.
func (c *Catalog) before(name string) *version {
	if e := c.table.models[name]; e != nil {
		return e.current
	}
	return nil
}

// usable says whether a version that may have left its folder can be served.
func (c *Catalog) usable(v *version, known map[versionKey]*version) bool {
	i := c.instances[v.key]
	return known[v.id()] != nil || i != nil && i.state == Ready
}

// versionOf is the version that is known already, or a new one.
func (c *Catalog) versionOf(m repository.Model, v repository.Version) *version {
	made := newVersion(c, m, v)
	if known := c.versions[made.id()]; known != nil {
		known.source.Config = m.Config
		return known
	}
	c.cfg.Metrics.know(made.source)
	return made
}

// wanted says whether the table has a version with this key, or a trial.
func (c *Catalog) wanted(key string) bool {
	for v := range maps.Values(c.versions) {
		if v.key == key && (v.onTrial || c.serves(v)) {
			return true
		}
	}
	return false
}

// serves says whether the table has a version.
func (c *Catalog) serves(v *version) bool {
	e := c.table.models[v.source.Name]
	return e != nil && slices.Contains(e.versions, v)
}

// try loads a version beside the one that is served, and has it take over if it works; mu is
// held.
func (c *Catalog) try(v *version) {
	if v.onTrial || c.closing.Err() != nil {
		return
	}
	v.onTrial = true
	c.running.Go(func() {
		_, release, err := c.acquire(c.closing, v)
		c.mu.Lock()
		v.onTrial = false
		switch {
		case err == nil:
			c.cfg.Log.Info("a new version takes over", "model", v.source.Name, "version", v.source.Version)
		case !errors.Is(err, ErrClosed) && !errors.Is(err, context.Canceled):
			c.cfg.Log.Error("a new version does not take over", "model", v.source.Name, "version", v.source.Version, "error", err)
			if v.broken == nil {
				v.broken = err // until its folder changes, or it is loaded by hand
			}
		}
		if c.closing.Err() == nil {
			c.refresh()
		}
		c.mu.Unlock()
		if err == nil {
			release()
		}
	})
}
