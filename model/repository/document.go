package repository

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"go.yaml.in/yaml/v3"
)

// maxConfig is the maximum size of a config.yaml in bytes.
const maxConfig = 64 << 10

var (
	codePattern = regexp.MustCompile(`^[A-Za-z]{2,8}([_-][A-Za-z0-9]{1,8}){0,3}$`)
	pairPattern = regexp.MustCompile(`^(\*|[A-Za-z]{2,8}(?:_[A-Za-z0-9]{1,8})*)-(\*|[A-Za-z]{2,8}(?:_[A-Za-z0-9]{1,8})*)$`)
)

// field reads the value of a field.
type field func(*yaml.Node) error

// fields reads a mapping, whose keys must be among the fields, each at most once.
type fields map[string]field

// parse reads a document with these fields; an empty document has none. YAML aliases are not followed, so a document is never
// larger than its text.
func parse(raw []byte, f fields) error {
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, more yaml.Node
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		err = decoder.Decode(&more)
	}
	switch {
	case err == nil:
		return wrong(&more, "one document: delete what follows the line ---")
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("is not YAML: %s", strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	return f.read(doc.Content[0])
}

func (f fields) read(n *yaml.Node) error {
	known := strings.Join(slices.Sorted(maps.Keys(f)), ", ")
	if n.Kind != yaml.MappingNode {
		return wrong(n, "fields: "+known)
	}
	lines := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, ok := f[key.Value]
		if key.Kind != yaml.ScalarNode || !ok {
			return at(key, fmt.Errorf("unknown field %.60q: use %s", key.Value, known))
		}
		if first, ok := lines[key.Value]; ok {
			return at(key, fmt.Errorf("%s is in line %d already", key.Value, first))
		}
		lines[key.Value] = key.Line
		if err := read(value); err != nil {
			return err
		}
	}
	return nil
}

// at adds a node's line to an error, unless the error has one.
func at(n *yaml.Node, err error) error {
	if _, ok := errors.AsType[*lineError](err); ok {
		return err
	}
	return &lineError{n.Line, err}
}

type lineError struct {
	line int
	error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.error) }
func (e *lineError) Unwrap() error { return e.error }

// wrong returns the error for a node, with the allowed form.
func wrong(n *yaml.Node, use string) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return at(n, fmt.Errorf("aliases such as *%.60s are not read: write the value itself", n.Value))
	case n.Kind == yaml.ScalarNode && n.Value != "":
		return at(n, fmt.Errorf("%.60q: use %s", n.Value, use))
	}
	return at(n, fmt.Errorf("use %s", use))
}

// text returns a scalar in its source form, whatever its YAML type.
func text(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Value == "" || n.Tag == "!!null" {
		return "", wrong(n, "a word")
	}
	return n.Value, nil
}

func word[T ~string](to *T, allowed ...T) field {
	return func(n *yaml.Node) error {
		if *to = T(n.Value); n.Kind == yaml.ScalarNode && slices.Contains(allowed, *to) {
			return nil
		}
		var names []string
		for _, a := range allowed {
			names = append(names, string(a))
		}
		return wrong(n, strings.Join(names, ", "))
	}
}

func number(to *int, low, high int) field {
	return func(n *yaml.Node) (err error) {
		*to, err = strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || *to < low || *to > high {
			return wrong(n, fmt.Sprintf("a whole number from %d to %d", low, high))
		}
		return nil
	}
}

// amount reads a number that is at least 0 and may have decimals.
func amount(to *float64, most float64) field {
	return func(n *yaml.Node) (err error) {
		*to, err = strconv.ParseFloat(n.Value, 64)
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || err != nil || !(*to >= 0 && *to <= most) {
			return wrong(n, fmt.Sprintf("a number from 0 to %g", most))
		}
		return nil
	}
}

// duration reads a time within bounds.
func duration(to *time.Duration, low, high time.Duration) field {
	return func(n *yaml.Node) (err error) {
		*to, err = time.ParseDuration(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || *to < low || *to > high {
			return wrong(n, fmt.Sprintf("a time from %s to %s with its unit", low, high))
		}
		return nil
	}
}

func size(to *int64, low, high uint64) field {
	return func(n *yaml.Node) error {
		bytes, err := humanize.ParseBytes(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || bytes != 0 && (bytes < low || bytes > high) {
			return wrong(n, fmt.Sprintf("0, or %s to %s, such as 2GiB", humanize.IBytesN(low, 1), humanize.IBytesN(high, 1)))
		}
		*to = int64(bytes)
		return nil
	}
}

func flag(to *bool) field {
	return func(n *yaml.Node) error {
		if *to = n.Value == "true"; n.Kind != yaml.ScalarNode || !*to && n.Value != "false" {
			return wrong(n, "true or false")
		}
		return nil
	}
}

func code(to *string, wildcard bool) field {
	return func(n *yaml.Node) error {
		if *to = n.Value; n.Kind == yaml.ScalarNode && (codePattern.MatchString(n.Value) || wildcard && n.Value == "*") {
			return nil
		}
		return wrong(n, "a language's code, such as en or zh-Hant")
	}
}

func list[T any](to *[]T, read func(*yaml.Node) (T, error)) field {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode {
			return wrong(n, "a list such as [a, b]")
		}
		for _, item := range n.Content {
			value, err := read(item)
			if err != nil {
				return err
			}
			*to = append(*to, value)
		}
		return nil
	}
}
