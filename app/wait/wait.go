// Package wait has primitives for waiting for other goroutines and for time.
package wait

import (
	"context"
	"time"
)

// Signal wakes a goroutine: it has a value if it was given since it was last received, however often. It is safe for concurrent
// use; giving a nil Signal does nothing.
type Signal chan struct{}

// NewSignal returns a signal that has not been given.
func NewSignal() Signal { return make(Signal, 1) }

// Give gives the signal. It never blocks.
func (s Signal) Give() {
	select {
	case s <- struct{}{}:
	default: // the receiver is awake, or will be
	}
}

// IsClosed reports whether a channel without values is closed.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// For waits for d, and reports whether ctx is not done.
func For(ctx context.Context, d time.Duration) bool { return Until(ctx, nil, d) }

// Until waits until signal has a value or is closed, for at most most; 0 does not wait. It reports whether ctx is not done.
func Until(ctx context.Context, signal <-chan struct{}, most time.Duration) bool {
	select {
	case <-signal:
	case <-time.After(most):
	case <-ctx.Done():
		return false
	}
	return true
}
