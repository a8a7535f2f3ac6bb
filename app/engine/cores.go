package engine

import (
	"context"
	"time"
)

// Cores are what the workers of several engines share: they say whose round is next. All
// workers of an engine use them at the same time.
type Cores interface {
	// Acquire waits until it is a worker's turn. oldest is since when the oldest sentence
	// waits, or decodes, that the worker has. It fails only when ctx is done.
	Acquire(ctx context.Context, oldest time.Time) error
	// Yield is Release and Acquire of a worker that has more to do: others go first only
	// where it is their turn. If it fails, the cores are released.
	Yield(ctx context.Context, oldest time.Time) error
	// Release ends what Acquire began.
	Release()
}

// takeCores waits until the worker may use the cores, where it shares them, and takes in what
// came meanwhile. The wait does not count as part of the round: a worker that waits for
// another one's model does not hang.
func (l *loop) takeCores(ctx context.Context) error {
	if l.cfg.Cores == nil || len(l.sequences) == 0 {
		return nil
	}
	ask := l.cfg.Cores.Acquire
	if l.hasCores {
		ask = l.cfg.Cores.Yield
	}
	l.publish() // what is seen while it waits
	l.snapshot.inRound(time.Time{})
	start := time.Now()
	err := ask(ctx, l.arrivals.Front().Value.(time.Time))
	now := time.Now()
	l.stats.Waiting += now.Sub(start)
	l.snapshot.inRound(now)
	if l.hasCores = err == nil; !l.hasCores {
		return err
	}
	l.receive()
	l.sweep()
	return nil
}

// leaveCores lets others have the cores, where the worker has them.
func (l *loop) leaveCores() {
	if l.hasCores {
		l.hasCores = false
		l.cfg.Cores.Release()
	}
}
