package profile

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// node is a part of a request: a value that does not change, a template, a list or a mapping.
type node interface {
	render(r *rendering) any
}

type (
	constant struct{ value any }
	sequence []node
	mapping  map[string]node
)

// rendering is a request in the making.
type rendering struct {
	*Question
	room int // bytes left for the texts of templates
}

// errTooLong means that templates make more text than a request may have.
var errTooLong = errors.New("request: the prompt is too long")

// Request returns the body of a call, without the fields that do not depend on the profile. The caller may add fields.
func (p *Profile) Request(q Question) (map[string]any, error) {
	r := &rendering{&q, maxRequest}
	body := p.request.render(r)
	if r.room < 0 {
		return nil, errTooLong
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
		return parseTemplate(n)
	}
	return nil, fmt.Errorf("line %d: request: use a mapping with messages; aliases such as *name are not read", n.Line)
}

func (c constant) render(*rendering) any { return c.value }

func (s sequence) render(r *rendering) any {
	list := make([]any, len(s))
	for i, inner := range s {
		list[i] = inner.render(r)
	}
	return list
}

func (m mapping) render(r *rendering) any {
	made := make(map[string]any, len(m))
	for key, inner := range m {
		made[key] = inner.render(r)
	}
	return made
}
