package wait

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Line is a line of goroutines that wait for units of something, such as cores. Units that become free are kept for the next one.
type Line[T any] struct {
	// Next returns the index of the next one of those that wait. Change is called when one gets its units (1) or returns them
	// (-1); one that gives up while it waits does both.
	Next   func(waiting []*Waiter[T], now time.Time) int
	Change func(of T, now time.Time, n int)

	sync.Mutex              // guards the rest, and what Next and Change use
	Free       int          // units
	Waiting    []*Waiter[T] // in the order in which they came
}

// Waiter is a goroutine in a line, or one that has its units.
type Waiter[T any] struct {
	Of    T
	Need  int           // units
	ready chan struct{} // closed when it has them
}

// Join adds a goroutine, at the front or at the end; it may have its units at once. It must call Await. The caller must hold the
// lock.
func (l *Line[T]) Join(of T, need int, front bool) *Waiter[T] {
	w := &Waiter[T]{Of: of, Need: need, ready: make(chan struct{})}
	at := len(l.Waiting)
	if front {
		at = 0
	}
	l.Waiting = slices.Insert(l.Waiting, at, w)
	l.serve(time.Now())
	return w
}

// Await waits until a goroutine has its units. It fails only when ctx is done, with its cause; then the goroutine has left the
// line, or has returned its units.
func (l *Line[T]) Await(ctx context.Context, w *Waiter[T]) error {
	select {
	case <-w.ready:
	case <-ctx.Done():
	}
	if ctx.Err() == nil {
		return nil
	}
	l.Lock()
	defer l.Unlock()
	now := time.Now()
	if i := slices.Index(l.Waiting, w); i >= 0 {
		l.begin(i, now)
	}
	l.End(w.Of, w.Need, now)
	l.serve(now) // others may have waited behind it
	return context.Cause(ctx)
}

// Release returns the units of a goroutine.
func (l *Line[T]) Release(of T, need int) {
	l.Lock()
	defer l.Unlock()
	now := time.Now()
	l.End(of, need, now)
	l.serve(now)
}

// End returns the units of a goroutine that joins again before others have them. The caller must hold the lock.
func (l *Line[T]) End(of T, need int, now time.Time) {
	l.Free += need
	l.Change(of, now, -1)
}

// serve gives their units to the next ones, as far as there are enough.
func (l *Line[T]) serve(now time.Time) {
	for len(l.Waiting) > 0 {
		next := l.Next(l.Waiting, now)
		if l.Waiting[next].Need > l.Free {
			return
		}
		l.begin(next, now)
	}
}

// begin takes one out of the line and gives it its units.
func (l *Line[T]) begin(i int, now time.Time) {
	w := l.Waiting[i]
	l.Waiting = slices.Delete(l.Waiting, i, i+1)
	l.Free -= w.Need
	l.Change(w.Of, now, 1)
	close(w.ready)
}
