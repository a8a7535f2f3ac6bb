package catalog

import (
	"time"

	"dragoman/app/engine"
)

// minResidence is how many times as long as it took to load a model it stays, at least, before it
// has to leave although it is in use all the time: models that do not all fit take turns, and spend
// a fifth of their time on that at most.
const (
	minResidence      = 4
	shortestResidence = time.Second
)

// makeRoom waits until there is memory for an instance, and takes it. Idle instances leave for
// it, the least recently used one first. Where all are in use, the one that has been there the
// longest drains: requests that come for it from then on wait until it is loaded again. So every
// model gets its turn, however busy others are.
func (c *Catalog) makeRoom(i *instance, need int64) error {
	return c.attend(func() (<-chan struct{}, time.Duration, error) { return c.tryRoom(i, need) })
}

// attend tries again and again, until there is nothing to wait for. A try returns what to wait for
// before the next one, and for how long at most; 0 is no bound.
func (c *Catalog) attend(try func() (wait <-chan struct{}, after time.Duration, err error)) error {
	for {
		wait, after, err := try()
		if err != nil || wait == nil {
			return err
		}
		var timer <-chan time.Time
		if after > 0 {
			timer = time.After(after)
		}
		select {
		case <-wait:
		case <-timer:
		case <-c.closing.Done():
			return ErrClosed
		}
	}
}

// tryRoom takes memory for an instance. Where there is none it has others leave, and returns
// what to wait for before the next try, and for how long at most; 0 is no bound.
func (c *Catalog) tryRoom(i *instance, need int64) (wait <-chan struct{}, after time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hungry = false
	switch {
	case c.closing.Err() != nil:
		return nil, 0, ErrClosed
	case c.waiting(i.key) == 0:
		return nil, 0, errUnwanted
	}
	if c.cfg.Memory == 0 || c.used+need <= c.cfg.Memory {
		c.used += need
		i.bytes, i.begun = need, time.Now()
		return nil, 0, nil
	}
	if err := c.fits([]*version{i.version}); err != nil {
		return nil, 0, err
	}
	if !c.evict(need) {
		after = c.takeTurns(need)
	}
	c.hungry = after == 0 // what is given back now is for this load
	return c.changed, after, nil
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

// evict has idle instances leave, the least recently used one first, until some memory is free,
// or is as soon as those are closed that are going to be. Not all can be where it returns false.
// mu is held.
func (c *Catalog) evict(need int64) (enough bool) {
	if c.cfg.Memory == 0 {
		return true
	}
	for c.free()+c.draining(true) < need {
		i := c.leastUsed(func(*instance) bool { return true })
		if i == nil {
			return false
		}
		c.drain(i, forMemory)
	}
	return true
}

// takeTurns has the instances leave that have been there the longest, of those that are in use. It
// returns when to look again where one has not been there for long enough. mu is held.
func (c *Catalog) takeTurns(need int64) (after time.Duration) {
	for c.free()+c.draining(false) < need {
		i := c.longestThere(func(*instance) bool { return true })
		if i == nil {
			return 0
		}
		if after := c.stays(i); after > 0 {
			return after
		}
		c.drain(i, forTurns)
	}
	return 0
}

// stays is how long an instance that is in use is to stay yet; mu is held.
func (c *Catalog) stays(i *instance) time.Duration {
	if i.users == 0 {
		return 0
	}
	return max(0, max(shortestResidence, minResidence*c.took[i.key])-time.Since(i.since))
}

// leastUsed is the idle instance, of some, that was used the longest ago; nil without one. mu is
// held.
func (c *Catalog) leastUsed(of func(*instance) bool) *instance {
	return c.first(func(i *instance) bool { return i.users == 0 && !c.promised(i) && of(i) },
		func(a, b *instance) bool { return a.last.Before(b.last) })
}

// longestThere is the instance, of some, that has been there the longest; nil without one. What a
// claim for several models needs is spared, unless there is no other. mu is held.
func (c *Catalog) longestThere(of func(*instance) bool) *instance {
	longest := func(a, b *instance) bool { return a.since.Before(b.since) }
	if i := c.first(func(i *instance) bool { return !c.promised(i) && of(i) }, longest); i != nil {
		return i
	}
	return c.first(of, longest)
}

// free is the memory that nothing has; below 0 where more is used than there should be. mu is
// held.
func (c *Catalog) free() int64 { return c.cfg.Memory - c.used }

// draining is the memory of instances that leave: of those that are being closed, or also of those
// that are in use. mu is held.
func (c *Catalog) draining(closing bool) (bytes int64) {
	for _, i := range c.instances {
		if i.state == Draining && (i.closes || !closing) {
			bytes += i.bytes
		}
	}
	return bytes
}

// first is the instance that may leave and comes before all others that may; nil without one. mu is
// held.
func (c *Catalog) first(may func(*instance) bool, before func(a, b *instance) bool) (first *instance) {
	for _, i := range c.instances {
		if i.state == Ready && !i.pinned && may(i) && (first == nil || before(i, first)) {
			first = i
		}
	}
	return first
}

// promised says whether an instance waits for others that the first claim for several models also
// needs; mu is held.
func (c *Catalog) promised(i *instance) bool {
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
	if must || !c.hungry && bytes <= c.free() {
		c.used += bytes
		return true
	}
	if !c.hungry {
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
	c.signal()
}
