package profile

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"dragoman/model/prompt"
)

// node is a part of a request: a value that does not change, a template, a list or a mapping.
type node interface {
	render(data map[string]any, room *int) (any, error)
}

type (
	constant struct{ value any }
	sequence []node
	mapping  map[string]node
)

// Request returns the body of a call, without the fields that do not depend on the profile. The caller may add fields.
func (p *Profile) Request(q Question) (map[string]any, error) {
	room := maxRequest
	body, err := p.request.render(q.data(), &room)
	if err != nil {
		return nil, err
	}
	return body.(map[string]any), nil
}

// fullQuestion has one value in each list.
var fullQuestion = Question{
	From: Language{Names: []string{""}}, To: Language{Names: []string{""}},
	Guide: prompt.Guide{Before: []string{""}, Terms: make([]prompt.Term, 1), Examples: make([]prompt.Example, 1)},
}

// data returns the values of a question by the names that templates have for them.
func (q *Question) data() map[string]any {
	language := func(l Language) any {
		return map[string]any{"Code": l.Code, "Name": l.Name, "Names": list(l.Names, text)}
	}
	return map[string]any{
		"From": language(q.From), "To": language(q.To), "Text": q.Text, "Before": list(q.Before, text),
		"Terms":    list(q.Terms, func(t prompt.Term) any { return pair(t.Source, t.Target) }),
		"Examples": list(q.Examples, func(e prompt.Example) any { return pair(e.Source, e.Target) }),
		"Try":      q.Try, "Fault": string(q.Fault),
	}
}

func text(s string) any { return s }

func pair(source, target string) any { return map[string]any{"Source": source, "Target": target} }

func list[T any](values []T, convert func(T) any) []any {
	made := make([]any, len(values))
	for i, v := range values {
		made[i] = convert(v)
	}
	return made
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

func (c constant) render(map[string]any, *int) (any, error) { return c.value, nil }

func (s sequence) render(data map[string]any, room *int) (any, error) {
	list := make([]any, len(s))
	for i, inner := range s {
		var err error
		if list[i], err = inner.render(data, room); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (m mapping) render(data map[string]any, room *int) (any, error) {
	made := make(map[string]any, len(m))
	for key, inner := range m {
		var err error
		if made[key], err = inner.render(data, room); err != nil {
			return nil, err
		}
	}
	return made, nil
}
