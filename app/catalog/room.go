package catalog

import (
	"errors"
	"slices"
	"time"
)

// openInRoom opens a model. Where its devices have no room for it, instances leave them, as they
// do for memory of the host, and it tries again.
func (c *Catalog) openInRoom(i *instance) (Instance, error) {
	for {
		loaded, err := c.open(i.version.source)
		full, ok := errors.AsType[*NoRoomError](err)
		if !ok {
			return loaded, err
		}
		if err := c.vacate(i, full); err != nil {
			return nil, err
		}
	}
}

// vacate has an instance leave a device for another one, and waits until it is gone. It fails with
// a [*MemoryError] where there is none that could leave.
func (c *Catalog) vacate(i *instance, full *NoRoomError) error {
	var leaves *instance
	return c.attend(func() (wait <-chan struct{}, after time.Duration, err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case c.closing.Err() != nil:
			return nil, 0, ErrClosed
		case c.waiting(i.key) == 0:
			return nil, 0, errUnwanted
		case leaves != nil && c.instances[leaves.key] != leaves:
			i.begun = time.Now() // of the load, for the next time
			return nil, 0, nil
		case leaves != nil:
			return c.changed, 0, nil
		}
		leaves, after, err = c.leaver(i, full)
		return c.changed, after, err
	})
}

// leaver has an instance leave a device for another one: the idle one that was used the longest
// ago, or the one that has been there the longest, if it has for long enough; after is when to look
// again otherwise. mu is held.
func (c *Catalog) leaver(i *instance, full *NoRoomError) (leaves *instance, after time.Duration, err error) {
	there := func(other *instance) bool { return other.loaded != nil && other.loaded.Device() == full.Device }
	for _, other := range c.instances {
		if other.state == Draining && there(other) {
			return other, 0, nil
		}
	}
	leaves = c.first(func(other *instance) bool { return there(other) && other.users == 0 && !c.promised(other) },
		func(a, b *instance) bool { return a.last.Before(b.last) })
	if leaves != nil {
		c.drain(leaves, forMemory)
		return leaves, 0, nil
	}
	leaves = c.first(func(other *instance) bool { return there(other) && !c.together(i, other) },
		func(a, b *instance) bool { return a.since.Before(b.since) })
	if leaves == nil {
		return nil, 0, &MemoryError{Model: i.version.source.Name, Needs: full.Needs, Limit: full.Free, Device: full.Device}
	}
	stay := max(shortestResidence, minResidence*c.took[leaves.key])
	if been := time.Since(leaves.since); leaves.users > 0 && been < stay {
		return nil, stay - been, nil
	}
	c.drain(leaves, forTurns)
	return leaves, 0, nil
}

// together says whether a claim needs two instances at once; mu is held.
func (c *Catalog) together(a, b *instance) bool {
	return slices.ContainsFunc(c.claims, func(cl *claim) bool { return cl.wants(a.key) && cl.wants(b.key) })
}

// refuse settles the claims that wait for an instance with an error; mu is held.
func (c *Catalog) refuse(key string, err error) {
	var left []*claim
	for _, cl := range c.claims {
		if !cl.wants(key) {
			left = append(left, cl)
			continue
		}
		cl.err = err
		close(cl.settled)
	}
	c.claims = left
}
