package access

import (
	"fmt"
	"time"

	"dragoman/app/fault"
)

// Reasons to turn a request away with 401. Their text is meant for the sender.
var (
	ErrNoKey  error = fault.New(fault.NoKey, "", "an API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY")
	ErrBadKey error = fault.New(fault.WrongKey, "", "the API key is not valid")
)

// ErrNotAdmin turns a request away with 403 that only admins may send.
var ErrNotAdmin error = fault.New(fault.NotAdmin, "", "an admin's API key is needed: make one with `dragoman key NAME --admin` and add its line to the file of API_KEYS_FILE")

// badKeyError is an [ErrBadKey] that says why.
type badKeyError struct{ *fault.Failure }

func badKey(reason string) error {
	return badKeyError{fault.New(fault.WrongKey, "", "%s: %s", ErrBadKey, reason)}
}

// Unwrap returns [ErrBadKey].
func (badKeyError) Unwrap() error { return ErrBadKey }

// LimitError turns a request away until some time has passed; 429 is right for it.
type LimitError struct {
	Limit string        // what there was too much of: requests, characters or tokens
	Rate  Rate          // how much of it there may be
	Wait  time.Duration // until there is room for this request again
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit of %s is used up: try again in %d s", e.Rate.of(e.Limit), e.RetryAfter())
}

// RetryAfter is the wait for the Retry-After field; see [fault.Seconds].
func (e *LimitError) RetryAfter() int { return fault.Seconds(e.Wait) }

// Quota says whether the limit is one that a client comes back to later.
func (e *LimitError) Quota() bool { return e.Limit != requestsLimit && e.Rate.Quota() }

// Explain says what is told to who has used the limit up.
func (e *LimitError) Explain(fault.Situation) *fault.Failure {
	f := fault.New(fault.RateLimited, "", "%s", e)
	if e.Quota() {
		f.Kind = fault.OverQuota
	}
	f.Wait = e.RetryAfter()
	return f
}

// TooManyCharacters turns a request away that has more characters than its caller may
// ever send at once.
func TooManyCharacters(characters, most int) error {
	return fault.New(fault.TooManyCharacters, "payload.records", "the request has %d characters and your limit allows %d at once: send several requests",
		characters, most)
}

// InvalidHeader turns a request away with a header that says nothing that can be used; want is what belongs there.
func InvalidHeader(header, value, want string) error {
	return fault.New(fault.InvalidHeader, "", "%s is %.50q: send %s", header, value, want)
}
