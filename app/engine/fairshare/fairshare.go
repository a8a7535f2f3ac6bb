// Package fairshare shares the cores of a machine between the models of one process. Each worker of a model asks for its cores
// before it takes a round, a decoder step and the work before it, and returns them or asks again after it. Whenever a worker asks
// or a round ends, the package decides whose round is next.
//
// The next round goes to the worker with the highest score,
//
//	score = min(1, age / patience) − share
//
// where age is the time since its oldest sentence came, and share is the part of the recent time in which its model had cores,
// however many. Among equal scores the worker that asked first is next.
//
//   - Under light load, shares are small and the oldest sentence goes first. Its model keeps
//     the cores until it is done, and other sentences for the same model go with it: a step
//     costs nearly the same with one row or with ten, so a change of model with every step,
//     or for every newcomer, slows all of them.
//   - A model that is always busy has a large share, so an idle model soon has a higher
//     score: its new sentences do not wait for the queue of the busy one.
//   - Under overload every age saturates at 1, so the model with the smallest share goes next
//     and all models get equal core time. The length of queues does not count. A cold model
//     never has a long queue; by rows × age it would wait longest of all.
//
// No worker starves. A worker that waits for patience or longer is passed only by models with a share no greater than its own,
// which halves in each halfLife, while the passing models have all the cores. So beside m other models it waits at most for about
//
//	patience + halfLife × log2(1 + m)
//
// and for patience + halfLife if its model had no more than an equal part before. docs/benchmarks.md compares this with other
// orders.
//
// If the next worker needs more cores than are free, cores that become free are kept for it. Otherwise workers that need few
// cores would always keep one that needs all from having them. So cores are idle only if no worker waits, or until the running
// rounds end.
package fairshare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

const (
	// patience is the age from which a sentence has the highest urgency. With a larger value the oldest goes first under more
	// load; with a smaller one cold models wait less.
	patience = 4 * time.Second
	// halfLife is the time after which past core time counts half. With a larger value models that had little stay ahead for
	// longer, and models that had much wait for longer.
	halfLife = 3 * time.Second
)

// Cores are the cores that models share. They are safe for concurrent use.
type Cores struct {
	count int

	mu      sync.Mutex // guards the rest, and the mutable fields of models
	free    int
	waiting []*waiter // in the order in which they asked
}

// Model is a model that shares cores with others. Its workers may use it concurrently.
type Model struct {
	cores *Cores
	need  int // cores of each worker

	// Guarded by the mu of cores.
	rounds int       // number of running rounds
	share  float64   // at that time
	at     time.Time // zero: it has had none yet
}

// waiter is a worker that waits for its round.
type waiter struct {
	of     *Model
	oldest time.Time
	ready  chan struct{} // closed when the worker has its cores
}

// New returns count free cores. It fails if count is less than 1.
func New(count int) (*Cores, error) {
	if count < 1 {
		return nil, fmt.Errorf("%d cores cannot be shared: use at least 1", count)
	}
	return &Cores{count: count, free: count}, nil
}

// Join returns a model that uses the cores. Each of its workers takes one core for each of its threads, at least 1, and at most
// all. A model is forgotten once none of its workers waits or has cores.
func (c *Cores) Join(threads int) (*Model, error) {
	if threads < 1 {
		return nil, fmt.Errorf("a worker needs at least 1 core, not %d", threads)
	}
	return &Model{cores: c, need: min(threads, c.count)}, nil
}

// Acquire waits for the worker's turn, and takes its cores. oldest is the arrival of the worker's oldest sentence. Acquire fails
// only when ctx is done, with its cause; then the worker has no cores.
func (m *Model) Acquire(ctx context.Context, oldest time.Time) error { return m.next(ctx, oldest, 0) }

// Yield gives the cores of a worker to workers with higher scores, and returns when it is its turn again. It differs from Release
// and Acquire: after Release any waiting worker goes first. It fails like Acquire.
func (m *Model) Yield(ctx context.Context, oldest time.Time) error { return m.next(ctx, oldest, 1) }

// next ends the worker's round, if it has one, and waits for the next.
func (m *Model) next(ctx context.Context, oldest time.Time, rounds int) error {
	m.cores.mu.Lock()
	if rounds > 0 && len(m.cores.waiting) == 0 && ctx.Err() == nil {
		m.cores.mu.Unlock()
		return nil // no other worker waits
	}
	now := time.Now()
	m.change(now, -rounds)
	t := m.cores.ask(m, oldest, now)
	m.cores.mu.Unlock()
	return m.cores.wait(ctx, t)
}

// Release returns the cores of a worker, which must have them.
func (m *Model) Release() {
	m.cores.mu.Lock()
	defer m.cores.mu.Unlock()
	now := time.Now()
	m.change(now, -1)
	m.cores.serve(now)
}

// ask adds a worker to those that wait; it may have its turn at once. The caller must hold mu.
func (c *Cores) ask(m *Model, oldest, now time.Time) *waiter {
	t := &waiter{of: m, oldest: oldest, ready: make(chan struct{})}
	c.waiting = append(c.waiting, t)
	c.serve(now)
	return t
}

// wait waits until a worker has its turn, or gives the turn up when ctx is done.
func (c *Cores) wait(ctx context.Context, t *waiter) error {
	select {
	case <-t.ready:
	case <-ctx.Done():
	}
	if ctx.Err() == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if i := slices.Index(c.waiting, t); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	} else {
		t.of.change(now, -1)
	}
	c.serve(now) // others may have waited behind it
	return context.Cause(ctx)
}

// serve starts the rounds of the next workers as far as there are cores. The caller must hold mu.
func (c *Cores) serve(now time.Time) {
	for len(c.waiting) > 0 {
		t := slices.MaxFunc(c.waiting, func(a, b *waiter) int { return cmp.Compare(a.score(now), b.score(now)) })
		if t.of.need > c.free {
			return
		}
		c.waiting = slices.DeleteFunc(c.waiting, func(other *waiter) bool { return other == t })
		t.of.change(now, 1)
		close(t.ready)
	}
}

// score returns the score of a waiter; see the package.
func (t *waiter) score(now time.Time) float64 {
	return min(1, now.Sub(t.oldest).Seconds()/patience.Seconds()) - t.of.shareAt(now)
}

// change gives a worker its cores, which are free, for a round (1), or takes them back (-1). The caller must hold mu.
func (m *Model) change(now time.Time, rounds int) {
	m.share, m.at = m.shareAt(now), now
	m.rounds += rounds
	m.cores.free -= rounds * m.need
}

// shareAt returns the part of the recent time in which the model had cores, from 0 to 1, at a time not before the last change: a
// mean in which time a halfLife ago counts half. The caller must hold mu.
func (m *Model) shareAt(now time.Time) float64 {
	keep := math.Exp2(-now.Sub(m.at).Seconds() / halfLife.Seconds())
	if m.rounds == 0 {
		return m.share * keep
	}
	return m.share*keep + 1 - keep
}
