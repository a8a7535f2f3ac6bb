package engine

import (
	"errors"
	"fmt"
	"math"
	"time"
)

var (
	// ErrBusy means that as much waits as may wait. The request can be tried
	// again later; the error is a [*BusyError], which says when.
	ErrBusy = errors.New("too many requests are waiting")
	// ErrClosed means that the engine is shutting down.
	ErrClosed = errors.New("the service is shutting down")
	// ErrInvalid means that the model or the configuration does not allow a job.
	ErrInvalid = errors.New("invalid job")
)

// BusyError is the error of a request that finds the queue full.
type BusyError struct {
	Requests int // that wait
	Tokens   int // source tokens that wait
	// Wait is how long these will take, estimated from the throughput of the last
	// seconds; at least a second.
	Wait time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%v: %d requests with %d source tokens, try again in %s",
		ErrBusy, e.Requests, e.Tokens, e.Wait.Round(time.Second))
}

// RetryAfter is Wait in whole seconds, rounded up and at least one, as HTTP's header
// of that name has it.
func (e *BusyError) RetryAfter() int { return max(1, int(math.Ceil(e.Wait.Seconds()))) }

// Unwrap returns [ErrBusy].
func (e *BusyError) Unwrap() error { return ErrBusy }

// PanicError is the error of a request whose decoding panicked.
type PanicError struct {
	Value any // what was passed to panic
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// errAbandoned is why a sentence retires that nobody waits for any more.
var errAbandoned = errors.New("nobody waits for the sentence any more")
