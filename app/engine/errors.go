package engine

import (
	"errors"
	"fmt"
	"time"

	"dragoman/app/fault"
)

var (
	// ErrBusy means that the engine is busy with other requests. The request can be tried again later; the error is a
	// [*BusyError], which tells when.
	ErrBusy = errors.New("too many requests are waiting")
	// ErrClosed means that the engine is shutting down.
	ErrClosed error = fault.New(fault.ShuttingDown, "", "the service is shutting down: try again in a moment")
	// ErrInvalid means that the model or the configuration does not allow a job.
	ErrInvalid = errors.New("invalid job")
)

// BusyError is the error of a request whose wait would be too long.
type BusyError struct {
	Requests int // number of admitted requests
	// Wait is the estimated wait of the request, at the speed of the last seconds; between a second and ten minutes.
	Wait time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%v: %d requests, try again in %s", ErrBusy, e.Requests, e.Wait.Round(time.Second))
}

// RetryAfter returns Wait in whole seconds, rounded up and at least one, for the HTTP header of that name.
func (e *BusyError) RetryAfter() int { return fault.Seconds(e.Wait) }

// Explain returns the failure for the sender of the request.
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

// TooLargeError is the error of a request that cannot end in its time, even alone.
type TooLargeError struct {
	Needs, Left time.Duration // the time needed, at the speed of the last seconds, and the time left
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the request would take about %s, and has %s", e.Needs.Round(time.Second), e.Left.Round(time.Millisecond))
}

// Explain returns the failure for the sender of the request.
func (e *TooLargeError) Explain(r fault.Situation) *fault.Failure {
	if r.Deadline {
		return fault.New(fault.Timeout, "", "%s: give it more time, or send several requests", e)
	}
	return fault.New(fault.TooLarge, "", "%s: send several requests", e)
}

// AwayError means that the server of a model does not translate at present. Another model may.
type AwayError struct {
	Model string
	Wait  time.Duration // until the next try
	Err   error         // of the server; only for the log
}

func (e *AwayError) Error() string {
	return fmt.Sprintf("the server of the model %s is away: %v", e.Model, e.Err)
}

// Unwrap returns the cause.
func (e *AwayError) Unwrap() error { return e.Err }

// Explain returns the failure for the sender of the request.
func (e *AwayError) Explain(fault.Situation) *fault.Failure {
	f := fault.New(fault.ModelBroken, "", "the server of the model %s cannot be used at the moment, and the service's log says why: try again in %d s, or use another model",
		e.Model, fault.Seconds(e.Wait))
	f.Wait = fault.Seconds(e.Wait)
	return f
}

// errAbandoned is the reason to retire a sentence that no call waits for.
var errAbandoned = errors.New("nobody waits for the sentence any more")
