package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// eachField calls f for every field of the JSON object raw, in order. Unlike
// json.Unmarshal it refuses a field that appears twice.
func eachField(raw []byte, f func(name string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil {
		return noEOF(err)
	} else if tok != json.Delim('{') {
		return fmt.Errorf("expected a JSON object, found %v", tok)
	}
	seen := make(map[string]bool)
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return noEOF(err)
		}
		name, _ := tok.(string) // the decoder allows nothing else here
		if seen[name] {
			return fmt.Errorf("%.100q appears twice", name)
		}
		seen[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return noEOF(err)
		}
		if err := f(name, value); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return noEOF(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is something after the JSON object")
	}
	return nil
}

// fields reads typed values out of a JSON object and keeps the first error, so
// that a caller reads all it needs and looks at err once. With nullable, a null
// counts as absent.
type fields struct {
	values   map[string]json.RawMessage
	nullable bool
	err      error
}

// parseFields reads the JSON object raw.
func parseFields(raw []byte) (*fields, error) {
	o := &fields{values: make(map[string]json.RawMessage)}
	err := eachField(raw, func(name string, value json.RawMessage) error {
		o.values[name] = value
		return nil
	})
	return o, err
}

// get returns the field's value, or nil where it is absent.
func (o *fields) get(name string) json.RawMessage {
	v := o.values[name]
	if o.nullable && string(v) == "null" {
		return nil
	}
	return v
}

// fail keeps the first error: what is wrong with a field.
func (o *fields) fail(name, format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("%q is %s: %s", name, orMissing(o.values[name]), fmt.Sprintf(format, args...))
	}
}

// size reads an integer of [lo, hi] that must be there.
func (o *fields) size(name string, lo, hi int) int {
	if o.get(name) == nil {
		if o.err == nil {
			o.err = fmt.Errorf("%q is missing: this is not the config.json of a model that is supported", name)
		}
		return lo
	}
	return o.integer(name, lo, hi, lo)
}

// integer reads an integer of [lo, hi]; def where it is absent.
func (o *fields) integer(name string, lo, hi, def int) int {
	raw := o.get(name)
	if raw == nil {
		return def
	}
	// json.Unmarshal takes a null for "leave it as it is".
	n := math.MinInt
	if err := json.Unmarshal(raw, &n); err != nil || n < lo || n > hi {
		o.fail(name, "an integer from %d to %d is supported", lo, hi)
		return lo
	}
	return n
}

// number reads a number that accept takes; def where it is absent.
func (o *fields) number(name string, def float64, accept func(float64) bool, want string) float64 {
	raw := o.get(name)
	if raw == nil {
		return def
	}
	x := math.NaN()
	if err := json.Unmarshal(raw, &x); err != nil || !accept(x) {
		o.fail(name, "%s is supported", want)
		return def
	}
	return x
}

// boolean reads true or false; def where it is absent.
func (o *fields) boolean(name string, def bool) bool {
	raw := o.get(name)
	switch string(raw) {
	case "":
		return def
	case "true":
		return true
	case "false":
		return false
	}
	o.fail(name, "true or false is supported")
	return def
}

// text reads a string; def where it is absent.
func (o *fields) text(name, def string) string {
	if raw := o.get(name); raw != nil && json.Unmarshal(raw, &def) != nil {
		o.fail(name, "a string is supported")
	}
	return def
}

// oneOf fails unless the field is absent or one of some JSON literals.
func (o *fields) oneOf(name string, literals ...string) {
	raw := o.get(name)
	if raw == nil {
		return
	}
	var flat bytes.Buffer
	if json.Compact(&flat, raw) == nil && !slices.Contains(literals, flat.String()) {
		o.fail(name, "only %s is supported", literals[0])
	}
}

// shorten cuts a JSON value to what fits an error line.
func shorten(raw json.RawMessage) string {
	const limit = 80
	if len(raw) > limit {
		return string(raw[:limit]) + "…"
	}
	return string(raw)
}
