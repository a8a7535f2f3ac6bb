package catalog

import (
	"maps"
	"time"
)

// refresh takes what the inventory says now, and lets go of what is not served any more; mu is held.
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

// configure has an instance treated as its versions say, and says whether it is wanted; mu is held.
func (c *Catalog) configure(i *instance) (wanted bool) {
	wanted, i.pinned, i.keep = c.inventory.demand(i.key)
	return wanted
}

// beginTrial loads a version beside the one that is served, and has it take over if it works; mu is
// held.
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

// loadFailed makes a version broken that could not be loaded, and says so; mu is held.
func (c *Catalog) loadFailed(v *version, err error) {
	if c.closing.Err() != nil {
		return
	}
	c.markBroken(v, err)
	c.cfg.Log.Error("a model cannot be loaded", "model", v.source.Name, "version", v.source.Version, "error", err)
	c.cfg.Metrics.failed(v.source)
	c.refresh()
}

// firstRetry is when a version is tried again that could not be loaded: what was wrong may be over,
// such as a lack of memory. Each time it takes twice as long, longestRetry at most.
const (
	firstRetry   = time.Minute
	longestRetry = time.Hour
)

// markBroken makes a version one that cannot be loaded, for a while; mu is held.
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

// checkServed has the files of versions checked that are served and have not been loaded: of those that
// came while others were served, and of those whose instance was loaded from another folder. What
// is there at the start is checked when it is loaded. mu is held.
func (c *Catalog) checkServed() {
	for _, v := range c.inventory.versions {
		if c.inventory.serves(v) && (v.arrived || c.residency.instances[v.key] != nil) {
			c.check(v)
		}
	}
}

// check finds out whether the files of a version are those of its manifest, unless that is known
// or its load does; one version at a time. mu is held.
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
