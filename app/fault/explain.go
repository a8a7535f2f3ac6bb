package fault

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"dragoman/model"
)

// Situation is what [Explain] has to know of a request.
type Situation struct {
	ID       string
	Gone     bool          // its client does not wait for the answer any more
	Begun    bool          // its translation was asked for
	Deadline bool          // its client has set one
	Timeout  time.Duration // of its translation
}

// Explainer is an error that knows what the sender of a request is told about it.
type Explainer interface {
	error
	// Explain makes a failure, which the caller may change.
	Explain(Situation) *Failure
}

// unreadable is an error of a file that a client has sent, which knows nothing of requests: package document's.
type unreadable interface {
	error
	TooLarge() bool // there is too much of it, rather than something wrong with it
}

// Explained says whether an error tells what the sender of a request may know about it.
func Explained(err error) bool {
	_, explains := errors.AsType[Explainer](err)
	_, isFile := errors.AsType[unreadable](err)
	return explains || isFile
}

// Explain finds out what the sender of a request is told about an error. What is not meant
// for the sender belongs into the log; the message names the request instead.
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

// explainOthers explains errors of packages that know nothing of requests.
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
