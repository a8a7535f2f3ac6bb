package catalog

import (
	"cmp"
	"context"
	"slices"
	"time"

	"dragoman/app/translate"
)

// claim is a request for models that it uses together. A claim gets all its models at once, and holds none while it waits, so
// requests never wait for each other in a circle. The catalog's mu guards the fields of a claim until it is settled.
type claim struct {
	handles []handle
	patient bool          // never refused for the expected wait, or the number of waiting claims
	settled chan struct{} // closed when the claim has its models, or an error

	versions []*version // current versions of the handles
	got      []*instance
	models   []*translate.Model // models of the instances in got, in the order of the handles
	err      error
}

// settle gives a claim its models if all are ready, or the error for which it cannot have them. It reports whether the claim has
// got either.
func (cl *claim) settle(n *inventory, r *residency) bool {
	ready := true
	cl.versions, cl.err = n.resolve(cl.handles)
	for _, v := range cl.versions {
		if r.instances[v.key] == nil {
			ready, cl.err = false, r.fits(cl.versions)
			break
		}
		ready = ready && v.sound && r.ready(v.key) != nil
	}
	switch {
	case cl.err != nil:
	case ready:
		cl.err = cl.use(r)
	default:
		return false
	}
	close(cl.settled)
	return true
}

// use adds a claim to the users of its instances, which are ready.
func (cl *claim) use(r *residency) error {
	var got []*instance
	for _, v := range cl.versions {
		i := r.ready(v.key)
		m, err := i.model(v.source)
		if err != nil {
			return err
		}
		got, cl.models = append(got, i), append(cl.models, m)
	}
	for _, i := range got {
		i.users++
	}
	cl.got = got
	return nil
}

// refusal returns the error of a claim that cannot wait until its models are loaded: too many claims wait already, or its
// deadline is too early.
func (cl *claim) refusal(ctx context.Context, r *residency, waiting claims, most int) error {
	e := LoadingError{}
	for _, v := range cl.versions {
		if r.ready(v.key) != nil {
			continue
		}
		e.Model, e.Wait = v.source.Name, e.Wait+r.left(v.key)
		if n := waiting.waiting(v.key); most > 0 && n >= most {
			e.Waiting = n
			return &e
		}
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < e.Wait {
		return &e
	}
	return nil
}

// claims wait for models, in order of arrival.
type claims []*claim

// waiting returns the number of claims that wait for an instance.
func (cs claims) waiting(key string) (n int) {
	for _, cl := range cs {
		if hasKey(cl.versions, key) {
			n++
		}
	}
	return n
}

// reserved reports whether the first claim for several models needs an instance.
func (cs claims) reserved(key string) bool {
	first := slices.IndexFunc(cs, func(cl *claim) bool { return len(cl.handles) > 1 })
	return first >= 0 && hasKey(cs[first].versions, key)
}

// joint reports whether a claim needs two instances at once.
func (cs claims) joint(a, b string) bool {
	return slices.ContainsFunc(cs, func(cl *claim) bool { return hasKey(cl.versions, a) && hasKey(cl.versions, b) })
}

// refuse ends the claims that wait for an instance with an error.
func (cs *claims) refuse(key string, err error) {
	*cs = slices.DeleteFunc(*cs, func(cl *claim) bool {
		if !hasKey(cl.versions, key) {
			return false
		}
		cl.err = err
		close(cl.settled)
		return true
	})
}

func hasKey(versions []*version, key string) bool {
	return slices.ContainsFunc(versions, func(v *version) bool { return v.key == key })
}

// Acquire implements [translate.Models]. Its errors besides the context's are a [*LoadingError], a [*MemoryError], a
// [*BrokenError], ErrClosed, and a [*translate.Error] if a model is not served any more.
func (c *Catalog) Acquire(ctx context.Context, handles []translate.Handle) ([]*translate.Model, func(), error) {
	cl := &claim{settled: make(chan struct{})}
	for _, h := range handles {
		cl.handles = append(cl.handles, h.(handle))
	}
	if err := c.acquire(ctx, cl); err != nil {
		return nil, nil, err
	}
	return cl.models, func() { c.release(cl) }, nil
}

// holdVersion waits until a model is loaded, and keeps it loaded until release is called. release may be called also after an error.
func (c *Catalog) holdVersion(ctx context.Context, h handle) (release func(), err error) {
	cl := &claim{handles: []handle{h}, patient: true, settled: make(chan struct{})}
	err = c.acquire(ctx, cl)
	return func() { c.release(cl) }, err
}

func (c *Catalog) acquire(ctx context.Context, cl *claim) error {
	if err := c.enter(ctx, cl); err != nil {
		return err
	}
	select {
	case <-cl.settled:
	case <-ctx.Done():
		c.withdraw(cl, context.Cause(ctx))
	case <-c.closing.Done():
		c.withdraw(cl, ErrClosed)
	}
	return cl.err
}

// enter settles a claim, or queues it. It returns the error of a refused claim.
func (c *Catalog) enter(ctx context.Context, cl *claim) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.closing.Err() != nil {
		return ErrClosed
	}
	if cl.settle(&c.inventory, &c.residency) {
		return nil
	}
	if err := cl.refusal(ctx, &c.residency, c.claims, c.cfg.Waiting); err != nil && !cl.patient {
		return err
	}
	c.claims = append(c.claims, cl)
	c.proceed()
	return nil
}

// withdraw ends a claim whose caller does not wait any more.
func (c *Catalog) withdraw(cl *claim, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := slices.Index(c.claims, cl); at >= 0 {
		c.claims = slices.Delete(c.claims, at, at+1)
	} else { // the claim was settled at the same time
		c.leave(cl)
	}
	cl.err = cmp.Or(cl.err, err)
	c.proceed()
}

// release ends the use of a claim's instances.
func (c *Catalog) release(cl *claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave(cl)
	c.alarm.Reset(0) // proceed runs soon, but not here, so that a caller that uses them again at once goes first
}
