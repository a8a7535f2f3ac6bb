// Package wait has how goroutines wait for each other, and for time.
package wait

import (
	"context"
	"time"
)

// Signal wakes a goroutine: it has a value when something has happened since that one looked last, however
// often it did. It is safe for concurrent use; to give nil does nothing.
type Signal chan struct{}

// NewSignal makes a signal that was not given yet.
func NewSignal() Signal { return make(Signal, 1) }

// Give gives the signal. It never blocks.
func (s Signal) Give() {
	select {
	case s <- struct{}{}:
	default: // whom it is for is awake, or will be
	}
}

// IsClosed says whether a channel is closed that nothing is sent to.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// For waits for a while, and says whether ctx is not done yet.
func For(ctx context.Context, d time.Duration) bool { return Until(ctx, nil, d) }

// Until waits until there is a value, or the channel is closed, and for a while at most: with 0 it does not wait.
// It says whether ctx is not done yet.
func Until(ctx context.Context, signal <-chan struct{}, most time.Duration) bool {
	select {
	case <-signal:
	case <-time.After(most):
	case <-ctx.Done():
		return false
	}
	return true
}
