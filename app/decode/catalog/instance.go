package catalog

import (
	"errors"
	"time"

	"dragoman/app/translate"
)

// State is what an instance, or the model of one, is in.
type State string

// The states. A model without an instance is unloaded.
const (
	Unloaded State = "unloaded"
	Loading  State = "loading"
	Ready    State = "ready"
	Draining State = "draining" // it leaves as soon as nobody uses it
	Broken   State = "broken"   // of a version that cannot be loaded; no instance is
)

// instance is a model that is loaded, or about to be, for all versions that have its key. Its
// fields are guarded by the catalog's mu, but for those that do not change.
type instance struct {
	key     string
	version *version // that is loaded for all

	state  State
	begun  time.Time // of the load; zero while others are loaded first
	bytes  int64     // of memory; an estimate until it is ready
	loaded Instance
	models map[string]*translate.Model // by name and version
	users  int
	closes bool          // nobody uses it, and it is being closed
	since  time.Time     // ready
	last   time.Time     // used
	pinned bool          // never leaves for others
	keep   time.Duration // that it stays without being used; 0: for ever
	idle   *time.Timer   // unloads it if it was idle for long; nil where it never was
}

// begin makes the instance of a version, and loads it; mu is held.
func (c *Catalog) begin(v *version) {
	i := &instance{key: v.key, version: v, state: Loading, models: make(map[string]*translate.Model)}
	c.instances[v.key] = i
	c.configure(i)
	if c.queue = append(c.queue, i); len(c.queue) == 1 {
		c.running.Go(c.loadQueue)
	}
}

// loadQueue loads instances until none is left to load.
func (c *Catalog) loadQueue() {
	for i := c.next(nil); i != nil; i = c.next(i) {
		c.load(i)
	}
}

// next is the instance that is to be loaded after another.
func (c *Catalog) next(last *instance) *instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last != nil {
		c.queue = c.queue[1:]
	}
	if len(c.queue) == 0 {
		return nil
	}
	return c.queue[0]
}

// configure has an instance treated as the configuration of its versions says, the most generous
// one of several; mu is held.
func (c *Catalog) configure(i *instance) {
	i.pinned, i.keep = false, -1
	for _, v := range c.versions {
		if v.key != i.key || !c.serves(v) {
			continue
		}
		keep := c.cfg.KeepAlive
		if own := v.source.Config.KeepAlive; own != nil {
			keep = *own
		}
		if i.keep < 0 || keep == 0 || i.keep > 0 && keep > i.keep {
			i.keep = keep
		}
		i.pinned = i.pinned || v.source.Config.Pinned
	}
	i.keep = max(0, i.keep)
	if i.state == Ready && i.users == 0 {
		c.startIdle(i)
	}
}

// errUnwanted means that nobody waits for a load any more.
var errUnwanted = errors.New("nobody waits for the model")

// load loads an instance when there is memory for it.
func (c *Catalog) load(i *instance) {
	source := i.version.source
	if err := c.reserve(i, c.cfg.Loader.Needs(source)); err != nil {
		c.fail(i, err)
		return
	}
	loaded, err := c.openInRoom(i)
	if err != nil {
		c.fail(i, err)
		return
	}
	took := c.enlist(i, loaded)
	c.cfg.Log.Info("loaded a model", "model", source.Name, "version", source.Version, "device", loaded.Device(),
		"bytes", loaded.Bytes(), "took", took.Round(time.Millisecond))
}

// open loads a model.
func (c *Catalog) open(s Source) (Instance, error) {
	loaded, err := c.cfg.Loader.Load(c.closing, s, c.pool())
	if err != nil {
		return nil, err
	}
	if _, err := loaded.Model(s.Name, s.Version); err != nil {
		return nil, errors.Join(err, loaded.Close())
	}
	return loaded, nil
}

// enlist gives an instance that was loaded to those who wait for it.
func (c *Catalog) enlist(i *instance, loaded Instance) (took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	took = now.Sub(i.begun)
	c.used += loaded.Bytes() - i.bytes
	i.loaded, i.bytes, i.state, i.since, i.last = loaded, loaded.Bytes(), Ready, now, now
	c.took[i.key] = took
	i.version.tried, i.version.sound, i.version.fails = true, true, 0
	c.cfg.Metrics.loaded(i.version.source, took)
	c.examine()
	c.proceed()
	if !c.wanted(i.key) { // any more
		c.drain(i, replaced)
	} else {
		c.rest(i)
	}
	c.evict(0) // it may take more than was expected
	return took
}

// fail ends a load that did not succeed. What is wrong with the version itself makes it broken;
// of anything else the next request may have another result.
func (c *Catalog) fail(i *instance, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used -= i.bytes
	delete(c.instances, i.key)
	c.changed.Give()
	v := i.version
	_, full := errors.AsType[*MemoryError](err)
	switch {
	case c.closing.Err() != nil:
	case full:
		c.refuse(i.key, err)
		c.proceed()
	case err == errUnwanted:
		c.proceed()
	default:
		c.failed(v, err)
	}
}

// failed makes a version broken that could not be loaded, and says so; mu is held.
func (c *Catalog) failed(v *version, err error) {
	c.breaks(v, err)
	c.cfg.Log.Error("a model cannot be loaded", "model", v.source.Name, "version", v.source.Version, "error", err)
	c.cfg.Metrics.failed(v.source)
	c.refresh()
}

// firstRetry is when a version is tried again that could not be loaded: what was wrong may be over,
// such as a lack of memory. Each time it takes twice as long, longestRetry at most.
const (
	firstRetry   = time.Minute
	longestRetry = time.Hour
)

// breaks makes a version one that cannot be loaded, for a while; mu is held.
func (c *Catalog) breaks(v *version, err error) {
	known := v.record
	known.tried, known.broken = false, &BrokenError{Model: v.source.ref(), Err: err}
	broken := known.broken
	pause := min(longestRetry, firstRetry<<min(known.fails, 6)) // 64 minutes
	known.fails++
	time.AfterFunc(pause, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.closing.Err() == nil && known.broken == broken {
			known.broken = nil
			c.refresh()
		}
	})
}

// rest does what is due where nobody uses an instance any more; mu is held.
func (c *Catalog) rest(i *instance) {
	if i.users > 0 || i.closes || c.closing.Err() != nil {
		return
	}
	if i.state == Draining {
		c.unload(i)
		return
	}
	c.startIdle(i)
	c.changed.Give()
}

// drain has an instance leave as soon as nobody uses it; mu is held.
func (c *Catalog) drain(i *instance, why reason) {
	if i.state != Ready {
		return
	}
	c.cfg.Metrics.evicted(i.version.source, why)
	i.state = Draining
	c.rest(i)
}

// unload closes an instance that nobody uses; mu is held.
func (c *Catalog) unload(i *instance) {
	i.closes = true
	c.running.Go(func() {
		err := i.loaded.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil {
			c.cfg.Log.Error("a model cannot be closed", "model", i.version.source.Name, "version", i.version.source.Version, "error", err)
		}
		c.cfg.Log.Info("unloaded a model", "model", i.version.source.Name, "version", i.version.source.Version, "bytes", i.bytes)
		c.used -= i.bytes
		delete(c.instances, i.key)
		c.changed.Give()
		c.proceed()
	})
}

// startIdle unloads an instance after a while, unless it is used again; mu is held.
func (c *Catalog) startIdle(i *instance) {
	if i.keep == 0 || i.pinned {
		return
	}
	left := i.keep - time.Since(i.last)
	if i.idle != nil {
		i.idle.Reset(left)
		return
	}
	i.idle = time.AfterFunc(left, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if i.users == 0 && i.keep > 0 && time.Since(i.last) >= i.keep && !i.pinned && c.closing.Err() == nil {
			c.drain(i, unused)
		}
	})
}

// takeAll takes all instances out and returns what is loaded, to be closed. Nothing runs any
// more.
func (c *Catalog) takeAll() (all []Instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.instances {
		c.used -= i.bytes
		all = append(all, i.loaded)
	}
	clear(c.instances)
	return all
}

// ref names the version of a model.
func (s *Source) ref() string { return s.Name + ":" + s.Version }
