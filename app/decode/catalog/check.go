package catalog

import (
	"errors"

	"dragoman/model"
)

// examine has the files of versions checked that are served and have not been loaded: of those that
// came while others were served, and of those whose instance was loaded from another folder. What
// is there at the start is checked when it is loaded. mu is held.
func (c *Catalog) examine() {
	for _, v := range c.versions {
		if c.serves(v) && (v.arrived || c.instances[v.key] != nil) {
			c.check(v)
		}
	}
}

// check finds out whether the files of a version are those of its manifest, unless that is known
// or its load does; one version at a time. mu is held.
func (c *Catalog) check(v *version) {
	i := c.instances[v.key]
	if v.sound || v.checking || v.broken != nil || i != nil && i.version.record == v.record || c.closing.Err() != nil {
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
			c.failed(v, err)
		default:
			v.sound = true
			c.proceed()
		}
	})
}

// changed says whether the files of an instance were written while it was in use, so that it
// translates nothing any more. The next request loads it again, if they are sound then. What is loaded
// at the start and stays is not: the process is to be started again. The catalog's mu is held.
func (i *instance) changed() bool {
	if i.version.fingerprint == "" {
		return false
	}
	for _, m := range i.models {
		if errors.Is(m.Engine.Err(), model.ErrDamaged) {
			return true
		}
	}
	return false
}
