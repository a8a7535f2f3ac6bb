package compat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/access"
	"dragoman/app/admission"
	"dragoman/app/body"
	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model"
)

// ErrNotReady is the error of a request that comes before the model is loaded.
var ErrNotReady = errors.New("the model is loading: try again in a moment")

// RequestError is a request that is refused for what is in it. The message is for
// its sender, in the words of its API.
type RequestError struct {
	Class   Class // Invalid where it is not set
	Message string
}

// Error is the message.
func (e *RequestError) Error() string { return e.Message }

// Refuse makes the error of an invalid request.
func Refuse(format string, args ...any) error {
	return &RequestError{Message: fmt.Sprintf(format, args...)}
}

// Class is what went wrong, as far as the APIs tell it apart.
type Class int

// The classes of a [Failure].
const (
	Invalid    Class = iota // the request is not one
	NotFound                // what it names is not there
	NoMethod                // what it names is there, but does not take the method
	NotOffered              // the server does not do such things
	NoKey                   // a key is needed
	WrongKey                // the key is not valid
	TooMuch                 // more texts or characters than a request may have
	TooLarge                // the body is too large
	TooSlow                 // the body did not arrive in time
	Limited                 // the caller asks too often
	OverQuota               // the caller has used up an hour's or a day's characters
	Busy                    // the queue is full
	NotReady                // the server starts or stops
	Timeout                 // the translation took too long
	Internal                // none of the sender's doing
	ClientGone              // nobody waits for the answer
)

// Statuses are the HTTP statuses that the two APIs have for a class.
type Statuses struct{ LibreTranslate, DeepL int }

// Statuses is the table of what is answered. LibreTranslate documents 400, 403,
// 429 and 500, and its clients look for nothing but success: what its server has no
// case for gets the status that HTTP has for it. DeepL's clients try again by
// themselves after 429 and 529, but not after 456.
func (class Class) Statuses() Statuses {
	const quotaExceeded, overloaded = 456, 529 // DeepL's own
	switch class {
	case Invalid:
		return Statuses{http.StatusBadRequest, http.StatusBadRequest}
	case NotFound:
		return Statuses{http.StatusNotFound, http.StatusNotFound}
	case NoMethod:
		return Statuses{http.StatusMethodNotAllowed, http.StatusMethodNotAllowed}
	case NotOffered:
		return Statuses{http.StatusForbidden, http.StatusBadRequest}
	case NoKey:
		return Statuses{http.StatusBadRequest, http.StatusForbidden}
	case WrongKey:
		return Statuses{http.StatusForbidden, http.StatusForbidden}
	case TooMuch:
		return Statuses{http.StatusBadRequest, http.StatusRequestEntityTooLarge}
	case TooLarge:
		return Statuses{http.StatusRequestEntityTooLarge, http.StatusRequestEntityTooLarge}
	case TooSlow:
		return Statuses{http.StatusRequestTimeout, http.StatusRequestTimeout}
	case Limited:
		return Statuses{http.StatusTooManyRequests, http.StatusTooManyRequests}
	case OverQuota:
		return Statuses{http.StatusTooManyRequests, quotaExceeded}
	case Busy:
		return Statuses{http.StatusServiceUnavailable, overloaded}
	case NotReady:
		return Statuses{http.StatusServiceUnavailable, http.StatusServiceUnavailable}
	case Timeout:
		return Statuses{http.StatusGatewayTimeout, http.StatusGatewayTimeout}
	}
	return Statuses{http.StatusInternalServerError, http.StatusInternalServerError}
}

// Failure is an error as its sender may see it.
type Failure struct {
	Class   Class
	Message string // one line without internals
	Wait    int    // seconds before another try; 0: no hint

	Err error // that the failure explains; not for its sender
}

// Explain sorts an error. What is not meant for the sender is logged only; the
// message names the request instead.
func Explain(c *gin.Context, err error) Failure {
	f := explain(err)
	f.Err = err
	switch {
	case errors.Is(err, context.Canceled) && c.Request.Context().Err() != nil:
		f.Class = ClientGone
	case f.Class == Internal:
		f.Message = fmt.Sprintf("Internal error, request id %s", c.Writer.Header().Get("X-Request-Id"))
	}
	return f
}

// explain is the table of errors.
func explain(err error) Failure {
	var (
		refused  *RequestError
		job      *translate.Error
		tooLarge *http.MaxBytesError
		tooMuch  *access.TooLargeError
		tooOften *access.LimitError
		header   *access.HeaderError
		busy     *engine.BusyError
		full     *admission.FullError
		endless  *engine.TooLargeError
	)
	switch {
	case errors.As(err, &refused):
		return Failure{Class: refused.Class, Message: refused.Message}
	case errors.As(err, &job):
		return Failure{Class: classOf(job.Code), Message: sentence(job.Message)}
	case errors.As(err, &tooLarge):
		return Failure{Class: TooLarge, Message: fmt.Sprintf("The body is larger than %d bytes: send several requests.", tooLarge.Limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Failure{Class: TooSlow, Message: "The body did not arrive in time."}
	case errors.As(err, &tooMuch):
		return Failure{Class: TooMuch, Message: sentence(tooMuch.Error())}
	case errors.As(err, &tooOften):
		return Failure{Class: limitClass(tooOften), Message: sentence(tooOften.Error()), Wait: tooOften.RetryAfter()}
	case errors.As(err, &header):
		return Failure{Class: Invalid, Message: sentence(header.Error())}
	case errors.Is(err, access.ErrNoKey):
		return Failure{Class: NoKey, Message: "An API key is needed."}
	case errors.Is(err, access.ErrBadKey):
		return Failure{Class: WrongKey, Message: "Invalid API key"}
	case errors.As(err, &busy):
		wait := busy.RetryAfter()
		return Failure{Class: Busy, Message: fmt.Sprintf("Too many requests are waiting: try again in %d s.", wait), Wait: wait}
	case errors.As(err, &full) && !full.Alone:
		return Failure{Class: Busy, Message: sentence(admission.ErrFull.Error() + ": try again in a moment"), Wait: 1}
	case errors.As(err, &full):
		return Failure{Class: TooMuch, Message: sentence(full.Error() + ": send several requests")}
	case errors.As(err, &endless):
		return Failure{Class: TooMuch, Message: sentence(endless.Error() + ": send several requests")}
	case errors.Is(err, engine.ErrBusy):
		return Failure{Class: Busy, Message: "Too many requests are waiting: try again in a moment.", Wait: 1}
	case errors.Is(err, engine.ErrClosed):
		return Failure{Class: NotReady, Message: "The service is shutting down: try again in a moment.", Wait: 1}
	case errors.Is(err, ErrNotReady):
		return Failure{Class: NotReady, Message: "The model is loading: try again in a moment.", Wait: 1}
	case errors.Is(err, model.ErrLost):
		return Failure{Class: NotReady, Message: "The model does not work any more: try again in a moment.", Wait: 1}
	case errors.Is(err, context.DeadlineExceeded):
		return Failure{Class: Timeout, Message: "The translation took too long: send fewer or shorter texts."}
	}
	return Failure{Class: Internal}
}

// classOf sorts the codes of the use case. What it refuses is the sender's to
// change, whatever the code.
func classOf(code translate.Code) Class {
	switch code {
	case translate.CodeTooManyRecords, translate.CodeTooManySentences, translate.CodeTooManyTokens:
		return TooMuch
	}
	return Invalid
}

// limitClass tells a limit on speed, which a client waits for, from one that it
// comes back to later.
func limitClass(e *access.LimitError) Class {
	if e.Limit == "characters" && IsQuota(e.Rate) {
		return OverQuota
	}
	return Limited
}

// IsQuota says whether a limit on characters is one that a client comes back to later.
func IsQuota(r access.Rate) bool { return r.Per >= time.Hour }

// sentence makes a sentence of an error's text, as the APIs have them.
func sentence(text string) string {
	if text == "" {
		return text
	}
	if first := text[0]; 'a' <= first && first <= 'z' {
		text = string(first-'a'+'A') + text[1:]
	}
	return text + "."
}

// Send answers with the failure, in the status and body of an API.
func (f Failure) Send(c *gin.Context, status int, answer any) {
	_ = c.Error(f.Err) // for the access log
	if f.Class == ClientGone {
		const clientClosedRequest = 499 // for the access log, nobody reads it
		c.AbortWithStatus(clientClosedRequest)
		return
	}
	if f.Wait > 0 {
		c.Header("Retry-After", strconv.Itoa(f.Wait))
	}
	body.Refuse(c, status, answer)
}
