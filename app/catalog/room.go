package catalog

import (
	"errors"
	"time"
)

// anyDevice stands for all devices.
const anyDevice = ""

// isOn says whether an instance is on a device.
func (i *instance) isOn(device string) bool {
	return device == anyDevice || i.loaded != nil && i.loaded.Device() == device
}

// openInRoom opens a model. Where its devices have no room for it, instances leave them, as they
// do for memory of the host, and it tries again.
func (c *Catalog) openInRoom(s Source) (Instance, error) {
	for {
		loaded, err := c.open(s)
		full, ok := errors.AsType[*NoRoomError](err)
		if !ok {
			return loaded, err
		}
		if !c.vacate(full.Device) {
			return nil, &MemoryError{Model: s.Name, Needs: full.Needs, Limit: full.Free, Device: full.Device}
		}
	}
}

// vacate has an instance leave a device, and waits until it is gone. It is false where there is
// none that could leave.
func (c *Catalog) vacate(device string) bool {
	for {
		wait, after, leaves := c.tryVacate(device)
		if wait == nil {
			return false
		}
		var timer <-chan time.Time
		if after > 0 {
			timer = time.After(after)
		}
		select {
		case <-wait:
			if leaves {
				return true
			}
		case <-timer:
		case <-c.closing.Done():
			return false
		}
	}
}

// tryVacate returns what to wait for, and for how long at most; 0 is no bound. leaves says that an
// instance is gone then; otherwise it is time for another try.
func (c *Catalog) tryVacate(device string) (wait <-chan struct{}, after time.Duration, leaves bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if victim := c.victim(device); victim != nil {
		c.cfg.Metrics.evicted(victim.source, "memory")
		c.drain(victim)
	} else {
		after = c.takeTurns(device)
	}
	if i := c.leaving(device); i != nil {
		return i.gone, 0, true
	}
	for _, i := range c.instances {
		if i.state == Ready && i.isOn(device) && !i.source.Config.Pinned {
			return c.changed, after, false
		}
	}
	return nil, 0, false
}
