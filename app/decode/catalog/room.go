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

// vacate has an instance leave a device for another one, and waits until one is gone. It fails with
// a [*MemoryError] where there is none that could leave.
func (c *Catalog) vacate(i *instance, full *NoRoomError) error {
	there := c.on(full.Device)
	return c.attend(i, func() (done bool, after time.Duration, err error) {
		if slices.ContainsFunc(there, func(other *instance) bool { return c.instances[other.key] != other }) {
			i.begun = time.Now() // of the load, for the next time
			return true, 0, nil
		}
		ok := false
		c.leave(there, i, func(all []resident) (leave []departure) {
			leave, after, ok = vacate(all)
			return leave
		})
		if !ok {
			return false, 0, &MemoryError{Model: i.version.source.Name, Needs: full.Needs, Limit: full.Free, Device: full.Device}
		}
		return false, after, nil
	})
}

// on are the instances on a device.
func (c *Catalog) on(device string) (there []*instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.instances {
		if i.loaded != nil && i.loaded.Device() == device {
			there = append(there, i)
		}
	}
	return there
}

// together says whether a claim needs two instances at once; mu is held.
func (c *Catalog) together(a, b *instance) bool {
	return slices.ContainsFunc(c.claims, func(cl *claim) bool { return cl.wants(a.key) && cl.wants(b.key) })
}
