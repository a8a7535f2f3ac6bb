package dialect

import (
	"errors"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
)

// Refuse makes the failure of an invalid request, in the words of its API.
func Refuse(format string, args ...any) error {
	return RefuseAs(fault.InvalidValue, format, args...)
}

// RefuseAs is [Refuse] for another kind of failure.
func RefuseAs(kind fault.Kind, format string, args ...any) error {
	f := fault.New(kind, "", format, args...)
	f.Verbatim = true
	return f
}

// Message returns a failure's message for the drop-in APIs: a sentence.
func Message(f *fault.Failure) string {
	if f.Verbatim || f.Message == "" {
		return f.Message
	}
	message := strings.ToUpper(f.Message[:1]) + f.Message[1:]
	if f.Kind == fault.Internal {
		return message // without a full stop, because the message ends with the request's id, which people copy
	}
	return message + "."
}

// Render renders a failure for programs without a format of their own: they show the status, or the whole answer.
func Render(_ *gin.Context, f *fault.Failure) (status int, answer any) {
	return f.Status(), gin.H{"error": Message(f)}
}

// invalidJSON describes an error of a body that should be an object.
func invalidJSON(err error) error {
	if refused, ok := errors.AsType[*fault.Failure](err); ok {
		return refused
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return notAnObject(semantic.JSONKind)
	}
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok:
		return RefuseAs(fault.InvalidJSON, "Invalid JSON format: the body ends too early")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return Refuse("Invalid request: %s appears twice", excerpt.Of(syntactic.JSONPointer.LastToken()))
	}
	return RefuseAs(fault.InvalidJSON, "Invalid JSON format: at byte %d: %s", syntactic.ByteOffset, excerpt.Of(syntactic.Err.Error()))
}

// notAnObject returns the error for a body of another kind.
func notAnObject(kind jsontext.Kind) error {
	return RefuseAs(fault.InvalidJSON, "Invalid JSON format: the body is %s, expected an object", JSONKind(kind))
}

// wrongType returns the error for a field with a value of another kind than wanted.
func wrongType(name string, value jsontext.Value, wanted string) error {
	return Refuse("Invalid request: %s is %s, expected %s", name, JSONKind(value.Kind()), wanted)
}
