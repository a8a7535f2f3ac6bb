package catalog

import "time"

// beginTrial loads a version beside the served one, and lets the new version take over if it works.
func (c *controller) beginTrial(v *version) {
	if v.trial != nil || c.closing.Err() != nil {
		return
	}
	v.trial = make(chan struct{})
	c.running.Go(func() {
		release, err := c.hold(c.closing, handle{version: v, exact: true})
		c.mu.Lock()
		c.endTrial(v, err)
		c.mu.Unlock()
		release()
	})
}

func (c *controller) endTrial(v *version, err error) {
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

// loadFailed marks a version that could not be loaded as broken, and logs the error.
func (c *controller) loadFailed(v *version, err error) {
	if c.closing.Err() != nil {
		return
	}
	c.markBroken(v, err)
	c.cfg.Log.Error("a model cannot be loaded", "model", v.source.Name, "version", v.source.Version, "error", err)
	c.cfg.Metrics.failed(v.source)
	c.refresh()
}

// firstRetry is the time after which a broken version is tried again, because the cause may be temporary, such as a lack of
// memory. The time doubles with each failure, up to longestRetry.
const (
	firstRetry   = time.Minute
	longestRetry = time.Hour
)

// markBroken marks a version as broken, for a while.
func (c *controller) markBroken(v *version, err error) {
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
// versions whose instance was loaded from another folder. Versions of the first snapshot are checked by their load.
func (c *controller) checkServed() {
	for _, v := range c.inventory.versions {
		if c.inventory.serves(v) && (v.arrived || c.residency.instances[v.key] != nil) {
			c.check(v)
		}
	}
}

// check compares the files of a version with its manifest, unless the result is known or the version's load makes the comparison;
// one version at a time.
func (c *controller) check(v *version) {
	i := c.residency.instances[v.key]
	if v.sound || v.checking || v.broken != nil || i != nil && i.version.versionState == v.versionState || c.closing.Err() != nil {
		return
	}
	v.checking = true
	c.background(func() (then func()) {
		c.checks.Lock()
		defer c.checks.Unlock()
		err := c.cfg.Loader.Check(c.closing, v.source)
		return func() {
			v.checking = false
			switch {
			case c.closing.Err() != nil || v.broken != nil:
			case err != nil:
				c.loadFailed(v, err)
			default:
				v.sound = true
				c.proceed()
			}
		}
	})
}
