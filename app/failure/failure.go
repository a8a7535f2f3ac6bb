// Package failure is what the service answers in place of a translation. One table has all
// that can go wrong: the HTTP status that each API has for it, how it is counted, and
// whether another try helps. [Explain] finds the row of an error, once for each error that
// is answered; an API only renders the [Failure].
package failure

import (
	"fmt"

	"dragoman/app/translate"
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

// Recall makes a failure again of which the code is known, such as that of a job.
func Recall(code, field, message string) *Failure {
	return New(kindOf(translate.Code(code)), field, "%s", message)
}

// Error is the message.
func (f *Failure) Error() string { return f.Message }

// Code names the kind of the failure for programs, in the service's own API and in metrics.
func (f *Failure) Code() string { return string(table[f.Kind].code) }

// Status is the HTTP status of the service's own API.
func (f *Failure) Status() int { return table[f.Kind].native }

// LibreTranslate is the HTTP status for clients of LibreTranslate.
func (f *Failure) LibreTranslate() int { return table[f.Kind].libreTranslate }

// OpenInference is the HTTP status for clients of the Open Inference Protocol.
func (f *Failure) OpenInference() int { return table[f.Kind].openInference }

// DeepL is the HTTP status for clients of DeepL.
func (f *Failure) DeepL() int { return table[f.Kind].deepL }
