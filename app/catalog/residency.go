package catalog

import "time"

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
	for {
		wait, after, err := c.tryRoom(i, need)
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

// tryRoom takes memory for an instance. Where there is none it has another one leave, and returns
// what to wait for before the next try, and for how long at most; 0 is no bound.
func (c *Catalog) tryRoom(i *instance, need int64) (wait <-chan struct{}, after time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hungry = false
	limit := c.cfg.Memory
	if limit == 0 || c.used+need <= limit {
		c.used += need
		i.bytes = need
		return nil, 0, nil
	}
	if most := limit - c.pinned(); need > most {
		return nil, 0, &MemoryError{Model: i.source.Name, Needs: need, Limit: limit, Pinned: limit - most}
	}
	c.hungry = true
	if victim := c.victim(anyDevice); victim != nil {
		c.cfg.Metrics.evicted(victim.source, "memory")
		c.drain(victim)
	} else {
		after = c.takeTurns(anyDevice)
	}
	return c.changed, after, nil
}

// pool implements [engine.Pool]: decoding state shares the memory with the models.
type pool Catalog

// Take implements [engine.Pool]. Where there is not enough, idle models leave, for the next try;
// a model that is about to be loaded goes first.
func (p *pool) Take(bytes int64, must bool) (ok bool) {
	c := (*Catalog)(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if limit := c.cfg.Memory; limit == 0 || must || !c.hungry && c.used+bytes <= limit {
		c.used += bytes
		return true
	}
	if victim := c.victim(anyDevice); victim != nil && !c.hungry {
		c.cfg.Metrics.evicted(victim.source, "memory")
		c.drain(victim)
	}
	return false
}

// Give implements [engine.Pool].
func (p *pool) Give(bytes int64) {
	c := (*Catalog)(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used -= bytes
	if c.hungry {
		c.signal()
	}
}

// pinned is the memory of what never leaves; mu is held.
func (c *Catalog) pinned() (bytes int64) {
	for _, i := range c.instances {
		if i.source.Config.Pinned && i.state == Ready {
			bytes += i.bytes
		}
	}
	return bytes
}

// leaving is an instance whose memory on a device is becoming free without anybody else having to
// leave; nil: there is none. mu is held.
func (c *Catalog) leaving(device string) *instance {
	for _, i := range c.instances {
		if i.state == Draining && i.isOn(device) {
			return i
		}
	}
	return nil
}

// victim is the idle instance on a device that was used the longest ago; nil where there is none, or another
// one is leaving already. mu is held.
func (c *Catalog) victim(device string) (oldest *instance) {
	if c.leaving(device) != nil {
		return nil
	}
	for _, i := range c.instances {
		if i.state == Ready && i.isOn(device) && i.users == 0 && i.waiting == 0 && !i.source.Config.Pinned && (oldest == nil || i.last.Before(oldest.last)) {
			oldest = i
		}
	}
	return oldest
}

// takeTurns drains the instance on a device that has been there the longest, of those that are in use. It
// returns when to look again where none has been there for long enough; mu is held.
func (c *Catalog) takeTurns(device string) (after time.Duration) {
	if c.leaving(device) != nil {
		return 0
	}
	var oldest *instance
	for _, i := range c.instances {
		if i.state == Ready && i.isOn(device) && i.waiting == 0 && !i.source.Config.Pinned && (oldest == nil || i.since.Before(oldest.since)) {
			oldest = i
		}
	}
	if oldest == nil {
		return 0
	}
	stay := max(shortestResidence, minResidence*c.took[oldest.key])
	if there := time.Since(oldest.since); there < stay {
		return stay - there
	}
	c.cfg.Metrics.evicted(oldest.source, "turns")
	c.drain(oldest)
	return 0
}
