package catalog

import (
	"time"

	"dragoman/app/decode/engine"
	"dragoman/app/wait"
)

// minResidence is how many times as long as it took to load a model it stays, at least, before it
// has to leave although it is in use all the time: models that do not all fit take turns, and spend
// a fifth of their time on that at most.
const (
	minResidence      = 4
	shortestResidence = time.Second
)

// attend tries for an instance that is to be loaded, until the try is done: again when something has changed, and
// after a while where the try says so. mu is held while it tries.
func (c *Catalog) attend(i *instance, try func() (done bool, after time.Duration, err error)) error {
	for {
		done, after, err := c.attempt(i, try)
		if done || err != nil {
			return err
		}
		if after > 0 {
			wait.Until(c.closing, c.changed, after)
		} else {
			wait.On(c.closing, c.changed)
		}
	}
}

func (c *Catalog) attempt(i *instance, try func() (done bool, after time.Duration, err error)) (bool, time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loadWaiting = false
	switch {
	case c.closing.Err() != nil:
		return false, 0, ErrClosed
	case c.waiting(i.key) == 0:
		return false, 0, errUnwanted
	}
	return try()
}

// reserve waits until there is memory for an instance, and takes it. Others leave for it; see [makeRoom].
func (c *Catalog) reserve(i *instance, need int64) error {
	return c.attend(i, func() (done bool, after time.Duration, err error) {
		if c.cfg.Memory == 0 || need <= c.free() {
			c.used += need
			i.bytes, i.begun = need, time.Now()
			return true, 0, nil
		}
		if err := c.fits([]*version{i.version}); err != nil {
			return false, 0, err
		}
		c.leave(c.all(), nil, func(all []resident) (leave []departure) {
			leave, after = makeRoom(all, need-c.free(), true)
			return leave
		})
		c.loadWaiting = after == 0 // what is given back now is for this load
		return false, after, nil
	})
}

// fits refuses versions that can never be in memory together; mu is held.
func (c *Catalog) fits(versions []*version) error {
	if c.cfg.Memory == 0 {
		return nil
	}
	needs, pinned := int64(0), int64(0)
	name, counted := "", make(map[string]bool)
	for _, v := range versions {
		if counted[v.key] {
			continue
		}
		counted[v.key] = true
		if name != "" {
			name += " and "
		}
		name += v.source.Name
		if i := c.instances[v.key]; i != nil && i.state == Ready {
			needs += i.bytes
		} else {
			needs += c.cfg.Loader.Needs(v.source)
		}
	}
	for _, i := range c.instances {
		if i.pinned && i.state == Ready && !counted[i.key] {
			pinned += i.bytes
		}
	}
	if needs <= c.cfg.Memory-pinned {
		return nil
	}
	return &MemoryError{Model: name, Needs: needs, Limit: c.cfg.Memory, Pinned: pinned}
}

// evict has idle instances leave until some memory is free, or as much as can be; mu is held.
func (c *Catalog) evict(need int64) {
	if c.cfg.Memory > 0 {
		c.leave(c.all(), nil, func(all []resident) []departure {
			leave, _ := makeRoom(all, need-c.free(), false)
			return leave
		})
	}
}

// leave has those of some instances leave that a policy names; mu is held. i is the instance that they leave
// a device for, nil where it is for memory.
func (c *Catalog) leave(instances []*instance, i *instance, policy func([]resident) []departure) {
	all := make([]resident, len(instances))
	for n, other := range instances {
		all[n] = resident{
			bytes: other.bytes, draining: other.state == Draining, closes: other.closes, used: other.users > 0, pinned: other.pinned,
			reserved: c.reserved(other), joint: i != nil && c.together(i, other), last: other.last, since: other.since,
			stays: max(shortestResidence, minResidence*c.took[other.key]) - time.Since(other.since),
		}
	}
	for _, d := range policy(all) {
		c.drain(instances[d.number], d.why)
	}
}

// all are the instances that are ready, or drain; mu is held.
func (c *Catalog) all() (list []*instance) {
	for _, i := range c.instances {
		if i.state == Ready || i.state == Draining {
			list = append(list, i)
		}
	}
	return list
}

// free is the memory that nothing has; below 0 where more is used than there should be. mu is
// held.
func (c *Catalog) free() int64 { return c.cfg.Memory - c.used }

// reserved says whether an instance waits for others that the first claim for several models also
// needs; mu is held.
func (c *Catalog) reserved(i *instance) bool {
	for _, cl := range c.claims {
		if len(cl.handles) > 1 {
			return cl.wants(i.key)
		}
	}
	return false
}

// pool is where decoding state takes its memory from; nil where that has no bound, so that
// decoding has nothing to do with the catalog.
func (c *Catalog) pool() engine.Pool {
	if c.cfg.Memory == 0 {
		return nil
	}
	return (*pool)(c)
}

// pool implements [engine.Pool]: decoding state shares the memory with the models.
type pool Catalog

// Take implements [engine.Pool]. Where there is not enough, idle models leave, for the next try;
// a model that is about to be loaded goes first.
func (p *pool) Take(bytes int64, must bool) (ok bool) {
	c := (*Catalog)(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if must || !c.loadWaiting && bytes <= c.free() {
		c.used += bytes
		return true
	}
	if !c.loadWaiting {
		c.evict(bytes)
	}
	return false
}

// Give implements [engine.Pool].
func (p *pool) Give(bytes int64) {
	c := (*Catalog)(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used -= bytes
	c.changed.Give()
}
