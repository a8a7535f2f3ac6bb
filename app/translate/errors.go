package translate

import (
	"fmt"

	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
)

// Code identifies the fault of a request for programs.
type Code string

// The codes of an [Error].
const (
	CodeUnknownModel      Code = "unknown_model"      // no such model, or version of it
	CodeUnknownLanguage   Code = "unknown_language"   // no model translates from, into, or between these languages
	CodeUnsupportedSource Code = "unsupported_source" // the detected language is not one that a model translates from
	CodeTooManyRecords    Code = "too_many_records"   // more translations than a request may ask for
	CodeInvalidText       Code = "invalid_text"       // a text is not UTF-8
	CodeInvalidOption     Code = "invalid_option"     // an option is outside its limits
	CodeTextTooLong       Code = "text_too_long"      // a text is longer than a record may be
	CodeTooManySentences  Code = "too_many_sentences" // more sentences than a request may have
	CodeTooManyTokens     Code = "too_many_tokens"    // more tokens than a request may have
	CodeUnfinished        Code = "unfinished"         // a translation reached the length limit before its end
)

// Error is a fault of a request that its sender can correct. All other faults are errors of other types.
type Error struct {
	Code Code
	// Field is the faulty part of the request: model, fromLang, toLang, toLangs[1], format, options.beams, records or
	// records[3].text.
	Field   string
	Message string // the fault, with its numbers, and its remedy
}

// Error returns the error as one line.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Explain returns the failure for the sender.
func (e *Error) Explain(fault.Situation) *fault.Failure {
	f := fault.Recall(string(e.Code), e.Field, e.Message)
	if f.Field != "" {
		f.Field = "payload." + f.Field
	}
	return f
}

func invalid(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// recordError names a record by its number in the whole request, from 0 on, and by its id.
func recordError(code Code, i int, r Record, format string, args ...any) *Error {
	return invalid(code, fmt.Sprintf("records[%d].text", i), "record %s: %s", excerpt.Quote(r.ID), fmt.Sprintf(format, args...))
}
