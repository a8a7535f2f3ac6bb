// Package object reads JSON objects field by field, with an error for each unsupported value.
package object

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"dragoman/model"
)

// Each calls f for every field of the JSON object raw, in order. Unlike json.Unmarshal it fails for repeated fields.
func Each(raw []byte, f func(name string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil {
		return model.NoEOF(err)
	} else if tok != json.Delim('{') {
		return fmt.Errorf("expected a JSON object, found %v", tok)
	}
	seen := make(map[string]bool)
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return model.NoEOF(err)
		}
		name, _ := tok.(string) // a name, because the decoder allows nothing else here
		if seen[name] {
			return fmt.Errorf("%.100q appears twice", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return model.NoEOF(err)
		}
		if err := f(name, value); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return model.NoEOF(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is something after the JSON object")
	}
	return nil
}

// Fields reads typed values of a JSON object and keeps the first error in Err. With Nullable, a null counts as absent.
type Fields struct {
	Nullable bool
	Err      error
	values   map[string]json.RawMessage
	read     map[string]bool
}

// Parse parses the JSON object raw.
func Parse(raw []byte) (*Fields, error) {
	o := &Fields{values: make(map[string]json.RawMessage), read: make(map[string]bool)}
	err := Each(raw, func(name string, value json.RawMessage) error {
		o.values[name] = value
		return nil
	})
	return o, err
}

// Get returns the field's value, or nil if it is absent.
func (o *Fields) Get(name string) json.RawMessage {
	v := o.values[name]
	o.read[name] = true
	if o.Nullable && string(v) == "null" {
		return nil
	}
	return v
}

// Unread returns the names of the fields that no method has read, sorted, without those whose value switches something off: null, false
// or nothing.
func (o *Fields) Unread() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(o.values)) {
		if !o.read[name] && !slices.Contains([]string{"null", "false", "{}", "[]"}, string(o.values[name])) {
			names = append(names, name)
		}
	}
	return names
}

// Fail sets Err to the error of a field, unless there is an earlier one.
func (o *Fields) Fail(name, format string, args ...any) {
	if o.Err == nil {
		o.Err = fmt.Errorf("%q is %s: %s", name, OrMissing(o.values[name]), fmt.Sprintf(format, args...))
	}
}

// Size reads a required integer of [lo, hi].
func (o *Fields) Size(name string, lo, hi int) int {
	if o.Get(name) == nil {
		if o.Err == nil {
			o.Err = fmt.Errorf("%q is missing: this is not the config.json of a model that is supported", name)
		}
		return lo
	}
	return o.Integer(name, lo, hi, lo)
}

// Integer reads an integer of [lo, hi]; def if it is absent.
func (o *Fields) Integer(name string, lo, hi, def int) int {
	raw := o.Get(name)
	if raw == nil {
		return def
	}
	// json.Unmarshal ignores a null.
	n := math.MinInt
	if err := json.Unmarshal(raw, &n); err != nil || n < lo || n > hi {
		o.Fail(name, "an integer from %d to %d is supported", lo, hi)
		return lo
	}
	return n
}

// Number reads a number that accept accepts; def if it is absent.
func (o *Fields) Number(name string, def float64, accept func(float64) bool, want string) float64 {
	raw := o.Get(name)
	if raw == nil {
		return def
	}
	x := math.NaN()
	if err := json.Unmarshal(raw, &x); err != nil || !accept(x) {
		o.Fail(name, "%s is supported", want)
		return def
	}
	return x
}

// Boolean reads true or false; def if it is absent.
func (o *Fields) Boolean(name string, def bool) bool {
	raw := o.Get(name)
	switch string(raw) {
	case "":
		return def
	case "true":
		return true
	case "false":
		return false
	}
	o.Fail(name, "true or false is supported")
	return def
}

// Text reads a string; def if it is absent.
func (o *Fields) Text(name, def string) string {
	if raw := o.Get(name); raw != nil && json.Unmarshal(raw, &def) != nil {
		o.Fail(name, "a string is supported")
	}
	return def
}

// OneOf fails unless the field is absent or one of the JSON literals.
func (o *Fields) OneOf(name string, literals ...string) {
	raw := o.Get(name)
	if raw == nil {
		return
	}
	var flat bytes.Buffer
	if json.Compact(&flat, raw) == nil && !slices.Contains(literals, flat.String()) {
		o.Fail(name, "only %s is supported", literals[0])
	}
}

// Shorten shortens a JSON value for an error.
func Shorten(raw json.RawMessage) string {
	const limit = 80
	if len(raw) > limit {
		return string(raw[:limit]) + "…"
	}
	return string(raw)
}

// List returns the length of a list; 0 if it is absent.
func (o *Fields) List(name string) int {
	var list []json.RawMessage
	_ = json.Unmarshal(o.Get(name), &list) // values that are not lists count as empty
	return len(list)
}

// OrMissing returns a field's value for an error.
func OrMissing(raw json.RawMessage) string {
	if raw == nil {
		return "missing"
	}
	return Shorten(raw)
}
