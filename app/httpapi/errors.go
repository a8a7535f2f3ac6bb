package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"dragoman/app/engine"
	"dragoman/app/translate"
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
	codeNotFound       translate.Code = "not_found"
	codeMethod         translate.Code = "method_not_allowed"
	codeNotReady       translate.Code = "not_ready"
	codeBusy           translate.Code = "busy"
	codeShuttingDown   translate.Code = "shutting_down"
	codeTimeout        translate.Code = "timeout"
	codeInternal       translate.Code = "internal"
)

// statusClientGone is what is logged for a client that did not wait for its
// answer; no such answer is sent.
const statusClientGone = 499

// statusOf is the one table from error code to HTTP status.
func statusOf(code translate.Code) int {
	switch code {
	case codeInvalidJSON, codeUnknownField, codeDuplicateField, codeMissingField, codeWrongType, codeInvalidValue,
		translate.CodeUnknownLanguage, translate.CodeInvalidText, translate.CodeTextTooLong:
		return http.StatusBadRequest
	case codeNotFound:
		return http.StatusNotFound
	case codeMethod:
		return http.StatusMethodNotAllowed
	case codeBodyTimeout:
		return http.StatusRequestTimeout
	case codeBodyTooLarge, translate.CodeTooManyRecords:
		return http.StatusRequestEntityTooLarge
	case codeMediaType:
		return http.StatusUnsupportedMediaType
	case translate.CodeUnfinished:
		return http.StatusUnprocessableEntity
	case codeNotReady, codeBusy, codeShuttingDown:
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
		c.AbortWithStatus(statusClientGone)
		return
	}
	e := a.public(c, err)
	status := statusOf(e.Code)
	if status == http.StatusServiceUnavailable {
		c.Header("Retry-After", strconv.Itoa(retryAfter(err)))
	}
	// The rest of a body that was not read is not worth reading.
	if status == http.StatusRequestEntityTooLarge || status == http.StatusRequestTimeout {
		c.Header("Connection", "close")
	}
	c.Abort()
	c.PureJSON(status, errorBody{errorDetail{e.Code, e.Field, e.Message}})
}

// retryAfter is how many seconds a client should wait after a 503: what the engine
// estimates, rounded up, or one.
func retryAfter(err error) int {
	var busy *engine.BusyError
	if !errors.As(err, &busy) {
		return 1
	}
	return max(1, int(math.Ceil(busy.Wait.Seconds())))
}

// public is what the sender of a request is told about an error.
func (a *API) public(c *gin.Context, err error) *translate.Error {
	var e *translate.Error
	switch {
	case errors.As(err, &e):
		if e.Code == translate.CodeUnknownLanguage {
			return problem(e.Code, e.Field, "%s, see %s", e.Message, languagesURL(c.Request))
		}
		return e
	case errors.Is(err, engine.ErrBusy):
		return problem(codeBusy, "", "too many requests are waiting: try again in %d s", retryAfter(err))
	case errors.Is(err, engine.ErrClosed):
		return problem(codeShuttingDown, "", "the service is shutting down: try again in a moment")
	case errors.Is(err, context.DeadlineExceeded):
		return problem(codeTimeout, "", "the translation took longer than %s: send fewer or shorter records", a.cfg.RequestTimeout)
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
