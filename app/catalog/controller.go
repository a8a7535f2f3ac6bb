package catalog

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"dragoman/app/wait"
)

// controller carries out what the inventory, the residency and the claims call for: loads, trials, checks of files, and drains.
// The caller of its methods must hold mu.
type controller struct {
	cfg     Config
	hold    func(ctx context.Context, h handle) (release func(), err error) // [Catalog.holdVersion], for trials; without mu
	closing context.Context
	close   context.CancelFunc
	running sync.WaitGroup // loads, checks, trials and drains
	changes wait.Signal    // see [Catalog.Changes]

	checks sync.Mutex // held by one check of files at a time

	mu        sync.Mutex // guards the rest, which is plain data
	inventory inventory
	residency residency
	claims    claims
	alarm     *time.Timer // triggers proceed
}

// background starts work without mu, and calls then, the function that work returns, with mu.
func (c *controller) background(work func() (then func())) {
	c.running.Go(func() {
		then := work()
		c.mu.Lock()
		defer c.mu.Unlock()
		then()
	})
}

// proceed does everything that is due after a change: it settles claims, unloads idle instances and loads the next one.
func (c *controller) proceed() {
	if c.closing.Err() != nil {
		return
	}
	again := c.expire()
	for refused := true; refused; {
		c.settleAll()
		var after time.Duration
		if after, refused = c.loadNext(); after > 0 {
			again = min(again, after)
		}
	}
	c.alarm.Reset(again)
}

// expire drains instances that were idle for long enough, and returns the time until the next one expires.
func (c *controller) expire() time.Duration {
	next, now := never, time.Now()
	for _, i := range c.residency.instances {
		if idle := i.idle(now); i.loaded != nil && idle <= 0 {
			c.drain(i, unused)
		} else if i.loaded != nil {
			next = min(next, idle)
		}
	}
	return next
}

// settleAll settles claims that can be settled, in order of arrival, and queues the instances that the others need. Of the claims
// for several models, only the first has its models loaded, because two such claims would take the memory from each other.
func (c *controller) settleAll() {
	several := false
	c.claims = slices.DeleteFunc(c.claims, func(cl *claim) bool {
		if cl.settle(&c.inventory, &c.residency) {
			return true
		}
		if len(cl.handles) > 1 && several {
			return false
		}
		several = several || len(cl.handles) > 1
		for _, v := range cl.versions {
			if c.residency.instances[v.key] != nil {
				c.check(v)
			} else {
				c.inventory.configure(c.residency.add(v))
			}
		}
		return false
	})
}

// leave ends the use of a claim's instances.
func (c *controller) leave(cl *claim) {
	for _, i := range cl.got {
		i.users--
		i.last = time.Now()
		if i.changed() {
			c.drain(i, changed)
		}
		c.unload(i)
	}
	cl.got = nil
}

// refresh applies the state of the inventory, and drains instances that are not wanted any more.
func (c *controller) refresh() {
	trials := c.inventory.refresh(func(key string) bool { return c.residency.ready(key) != nil })
	for _, v := range trials {
		c.beginTrial(v)
	}
	keys := make(map[string]bool)
	for _, v := range c.inventory.versions {
		keys[v.key] = true
	}
	maps.DeleteFunc(c.residency.took, func(key string, _ time.Duration) bool { return !keys[key] })
	for _, i := range c.residency.instances {
		if !c.inventory.configure(i) {
			c.drain(i, replaced)
		}
	}
	c.checkServed()
	c.proceed()
	c.changes.Give()
}
