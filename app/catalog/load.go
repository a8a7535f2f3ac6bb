package catalog

import (
	"context"
	"errors"
	"time"

	"dragoman/app/engine"
)

// loadNext loads the next instance if that is due, or drains others for it. after is the time until loadNext must be called
// again; 0: only after the next change. refused is set if the claims that wait for the instance have ended.
func (c *controller) loadNext() (after time.Duration, refused bool) {
	r := &c.residency
	r.loadWaiting = false
	for !r.loading && len(r.queue) > 0 && c.claims.waiting(r.queue[0].key) == 0 {
		r.remove(r.queue[0])
	}
	if r.loading || len(r.queue) == 0 {
		return 0, false
	}
	i := r.queue[0]
	source, device := i.version.source, ""
	need := r.loader.Needs(source)
	a := arrival{lacks: r.lacks(need)}
	if i.full != nil {
		need, device, a = i.bytes, i.full.Device, arrival{device: true, beside: i.beside}
	} else if a.lacks > 0 {
		if err := r.fits([]*version{i.version}); err != nil {
			r.remove(i)
			c.claims.refuse(i.key, err)
			return 0, true
		}
	}
	there, all := r.on(device, i.key, c.claims)
	d := decide(time.Now(), a, all)
	for _, l := range d.leave {
		c.drain(there[l.number], l.why)
	}
	switch {
	case d.load:
		r.begin(need)
		var state engine.Pool // nil if memory has no limit, so that decoding does not depend on the catalog
		if c.cfg.Memory > 0 {
			state = (*pool)(c)
		}
		c.background(func() (then func()) {
			loaded, err := load(c.closing, c.cfg.Loader, source, state)
			return func() { c.endLoad(i, loaded, err) }
		})
	case d.never:
		r.remove(i)
		c.claims.refuse(i.key, &MemoryError{Model: source.Name, Needs: i.full.Needs, Limit: i.full.Free, Device: device})
	default:
		r.loadWaiting = device == "" && d.after == 0
	}
	return d.after, d.never
}

// endLoad ends the load of an instance.
func (c *controller) endLoad(i *instance, loaded Instance, err error) {
	c.residency.loading = false
	full, ok := errors.AsType[*NoRoomError](err)
	switch {
	case err == nil:
		c.finishLoad(i, loaded)
	case ok && c.closing.Err() == nil: // other instances are unloaded, as for memory of the host, and the load is tried again
		there, _ := c.residency.on(full.Device, i.key, nil)
		i.full, i.beside = full, len(there)
		c.proceed()
	default:
		c.residency.remove(i)
		c.loadFailed(i.version, err)
	}
}

func load(ctx context.Context, l Loader, s Source, state engine.Pool) (Instance, error) {
	loaded, err := l.Load(ctx, s, state)
	if err != nil {
		return nil, err
	}
	if _, err := loaded.Model(s.Name, s.Version); err != nil {
		return nil, errors.Join(err, loaded.Close())
	}
	return loaded, nil
}

// finishLoad makes an instance available to the claims that wait for it.
func (c *controller) finishLoad(i *instance, loaded Instance) {
	c.residency.finish(i, loaded)
	v := i.version
	v.tried, v.sound, v.fails = true, true, 0
	c.cfg.Metrics.loaded(v.source, i.took)
	c.cfg.Log.Info("loaded a model", "model", v.source.Name, "version", v.source.Version, "device", loaded.Device(),
		"bytes", i.bytes, "took", i.took.Round(time.Millisecond))
	c.checkServed()
	c.proceed()
	if !c.inventory.configure(i) { // no served version uses the instance any more
		c.drain(i, replaced)
	}
	c.evict(0) // the instance may take more memory than expected
}

// evict drains idle instances until some memory is free, or as much as possible.
func (c *controller) evict(bytes int64) {
	there, all := c.residency.on("", "", c.claims)
	leave, _ := makeRoom(time.Now(), all, c.residency.lacks(bytes), false)
	for _, l := range leave {
		c.drain(there[l.number], l.why)
	}
}

// drain unloads an instance as soon as its last request ends.
func (c *controller) drain(i *instance, why reason) {
	if i.state() == Ready {
		c.cfg.Metrics.evicted(i.version.source, why)
		i.drains = true
		c.unload(i)
	}
}

// unload closes a draining instance without requests.
func (c *controller) unload(i *instance) {
	if !i.drains || i.users > 0 || i.closes || c.closing.Err() != nil {
		return
	}
	i.closes = true
	c.background(func() (then func()) {
		err := i.loaded.Close()
		return func() {
			log := c.cfg.Log.With("model", i.version.source.Name, "version", i.version.source.Version)
			if err != nil {
				log.Error("a model cannot be closed", "error", err)
			}
			log.Info("unloaded a model", "bytes", i.bytes)
			c.residency.remove(i)
			c.proceed()
		}
	})
}

// pool implements [engine.Pool]: decoding state shares the memory with the models.
type pool controller

// Take implements [engine.Pool]. If memory is short, Take evicts idle models, so that a later call succeeds; a model that is
// about to be loaded takes precedence.
func (p *pool) Take(bytes int64, must bool) (ok bool) {
	c := (*controller)(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &c.residency
	if must || !r.loadWaiting && bytes <= r.free() {
		r.used += bytes
		return true
	}
	if !r.loadWaiting {
		c.evict(bytes)
	}
	return false
}

// Give implements [engine.Pool].
func (p *pool) Give(bytes int64) {
	c := (*controller)(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.residency.used -= bytes
	if len(c.residency.queue) > 0 {
		c.alarm.Reset(0)
	}
}
