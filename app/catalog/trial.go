package catalog

import (
	"maps"
	"time"
)

// refresh applies the state of the inventory, and drains instances that are not wanted any more. The caller must hold mu.
func (c *Catalog) refresh() {
	trials := c.inventory.refresh(func(key string) bool { return c.residency.ready(key) != nil })
	for _, v := range trials {
		c.beginTrial(v)
	}
	keys := make(map[string]bool)
	for _, v := range c.inventory.versions {
		keys[v.key] = true
	}
	maps.DeleteFunc(c.residency.took, func(key string, _ time.Duration) bool { return !keys[key] })
	for _, i := range c.residency.instances {
		if !c.configure(i) {
			c.drain(i, replaced)
		}
	}
	c.checkServed()
	c.proceed()
	c.changes.Give()
}

// configure sets the settings of an instance by its versions, and reports whether it is wanted. The caller must hold mu.
func (c *Catalog) configure(i *instance) (wanted bool) {
	wanted, i.pinned, i.keep = c.inventory.demand(i.key)
	return wanted
}

// beginTrial loads a version beside the served one, and lets it take over if it works. The caller must hold mu.
func (c *Catalog) beginTrial(v *version) {
	if v.trial != nil || c.closing.Err() != nil {
		return
	}
	v.trial = make(chan struct{})
	c.running.Go(func() {
		release, err := c.hold(c.closing, handle{version: v, exact: true})
		c.endTrial(v, err)
		release()
	})
}

func (c *Catalog) endTrial(v *version, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(v.trial)
	v.trial = nil
	if c.closing.Err() != nil {
		return
	}
	v.tried = err == nil
	if err != nil && v.broken == nil {
		c.markBroken(v, err)
	}
	c.refresh()
	log := c.cfg.Log.With("model", v.source.Name, "version", v.source.Version)
	if e := c.inventory.models[v.source.Name]; err != nil {
		log.Error("a new version does not take over", "error", err)
	} else if e != nil && e.current.versionState == v.versionState {
		log.Info("a new version takes over")
	}
}

// loadFailed marks a version that could not be loaded as broken, and logs the error. The caller must hold mu.
func (c *Catalog) loadFailed(v *version, err error) {
	if c.closing.Err() != nil {
		return
	}
	c.markBroken(v, err)
	c.cfg.Log.Error("a model cannot be loaded", "model", v.source.Name, "version", v.source.Version, "error", err)
	c.cfg.Metrics.failed(v.source)
	c.refresh()
}

// firstRetry is the time after which a broken version is tried again, because the cause may be temporary, such as a lack of
// memory. It doubles with each failure, up to longestRetry.
const (
	firstRetry   = time.Minute
	longestRetry = time.Hour
)

// markBroken marks a version as broken, for a while. The caller must hold mu.
func (c *Catalog) markBroken(v *version, err error) {
	known, broken := v.versionState, &BrokenError{Model: v.source.ref(), Err: err}
	known.tried, known.broken = false, broken
	pause := min(longestRetry, firstRetry<<min(known.fails, 6)) // 64 minutes
	known.fails++
	time.AfterFunc(pause, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.closing.Err() == nil && known.broken == broken {
			known.broken = nil
			c.refresh()
		}
	})
}

// checkServed checks the files of served versions that have not been loaded: versions that arrived while others were served, and
// versions whose instance was loaded from another folder. Versions of the first snapshot are checked by their load. The caller
// must hold mu.
func (c *Catalog) checkServed() {
	for _, v := range c.inventory.versions {
		if c.inventory.serves(v) && (v.arrived || c.residency.instances[v.key] != nil) {
			c.check(v)
		}
	}
}

// check compares the files of a version with its manifest, unless the result is known or its load does so; one version at a time.
// The caller must hold mu.
func (c *Catalog) check(v *version) {
	i := c.residency.instances[v.key]
	if v.sound || v.checking || v.broken != nil || i != nil && i.version.versionState == v.versionState || c.closing.Err() != nil {
		return
	}
	v.checking = true
	c.running.Go(func() {
		c.checks.Lock()
		defer c.checks.Unlock()
		err := c.cfg.Loader.Check(c.closing, v.source)
		c.mu.Lock()
		defer c.mu.Unlock()
		v.checking = false
		switch {
		case c.closing.Err() != nil || v.broken != nil:
		case err != nil:
			c.loadFailed(v, err)
		default:
			v.sound = true
			c.proceed()
		}
	})
}
