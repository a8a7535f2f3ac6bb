package catalog

import (
	"errors"
	"time"
)

// openInRoom opens a model. Where its devices have no room for it, instances leave them one by
// one, and it tries again.
func (c *Catalog) openInRoom(s Source) (Instance, error) {
	for {
		loaded, err := c.open(s)
		full, ok := errors.AsType[*NoRoomError](err)
		if !ok {
			return loaded, err
		}
		there := c.on(full.Device)
		if len(there) == 0 {
			return nil, &MemoryError{Model: s.Name, Needs: full.Needs, Limit: full.Free, Device: full.Device}
		}
		for wait, after := c.vacate(there); wait != nil; wait, after = c.vacate(there) {
			if err := c.pause(wait, after); err != nil {
				return nil, err
			}
		}
	}
}

// on are the instances on a device that may leave it, or do.
func (c *Catalog) on(device string) (there []*instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.instances {
		if i.loaded != nil && i.loaded.Device() == device && (i.state == Draining || !i.pinned) {
			there = append(there, i)
		}
	}
	return there
}

// vacate has one of some instances leave: the idle one that was used the longest ago, or else, in
// its turn, the one that has been there the longest. It returns what to wait for before the next
// try, and for how long at most; nil when one is gone.
func (c *Catalog) vacate(there []*instance) (wait <-chan struct{}, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	draining, closing := false, false
	on := make(map[*instance]bool)
	for _, i := range there {
		if c.instances[i.key] != i {
			return nil, 0
		}
		on[i] = true
		draining, closing = draining || i.state == Draining, closing || i.closes
	}
	if closing {
		return c.changed, 0
	}
	if i := c.leastUsed(func(i *instance) bool { return on[i] }); i != nil {
		c.drain(i, forMemory)
	} else if i := c.longestThere(func(i *instance) bool { return on[i] }); i != nil && !draining {
		if after = c.stays(i); after == 0 {
			c.drain(i, forTurns)
		}
	}
	return c.changed, after
}
