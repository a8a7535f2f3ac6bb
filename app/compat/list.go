package compat

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/dialect"
	"dragoman/app/failure"
)

// isList says whether JSON is a list.
func isList(raw []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("[")) }

// list is a JSON list of objects, of at most maxPairs fields together, whose values are parts
// of raw.
type list struct {
	raw    []byte
	fields []Fields
}

// parseList parses a JSON list of objects.
func parseList(raw []byte) ([]Fields, error) {
	parsed := list{raw: raw, fields: []Fields{}}
	if err := json.Unmarshal(raw, &parsed); err != nil {
		return []Fields{}, invalidJSON(err)
	}
	return parsed.fields, nil
}

// UnmarshalJSONFrom reads a list, and stops where it has too many objects or fields.
func (l *list) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	pairs := 0
	for in.PeekKind() != ']' {
		if len(l.fields) == maxPairs {
			return RefuseAs(failure.TooManyRecords, "Invalid request: the body has more than %d texts", maxPairs)
		}
		if kind := in.PeekKind(); kind != '{' && kind != 0 {
			return Refuse("Invalid request: the body has an item that is %s, expected an object", dialect.JSONKind(kind))
		}
		item := object{raw: l.raw}
		if err := item.UnmarshalJSONFrom(in); err != nil {
			return err
		}
		if pairs += len(item.values); pairs > maxPairs {
			return Refuse("Invalid request: the body has more than %d fields", maxPairs)
		}
		l.fields = append(l.fields, Fields{object: item.values})
	}
	_, err := in.ReadToken()
	return err
}
