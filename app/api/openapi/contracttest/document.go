package contracttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

type object = map[string]any

// description is the content of a document, with all references resolved except within schemas.
type description struct {
	Paths      map[string]map[string]*operation // by template and lower-case method
	Components struct {
		Headers   map[string]parameter
		Responses map[string]response
	}
}

type operation struct {
	Parameters  []parameter
	RequestBody *struct {
		Required bool
		Content  map[string]content
	}
	Responses map[string]response
}

type response struct {
	Headers map[string]parameter
	Content map[string]content
}

// parameter is a parameter of a request, or a header of an answer.
type parameter struct {
	Name, In string
	Required bool
	Schema   schema
}

type content struct {
	Schema schema
	Codes  []string `json:"x-codes"` // of the service's own errors
}

// schema is a schema's place in the document, and its type.
type schema struct {
	At   jsontext.Pointer
	Type any // the required type
}

// read reads a document. raw is its unchanged content.
func read(text []byte) (raw object, doc description, err error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, doc, fmt.Errorf("the document is not JSON: %w", err)
	}
	raw, ok := value.(object)
	if !ok {
		return nil, doc, errors.New("the document is not an object")
	}
	components, _ := raw["components"].(object)
	view, _ := outline(raw, "", object{"paths": raw["paths"], "components": object{"headers": components["headers"], "responses": components["responses"]}}, mostReferences).(object)
	paths, _ := view["paths"].(object)
	for _, item := range paths { // a path may have parameters for all its operations
		item, _ := item.(object)
		shared, _ := item["parameters"].([]any)
		delete(item, "parameters")
		for _, op := range item {
			if op, ok := op.(object); ok {
				own, _ := op["parameters"].([]any)
				op["parameters"] = append(own, shared...)
			}
		}
	}
	plain, err := json.Marshal(view)
	if err == nil {
		err = json.Unmarshal(plain, &doc)
	}
	return raw, doc, err
}

const mostReferences = 16 // a reference to itself never ends

// outline returns a part of a document without schemas and examples: instead of these it has their places, and it resolves
// references.
func outline(raw object, at jsontext.Pointer, part any, references int) any {
	switch part := part.(type) {
	case []any:
		list := make([]any, len(part))
		for i, item := range part {
			list[i] = outline(raw, at.AppendToken(strconv.Itoa(i)), item, references)
		}
		return list
	case object:
		if ref, ok := part["$ref"].(string); ok && references == 0 {
			return nil
		} else if ok {
			at = jsontext.Pointer(strings.TrimPrefix(ref, "#"))
			return outline(raw, at, find(raw, at), references-1)
		}
		made := object{}
		for name, item := range part {
			switch at := at.AppendToken(name); name {
			case "schema":
				made[name] = schema{at, typeOf(raw, item)}
			case "example", "examples":
			default:
				made[name] = outline(raw, at, item, references)
			}
		}
		return made
	}
	return part
}

// typeOf returns the type required by a schema.
func typeOf(raw object, value any) any {
	for range mostReferences {
		s, _ := value.(object)
		ref, ok := s["$ref"].(string)
		if !ok {
			return s["type"]
		}
		value = find(raw, jsontext.Pointer(strings.TrimPrefix(ref, "#")))
	}
	return nil
}

// find returns the value at a place of a document.
func find(raw object, at jsontext.Pointer) (value any) {
	value = raw
	for name := range at.Tokens() {
		o, _ := value.(object)
		value = o[name]
	}
	return value
}

// operation finds the operation of a request, or nil. others reports whether the path has other methods. HEAD is GET without a
// body. A path matches a template with any segments in place of its parameters.
func (d *description) operation(method, path string) (op *operation, others bool) {
	item, ok := d.Paths[path]
	segments := strings.Split(path, "/")
	for template, described := range d.Paths {
		if !ok && slices.EqualFunc(strings.Split(template, "/"), segments, func(want, got string) bool {
			return want == got || strings.HasPrefix(want, "{") && strings.HasSuffix(want, "}") && got != ""
		}) {
			item, ok = described, true
		}
	}
	if op = item[strings.ToLower(method)]; op == nil && method == http.MethodHead {
		op = item["get"]
	}
	return op, ok
}

// answer returns the description of an operation's status. Requests without an operation have a few shared answers.
func (d *description) answer(op *operation, others bool, status int) (response, bool) {
	if op != nil {
		for _, key := range []string{strconv.Itoa(status), fmt.Sprintf("%dXX", status/100), "default"} {
			if r, ok := op.Responses[key]; ok {
				return r, true
			}
		}
		return response{}, false
	}
	shared := map[int]string{http.StatusRequestEntityTooLarge: "TooLarge", http.StatusInternalServerError: "Internal", http.StatusNotFound: "NotFound"}
	if others {
		delete(shared, http.StatusNotFound)
		shared[http.StatusMethodNotAllowed] = "MethodNotAllowed"
	}
	r, ok := d.Components.Responses[shared[status]]
	return r, ok
}
