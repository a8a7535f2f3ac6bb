package catalog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dragoman/app/translate"
)

// claim is a request for models that it uses together. It is given all of them at once, and has
// none while it waits: so requests never wait for each other in a circle. Its fields are guarded
// by the catalog's mu until it is settled.
type claim struct {
	handles []handle
	patient bool          // is not refused for how long it will take, or how many others wait
	settled chan struct{} // closed when it has its models, or an error

	versions []*version // that the handles mean at the moment
	got      []*instance
	err      error
}

// Acquire implements [translate.Models]. Its errors beside the context's are a [*LoadingError],
// a [*MemoryError], a [*BrokenError], ErrClosed, and a [*translate.Error] where a model is not
// served any more.
func (c *Catalog) Acquire(ctx context.Context, handles []translate.Handle) ([]*translate.Model, func(), error) {
	cl := &claim{settled: make(chan struct{})}
	for _, h := range handles {
		cl.handles = append(cl.handles, h.(handle))
	}
	return c.acquire(ctx, cl)
}

// newClaim makes a claim of the catalog's own.
func newClaim(h handle) *claim {
	return &claim{handles: []handle{h}, patient: true, settled: make(chan struct{})}
}

func (c *Catalog) acquire(ctx context.Context, cl *claim) ([]*translate.Model, func(), error) {
	if err := c.enter(ctx, cl); err != nil {
		return nil, nil, err
	}
	select {
	case <-cl.settled:
	case <-ctx.Done():
		c.withdraw(cl, context.Cause(ctx))
	case <-c.closing.Done():
		c.withdraw(cl, ErrClosed)
	}
	if cl.err != nil {
		return nil, nil, cl.err
	}
	models, err := c.modelsOf(cl)
	if err != nil {
		c.release(cl.got)
		return nil, nil, err
	}
	return models, func() { c.release(cl.got) }, nil
}

// enter settles a claim, or has it wait. The error is why it cannot.
func (c *Catalog) enter(ctx context.Context, cl *claim) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.closing.Err() != nil {
		return ErrClosed
	}
	if c.settle(cl) {
		return nil
	}
	if err := c.patience(ctx, cl); err != nil {
		return err
	}
	c.claims = append(c.claims, cl)
	c.proceed()
	return nil
}

// patience refuses a claim that cannot wait until its models are loaded; mu is held.
func (c *Catalog) patience(ctx context.Context, cl *claim) error {
	if cl.patient {
		return nil
	}
	var wait time.Duration
	missing := ""
	for _, v := range cl.versions {
		i := c.instances[v.key]
		if i != nil && i.state == Ready {
			continue
		}
		left := c.took[v.key]
		if i != nil && !i.begun.IsZero() {
			left = max(0, left-time.Since(i.begun))
		}
		wait, missing = wait+left, v.source.Name
		if n := c.waiting(v.key); c.cfg.Waiting > 0 && n >= c.cfg.Waiting {
			return &LoadingError{Model: missing, Wait: wait, Waiting: n}
		}
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return &LoadingError{Model: missing, Wait: wait}
	}
	return nil
}

// waiting are how many claims wait for an instance; mu is held.
func (c *Catalog) waiting(key string) (n int) {
	for _, cl := range c.claims {
		if cl.wants(key) {
			n++
		}
	}
	return n
}

func (cl *claim) wants(key string) bool {
	return slices.ContainsFunc(cl.versions, func(v *version) bool { return v.key == key })
}

// proceed settles the claims that can be, in the order in which they came, and begins the loads
// that the others need. Of those that need several models only the first has them loaded: two of
// them would take the memory from each other. mu is held.
func (c *Catalog) proceed() {
	if c.closing.Err() != nil {
		return
	}
	var left []*claim
	several := false
	for _, cl := range c.claims {
		if c.settle(cl) {
			continue
		}
		left = append(left, cl)
		if len(cl.handles) > 1 && several {
			continue
		}
		several = several || len(cl.handles) > 1
		for _, v := range cl.versions {
			if c.instances[v.key] == nil {
				c.begin(v)
			} else {
				c.check(v)
			}
		}
	}
	c.claims = left
}

// settle gives a claim its models if all are ready, or the reason why it cannot have them; mu is
// held.
func (c *Catalog) settle(cl *claim) bool {
	if cl.versions, cl.err = c.resolve(cl.handles); cl.err == nil {
		missing, ready := c.look(cl.versions)
		if missing {
			cl.err = c.fits(cl.versions)
		}
		switch {
		case cl.err != nil:
		case !ready:
			return false
		default:
			c.use(cl)
		}
	}
	close(cl.settled)
	return true
}

// refuse ends the claims that wait for an instance; mu is held.
func (c *Catalog) refuse(key string, err error) {
	c.claims = slices.DeleteFunc(c.claims, func(cl *claim) bool {
		if !cl.wants(key) {
			return false
		}
		cl.err = err
		close(cl.settled)
		return true
	})
}

// use makes a claim a user of its instances, which are ready; mu is held.
func (c *Catalog) use(cl *claim) {
	for _, v := range cl.versions {
		i := c.instances[v.key]
		i.users++
		cl.got = append(cl.got, i)
	}
}

// look says whether versions have instances, and whether all of these are ready; mu is held.
func (c *Catalog) look(versions []*version) (missing, ready bool) {
	ready = true
	for _, v := range versions {
		i := c.instances[v.key]
		missing = missing || i == nil
		ready = ready && i != nil && i.state == Ready && v.sound
	}
	return missing, ready
}

// withdraw ends a claim that is not waited for any more.
func (c *Catalog) withdraw(cl *claim, err error) {
	c.mu.Lock()
	at := slices.Index(c.claims, cl)
	if at >= 0 {
		c.claims = slices.Delete(c.claims, at, at+1)
		cl.err = err
		c.changed.Give() // a load may be for nobody now
		c.proceed()
	}
	c.mu.Unlock()
	if at < 0 && cl.err == nil { // it was settled at the same time
		c.release(cl.got)
		cl.err = err
	}
}

// modelsOf are the instances of a claim under their versions' names.
func (c *Catalog) modelsOf(cl *claim) ([]*translate.Model, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	models := make([]*translate.Model, len(cl.got))
	for n, i := range cl.got {
		s := cl.versions[n].source
		m := i.models[s.ref()]
		if m == nil {
			var err error
			if m, err = i.loaded.Model(s.Name, s.Version); err != nil {
				return nil, fmt.Errorf("the model %s: %w", s.ref(), err)
			}
			i.models[s.ref()] = m
		}
		models[n] = m
	}
	return models, nil
}

// release ends the use of instances.
func (c *Catalog) release(instances []*instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range instances {
		i.users--
		i.last = time.Now()
		if i.changed() {
			c.drain(i, changed)
		}
		c.rest(i)
	}
}
