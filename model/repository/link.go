package repository

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// links resolves names.
type links struct {
	models    map[string]*Model
	aliases   map[string]string // names of models by alias
	pipelines map[string]Pipeline
}

// link resolves the names in the configuration: aliases first, then pipelines, whose steps may name aliases, then the order.
func (s *scan) link() {
	l := links{models: map[string]*Model{}, aliases: map[string]string{}, pipelines: s.pipelines}
	for i := range s.snapshot.Models {
		l.models[s.snapshot.Models[i].Name] = &s.snapshot.Models[i]
	}
	for _, name := range slices.Sorted(maps.Keys(l.pipelines)) {
		if m, ok := l.models[name]; ok {
			s.problem(l.pipelines[name].Origin, "is ignored: %s has that name: give the pipeline another", m.Dir)
			delete(l.pipelines, name)
		}
	}
	for i := range s.snapshot.Models {
		s.linkAliases(l, &s.snapshot.Models[i])
	}
	for _, name := range slices.Sorted(maps.Keys(l.pipelines)) {
		p := l.pipelines[name]
		p.Steps = slices.Clone(p.Steps) // a copy, because the scanner shares the slice
		for i := range p.Steps {
			p.Steps[i].Model.Name = l.name(p.Steps[i].Model.Name)
			if err := l.check(p.Steps[i]); err != nil && p.Err == nil {
				p.Err = fmt.Errorf("step %d: %w", i+1, err)
			}
		}
		s.snapshot.Pipelines = append(s.snapshot.Pipelines, p)
	}
	s.linkOrder(l)
}

// linkAliases adds the aliases of a model that no other model or pipeline has.
func (s *scan) linkAliases(l links, m *Model) {
	for _, alias := range m.Config.Aliases {
		_, isPipeline := l.pipelines[alias]
		taken, isAlias := l.aliases[alias]
		switch {
		case l.models[alias] != nil || isPipeline:
			taken = alias
		case !isAlias:
			l.aliases[alias] = m.Name
			m.Aliases = append(m.Aliases, alias)
			continue
		}
		if taken != m.Name {
			s.problem(filepath.Join(m.Dir, ConfigFile), "the alias %s is ignored: it is a name of %s already", alias, taken)
		}
	}
}

// linkOrder sorts the models and pipelines into the order in which they are tried.
func (s *scan) linkOrder(l links) {
	for _, entry := range s.order {
		name := l.name(entry.Text)
		_, isPipeline := l.pipelines[name]
		switch {
		case l.models[name] == nil && !isPipeline:
			s.problem(entry.Path, "order names %s, which is neither a model nor a pipeline: add it, or take it out", name)
		case !slices.Contains(s.snapshot.Order, name):
			s.snapshot.Order = append(s.snapshot.Order, name)
		}
	}
	rest := slices.Concat(slices.Sorted(maps.Keys(l.models)), slices.Sorted(maps.Keys(l.pipelines)))
	for _, name := range rest {
		if !slices.Contains(s.snapshot.Order, name) {
			s.snapshot.Order = append(s.snapshot.Order, name)
		}
	}
}

// name returns the name of the model or pipeline that s names, which may be an alias.
func (l links) name(s string) string {
	if name, ok := l.aliases[s]; ok {
		return name
	}
	return s
}

// check returns an error if the model of a step cannot be used.
func (l links) check(step Step) error {
	if step.Detect {
		return nil
	}
	m := l.models[step.Model.Name]
	if _, isPipeline := l.pipelines[step.Model.Name]; isPipeline {
		return fmt.Errorf("%s is a pipeline: name the models of its steps instead", step.Model.Name)
	}
	if m == nil {
		return fmt.Errorf("there is no model %s", step.Model.Name)
	}
	var there *Version
	for i, v := range m.Versions {
		if step.Model.Version == 0 || step.Model.Version == v.Number {
			if v.Served {
				return nil
			}
			there = &m.Versions[i]
		}
	}
	switch {
	case m.Err != nil || there != nil && there.Err != nil:
		return fmt.Errorf("%s cannot be served, and `dragoman models` and the log say why", step.Model)
	case there == nil:
		return fmt.Errorf("there is no version %s: see `dragoman models`", step.Model)
	}
	return fmt.Errorf("%s is not served, since versions in %s leaves it out", Ref{m.Name, there.Number}, ConfigFile)
}
