package catalog

import (
	"maps"
	"slices"

	"dragoman/model/repository"
)

// refresh makes the table anew, from the snapshot and what is known of its versions, and lets go
// of what it does not have any more; mu is held.
func (c *Catalog) refresh() {
	before := c.versions
	known := make(map[versionKey]*version)
	models := make(map[string]*entry)
	for _, m := range c.snapshot.Models {
		if e := c.entryOf(m, known); e != nil {
			models[m.Name] = e
		}
	}
	c.versions = known
	c.table = newTable(tableConfig{snapshot: c.snapshot, models: models, absent: c.absent(known), withheld: maps.Clone(c.withheld), before: c.table.detectors, hint: c.cfg.Hint})
	for key, i := range c.instances {
		c.configure(i)
		if !c.wanted(key) {
			c.drain(i, replaced)
		}
	}
	c.forget(before)
	c.examine()
	c.proceed()
	c.changes.Give()
}

// forget removes what was kept of versions that are not there any more; mu is held.
func (c *Catalog) forget(before map[versionKey]*version) {
	there, keys := make(map[string]bool), make(map[string]bool)
	for _, v := range c.versions {
		there[v.source.ref()], keys[v.key] = true, true
	}
	for _, v := range before {
		if !there[v.source.ref()] {
			c.cfg.Metrics.forget(v.source)
		}
		if !keys[v.key] {
			delete(c.took, v.key)
		}
	}
}

// entryOf chooses what is served of a model; nil where that is nothing. All versions that it
// looks at are put into known.
func (c *Catalog) entryOf(m repository.Model, known map[versionKey]*version) *entry {
	before := c.table.models[m.Name]
	e := c.newEntry(m, known)
	switch {
	case c.withheld[m.Name]:
		return nil
	case before == nil:
		return e
	case e == nil && !c.keeps(before.current, m):
		return nil
	case e == nil:
		working := slices.DeleteFunc(slices.Clone(before.versions), func(v *version) bool { return v.broken != nil })
		e = &entry{aliases: before.aliases, current: before.current, versions: working}
		for _, v := range e.versions {
			known[v.id()] = v
		}
	case e.current.record != before.current.record && !e.current.tried && before.current.broken == nil && c.usable(before.current, known):
		c.try(e.current)
		current := known[before.current.id()]
		if current == nil {
			current = before.current
			known[current.id()] = current
		}
		others := slices.DeleteFunc(e.versions, func(v *version) bool { return v.number == current.number })
		e.current, e.versions = current, append([]*version{current}, others...)
	}
	return e
}

// newEntry is what a model's folder and configuration say.
func (c *Catalog) newEntry(m repository.Model, known map[versionKey]*version) *entry {
	if m.Err != nil {
		return nil
	}
	e := &entry{aliases: m.Aliases}
	var other *version // the newest that is not to be served
	for _, v := range m.Versions {
		if v.Err != nil {
			continue
		}
		made := c.versionOf(m, v)
		known[made.id()] = made
		switch {
		case made.broken != nil:
		case v.Served:
			e.current = made
			e.versions = append(e.versions, made)
		default:
			other = made
		}
	}
	if e.current == nil && other != nil {
		e.current, e.versions = other, []*version{other}
	}
	if e.current == nil {
		return nil
	}
	return e
}

// keeps says whether a version is served on although the repository has none that can be: something
// is wrong with the configuration, or with its folder while it is loaded.
func (c *Catalog) keeps(v *version, m repository.Model) bool {
	if v.broken != nil {
		return false
	}
	i := c.instances[v.key]
	return m.Err != nil || i != nil && i.state == Ready &&
		slices.ContainsFunc(m.Versions, func(now repository.Version) bool { return now.Number == v.number })
}

// usable says whether a version that may have left its folder can be served.
func (c *Catalog) usable(v *version, known map[versionKey]*version) bool {
	i := c.instances[v.key]
	return known[v.id()] != nil || i != nil && i.state == Ready
}

// versionOf is a version of the repository, with what is known of it.
func (c *Catalog) versionOf(m repository.Model, v repository.Version) *version {
	made := newVersion(m, v)
	if known := c.versions[made.id()]; known != nil {
		made.record = known.record
	} else {
		made.arrived = len(c.table.names) > 0
		c.cfg.Metrics.know(made.source)
	}
	return made
}

// wanted says whether the table has a version with this key, or a trial.
func (c *Catalog) wanted(key string) bool {
	for _, v := range c.versions {
		if v.key == key && (v.trial != nil || c.serves(v)) {
			return true
		}
	}
	return false
}

// serves says whether the table has a version, maybe with another configuration.
func (c *Catalog) serves(v *version) bool {
	e := c.table.models[v.source.Name]
	return e != nil && slices.ContainsFunc(e.versions, func(s *version) bool { return s.record == v.record })
}

// try loads a version beside the one that is served, and has it take over if it works; mu is
// held.
func (c *Catalog) try(v *version) {
	if v.trial != nil || c.closing.Err() != nil {
		return
	}
	v.trial = make(chan struct{})
	c.running.Go(func() {
		_, release, err := c.acquire(c.closing, newClaim(handle{version: v, exact: true}))
		c.conclude(v, err)
		if err == nil {
			release()
		}
	})
}

// conclude ends a trial.
func (c *Catalog) conclude(v *version, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(v.trial)
	v.trial = nil
	if c.closing.Err() != nil {
		return
	}
	v.tried = err == nil
	if err != nil && v.broken == nil {
		c.breaks(v, err)
	}
	c.refresh()
	log := c.cfg.Log.With("model", v.source.Name, "version", v.source.Version)
	if e := c.table.models[v.source.Name]; err != nil {
		log.Error("a new version does not take over", "error", err)
	} else if e != nil && e.current.record == v.record {
		log.Info("a new version takes over")
	}
}
