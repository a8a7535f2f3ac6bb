package engine

import (
	"context"
	"time"
)

// Cores are shared by the workers of several engines; they decide whose round is next. All workers of an engine use them
// concurrently.
type Cores interface {
	// Acquire waits for the worker's turn. oldest is the time at which the worker's oldest sentence, waiting or decoding,
	// arrived. Acquire fails only when ctx is done.
	Acquire(ctx context.Context, oldest time.Time) error
	// Yield is Release and Acquire for a worker that has more to do: others go first only if it is their turn. If it fails, the
	// cores are released.
	Yield(ctx context.Context, oldest time.Time) error
	// Release returns the cores that Acquire took.
	Release()
}

// turn is a worker's turn at the shared cores.
type turn struct {
	cores Cores // nil: the worker takes the cores that it needs
	has   bool
}

// next waits for the worker's turn, the first or another one.
func (t *turn) next(ctx context.Context, oldest time.Time) (err error) {
	if t.has {
		err = t.cores.Yield(ctx, oldest)
	} else {
		err = t.cores.Acquire(ctx, oldest)
	}
	t.has = err == nil
	return err
}

// end releases the cores if the worker has them.
func (t *turn) end() {
	if t.has {
		t.has = false
		t.cores.Release()
	}
}

// takeCores waits until the worker may use the shared cores, if there are any, and then receives the messages that arrived
// meanwhile. The wait does not count as part of the round: a worker that waits for the model of another one does not hang.
func (l *loop) takeCores(ctx context.Context) error {
	if l.turn.cores == nil || len(l.sequences) == 0 {
		return nil
	}
	l.publish() // the state visible during the wait
	l.snapshot.inRound(time.Time{})
	start := time.Now()
	err := l.turn.next(ctx, l.arrivals.Front().Value.(time.Time))
	now := time.Now()
	l.stats.Waiting += now.Sub(start)
	l.snapshot.inRound(now)
	if err != nil {
		return err
	}
	l.receive()
	l.sweep()
	return nil
}
