package engine

import (
	"context"
	"time"
)

// takeCores waits until the worker may use the cores, if engines share them, and then receives the messages that arrived
// meanwhile. The wait does not count as part of the round, because a worker that waits for another model does not hang.
func (l *loop) takeCores(ctx context.Context) error {
	if l.cfg.Cores == nil || len(l.sequences) == 0 {
		return nil
	}
	l.publish() // so that the statistics during the wait are current
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
