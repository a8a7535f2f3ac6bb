package sender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"dragoman/app/client"
)

// ErrUnfinished is the cause that a context of Send is to be cancelled with when a test
// does not wait for its answers any longer.
var ErrUnfinished = errors.New("the test ended before the answer came")

// The kinds of failures, besides "status 503 busy" and the like. There are few of them,
// for they are counted.
const (
	kindTimeout    = "timeout"
	kindUnfinished = "unfinished"
	kindRefused    = "connection refused"
	kindHost       = "unknown host"
	kindCut        = "connection cut"
	kindConnection = "connection failed"
	kindInvalid    = "invalid answer"
	kindEmpty      = "empty translation"
	kindChanged    = "another translation than before"
	kindRequest    = "request not written"
)

// Failure is why a request has no translation.
type Failure struct {
	Kind  string // one of a few
	Cause error
}

// Error is the kind, so that failures can be counted by it.
func (f *Failure) Error() string { return f.Kind }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// failure finds the kind of an error. ctx is that of the request, status that of its
// last answer.
func failure(ctx context.Context, status int, err error) *Failure {
	return &Failure{Kind: kind(ctx, status, err), Cause: err}
}

func kind(ctx context.Context, status int, err error) string {
	// What the service says goes first: its own timeout is a context.DeadlineExceeded, too.
	if answer, ok := errors.AsType[*client.Error](err); ok {
		if answer.Code == "" {
			return fmt.Sprintf("status %d", answer.Status)
		}
		return fmt.Sprintf("status %d %s", answer.Status, answer.Code)
	}
	var timeout net.Error
	var dns *net.DNSError
	switch {
	case errors.Is(context.Cause(ctx), ErrUnfinished):
		return kindUnfinished
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return kindTimeout
	case errors.Is(err, errEmpty):
		return kindEmpty
	case errors.Is(err, errChanged):
		return kindChanged
	case errors.Is(err, client.ErrInvalidAnswer):
		return kindInvalid
	case errors.Is(err, syscall.ECONNREFUSED):
		return kindRefused
	case errors.As(err, &dns):
		return kindHost
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), status != 0:
		return kindCut
	case !errors.As(err, &timeout):
		return kindRequest // it did not come from the network
	}
	return kindConnection
}
