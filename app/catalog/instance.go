package catalog

import (
	"context"
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
)

// instance is a model that is loaded, or about to be, for all versions that have its key. Its
// fields are guarded by the catalog's mu, but for those that do not change.
type instance struct {
	key    string
	source Source        // of the version that was asked for first
	begun  time.Time     // of the load
	done   chan struct{} // closed when it is ready, or has failed
	gone   chan struct{} // closed when it is closed

	state   State
	err     error // why it could not be loaded
	waiting int   // requests that wait for the load; each will be a user
	later   int   // requests that wait until it is gone
	bytes   int64 // of memory; an estimate until it is ready
	loaded  Instance
	models  map[string]*translate.Model // by name and version
	users   int
	leaving bool        // it is being closed
	since   time.Time   // ready
	last    time.Time   // used
	idle    *time.Timer // unloads it when it was idle for long; nil while it is used, or for ever kept
}

// acquire returns a version's model, loaded.
func (c *Catalog) acquire(ctx context.Context, v *version) (*translate.Model, func(), error) {
	for {
		i, t, err := c.enter(ctx, v)
		if err != nil {
			return nil, nil, err
		}
		if t != nil {
			err := c.await(ctx, t.wait)
			if ready, failed := c.leave(i, t); failed != nil {
				return nil, nil, failed
			} else if err != nil {
				if ready {
					c.release(i)
				}
				return nil, nil, err
			} else if !ready {
				continue
			}
		}
		return c.use(i, v)
	}
}

// ticket is a place among those who wait for an instance.
type ticket struct {
	wait  <-chan struct{} // closed when the wait is over
	count *int            // of those who wait
}

// await waits until a channel is closed.
func (c *Catalog) await(ctx context.Context, wait <-chan struct{}) error {
	select {
	case <-wait:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.closing.Done():
		return ErrClosed
	}
}

// enter finds the instance of a version, and makes one where there is none. Where it is ready the
// caller is one of its users; otherwise there is a ticket to wait with, which it gives back by
// leave.
func (c *Catalog) enter(ctx context.Context, v *version) (*instance, *ticket, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing.Err() != nil {
		return nil, nil, ErrClosed
	}
	if v.broken != nil {
		return nil, nil, v.broken
	}
	i := c.instances[v.key]
	if i == nil {
		i = c.begin(v)
	}
	t := &ticket{wait: i.done, count: &i.waiting}
	switch i.state {
	case Ready:
		i.users++
		i.stopIdle()
		return i, nil, nil
	case Draining:
		t = &ticket{wait: i.gone, count: &i.later}
	}
	if err := c.patience(ctx, i, *t.count); err != nil {
		return nil, nil, err
	}
	*t.count++
	return i, t, nil
}

// patience refuses a request that cannot wait for an instance; mu is held.
func (c *Catalog) patience(ctx context.Context, i *instance, waiting int) error {
	left := c.took[i.key]
	if i.state == Loading {
		left = max(0, left-time.Since(i.begun))
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < left {
		return &LoadingError{Model: i.source.Name, Wait: left}
	}
	if c.cfg.Waiting > 0 && waiting >= c.cfg.Waiting {
		return &LoadingError{Model: i.source.Name, Wait: left, Waiting: waiting}
	}
	return nil
}

// leave ends a wait. Where the instance is ready the caller is one of its users from then on;
// the error is why it could not be loaded.
func (c *Catalog) leave(i *instance, t *ticket) (ready bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*t.count--
	if t.count == &i.later || i.loaded == nil {
		return false, i.err
	}
	i.users++
	i.stopIdle()
	return true, nil
}

// use is an instance, of which the caller is a user, as a version's model.
func (c *Catalog) use(i *instance, v *version) (*translate.Model, func(), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := v.source.Name + ":" + v.source.Version
	m := i.models[name]
	if m == nil {
		var err error
		if m, err = i.loaded.Model(v.source.Name, v.source.Version); err != nil {
			v.broken = &BrokenError{Model: name, Err: err}
			i.users--
			c.settle(i)
			return nil, nil, v.broken
		}
		i.models[name] = m
	}
	return m, func() { c.release(i) }, nil
}

// release ends a use of an instance.
func (c *Catalog) release(i *instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i.users--
	i.last = time.Now()
	c.settle(i)
}

// settle does what is due where nobody uses an instance any more; mu is held.
func (c *Catalog) settle(i *instance) {
	if i.users > 0 || i.waiting > 0 || i.leaving || c.closing.Err() != nil {
		return
	}
	if i.state == Draining {
		c.unload(i)
		return
	}
	c.startIdle(i)
	c.signal()
}

// begin makes the instance of a version, and loads it; mu is held.
func (c *Catalog) begin(v *version) *instance {
	i := &instance{
		key: v.key, source: v.source, begun: time.Now(), state: Loading, done: make(chan struct{}), gone: make(chan struct{}),
		models: make(map[string]*translate.Model),
	}
	c.instances[v.key] = i
	c.running.Go(func() { c.load(i, v) })
	return i
}

// load loads an instance, when it is its turn and there is memory for it.
func (c *Catalog) load(i *instance, v *version) {
	select {
	case c.turn <- struct{}{}:
	case <-c.closing.Done():
		c.fail(i, v, ErrClosed)
		return
	}
	defer func() { <-c.turn }()
	if err := c.makeRoom(i, c.cfg.Loader.Needs(i.source)); err != nil {
		c.fail(i, v, err)
		return
	}
	start := time.Now()
	loaded, err := c.openInRoom(i.source)
	if err != nil {
		c.fail(i, v, err)
		return
	}
	took := time.Since(start)
	c.cfg.Metrics.loaded(i.source, took)
	c.cfg.Log.Info("loaded a model", "model", i.source.Name, "version", i.source.Version, "device", loaded.Device(),
		"bytes", loaded.Bytes(), "took", took.Round(time.Millisecond))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used += loaded.Bytes() - i.bytes
	i.loaded, i.bytes, i.state, i.since, i.last = loaded, loaded.Bytes(), Ready, time.Now(), time.Now()
	c.took[i.key] = took
	v.tried = true
	close(i.done)
	c.settle(i)
}

// open loads a model and tries it.
func (c *Catalog) open(s Source) (Instance, error) {
	loaded, err := c.cfg.Loader.Load(c.closing, s, (*pool)(c))
	if err != nil {
		return nil, err
	}
	m, err := loaded.Model(s.Name, s.Version)
	if err == nil {
		err = m.WarmUp(c.closing)
	}
	if err != nil {
		return nil, errors.Join(err, loaded.Close())
	}
	return loaded, nil
}

// fail ends a load that did not succeed. What is wrong with the version itself makes it broken;
// of anything else the next request may have another result.
func (c *Catalog) fail(i *instance, v *version, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing.Err() != nil {
		err = ErrClosed
	}
	if _, full := errors.AsType[*MemoryError](err); !full && err != ErrClosed {
		v.broken = &BrokenError{Model: v.source.Name + ":" + v.source.Version, Err: err}
		err = v.broken
		c.cfg.Log.Error("a model cannot be loaded", "model", v.source.Name, "version", v.source.Version, "error", err)
		c.refresh()
	}
	c.cfg.Metrics.failed(v.source)
	c.used -= i.bytes
	i.err = err
	delete(c.instances, i.key)
	close(i.done)
	close(i.gone)
	c.signal()
}

// unload closes an instance that nobody uses; mu is held.
func (c *Catalog) unload(i *instance) {
	i.leaving = true
	i.stopIdle()
	c.running.Go(func() {
		err := i.loaded.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil {
			c.cfg.Log.Error("a model cannot be closed", "model", i.source.Name, "version", i.source.Version, "error", err)
		}
		c.cfg.Log.Info("unloaded a model", "model", i.source.Name, "version", i.source.Version, "bytes", i.bytes)
		c.used -= i.bytes
		delete(c.instances, i.key)
		close(i.gone)
		c.signal()
	})
}

// drain has an instance leave as soon as nobody uses it; mu is held.
func (c *Catalog) drain(i *instance) {
	if i.state != Ready {
		return
	}
	i.state = Draining
	c.settle(i)
}

// startIdle unloads an instance after a while, unless it is used again; mu is held.
func (c *Catalog) startIdle(i *instance) {
	keep := c.cfg.KeepAlive
	if own := i.source.Config.KeepAlive; own != nil {
		keep = *own
	}
	if keep <= 0 || i.source.Config.Pinned {
		return
	}
	i.idle = time.AfterFunc(keep, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if i.users == 0 && i.state == Ready && time.Since(i.last) >= keep && c.closing.Err() == nil {
			c.cfg.Metrics.evicted(i.source, "idle")
			c.drain(i)
		}
	})
}

func (i *instance) stopIdle() {
	if i.idle != nil {
		i.idle.Stop()
		i.idle = nil
	}
}
