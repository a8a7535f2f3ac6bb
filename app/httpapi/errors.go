package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"dragoman/app/access"
	"dragoman/app/admission"
	"dragoman/app/body"
	"dragoman/app/compat"
	"dragoman/app/engine"
	"dragoman/app/telemetry"
	"dragoman/app/translate"
	"dragoman/model"
)

// Codes of errors that this package finds; package translate has more.
const (
	codeInvalidJSON    translate.Code = "invalid_json"
	codeUnknownField   translate.Code = "unknown_field"
	codeDuplicateField translate.Code = "duplicate_field"
	codeMissingField   translate.Code = "missing_field"
	codeWrongType      translate.Code = "wrong_type"
	codeInvalidValue   translate.Code = "invalid_value"
	codeBodyTooLarge   translate.Code = "body_too_large"
	codeBodyTimeout    translate.Code = "body_timeout"
	codeMediaType      translate.Code = "unsupported_media_type"
	codeInvalidHeader  translate.Code = "invalid_header"
	codeUnauthorized   translate.Code = "unauthorized"
	codeRateLimited    translate.Code = "rate_limited"
	codeTooManyChars   translate.Code = "too_many_characters"
	codeTooLarge       translate.Code = "too_large" // it would take more time or memory than a request has
	codeNotFound       translate.Code = "not_found"
	codeMethod         translate.Code = "method_not_allowed"
	codeNotReady       translate.Code = "not_ready"
	codeStuck          translate.Code = "stuck"
	codeBusy           translate.Code = "busy"
	codeShuttingDown   translate.Code = "shutting_down"
	codeTimeout        translate.Code = "timeout"
	codeInternal       translate.Code = "internal"
)

// ErrorCodes are the codes of all errors that the service answers with.
func ErrorCodes() []string {
	var list []string
	for _, code := range []translate.Code{
		codeInvalidJSON, codeUnknownField, codeDuplicateField, codeMissingField, codeWrongType, codeInvalidValue,
		codeBodyTooLarge, codeBodyTimeout, codeMediaType, codeInvalidHeader, codeUnauthorized, codeRateLimited,
		codeTooManyChars, codeTooLarge, codeNotFound, codeMethod, codeNotReady, codeStuck, codeBusy, codeShuttingDown, codeTimeout, codeInternal,
		translate.CodeUnknownLanguage, translate.CodeTooManyRecords, translate.CodeInvalidText,
		translate.CodeInvalidOption, translate.CodeTextTooLong, translate.CodeTooManySentences, translate.CodeTooManyTokens, translate.CodeUnfinished,
	} {
		list = append(list, string(code))
	}
	return list
}

// statusClientGone is what is logged for a client that did not wait for its
// answer; no such answer is sent.
const statusClientGone = 499

// statusOf is the one table from error code to HTTP status.
func statusOf(code translate.Code) int {
	switch code {
	case codeUnauthorized:
		return http.StatusUnauthorized
	case codeRateLimited:
		return http.StatusTooManyRequests
	case codeInvalidJSON, codeInvalidHeader, codeUnknownField, codeDuplicateField, codeMissingField, codeWrongType, codeInvalidValue,
		translate.CodeUnknownLanguage, translate.CodeInvalidText, translate.CodeInvalidOption, translate.CodeTextTooLong:
		return http.StatusBadRequest
	case codeNotFound:
		return http.StatusNotFound
	case codeMethod:
		return http.StatusMethodNotAllowed
	case codeBodyTimeout:
		return http.StatusRequestTimeout
	case codeBodyTooLarge, codeTooManyChars, codeTooLarge,
		translate.CodeTooManyRecords, translate.CodeTooManySentences, translate.CodeTooManyTokens:
		return http.StatusRequestEntityTooLarge
	case codeMediaType:
		return http.StatusUnsupportedMediaType
	case translate.CodeUnfinished:
		return http.StatusUnprocessableEntity
	case codeNotReady, codeStuck, codeBusy, codeShuttingDown:
		return http.StatusServiceUnavailable
	case codeTimeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// errorBody is the answer to a request that failed.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    translate.Code `json:"code"`
	Field   string         `json:"field,omitempty"` // the part of the body that is meant
	Message string         `json:"message"`
}

// problem makes the error of a code found here.
func problem(code translate.Code, field, format string, args ...any) *translate.Error {
	return &translate.Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// fail answers with an error. What is not meant for the sender is logged only.
func (a *API) fail(c *gin.Context, err error) {
	_ = c.Error(err) // for the access log
	if errors.Is(err, context.Canceled) && c.Request.Context().Err() != nil {
		a.cfg.Metrics.Cancelled(telemetry.ClientGone)
		c.AbortWithStatus(statusClientGone)
		return
	}
	e := a.public(c, err)
	a.count(c, e.Code)
	if fail, ok := c.Value(dialectKey).(func(*gin.Context, error)); ok {
		c.Abort()
		switch e.Code {
		case codeBodyTooLarge:
			err = &http.MaxBytesError{Limit: a.cfg.MaxBodyBytes}
		case codeNotFound:
			err = &compat.RequestError{Class: compat.NotFound, Message: "There is nothing at this path."}
		case codeMethod:
			err = &compat.RequestError{Class: compat.NoMethod, Message: "This path takes " + c.Writer.Header().Get("Allow") + "."}
		}
		fail(c, err)
		return
	}
	status := statusOf(e.Code)
	if status == http.StatusServiceUnavailable {
		c.Header("Retry-After", strconv.Itoa(retryAfter(err)))
	}
	body.Refuse(c, status, errorBody{errorDetail{e.Code, e.Field, e.Message}})
}

// retryAfter is how many seconds a client should wait after a 503: what the engine
// estimates, rounded up, or one.
func retryAfter(err error) int {
	var busy *engine.BusyError
	if !errors.As(err, &busy) {
		return 1
	}
	return busy.RetryAfter()
}

// refusals are the codes of requests that nothing was done for.
var refusals = map[translate.Code]telemetry.Reason{
	codeBusy: telemetry.QueueFull, codeNotReady: telemetry.NotReady, codeShuttingDown: telemetry.ShuttingDown,
	codeUnauthorized: telemetry.Unauthorized, codeRateLimited: telemetry.RateLimit,
	codeBodyTooLarge: telemetry.TooLarge, codeTooManyChars: telemetry.TooLarge, codeTooLarge: telemetry.TooLarge,
	translate.CodeTooManyRecords: telemetry.TooLarge, translate.CodeTooManySentences: telemetry.TooLarge, translate.CodeTooManyTokens: telemetry.TooLarge,
}

// count counts an error that is answered.
func (a *API) count(c *gin.Context, code translate.Code) {
	a.cfg.Metrics.Failed(string(code))
	reason, ok := refusals[code]
	if code == codeBusy && c.GetBool(deadlineKey) {
		reason = telemetry.Deadline
	}
	if ok {
		a.cfg.Metrics.Refused(reason)
	}
	switch {
	case code == codeTimeout:
		a.cfg.Metrics.Cancelled(telemetry.TimedOut)
	case code == codeShuttingDown && c.GetInt(recordsKey) > 0: // it had begun
		a.cfg.Metrics.Cancelled(telemetry.Interrupted)
	}
}

// public is what the sender of a request is told about an error.
func (a *API) public(c *gin.Context, err error) *translate.Error {
	var (
		e       *translate.Error
		limit   *access.LimitError
		large   *access.TooLargeError
		header  *access.HeaderError
		full    *admission.FullError
		endless *engine.TooLargeError
	)
	switch {
	case errors.Is(err, access.ErrNoKey), errors.Is(err, access.ErrBadKey):
		return problem(codeUnauthorized, "", "%s", err)
	case errors.As(err, &limit):
		return problem(codeRateLimited, "", "%s", limit)
	case errors.As(err, &large):
		return problem(codeTooManyChars, "payload.records", "%s", large)
	case errors.As(err, &header):
		return problem(codeInvalidHeader, "", "%s", header)
	case errors.As(err, &e):
		if e.Code == translate.CodeUnknownLanguage {
			return problem(e.Code, e.Field, "%s, see %s", e.Message, languagesURL(c.Request))
		}
		return e
	case errors.As(err, &full) && !full.Alone:
		return problem(codeBusy, "", "%s: try again in a moment", admission.ErrFull)
	case errors.As(err, &full):
		return problem(codeTooLarge, "", "%s: send several requests", full)
	case errors.As(err, &endless) && !c.GetBool(deadlineKey):
		return problem(codeTooLarge, "", "%s: send several requests", endless)
	case errors.As(err, &endless):
		return problem(codeTimeout, "", "%s: give it more time, or send several requests", endless)
	case errors.Is(err, engine.ErrBusy):
		return problem(codeBusy, "", "too many requests are waiting: try again in %d s", retryAfter(err))
	case errors.Is(err, engine.ErrClosed):
		return problem(codeShuttingDown, "", "the service is shutting down: try again in a moment")
	case errors.Is(err, model.ErrLost):
		return problem(codeStuck, "", "the model does not work any more, and is started anew where something watches /healthz: try again in a moment")
	case errors.Is(err, context.DeadlineExceeded):
		return problem(codeTimeout, "", "the translation took longer than the client's deadline, or than %s: send fewer or shorter records", a.cfg.RequestTimeout)
	}
	return problem(codeInternal, "", "internal error, request id %s", c.GetString(requestIDKey))
}

// inPayload places the field of an error of the use case in the body.
func inPayload(err error) error {
	var e *translate.Error
	if !errors.As(err, &e) {
		return err
	}
	return &translate.Error{Code: e.Code, Field: "payload." + e.Field, Message: e.Message}
}

// languagesURL is the address of the list of languages as the sender can reach it.
func languagesURL(r *http.Request) string {
	if r.Host == "" {
		return languagesPath
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host + languagesPath
}
