package document

import (
	"fmt"

	"dragoman/app/fault"
)

// Error is why a document cannot be read, in words for whoever sent it.
type Error struct {
	Reason string // what is wrong and what to do
	Large  bool   // there is too much of it
	Err    error  // nil, or what a reader said
}

func (e *Error) Error() string { return e.Reason }

// Explain says what is told to the sender.
func (e *Error) Explain(fault.Situation) *fault.Failure {
	kind := fault.BrokenDocument
	if e.Large {
		kind = fault.TooLarge
	}
	return fault.New(kind, "file", "%s", e)
}

// Unwrap returns the reader's error.
func (e *Error) Unwrap() error { return e.Err }

// TooLarge makes an [*Error] of a document that there is too much of.
func TooLarge(format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...), Large: true}
}

// Refuse makes an [*Error]. err is what a reader said, nil for nothing.
func Refuse(err error, format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...), Err: err}
}
