package httpapi

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
)

// atMost is [dialect.AtMost] with a refuse that receives the field.
func atMost[T any](most int, refuse func(field string, most int) error) *json.Unmarshalers {
	return dialect.AtMost[T](most, func(at jsontext.Pointer) error { return refuse(fieldName(at), most) })
}

func tooManyRecords(field string, most int) error {
	return fault.New(fault.TooManyRecords, field, "%s has more than %d items: send several requests", field, most)
}

// explainJSON turns an error of the JSON library into one that names the field.
func explainJSON(err error) error {
	if tooMany, ok := errors.AsType[*fault.Failure](err); ok {
		return tooMany
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		field := fieldName(semantic.JSONPointer)
		if errors.Is(err, json.ErrUnknownName) {
			return fault.New(fault.UnknownField, field, "%s is not a field that is known here", field)
		}
		if field == "" {
			return fault.New(fault.WrongType, "", "the body is %s, expected an object", dialect.JSONKind(semantic.JSONKind))
		}
		return fault.New(fault.WrongType, field, "%s is %s, expected %s", field, dialect.JSONKind(semantic.JSONKind), wantedKind(semantic.GoType))
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		field := fieldName(syntactic.JSONPointer)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fault.New(fault.DuplicateField, field, "%s appears twice", field)
		}
		return fault.New(fault.InvalidJSON, field, "the body is not JSON at byte %d: %s", syntactic.ByteOffset, excerpt.Of(syntactic.Err.Error()))
	}
	return fault.New(fault.InvalidJSON, "", "the body is not JSON: it ends too early")
}

// wantedKind returns the kind of JSON value that a type is read from; nil is a type that the library does not report.
func wantedKind(t reflect.Type) string {
	if t == nil {
		return "another kind of value"
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "an array"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	}
	return "a string"
}

// fieldName writes a JSON pointer in the form payload.records[3].text.
func fieldName(p jsontext.Pointer) string {
	var name strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 64); err == nil {
			name.WriteString("[" + token + "]")
			continue
		}
		if name.Len() > 0 {
			name.WriteByte('.')
		}
		name.WriteString(excerpt.Of(token))
	}
	return excerpt.Of(name.String())
}
