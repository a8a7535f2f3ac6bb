package catalog

import (
	"errors"
	"time"

	"dragoman/app/engine"
)

// proceed does all that is due after a change: it settles claims, unloads idle instances and loads the next one. The caller must
// hold mu.
func (c *Catalog) proceed() {
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

// expire drains instances that were idle for long enough, and returns the time until the next one expires. The caller must hold
// mu.
func (c *Catalog) expire() time.Duration {
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

// loadNext loads the next instance if that is due, or drains others for it. after is the time until the next look; 0: after the
// next change. refused is set if the claims that wait for the instance have ended. The caller must hold mu.
func (c *Catalog) loadNext() (after time.Duration, refused bool) {
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
		c.running.Go(func() { c.load(i) })
	case d.never:
		r.remove(i)
		c.claims.refuse(i.key, &MemoryError{Model: source.Name, Needs: i.full.Needs, Limit: i.full.Free, Device: device})
	default:
		r.loadWaiting = device == "" && d.after == 0
	}
	return d.after, d.never
}

// load loads an instance whose memory is reserved.
func (c *Catalog) load(i *instance) {
	loaded, err := c.open(i.version.source)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.residency.loading = false
	full, ok := errors.AsType[*NoRoomError](err)
	switch {
	case err == nil:
		c.finishLoad(i, loaded)
	case ok && c.closing.Err() == nil: // other instances leave, as for memory of the host, and the load is tried again
		there, _ := c.residency.on(full.Device, i.key, nil)
		i.full, i.beside = full, len(there)
		c.proceed()
	default:
		c.residency.remove(i)
		c.loadFailed(i.version, err)
	}
}

func (c *Catalog) open(s Source) (Instance, error) {
	var state engine.Pool // nil if memory has no limit, so that decoding does not depend on the catalog
	if c.cfg.Memory > 0 {
		state = (*pool)(c)
	}
	loaded, err := c.cfg.Loader.Load(c.closing, s, state)
	if err != nil {
		return nil, err
	}
	if _, err := loaded.Model(s.Name, s.Version); err != nil {
		return nil, errors.Join(err, loaded.Close())
	}
	return loaded, nil
}

// finishLoad makes an instance available to the claims that wait for it. The caller must hold mu.
func (c *Catalog) finishLoad(i *instance, loaded Instance) {
	c.residency.finish(i, loaded)
	v := i.version
	v.tried, v.sound, v.fails = true, true, 0
	c.cfg.Metrics.loaded(v.source, i.took)
	c.cfg.Log.Info("loaded a model", "model", v.source.Name, "version", v.source.Version, "device", loaded.Device(),
		"bytes", i.bytes, "took", i.took.Round(time.Millisecond))
	c.checkServed()
	c.proceed()
	if !c.configure(i) { // not wanted any more
		c.drain(i, replaced)
	}
	c.evict(0) // it may take more memory than expected
}

// evict drains idle instances until some memory is free, or as much as possible. The caller must hold mu.
func (c *Catalog) evict(bytes int64) {
	there, all := c.residency.on("", "", c.claims)
	leave, _ := makeRoom(time.Now(), all, c.residency.lacks(bytes), false)
	for _, l := range leave {
		c.drain(there[l.number], l.why)
	}
}

// drain unloads an instance as soon as its last request ends. The caller must hold mu.
func (c *Catalog) drain(i *instance, why reason) {
	if i.state() == Ready {
		c.cfg.Metrics.evicted(i.version.source, why)
		i.drains = true
		c.unload(i)
	}
}

// unload closes a draining instance without requests. The caller must hold mu.
func (c *Catalog) unload(i *instance) {
	if !i.drains || i.users > 0 || i.closes || c.closing.Err() != nil {
		return
	}
	i.closes = true
	c.running.Go(func() {
		err := i.loaded.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		log := c.cfg.Log.With("model", i.version.source.Name, "version", i.version.source.Version)
		if err != nil {
			log.Error("a model cannot be closed", "error", err)
		}
		log.Info("unloaded a model", "bytes", i.bytes)
		c.residency.remove(i)
		c.proceed()
	})
}

// pool implements [engine.Pool]: decoding state shares the memory with the models.
type pool Catalog

// Take implements [engine.Pool]. If memory is short, it evicts idle models, for the next try; a model that is about to be loaded
// takes precedence.
func (p *pool) Take(bytes int64, must bool) (ok bool) {
	c := (*Catalog)(p)
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
	c := (*Catalog)(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.residency.used -= bytes
	if len(c.residency.queue) > 0 {
		c.alarm.Reset(0)
	}
}
