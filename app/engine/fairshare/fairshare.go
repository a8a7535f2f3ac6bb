// Package fairshare shares the cores of a machine between the models of one process. Each worker of a model asks for the model's
// cores before a round (a decoder step and the work before that), and after the round returns them or asks again. Whenever a
// worker asks or a round ends, the package decides whose round is next.
//
// The next round goes to the worker with the highest score,
//
//	score = min(1, age / patience) − share
//
// where age is the time since the worker's oldest sentence came, and share is the part of the recent time in which the worker's
// model had cores, however many. Among equal scores the worker that asked first is next.
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
// No worker starves. Only models with a share no greater than that of its model pass a worker that has waited for patience or
// longer. The share of the waiting model halves in each halfLife, while the passing models have all the cores. So beside m other
// models a worker waits at most for about
//
//	patience + halfLife × log2(1 + m)
//
// and for patience + halfLife if its model had no more than an equal part before. docs/benchmarks.md compares this order with
// others.
//
// If the next worker needs more cores than are free, cores that become free are kept for it. Otherwise a worker that needs all
// cores would never get them beside workers that need few. So cores are idle only if no worker waits, or until the running rounds
// end.
package fairshare

import (
	"context"
	"fmt"
	"math"
	"time"

	"dragoman/app/schedule"
	"dragoman/app/wait"
)

const (
	// patience is the age from which a sentence has the highest urgency. With a larger value the oldest sentence goes first under
	// more load; with a smaller one cold models wait less.
	patience = 4 * time.Second
	// halfLife is the time after which past core time counts half. With a larger value models that had little stay ahead for
	// longer, and models that had much wait for longer.
	halfLife = 3 * time.Second
)

// Cores are the cores that models share. They are safe for concurrent use.
type Cores struct {
	count int
	line  wait.Line[round]
}

// Model is a model that shares cores with others. Its workers may use it concurrently.
type Model struct {
	cores *Cores
	need  int             // cores of each worker
	share schedule.Uptime // guarded by the line of cores
}

// round is a round that a worker takes, or waits for.
type round struct {
	of     *Model
	oldest time.Time
}

// New returns count free cores. It fails if count is less than 1.
func New(count int) (*Cores, error) {
	if count < 1 {
		return nil, fmt.Errorf("%d cores cannot be shared: use at least 1", count)
	}
	change := func(r round, now time.Time, rounds int) { r.of.share.Change(now, rounds) }
	return &Cores{count: count, line: wait.Line[round]{Next: highestScore, Change: change, Free: count}}, nil
}

// Join returns a model that uses the cores. Each worker of the model takes one core for each of its threads, at least 1 and at
// most all cores. A model is forgotten once none of its workers waits or has cores.
func (c *Cores) Join(threads int) (*Model, error) {
	if threads < 1 {
		return nil, fmt.Errorf("a worker needs at least 1 core, not %d", threads)
	}
	return &Model{cores: c, need: min(threads, c.count), share: schedule.Uptime{HalfLife: halfLife}}, nil
}

// Take waits for the worker's turn, and takes its cores. oldest is the arrival of the worker's oldest sentence. has tells that
// the worker still has its cores: then only workers with higher scores go first. After Release any waiting worker does. Take
// fails only when ctx is done, with its cause; then the worker has no cores.
func (m *Model) Take(ctx context.Context, oldest time.Time, has bool) error {
	line, r := &m.cores.line, round{m, oldest}
	line.Lock()
	if has && len(line.Waiting) == 0 && ctx.Err() == nil {
		line.Unlock()
		return nil // no other worker waits
	}
	if has {
		line.End(r, m.need, time.Now())
	}
	w := line.Join(r, m.need, false)
	line.Unlock()
	return line.Await(ctx, w)
}

// Release returns the cores of a worker, which must have them.
func (m *Model) Release() { m.cores.line.Release(round{of: m}, m.need) }

// highestScore returns the index of the worker with the highest score; see the package.
func highestScore(waiting []*wait.Waiter[round], now time.Time) (best int) {
	highest := math.Inf(-1)
	for i, w := range waiting {
		if score := min(1, now.Sub(w.Of.oldest).Seconds()/patience.Seconds()) - w.Of.of.share.At(now); score > highest {
			best, highest = i, score
		}
	}
	return best
}
