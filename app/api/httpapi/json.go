package httpapi

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/guard/bound"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/spelling"
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
			return fault.New(fault.UnknownField, field, "%s is not a field that is known here%s", field, hint(semantic))
		}
		if field == "" {
			wrong := fault.New(fault.WrongType, "", "the body is %s, expected an object", dialect.JSONKind(semantic.JSONKind))
			if semantic.JSONKind == '[' {
				wrong.Message += ": requests of Azure Translator go to POST /translate?api-version=3.0"
			}
			return wrong
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

// ofOthers names the route of another API that has a field at the top of its requests.
var ofOthers = map[string]string{
	"q": libreTranslates, "source": libreTranslates, "target": libreTranslates, "api_key": libreTranslates,
	"text": deepLs, "source_lang": deepLs, "target_lang": deepLs, "auth_key": deepLs, "contents": "requests of Google Cloud Translation go to POST /v3/projects/any/locations/global:translateText",
	"messages": "requests of OpenAI go to POST /v1/chat/completions", "input": "requests of OpenAI go to POST /v1/responses", "text_list": "requests of Immersive Translate go to POST /imme",
}

const (
	libreTranslates = "requests of LibreTranslate go to POST /translate"
	deepLs          = "requests of DeepL go to POST /v2/translate"
)

// hint returns what was probably meant by an unknown field: a field of another API's request, a field that is written otherwise, or
// nothing.
func hint(unknown *json.SemanticError) string {
	name := unknown.JSONPointer.LastToken()
	if route, ok := ofOthers[name]; ok && unknown.JSONPointer.Parent() == "" {
		return ": " + route
	}
	if len(name) > bound.Word {
		return ""
	}
	near := nearest(name, fieldsIn(unknown.GoType, unknown.JSONPointer.Parent()))
	if near == "" && strings.HasPrefix(string(unknown.JSONPointer), "/payload/") {
		near = nearest(name, fieldsIn(reflect.TypeFor[jobBody](), ""))
	}
	if near == "" {
		return ""
	}
	return ": did you mean " + fieldName(near) + "?"
}

// nearest returns the field whose name is most like another, without regard to case and separators, or "".
func nearest(name string, fields []jsontext.Pointer) jsontext.Pointer {
	plain := func(name string) string { return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)) }
	name = plain(name)
	names := map[string]jsontext.Pointer{}
	for _, field := range slices.Backward(fields) { // the first of equal names wins
		names[plain(field.LastToken())] = field
	}
	if same, ok := names[name]; ok {
		return same
	}
	known := slices.Sorted(maps.Keys(names))
	if near := spelling.Near(name, known); len(near) > 0 && len(name) > 3 {
		return names[near[0]]
	}
	for _, other := range known {
		if min(len(other), len(name)) > 4 && (strings.Contains(name, other) || strings.Contains(other, name)) { // numBeams
			return names[other]
		}
	}
	return ""
}

// fieldsIn returns the fields of the objects that a type is read from, and of those within them, as pointers below a place.
func fieldsIn(t reflect.Type, place jsontext.Pointer) (fields []jsontext.Pointer) {
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	if value, ok := t.FieldByName("value"); ok { // optional
		return fieldsIn(value.Type, place)
	}
	for i := range t.NumField() {
		field, at := t.Field(i), place
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			at = place.AppendToken(name)
			fields = append(fields, at)
		}
		fields = append(fields, fieldsIn(field.Type, at)...)
	}
	return fields
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
