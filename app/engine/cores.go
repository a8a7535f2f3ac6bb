package engine

import (
	"context"
	"time"
)

// Cores are shared by the workers of several engines; they decide whose round is next. All workers of an engine use them
// concurrently.
type Cores interface {
	// Take waits for the worker's turn. oldest is the time at which the worker's oldest sentence, waiting or decoding, arrived. A
	// worker that has the cores keeps them unless it is the turn of others. Take fails only when ctx is done; then the worker has
	// no cores.
	Take(ctx context.Context, oldest time.Time, has bool) error
	// Release returns the cores that Take took.
	Release()
}

// takeCores waits until the worker may use the shared cores, if there are any, and then receives the messages that arrived
// meanwhile. The wait does not count as part of the round: a worker that waits for the model of another one does not hang.
func (l *loop) takeCores(ctx context.Context) error {
	if l.cfg.Cores == nil || len(l.sequences) == 0 {
		return nil
	}
	l.publish() // the state visible during the wait
	l.snapshot.inRound(time.Time{})
	start := time.Now()
	err := l.cfg.Cores.Take(ctx, l.arrivals.Front().Value.(time.Time), l.hasCores)
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

// leaveCores releases the cores if the worker has them.
func (l *loop) leaveCores() {
	if l.hasCores {
		l.hasCores = false
		l.cfg.Cores.Release()
	}
}
