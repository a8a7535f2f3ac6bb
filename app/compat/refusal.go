package compat

import (
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/admission"
	"dragoman/app/wording"
)

// unreadable is the error of a body that could not be read to its end. What the
// middleware's limits say goes on as it is.
func unreadable(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, admission.ErrFull) {
		return fmt.Errorf("read the body: %w", err)
	}
	return Refuse("Invalid request: the body could not be read: it ends too early or is framed wrongly")
}

// invalidJSON tells the sender what is wrong with a body that should be an object.
func invalidJSON(err error) error {
	var refused *RequestError
	if errors.As(err, &refused) {
		return refused
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return Refuse("Invalid JSON format: the body is %s, expected an object", wording.Kind(semantic.JSONKind))
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return Refuse("Invalid request: %s appears twice", wording.Short(syntactic.JSONPointer.LastToken()))
		}
		return Refuse("Invalid JSON format: at byte %d: %s", syntactic.ByteOffset, wording.Short(syntactic.Err.Error()))
	}
	return Refuse("Invalid JSON format: the body ends too early")
}

// wrongType is the error of a field with another kind of value than is wanted.
func wrongType(name string, value jsontext.Value, wanted string) error {
	return Refuse("Invalid request: %s is %s, expected %s", name, wording.Kind(value.Kind()), wanted)
}
