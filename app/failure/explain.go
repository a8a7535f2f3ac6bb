package failure

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"dragoman/app/access"
	"dragoman/app/admission"
	"dragoman/app/body"
	"dragoman/app/catalog"
	"dragoman/app/document"
	"dragoman/app/engine"
	"dragoman/app/fleet"
	"dragoman/app/translate"
	"dragoman/model"
)

// Request is what [Explain] has to know of a request.
type Request struct {
	ID       string
	Gone     bool          // its client does not wait for the answer any more
	Begun    bool          // its translation was asked for
	Deadline bool          // its client has set one
	Timeout  time.Duration // of its translation
}

// Explain finds out what the sender of a request is told about an error. What is not meant
// for the sender belongs into the log; the message names the request instead.
func Explain(err error, r Request) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	if errors.Is(err, context.Canceled) && r.Gone {
		return New(ClientGone, "", "the client has left")
	}
	for _, explain := range []func(error, Request) *Failure{explainAccess, explainCatalog, explainFleet, explainBody, explainTranslation, explainDocument, explainEngine, explainGlossary} {
		if f := explain(err, r); f != nil {
			return f
		}
	}
	return New(Internal, "", "internal error, request id %s", r.ID)
}

// explainAccess explains what package access refuses.
func explainAccess(err error, _ Request) *Failure {
	var (
		limit  *access.LimitError
		large  *access.TooLargeError
		header *access.HeaderError
	)
	switch {
	case errors.Is(err, access.ErrNoKey):
		return New(NoKey, "", "%s", err)
	case errors.Is(err, access.ErrBadKey):
		return New(WrongKey, "", "%s", err)
	case errors.Is(err, access.ErrNotAdmin):
		return New(NotAdmin, "", "%s", err)
	case errors.As(err, &limit):
		f := New(RateLimited, "", "%s", limit)
		if limit.Quota() {
			f.Kind = OverQuota
		}
		f.Wait = limit.RetryAfter()
		return f
	case errors.As(err, &large):
		return New(TooManyCharacters, "payload.records", "%s", large)
	case errors.As(err, &header):
		return New(InvalidHeader, "", "%s", header)
	}
	return nil
}

// explainBody explains what package body refuses.
func explainBody(err error, _ Request) *Failure {
	var (
		large  *http.MaxBytesError
		full   *admission.FullError
		places *admission.PlacesError
	)
	switch {
	case errors.As(err, &large):
		return New(BodyTooLarge, "", "the body is larger than %d bytes: send several requests", large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return New(BodyTimeout, "", "the body did not arrive in time: send it at once after the headers")
	case errors.Is(err, body.ErrBroken):
		return New(InvalidJSON, "", "%s", body.ErrBroken)
	case errors.As(err, &full) && full.Alone:
		return New(TooLarge, "", "%s: send several requests", full)
	case errors.As(err, &places):
		return New(Busy, "", "of what is done in turn %s: try again in a moment", places)
	case errors.As(err, &full):
		return New(Busy, "", "%s: try again in a moment", admission.ErrFull)
	}
	return nil
}

// explainTranslation explains what package translate refuses.
func explainTranslation(err error, _ Request) *Failure {
	refused, ok := errors.AsType[*translate.Error](err)
	if !ok {
		return nil
	}
	f := New(kindOf(refused.Code), refused.Field, "%s", refused.Message)
	if f.Field != "" {
		f.Field = "payload." + f.Field
	}
	return f
}

// explainDocument explains why a document cannot be read.
func explainDocument(err error, _ Request) *Failure {
	if broken, ok := errors.AsType[*document.Error](err); ok {
		if broken.Large {
			return New(TooLarge, "file", "%s", broken)
		}
		return New(BrokenDocument, "file", "%s", broken)
	}
	return nil
}

// explainCatalog explains why there is no model to translate with. What is wrong with a model's
// files belongs into the log.
func explainCatalog(err error, r Request) *Failure {
	var (
		loading *catalog.LoadingError
		broken  *catalog.BrokenError
		large   *catalog.MemoryError
		none    *catalog.NoModelsError
	)
	switch {
	case errors.As(err, &loading):
		f := New(Loading, "", "%s: try again in %d s", loading, loading.RetryAfter())
		if r.Deadline && loading.Waiting == 0 {
			f.Kind = NoTime
		}
		f.Wait = loading.RetryAfter()
		return f
	case errors.As(err, &broken):
		return New(ModelBroken, "", "the model %s cannot be loaded, and the service's log says why: use another one until it is repaired", broken.Model)
	case errors.As(err, &large):
		return New(NoRoom, "", "%s", large)
	case errors.As(err, &none):
		return New(NotReady, "", "%s", none)
	}
	return nil
}

// explainFleet explains why workers elsewhere did not decode anything.
func explainFleet(err error, _ Request) *Failure {
	if _, away := errors.AsType[*fleet.UnavailableError](err); away {
		return New(NoBroker, "", "the workers cannot be reached at the moment: try again in a moment")
	}
	if errors.Is(err, translate.ErrGone) {
		f := New(NotReady, "", "the workers that had the model have left, and no others could take the request over: try again in %d s", takeover)
		f.Wait = takeover
		return f
	}
	if _, dead := errors.AsType[*fleet.DeadError](err); dead {
		return New(Crashed, "", "the model ended its process, again and again, with one of the texts, which is set aside: send the texts one by one to find it, and leave it out")
	}
	return nil
}

// takeover is about how many seconds later workers of another export may be there.
const takeover = 5

// explainEngine explains why nothing was decoded.
func explainEngine(err error, r Request) *Failure {
	var (
		busy    *engine.BusyError
		endless *engine.TooLargeError
	)
	closed := errors.Is(err, engine.ErrClosed) || errors.Is(err, catalog.ErrClosed)
	switch {
	case errors.As(err, &endless) && r.Deadline:
		return New(Timeout, "", "%s: give it more time, or send several requests", endless)
	case errors.As(err, &endless):
		return New(TooLarge, "", "%s: send several requests", endless)
	case errors.As(err, &busy):
		f := New(Busy, "", "%s: try again in %d s", engine.ErrBusy, busy.RetryAfter())
		if r.Deadline {
			f.Kind = NoTime
		}
		f.Wait = busy.RetryAfter()
		return f
	case closed && r.Begun:
		return New(Interrupted, "", "%s: try again in a moment", engine.ErrClosed)
	case closed:
		return New(ShuttingDown, "", "%s: try again in a moment", engine.ErrClosed)
	case errors.Is(err, model.ErrDamaged):
		return New(ModelBroken, "", "the files of the model have changed while it was in use: try again, when it is loaded from what is there now")
	case errors.Is(err, model.ErrLost):
		return New(Stuck, "", "the model does not work any more, and is started again where something watches /healthz: try again in a moment")
	case errors.Is(err, context.DeadlineExceeded):
		return New(Timeout, "", "the translation took longer than the client's deadline, or than %s: send fewer or shorter texts", r.Timeout)
	}
	return nil
}
