// Package fault has the failures that the service answers in place of a translation. One table has all kinds: their HTTP status,
// how they are counted, and whether another try helps. A drop-in API has a table of the statuses in which it differs. The errors
// of packages are failures, or tell which ones they are ([Explainer]). [Explain] finds the row of an error, once for each error
// that is answered; an API only renders the [Failure].
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Failure is an error in the form that the sender of a request may see.
type Failure struct {
	Kind Kind
	// Field is the part of the body of POST /translation that causes the failure, such as payload.records[3].text, or "".
	Field string
	// Message is one line without internals: a phrase from which an API may make a sentence, or with Verbatim a line in an API's
	// own words.
	Message  string
	Verbatim bool
	Wait     int // seconds before another try; 0: no hint
}

// New returns a failure.
func New(kind Kind, field, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Field: field, Message: fmt.Sprintf(format, args...), Wait: table[kind].wait}
}

// ItemError is the fault of an item of a client's file or list.
type ItemError struct {
	Kind    Kind
	Place   string // for example line 3; "" for the whole
	Field   string // of a JSON body, such as dictionaries[0].entries[2], or ""
	Message string
}

func (e *ItemError) Error() string {
	if e.Place == "" {
		return e.Message
	}
	return e.Place + ": " + e.Message
}

// Explain returns the failure for the sender of the item.
func (e *ItemError) Explain(Situation) *Failure { return New(e.Kind, e.Field, "%s", e) }

// TextField returns the field of a record's text; the first record has number 0.
func TextField(record int) string { return fmt.Sprintf("payload.records[%d].text", record) }

// Unavailable is the error of a store that does not exist, or does not work at present.
type Unavailable struct {
	Kind   Kind
	Reason error // in words for clients
	Err    error // of the store; nil if there is none
}

func (e *Unavailable) Error() string {
	if e.Err == nil {
		return e.Reason.Error()
	}
	return fmt.Sprintf("%v: %v", e.Reason, e.Err)
}

// Explain returns the failure for the sender of a request.
func (e *Unavailable) Explain(Situation) *Failure { return New(e.Kind, "", "%s", e.Reason) }

// Unwrap returns the store's error.
func (e *Unavailable) Unwrap() error { return e.Err }

// OfStore converts an error of a store to one for clients: an [*Unavailable], unless it explains itself.
func OfStore(kind Kind, what string, err error) error {
	if err == nil || Explained(err) {
		return err
	}
	return &Unavailable{kind, errors.New(what + " cannot be read or written now, and the service's log says why: try again in a moment"), err}
}

// Off returns the failure of a part that the operator has turned off by a setting.
func Off(what, setting string) *Failure {
	return New(TurnedOff, "", "this service has no %s: its operator has turned them off by %s", what, setting)
}

// NoDocuments returns the failure of documents that are turned off.
func NoDocuments() *Failure { return Off("documents", "JOB_FILE=off") }

// NoStoredGlossaries returns the failure of glossaries that are turned off.
func NoStoredGlossaries() *Failure { return Off("stored glossaries", "GLOSSARY_FILE=off") }

// NoStoredMemories returns the failure of translation memories that are turned off.
func NoStoredMemories() *Failure { return Off("translation memories", "MEMORY_FILE=off") }

// Recall returns the failure of a stored code, such as a job's.
func Recall(code, field, message string) *Failure {
	return New(kindOf(code), field, "%s", message)
}

// Seconds returns the whole seconds of a wait, rounded up and at least one: a client that comes back too early is only refused
// again.
func Seconds(wait time.Duration) int { return max(1, int(math.Ceil(wait.Seconds()))) }

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Explain returns a copy of the failure, which the caller may modify.
func (f *Failure) Explain(Situation) *Failure {
	c := *f
	return &c
}

// Code returns the name of the kind for programs, in the service's own API and in metrics.
func (f *Failure) Code() string { return table[f.Kind].code }

// Status returns the HTTP status of the service's own API.
func (f *Failure) Status() int { return table[f.Kind].status }

// StatusOr returns the HTTP status of the failure in an API: from others, its statuses that differ from the service's own, by
// kind, or else the service's.
func (f *Failure) StatusOr(others map[Kind]int) int { return cmp.Or(others[f.Kind], f.Status()) }

// Refusal returns the reason, for metrics, why a request was refused before any work was done for it; "" if it was not.
func (f *Failure) Refusal() string { return table[f.Kind].refusal }

// Cancellation returns the reason, for metrics, why a request ended before its answer was complete; "" if it did not.
func (f *Failure) Cancellation() string { return table[f.Kind].cancellation }

// Codes returns all values of [Failure.Code].
func Codes() []string { return column((*Failure).Code) }

// Refusals returns all values of [Failure.Refusal].
func Refusals() []string { return column((*Failure).Refusal) }

// Cancellations returns all values of [Failure.Cancellation].
func Cancellations() []string { return column((*Failure).Cancellation) }

// column returns the values of a column of the table, each once.
func column(of func(*Failure) string) (values []string) {
	for kind := range table {
		if value := of(&Failure{Kind: Kind(kind)}); value != "" && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}
