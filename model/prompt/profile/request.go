package profile

import (
	"errors"
	"fmt"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// node is a part of a request: a value that does not change, a template, a list or a mapping.
type node interface {
	render(q *Question, room *int) (any, error)
}

type (
	constant struct{ value any }
	text     struct{ template *template.Template }
	sequence []node
	mapping  map[string]node
)

// Request returns the body of a call, without the fields that do not depend on the profile. The caller may add fields.
func (p *Profile) Request(q Question) (map[string]any, error) {
	room := maxRequest
	body, err := p.request.render(&q, &room)
	if err != nil {
		return nil, err
	}
	return body.(map[string]any), nil
}

// Language returns a language by its code. An unknown one is called by its code.
func (p *Profile) Language(code string) Language {
	if l := p.language(code); l != nil {
		return *l
	}
	return Language{Code: code, Name: code, Names: []string{code}}
}

// NamesOf returns the names of languages by code.
func (p *Profile) NamesOf(codes []string) map[string][]string {
	names := make(map[string][]string, len(codes))
	for _, code := range codes {
		names[code] = p.Language(code).Names
	}
	return names
}

// compile reads a part of a request, of at most *nodes nodes.
func compile(n *yaml.Node, nodes *int) (node, error) {
	if *nodes--; *nodes < 0 {
		return nil, fmt.Errorf("request: has more than %d values", maxNodes)
	}
	switch n.Kind {
	case yaml.MappingNode:
		m := make(mapping)
		for i := 0; i < len(n.Content); i += 2 {
			inner, err := compile(n.Content[i+1], nodes)
			if err != nil {
				return nil, err
			}
			m[n.Content[i].Value] = inner
		}
		return m, nil
	case yaml.SequenceNode:
		s := make(sequence, len(n.Content))
		for i, item := range n.Content {
			var err error
			if s[i], err = compile(item, nodes); err != nil {
				return nil, err
			}
		}
		return s, nil
	case yaml.ScalarNode:
		if n.Tag != "!!str" || !strings.Contains(n.Value, "{{") {
			var value any
			err := n.Decode(&value)
			return constant{value}, err
		}
		t, err := template.New("").Option("missingkey=error").Parse(n.Value)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n.Line, err)
		}
		return text{t}, nil
	}
	return nil, fmt.Errorf("line %d: request: use a mapping with messages; aliases such as *name are not read", n.Line)
}

func (c constant) render(*Question, *int) (any, error) { return c.value, nil }

func (t text) render(q *Question, room *int) (any, error) {
	w := limited{room: room}
	if err := t.template.Execute(&w, q); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return w.String(), nil
}

func (s sequence) render(q *Question, room *int) (any, error) {
	list := make([]any, len(s))
	for i, inner := range s {
		var err error
		if list[i], err = inner.render(q, room); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (m mapping) render(q *Question, room *int) (any, error) {
	made := make(map[string]any, len(m))
	for key, inner := range m {
		var err error
		if made[key], err = inner.render(q, room); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// errTooLong means that templates make more text than a request may have.
var errTooLong = errors.New("the prompt is too long")

// limited is a string of limited length.
type limited struct {
	strings.Builder
	room *int // bytes left
}

func (l *limited) Write(b []byte) (int, error) {
	if *l.room -= len(b); *l.room < 0 {
		return 0, errTooLong
	}
	return l.Builder.Write(b)
}
