package access

import (
	"fmt"
	"time"

	"dragoman/app/fault"
)

// Errors of requests without a valid key, answered with 401. Their text is for the sender.
var (
	ErrNoKey  error = fault.New(fault.NoKey, "", "an API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY")
	ErrBadKey error = fault.New(fault.WrongKey, "", "the API key is not valid")
)

// ErrNotAdmin is the error of a request that only admins may send, answered with 403.
var ErrNotAdmin error = fault.New(fault.NotAdmin, "", "an admin's API key is needed: make one with `dragoman key NAME --admin` and add its line to the file of API_KEYS_FILE")

// badKeyError is an [ErrBadKey] with a reason.
type badKeyError struct{ *fault.Failure }

func badKey(reason string) error {
	return badKeyError{fault.New(fault.WrongKey, "", "%s: %s", ErrBadKey, reason)}
}

// Unwrap returns [ErrBadKey].
func (badKeyError) Unwrap() error { return ErrBadKey }

// LimitError is the error of a request over a limit, answered with 429.
type LimitError struct {
	Limit string        // the exceeded limit: requests, characters or tokens
	Rate  Rate          // of the limit
	Wait  time.Duration // time until there is room for this request again
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit of %s is used up: try again in %d s", e.Rate.of(e.Limit), e.RetryAfter())
}

// RetryAfter returns the wait for the Retry-After field; see [fault.Seconds].
func (e *LimitError) RetryAfter() int { return fault.Seconds(e.Wait) }

// Quota reports whether the limit refills in hours.
func (e *LimitError) Quota() bool { return e.Limit != requestsLimit && e.Rate.Quota() }

// Explain returns the failure for the caller.
func (e *LimitError) Explain(fault.Situation) *fault.Failure {
	f := fault.New(fault.RateLimited, "", "%s", e)
	if e.Quota() {
		f.Kind = fault.OverQuota
	}
	f.Wait = e.RetryAfter()
	return f
}

// TooManyCharacters returns the error of a request with more characters than its caller may ever send at once.
func TooManyCharacters(characters, most int) error {
	return fault.New(fault.TooManyCharacters, "payload.records", "the request has %d characters and your limit allows %d at once: send several requests",
		characters, most)
}

// InvalidHeader returns the error of a request whose header has an unusable value; want describes a valid one.
func InvalidHeader(header, value, want string) error {
	return fault.New(fault.InvalidHeader, "", "%s is %.50q: send %s", header, value, want)
}
