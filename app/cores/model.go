package cores

import (
	"context"
	"math"
	"time"
)

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

// Acquire waits until it is a worker's turn, and takes its cores. oldest is since when the
// oldest sentence waits that the worker has to do with. It fails only when ctx is done,
// with its cause; then the worker has no cores.
func (m *Model) Acquire(ctx context.Context, oldest time.Time) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.cores.mu.Lock()
	t := m.cores.ask(m, oldest, time.Now())
	m.cores.mu.Unlock()
	return m.cores.wait(ctx, t)
}

// Yield gives the cores of a worker to whoever goes before it, and returns when it is its
// turn again. It is not Release and Acquire: after Release anybody who waits goes first.
// It fails as Acquire does.
func (m *Model) Yield(ctx context.Context, oldest time.Time) error {
	if ctx.Err() != nil {
		m.Release()
		return context.Cause(ctx)
	}
	m.cores.mu.Lock()
	if len(m.cores.waiting) == 0 {
		m.cores.mu.Unlock()
		return nil
	}
	now := time.Now()
	m.give(now)
	t := m.cores.ask(m, oldest, now)
	m.cores.mu.Unlock()
	return m.cores.wait(ctx, t)
}

// Release gives back the cores of a worker, which must have them.
func (m *Model) Release() {
	m.cores.mu.Lock()
	defer m.cores.mu.Unlock()
	now := time.Now()
	m.give(now)
	m.cores.serve(now)
}

// Share is the part of the recent time in which the model had cores, from 0 to 1: a mean
// in which what lies three seconds back counts half.
func (m *Model) Share() float64 {
	m.cores.mu.Lock()
	defer m.cores.mu.Unlock()
	return m.shareAt(time.Now())
}

// take gives a worker its cores, which are free; mu is held.
func (m *Model) take(now time.Time) { m.change(now, 1) }

// give takes them back; mu is held.
func (m *Model) give(now time.Time) { m.change(now, -1) }

func (m *Model) change(now time.Time, rounds int) {
	m.share, m.at = m.shareAt(now), now
	m.rounds += rounds
	m.cores.free -= rounds * m.need
}

// shareAt is the share at a time, not before the last change; mu is held.
func (m *Model) shareAt(now time.Time) float64 {
	keep := math.Exp2(-now.Sub(m.at).Seconds() / halfLife.Seconds())
	if m.rounds == 0 {
		return m.share * keep
	}
	return m.share*keep + 1 - keep
}
