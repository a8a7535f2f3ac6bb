package catalog

import "errors"

// openInRoom opens a model. Where its devices have no room for it, instances leave them one by
// one, and it tries again.
func (c *Catalog) openInRoom(s Source) (Instance, error) {
	for {
		loaded, err := c.open(s)
		full, ok := errors.AsType[*NoRoomError](err)
		if !ok {
			return loaded, err
		}
		i := c.vacate(full.Device)
		if i == nil {
			return nil, &MemoryError{Model: s.Name, Needs: full.Needs, Limit: full.Free, Device: full.Device}
		}
		for wait := c.leaving(i); wait != nil; wait = c.leaving(i) {
			select {
			case <-wait:
			case <-c.closing.Done():
				return nil, ErrClosed
			}
		}
	}
}

// vacate has an instance leave a device: the one that was not used for the longest time, or where
// all are in use the one that has been there the longest; nil where there is none that could.
func (c *Catalog) vacate(device string) *instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	on := func(i *instance) bool { return i.loaded.Device() == device }
	for _, i := range c.instances {
		if i.state == Draining && on(i) {
			return i
		}
	}
	i := c.first(func(i *instance) bool { return on(i) && i.users == 0 && !c.promised(i) },
		func(a, b *instance) bool { return a.last.Before(b.last) })
	if i == nil {
		i = c.first(on, func(a, b *instance) bool { return a.since.Before(b.since) })
	}
	if i != nil {
		c.drain(i, forMemory)
	}
	return i
}

// leaving is what to wait for while an instance is there; nil when it is gone.
func (c *Catalog) leaving(i *instance) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.instances[i.key] != i {
		return nil
	}
	return c.changed
}
