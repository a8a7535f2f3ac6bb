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

// ErrUnfinished is the cause with which a context of Send must be cancelled when a test stops waiting for its answers.
var ErrUnfinished = errors.New("the test ended before the answer came")

// Failure is the reason why a request has no translation.
type Failure struct {
	Kind  string // one of a few, as they are counted
	Cause error
}

// Error returns the kind, so that failures can be counted by it.
func (f *Failure) Error() string { return f.Kind }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// failure returns the failure for an error. ctx is the request's, status that of its last answer.
func failure(ctx context.Context, status int, err error) *Failure {
	return &Failure{Kind: kind(ctx, status, err), Cause: err}
}

func kind(ctx context.Context, status int, err error) string {
	// The service's answer goes first: its own timeout is a context.DeadlineExceeded, too.
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
		return "unfinished"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, errEmpty):
		return "empty translation"
	case errors.Is(err, errChanged):
		return "another translation than before"
	case errors.Is(err, client.ErrInvalidAnswer):
		return "invalid answer"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &dns):
		return "unknown host"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), status != 0:
		return "connection cut"
	case !errors.As(err, &timeout):
		return "request not written" // the error is not from the network
	}
	return "connection failed"
}
