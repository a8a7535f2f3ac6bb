// Package cores shares the cores of a machine between the models of one process. Each
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
package cores

import (
	"context"
	"fmt"
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

// Config says what there is to share.
type Config struct {
	Cores int // at least 1
}

// Cores are what models share. They are safe for concurrent use.
type Cores struct {
	count int

	mu      sync.Mutex // guards the rest, and what changes of models
	free    int
	waiting []*turn // in the order in which they asked
}

// turn is a worker that waits for its round.
type turn struct {
	of     *Model
	oldest time.Time
	ready  chan struct{} // closed when it has its cores
}

// New makes cores that nobody uses yet. It fails where there are none.
func New(cfg Config) (*Cores, error) {
	if cfg.Cores < 1 {
		return nil, fmt.Errorf("%d cores cannot be shared: use at least 1", cfg.Cores)
	}
	return &Cores{count: cfg.Cores, free: cfg.Cores}, nil
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

// ask lets a worker wait for its turn, unless it has it at once: then there is nothing to
// wait for. mu is held.
func (c *Cores) ask(m *Model, oldest, now time.Time) *turn {
	if len(c.waiting) == 0 && m.need <= c.free {
		m.take(now)
		return nil
	}
	t := &turn{of: m, oldest: oldest, ready: make(chan struct{})}
	c.waiting = append(c.waiting, t)
	c.serve(now)
	return t
}

// wait returns when a worker has its turn, or gives the turn up when ctx is done.
func (c *Cores) wait(ctx context.Context, t *turn) error {
	if t == nil {
		return nil
	}
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if i := slices.Index(c.waiting, t); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	} else {
		t.of.give(now)
	}
	c.serve(now) // others may have waited behind it
	return context.Cause(ctx)
}

// serve lets those begin whose turn it is, as far as there are cores. mu is held.
func (c *Cores) serve(now time.Time) {
	for len(c.waiting) > 0 {
		next, best := 0, c.waiting[0].score(now)
		for i, t := range c.waiting[1:] {
			if score := t.score(now); score > best {
				next, best = i+1, score
			}
		}
		t := c.waiting[next]
		if t.of.need > c.free {
			return
		}
		c.waiting = slices.Delete(c.waiting, next, next+1)
		t.of.take(now)
		close(t.ready)
	}
}

// score says how urgent a turn is; see the package.
func (t *turn) score(now time.Time) float64 {
	return min(1, now.Sub(t.oldest).Seconds()/patience.Seconds()) - t.of.shareAt(now)
}
