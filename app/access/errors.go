package access

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Reasons to turn a request away with 401. Their text is meant for the sender.
var (
	ErrNoKey  = errors.New("an API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY")
	ErrBadKey = errors.New("the API key is not valid")
)

// ErrNotAdmin turns a request away with 403 that only admins may send.
var ErrNotAdmin = errors.New("an admin's API key is needed: make one with `dragoman key NAME --admin` and add its line to the file of API_KEYS_FILE")

// LimitError turns a request away until some time has passed; 429 is right for it.
type LimitError struct {
	Limit string        // what there was too much of: requests, characters or tokens
	Rate  Rate          // how much of it there may be
	Wait  time.Duration // until there is room for this request again
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit of %s is used up: try again in %d s", e.Rate.of(e.Limit), e.RetryAfter())
}

// RetryAfter is the wait in seconds for the Retry-After field, rounded up and at
// least 1: a client that comes back too early would only be turned away again.
func (e *LimitError) RetryAfter() int {
	return max(1, int(math.Ceil(e.Wait.Seconds())))
}

// Quota says whether the limit is one that a client comes back to later.
func (e *LimitError) Quota() bool { return e.Limit != requestsLimit && e.Rate.Quota() }

// TooLargeError turns a request away that has more characters than its caller may
// ever send at once; 413 is right for it.
type TooLargeError struct {
	Characters, Most int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the request has %d characters and your limit allows %d at once: send several requests",
		e.Characters, e.Most)
}

// HeaderError is a header that says nothing that can be used; 400 is right for it.
type HeaderError struct {
	Header, Value string
	Want          string // what belongs there
}

func (e *HeaderError) Error() string {
	return fmt.Sprintf("%s is %.50q: send %s", e.Header, e.Value, e.Want)
}
