// Package fairshare shares the cores of a machine between the models of one process. Each
// worker of a model asks for its cores before it takes a round, a decoder step and what
// comes before it, and gives them back or asks again after it. What is decided here,
// whenever somebody asks or a round ends, is whose round is next.
//
// It is that of the worker with the highest score,
//
//	score = min(1, age / patience) − share
//
// where age is the time since its oldest sentence came, and share is the part of the
// recent time in which its model had cores, however many. The one that asked first is next
// where scores are equal.
//
//   - While there is little to do, shares are small and the oldest sentence goes first. Its
//     model keeps the cores until it is done, and whatever else waits there goes with it:
//     a step costs nearly the same with one row or with ten, so to change the model with
//     every step, or for every newcomer, makes everybody slow.
//   - A model that always has something to do has a large share, and so one that had
//     nothing is soon ahead of it: what comes for it does not wait for the other's queue.
//   - Where several have more to do than there is time for, all ages count 1 and the model
//     that had least is next: they have cores for equal times. How much waits does not
//     count. A cold model never has much; by rows × age it waits longest of all.
//
// Nobody starves. A worker that waits for patience or longer is passed only by models with
// a share no greater than its own, which halves in each halfLife, while those that pass it
// have all that there is. So beside m other models it waits at most for about
//
//	patience + halfLife × log2(1 + m)
//
// and for patience + halfLife where its model had no more than an equal part before.
// docs/benchmarks.md compares this with other orders.
//
// Where the next one needs more cores than are free, what becomes free is kept for it.
// Otherwise workers that need few would keep one that needs all from ever having them. So
// cores are idle only where nobody waits, or until the rounds that run end.
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
	// patience is the age from which a sentence is as urgent as any. With more the oldest
	// goes first under more load; with less cold models wait less.
	patience = 4 * time.Second
	// halfLife is the time after which what a model had counts half. With more those that
	// had little stay ahead for longer, and those that had much wait for longer.
	halfLife = 3 * time.Second
)

// Cores are what models share. They are safe for concurrent use.
type Cores struct {
	count int

	mu      sync.Mutex // guards the rest, and what changes of models
	free    int
	waiting []*waiter // in the order in which they asked
}

// Model is a model that shares cores with others. Its workers may use it at the same
// time.
type Model struct {
	cores *Cores
	need  int // cores, of each worker

	// Guarded by the cores' mu.
	rounds int       // that run
	share  float64   // at that time
	at     time.Time // zero: it had none yet
}

// waiter is a worker that waits for its round.
type waiter struct {
	of     *Model
	oldest time.Time
	ready  chan struct{} // closed when it has its cores
}

// New makes cores that nobody uses yet. It fails where there are none.
func New(count int) (*Cores, error) {
	if count < 1 {
		return nil, fmt.Errorf("%d cores cannot be shared: use at least 1", count)
	}
	return &Cores{count: count, free: count}, nil
}

// Join lets a model use the cores. Each of its workers takes so many of them, one for
// each of its threads, at least 1; those that have more threads than there are cores take
// all. A model that is not used any more is forgotten once none of its workers waits or
// has cores.
func (c *Cores) Join(threads int) (*Model, error) {
	if threads < 1 {
		return nil, fmt.Errorf("a worker needs at least 1 core, not %d", threads)
	}
	return &Model{cores: c, need: min(threads, c.count)}, nil
}

// Acquire waits until it is a worker's turn, and takes its cores. oldest is since when the
// oldest sentence waits that the worker has to do with. It fails only when ctx is done,
// with its cause; then the worker has no cores.
func (m *Model) Acquire(ctx context.Context, oldest time.Time) error { return m.next(ctx, oldest, 0) }

// Yield gives the cores of a worker to whoever goes before it, and returns when it is its
// turn again. It is not Release and Acquire: after Release anybody who waits goes first.
// It fails as Acquire does.
func (m *Model) Yield(ctx context.Context, oldest time.Time) error { return m.next(ctx, oldest, 1) }

// next ends the worker's round, if it has one, and waits for the next.
func (m *Model) next(ctx context.Context, oldest time.Time, rounds int) error {
	m.cores.mu.Lock()
	if rounds > 0 && len(m.cores.waiting) == 0 && ctx.Err() == nil {
		m.cores.mu.Unlock()
		return nil // it would be next
	}
	now := time.Now()
	m.change(now, -rounds)
	t := m.cores.ask(m, oldest, now)
	m.cores.mu.Unlock()
	return m.cores.wait(ctx, t)
}

// Release gives back the cores of a worker, which must have them.
func (m *Model) Release() {
	m.cores.mu.Lock()
	defer m.cores.mu.Unlock()
	now := time.Now()
	m.change(now, -1)
	m.cores.serve(now)
}

// ask lets a worker wait for its turn, which it may have at once. mu is held.
func (c *Cores) ask(m *Model, oldest, now time.Time) *waiter {
	t := &waiter{of: m, oldest: oldest, ready: make(chan struct{})}
	c.waiting = append(c.waiting, t)
	c.serve(now)
	return t
}

// wait returns when a worker has its turn, or gives the turn up when ctx is done.
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

// serve lets those begin whose turn it is, as far as there are cores. mu is held.
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

// score says how urgent a waiter is; see the package.
func (t *waiter) score(now time.Time) float64 {
	return min(1, now.Sub(t.oldest).Seconds()/patience.Seconds()) - t.of.shareAt(now)
}

// change gives a worker its cores, which are free, for a round (1), or takes them back (-1). mu is held.
func (m *Model) change(now time.Time, rounds int) {
	m.share, m.at = m.shareAt(now), now
	m.rounds += rounds
	m.cores.free -= rounds * m.need
}

// shareAt is the part of the recent time in which the model had cores, from 0 to 1, at a time not before the last
// change: a mean in which what lies a halfLife back counts half. mu is held.
func (m *Model) shareAt(now time.Time) float64 {
	keep := math.Exp2(-now.Sub(m.at).Seconds() / halfLife.Seconds())
	if m.rounds == 0 {
		return m.share * keep
	}
	return m.share*keep + 1 - keep
}
