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
		gone := c.vacate(full.Device)
		if gone == nil {
			return nil, &MemoryError{Model: s.Name, Needs: full.Needs, Limit: full.Free, Device: full.Device}
		}
		select {
		case <-gone:
		case <-c.closing.Done():
			return nil, ErrClosed
		}
	}
}

// vacate has an instance leave a device: the one that was not used for the longest time, or where
// all are in use the one that has been there the longest. It returns what is closed when it is
// gone; nil where there is none that could leave.
func (c *Catalog) vacate(device string) (gone <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.instances {
		if i.state == Draining && i.loaded.Device() == device {
			return i.gone
		}
	}
	on := func(i *instance) bool { return i.loaded.Device() == device }
	i := c.first(func(i *instance) bool { return on(i) && i.users == 0 && !c.promised(i) },
		func(a, b *instance) bool { return a.last.Before(b.last) })
	if i == nil {
		i = c.first(on, func(a, b *instance) bool { return a.since.Before(b.since) })
	}
	if i == nil {
		return nil
	}
	c.drain(i, forMemory)
	return i.gone
}
