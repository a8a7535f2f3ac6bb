package repository

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// maxSteps is the maximum number of steps of a pipeline.
const maxSteps = 8

// settings is the config.yaml of a repository.
type settings struct {
	order     []string
	pivots    []string
	pipelines []Pipeline // sorted by name
}

// parseSettings reads the config.yaml of a repository. path is the path of the file. parseSettings is as strict as ParseConfig.
func parseSettings(raw []byte, path string) (settings, error) {
	var s settings
	err := parse(raw, fields{
		"order": list(&s.order, readName),
		"pivots": list(&s.pivots, func(n *yaml.Node) (to string, err error) {
			return to, code(&to, false)(n)
		}),
		"pipelines": func(n *yaml.Node) error { return s.readPipelines(n, path) },
	})
	return s, err
}

// readPipelines reads a mapping from names to pipelines.
func (s *settings) readPipelines(n *yaml.Node, path string) error {
	if n.Kind != yaml.MappingNode {
		return wrong(n, "names of pipelines, each with its steps")
	}
	named := map[string]Pipeline{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		name, err := readName(key)
		if err != nil {
			return err
		}
		if _, ok := named[name]; ok {
			return at(key, fmt.Errorf("there is a pipeline %s already: give this one another name", name))
		}
		p := Pipeline{Name: name, Version: 1, Origin: fmt.Sprintf("%s: line %d", path, key.Line)}
		err = fields{"version": number(&p.Version, 1, maxVersion), "steps": list(&p.Steps, readStep)}.read(n.Content[i+1])
		if err == nil {
			err = checkSteps(p.Steps)
		}
		if err != nil {
			return at(key, err)
		}
		named[name] = p
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		s.pipelines = append(s.pipelines, named[name])
	}
	return nil
}

// readStep reads `{detect: true}` or `{model: NAME, to: CODE}`.
func readStep(n *yaml.Node) (s Step, err error) {
	err = fields{
		"detect": flag(&s.Detect), "to": code(&s.To, false),
		"model": func(n *yaml.Node) error {
			name, err := text(n)
			if err == nil {
				s.Model, err = ParseRef(name)
			}
			if err != nil {
				return at(n, err)
			}
			return nil
		},
	}.read(n)
	if err == nil && s.Detect == (s.Model.Name != "" || s.To != "") || err == nil && !s.Detect && s.Model.Name == "" {
		err = wrong(n, "{detect: true} or {model: NAME, to: CODE}")
	}
	return s, err
}

// checkSteps returns an error for an invalid sequence of steps.
func checkSteps(steps []Step) error {
	if len(steps) > maxSteps {
		return fmt.Errorf("%d steps, at most %d are possible", len(steps), maxSteps)
	}
	for i, step := range steps {
		switch {
		case step.Detect && i > 0:
			return fmt.Errorf("step %d: only the first step can detect the language", i+1)
		case !step.Detect && step.To == "" && i < len(steps)-1:
			return fmt.Errorf("step %d needs the language that it translates into: only the last step may leave `to` to the request", i+1)
		}
	}
	if len(steps) == 0 || steps[len(steps)-1].Detect {
		return errors.New("a pipeline needs a step that translates, such as {model: NAME}")
	}
	return nil
}
