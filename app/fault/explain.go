package fault

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"dragoman/model"
)

// Situation is the state of a request that [Explain] needs.
type Situation struct {
	ID       string
	Gone     bool          // its client does not wait for the answer any more
	Begun    bool          // its translation was requested
	Deadline bool          // set by its client
	Timeout  time.Duration // of its translation
}

// Explainer is an error that knows its failure for the sender of a request.
type Explainer interface {
	error
	// Explain returns a failure, which the caller may modify.
	Explain(Situation) *Failure
}

// unreadable is an error of a client's file, from package document, which knows nothing of requests.
type unreadable interface {
	error
	TooLarge() bool // the file is too large, rather than faulty
}

// Explained reports whether an error has a failure of its own for the sender of a request.
func Explained(err error) bool {
	_, explains := errors.AsType[Explainer](err)
	_, isFile := errors.AsType[unreadable](err)
	return explains || isFile
}

// Explain returns the failure of an error for the sender of the request. Internal details are only logged; the message has the
// request id instead.
func Explain(err error, s Situation) *Failure {
	if errors.Is(err, context.Canceled) && s.Gone {
		return New(ClientGone, "", "the client has left")
	}
	var f *Failure
	if known, ok := errors.AsType[Explainer](err); ok {
		f = known.Explain(s)
	} else {
		f = explainOthers(err, s)
	}
	if f.Kind == ShuttingDown && s.Begun {
		f.Kind = Interrupted
	}
	return f
}

// explainOthers returns the failures of errors from packages that know nothing of requests.
func explainOthers(err error, s Situation) *Failure {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return New(BodyTooLarge, "", "the body is larger than %d bytes: send several requests", large.Limit)
	}
	if file, ok := errors.AsType[unreadable](err); ok {
		kind := BrokenDocument
		if file.TooLarge() {
			kind = TooLarge
		}
		return New(kind, "file", "%s", file)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return New(BodyTimeout, "", "the body did not arrive in time: send it at once after the headers")
	case errors.Is(err, model.ErrDamaged):
		return New(ModelBroken, "", "the files of the model have changed while it was in use: try again, when it is loaded from what is there now")
	case errors.Is(err, model.ErrLost):
		return New(Stuck, "", "the model does not work any more, and is started again where something watches /healthz: try again in a moment")
	case errors.Is(err, context.DeadlineExceeded):
		return New(Timeout, "", "the translation took longer than the client's deadline, or than %s: send fewer or shorter texts", s.Timeout)
	}
	return New(Internal, "", "internal error, request id %s", s.ID)
}
