// Package fault is what the service answers in place of a translation. One table has all
// that can go wrong: its HTTP status, how it is counted, and whether another try helps. A drop-in API has a table of the
// statuses in which it differs. The errors of packages are failures, or say which they are
// ([Explainer]). [Explain] finds the row of an error, once for each error that
// is answered; an API only renders the [Failure].
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Failure is an error as the sender of a request may see it.
type Failure struct {
	Kind Kind
	// Field is the part of the body of POST /translation that is meant, such as
	// payload.records[3].text, or "".
	Field string
	// Message is one line without internals: a phrase that an API may make a sentence of,
	// or with Verbatim one in an API's own words.
	Message  string
	Verbatim bool
	Wait     int // seconds before another try; 0: no hint
}

// New makes a failure.
func New(kind Kind, field, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Field: field, Message: fmt.Sprintf(format, args...), Wait: table[kind].wait}
}

// Unavailable is the error of what keeps something: it is not there, or does not work now.
type Unavailable struct {
	Kind   Kind
	Reason error // in words for clients
	Err    error // of the store; nil where there is none
}

func (e *Unavailable) Error() string {
	if e.Err == nil {
		return e.Reason.Error()
	}
	return fmt.Sprintf("%v: %v", e.Reason, e.Err)
}

// Explain says what is told to the sender of a request.
func (e *Unavailable) Explain(Situation) *Failure { return New(e.Kind, "", "%s", e.Reason) }

// Unwrap returns the store's error.
func (e *Unavailable) Unwrap() error { return e.Err }

// OfStore makes an error of the store of something one that can be answered: an [*Unavailable], where it does not explain
// itself.
func OfStore(kind Kind, what string, err error) error {
	if err == nil || Explained(err) {
		return err
	}
	return &Unavailable{kind, errors.New(what + " cannot be read or written now, and the service's log says why: try again in a moment"), err}
}

// Off is the failure of what the operator has turned off by a setting.
func Off(what, setting string) *Failure {
	return New(TurnedOff, "", "this service has no %s: its operator has turned them off by %s", what, setting)
}

// NoDocuments is that of documents.
func NoDocuments() *Failure { return Off("documents", "JOB_FILE=off") }

// NoStoredGlossaries is that of glossaries.
func NoStoredGlossaries() *Failure { return Off("stored glossaries", "GLOSSARY_FILE=off") }

// Recall makes a failure again of which the code is known, such as that of a job.
func Recall(code, field, message string) *Failure {
	return New(kindOf(code), field, "%s", message)
}

// Seconds are the whole seconds of a wait, rounded up and at least one: whoever comes back too early is only turned away
// again.
func Seconds(wait time.Duration) int { return max(1, int(math.Ceil(wait.Seconds()))) }

// Error is the message.
func (f *Failure) Error() string { return f.Message }

// Explain is a copy of the failure: what somebody adds to it does not change the error.
func (f *Failure) Explain(Situation) *Failure {
	c := *f
	return &c
}

// Code names the kind of the failure for programs, in the service's own API and in metrics.
func (f *Failure) Code() string { return table[f.Kind].code }

// Status is the HTTP status of the service's own API.
func (f *Failure) Status() int { return table[f.Kind].status }

// StatusOr returns the HTTP status that an API has for the kind of the failure instead of the service's own, by kind, or else
// that of the service.
func (f *Failure) StatusOr(others map[Kind]int) int { return cmp.Or(others[f.Kind], f.Status()) }

// Refusal is why a request was refused before anything was done for it, as metrics have it; "" where it
// was not.
func (f *Failure) Refusal() string { return table[f.Kind].refusal }

// Cancellation is why a request ended before its answer was complete, likewise.
func (f *Failure) Cancellation() string { return table[f.Kind].cancellation }

// Codes are all that [Failure.Code] returns.
func Codes() []string { return column((*Failure).Code) }

// Refusals are all that [Failure.Refusal] returns.
func Refusals() []string { return column((*Failure).Refusal) }

// Cancellations are all that [Failure.Cancellation] returns.
func Cancellations() []string { return column((*Failure).Cancellation) }

// column are the values that a column of the table has, each once.
func column(of func(*Failure) string) (values []string) {
	for kind := range table {
		if value := of(&Failure{Kind: Kind(kind)}); value != "" && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}
