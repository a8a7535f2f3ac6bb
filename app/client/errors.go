package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Errors of the client; [Error] is an error of the service.
var (
	// ErrCancelled is the result of a cancelled job.
	ErrCancelled = errors.New("client: the job was cancelled")
	// ErrInvalidAnswer is wrapped by the errors of answers that do not match the request: not JSON, too large, other ids or
	// another number of results.
	ErrInvalidAnswer = errors.New("client: the answer is not valid")
)

// Codes of the service's errors, for [IsCode]. Newer services may have more.
const (
	CodeInvalidJSON       = "invalid_json"
	CodeUnknownField      = "unknown_field"
	CodeDuplicateField    = "duplicate_field"
	CodeMissingField      = "missing_field"
	CodeWrongType         = "wrong_type"
	CodeInvalidValue      = "invalid_value"
	CodeInvalidOption     = "invalid_option"
	CodeInvalidText       = "invalid_text"
	CodeInvalidHeader     = "invalid_header"
	CodeUnknownLanguage   = "unknown_language"
	CodeUnsupportedSource = "unsupported_source"
	CodeUnknownModel      = "unknown_model"
	CodeUnknownJob        = "unknown_job"
	CodeJobLost           = "job_lost"
	CodeTextTooLong       = "text_too_long"
	CodeUnauthorized      = "unauthorized"
	CodeNotFound          = "not_found"
	CodeTurnedOff         = "turned_off"
	CodeMethodNotAllowed  = "method_not_allowed"
	CodeBodyTimeout       = "body_timeout"
	CodeBodyTooLarge      = "body_too_large"
	CodeTooManyRecords    = "too_many_records"
	CodeTooManySentences  = "too_many_sentences"
	CodeTooManyTokens     = "too_many_tokens"
	CodeTooManyCharacters = "too_many_characters"
	CodeTooLarge          = "too_large"
	CodeUnsupportedMedia  = "unsupported_media_type"
	CodeUnfinished        = "unfinished"
	CodeRateLimited       = "rate_limited"
	CodeInternal          = "internal"
	CodeBusy              = "busy"
	CodeNotReady          = "not_ready"
	CodeModelBroken       = "model_broken"
	CodeModelTooLarge     = "model_too_large"
	CodeStuck             = "stuck"
	CodeModelCrashed      = "model_crashed"
	CodeBrokerUnavailable = "broker_unavailable"
	CodeShuttingDown      = "shutting_down"
	CodeTimeout           = "timeout"

	CodeIdempotencyMismatch = "idempotency_mismatch"
	CodeTooManyJobs         = "too_many_jobs"
	CodeJobsUnavailable     = "jobs_unavailable"

	CodeUnknownGlossary       = "unknown_glossary"
	CodeInvalidGlossary       = "invalid_glossary"
	CodeNoDictionary          = "no_dictionary"
	CodeTooManyGlossaries     = "too_many_glossaries"
	CodeGlossariesUnavailable = "glossaries_unavailable"

	CodeUnknownMemory       = "unknown_memory"
	CodeInvalidMemory       = "invalid_memory"
	CodeMemoryChanged       = "memory_changed"
	CodeTooManyMemories     = "too_many_memories"
	CodeMemoriesUnavailable = "memories_unavailable"

	CodeUnsupportedDocument = "unsupported_document"
	CodeInvalidDocument     = "invalid_document"
	CodeNotDone             = "not_done"

	CodeUnknownSession  = "unknown_session"
	CodeInvalidEdit     = "invalid_edit"
	CodeEditGap         = "edit_gap"
	CodeSessionComplete = "session_complete"
	CodeTooManySessions = "too_many_sessions"
)

// Error is an error answer of the service. Find it with [errors.As].
type Error struct {
	Status  int    `json:"-"`       // of HTTP; 0 for an error within a stream, or of a job
	Code    string `json:"code"`    // one of the codes above; "" if the answer is not the service's
	Field   string `json:"field"`   // field of the request that causes the error, such as payload.records[3].text, or ""
	Message string `json:"message"` // for people
	// RequestID is the id of the request in the service's log; "" in the error of a job.
	RequestID string `json:"-"`
	// RetryAfter is the time that the service asks to wait before another try; 0 if the service does not ask.
	RetryAfter time.Duration `json:"-"`
}

// Error returns one line with all data that identify the request.
func (e *Error) Error() string {
	text := "dragoman: "
	if e.Status != 0 {
		text += fmt.Sprint(e.Status, " ")
	}
	if e.Code != "" {
		text += e.Code + " "
	}
	text = strings.TrimSuffix(text, " ") + ": " + e.Message
	if e.RequestID != "" {
		text += " (request id " + e.RequestID + ")"
	}
	return text
}

// Is makes an error of code timeout a [context.DeadlineExceeded], too. The service knows the deadline of the caller's context,
// and is usually the first to notice that the deadline has passed.
func (e *Error) Is(target error) bool {
	return target == context.DeadlineExceeded && e.Code == CodeTimeout
}

// Temporary reports whether the same request may succeed in a moment. A service's timeout is not temporary, because the request
// would take as long again.
func (e *Error) Temporary() bool {
	switch e.Code {
	case CodeBusy, CodeNotReady, CodeModelBroken, CodeStuck, CodeBrokerUnavailable, CodeShuttingDown, CodeRateLimited, CodeTooManyJobs, CodeJobsUnavailable, CodeGlossariesUnavailable, CodeMemoriesUnavailable, CodeTooManySessions:
		return true
	}
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable:
		return true
	}
	return e.Status == http.StatusGatewayTimeout && e.Code != CodeTimeout // whether the 504 is a proxy's
}

// IsCode reports whether err is, or wraps, an [Error] of a code.
func IsCode(err error, code string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// maxErrorBytes is the maximum number of bytes of an error answer that are read.
const maxErrorBytes = 64 << 10

// errorOf returns the error of an answer. sentID is the request's id, for answers without one.
func errorOf(resp *http.Response, sentID string) *Error {
	// A body that cannot be read leaves the status, which is the most informative part.
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
	e := readError(raw, resp)
	e.Status, e.RequestID = resp.StatusCode, cmp.Or(resp.Header.Get(requestIDHeader), sentID)
	e.RetryAfter = retryAfter(resp.Header, time.Now())
	return e
}

// readError parses the body of an error: in the service's own form, in the form {"error": "what happened"} of drop-in routes, or
// a proxy's body.
func readError(raw []byte, resp *http.Response) *Error {
	var own struct {
		Error jsontext.Value `json:"error"`
	}
	if json.Unmarshal(raw, &own) == nil && len(own.Error) > 0 {
		var e Error
		if json.Unmarshal(own.Error, &e) == nil && e.Code != "" {
			return &e
		}
		if json.Unmarshal(own.Error, &e.Message) == nil && e.Message != "" {
			return &Error{Message: e.Message}
		}
	}
	message := http.StatusText(resp.StatusCode)
	if to, err := resp.Location(); err == nil {
		return &Error{Message: fmt.Sprintf("%s: the service has moved to %s: use its address as the URL", message, to.Redacted())}
	}
	if text := excerpt(raw); text != "" {
		message += ": " + text
	}
	return &Error{Message: message}
}

// excerpt returns the beginning of a text, on one line and without control characters.
func excerpt(raw []byte) string {
	const most = 200
	if len(raw) > most {
		raw = append(raw[:most:most], "..."...)
	}
	line := strings.Join(strings.Fields(string(raw)), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			return r
		}
		return -1
	}, line)
}

// contextError returns the error of a call whose context is done: the context's error, and the context's cause if that differs.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// invalid returns an error for an invalid answer.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalidAnswer, fmt.Errorf(format, args...))
}
