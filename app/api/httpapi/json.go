package httpapi

import (
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
)

// atMost is [dialect.AtMost], whose refuse is told the field.
func atMost[T any](most int, refuse func(field string, most int) error) *json.Unmarshalers {
	return dialect.AtMost[T](most, func(at jsontext.Pointer) error { return refuse(fieldName(at), most) })
}

func tooManyRecords(field string, most int) error {
	return fault.New(fault.TooManyRecords, field, "%s has more than %d items: send several requests", field, most)
}

// explainJSON turns an error of the JSON library into one that names the field.
func explainJSON(err error) error {
	var tooMany *fault.Failure
	if errors.As(err, &tooMany) {
		return tooMany
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		field := fieldName(semantic.JSONPointer)
		if errors.Is(err, json.ErrUnknownName) {
			return fault.New(fault.UnknownField, field, "%s is not a field that is known here", field)
		}
		if field == "" {
			return fault.New(fault.WrongType, "", "the body is %s, expected an object", dialect.JSONKind(semantic.JSONKind))
		}
		return fault.New(fault.WrongType, field, "%s is %s, expected %s", field, dialect.JSONKind(semantic.JSONKind), wantedKind(field))
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		field := fieldName(syntactic.JSONPointer)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fault.New(fault.DuplicateField, field, "%s appears twice", field)
		}
		return fault.New(fault.InvalidJSON, field, "the body is not JSON at byte %d: %s",
			syntactic.ByteOffset, excerpt.Of(syntactic.Err.Error()))
	}
	return fault.New(fault.InvalidJSON, "", "the body is not JSON: it ends too early")
}

// wantedKind is what belongs into a field of translationBody or glossaryBody.
func wantedKind(field string) string {
	switch field {
	case "payload", "payload.options", "payload.xml":
		return "an object"
	case "payload.records", "payload.toLangs", "payload.glossary", "payload.xml.splittingTags", "payload.xml.nonSplittingTags":
		return "an array"
	case "s", "n", "seen":
		return "a whole number"
	case "edits":
		return "an array"
	case "payload.detail", "payload.split", "payload.xml.outlineDetection", "payload.xml.splitLines", "complete", "settle", "end":
		return "true or false"
	case "payload.alternatives", "payload.options.beams", "payload.options.maxLength", "payload.options.noRepeatNgramSize":
		return "a whole number"
	case "payload.options.lengthPenalty", "payload.options.repetitionPenalty":
		return "a number"
	}
	switch {
	case field == "dictionaries" || strings.HasPrefix(field, "dictionaries[") && strings.HasSuffix(field, "].entries"):
		return "an array"
	case (strings.HasPrefix(field, "payload.records[") || strings.HasPrefix(field, "dictionaries[")) && strings.HasSuffix(field, "]"):
		return "an object"
	}
	switch at, name, _ := strings.Cut(strings.TrimPrefix(field, "edits["), "]"); {
	case at != field && name == "":
		return "an object"
	case name == ".from", name == ".to":
		return "a whole number"
	}
	return "a string"
}

// fieldName writes a JSON pointer as payload.records[3].text.
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
