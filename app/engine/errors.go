package engine

import (
	"errors"
	"fmt"
	"time"

	"dragoman/app/fault"
)

var (
	// ErrBusy means that too much is being done for others. The request can be tried
	// again later; the error is a [*BusyError], which says when.
	ErrBusy = errors.New("too many requests are waiting")
	// ErrClosed means that the engine is shutting down.
	ErrClosed error = fault.New(fault.ShuttingDown, "", "the service is shutting down: try again in a moment")
	// ErrInvalid means that the model or the configuration does not allow a job.
	ErrInvalid = errors.New("invalid job")
)

// BusyError is the error of a request that would have to wait too long.
type BusyError struct {
	Requests int // that are inside
	// Wait is how long others would make it wait, estimated from the speed of the last
	// seconds; at least a second and at most ten minutes.
	Wait time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%v: %d requests, try again in %s", ErrBusy, e.Requests, e.Wait.Round(time.Second))
}

// RetryAfter is Wait in whole seconds, rounded up and at least one, as HTTP's header
// of that name has it.
func (e *BusyError) RetryAfter() int { return fault.Seconds(e.Wait) }

// Explain says what is told to the sender of the request.
func (e *BusyError) Explain(r fault.Situation) *fault.Failure {
	f := fault.New(fault.Busy, "", "%s: try again in %d s", ErrBusy, e.RetryAfter())
	if r.Deadline {
		f.Kind = fault.NoTime
	}
	f.Wait = e.RetryAfter()
	return f
}

// Unwrap returns [ErrBusy].
func (e *BusyError) Unwrap() error { return ErrBusy }

// TooLargeError is the error of a request that cannot be done in its time, whatever else
// is being decoded.
type TooLargeError struct {
	Needs, Left time.Duration // what it would take, at the speed of the last seconds, and what there is
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the request would take about %s, and has %s", e.Needs.Round(time.Second), e.Left.Round(time.Millisecond))
}

// Explain says what is told to the sender of the request.
func (e *TooLargeError) Explain(r fault.Situation) *fault.Failure {
	if r.Deadline {
		return fault.New(fault.Timeout, "", "%s: give it more time, or send several requests", e)
	}
	return fault.New(fault.TooLarge, "", "%s: send several requests", e)
}

// errAbandoned is why a sentence retires that nobody waits for any more.
var errAbandoned = errors.New("nobody waits for the sentence any more")
