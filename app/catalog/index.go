package catalog

import (
	"slices"
	"strconv"

	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/repository"
)

// Status is what there is to know of a version of a model, or of a pipeline.
type Status struct {
	Name, Version string
	Aliases       []string
	Current       bool // the name alone means this version
	Served        bool
	State         State
	Reason        string   // why it cannot be served; "" where it can
	From, To      []string // codes of its languages
	Pipeline      bool

	// Of models only.
	Family    string
	Precision model.Precision
	Source    string // where its checkpoint came from
	Revision  string
	Device    string // where it is loaded
	Bytes     int64  // of memory, while it is loaded
}

// Index lists all models and pipelines, by name, and their versions, the newest last.
func (c *Catalog) Index() (list []Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.snapshot.Models {
		listed := map[string]bool{}
		for _, v := range m.Versions {
			s := c.statusOf(m, v)
			listed[s.Version] = true
			list = append(list, s)
		}
		if e := c.table.models[m.Name]; e != nil && !listed[e.current.source.Version] { // its folder is gone
			list = append(list, c.served(e.current))
		}
	}
	for _, p := range c.snapshot.Pipelines {
		list = append(list, c.statusOfPipeline(p))
	}
	return list
}

// statusOf is the status of a version in the repository.
func (c *Catalog) statusOf(m repository.Model, v repository.Version) Status {
	s := Status{Name: m.Name, Version: strconv.Itoa(v.Number), State: Unloaded}
	switch {
	case m.Err != nil:
		s.Reason = m.Err.Error()
		return s
	case v.Err != nil:
		s.Reason = v.Err.Error()
		return s
	}
	known := c.versions[newVersion(c, m, v).id()]
	if known == nil {
		s.Reason = "it was unloaded by hand"
		return s
	}
	s = c.served(known)
	s.Aliases = m.Aliases
	return s
}

// served is the status of a version that was looked at.
func (c *Catalog) served(v *version) Status {
	m := v.source.Manifest
	s := Status{
		Name: v.source.Name, Version: v.source.Version, State: Unloaded, From: v.from, To: v.to,
		Family: m.Family, Precision: m.Precision, Source: m.Source, Revision: m.Revision, Served: c.serves(v),
	}
	if e := c.table.models[s.Name]; e != nil {
		s.Current = e.current == v
	}
	switch {
	case v.broken != nil:
		s.Reason = v.broken.Error()
	case v.onTrial:
		s.Reason = "it is tried before it takes over"
	case !s.Served:
		s.Reason = "it is none of the versions that are served"
	}
	if i := c.instances[v.key]; i != nil {
		s.State = i.state
		if i.loaded != nil {
			s.Device, s.Bytes = i.loaded.Device(), i.bytes
		}
	}
	return s
}

// statusOfPipeline is the status of a pipeline. It is ready where all of its models are.
func (c *Catalog) statusOfPipeline(p repository.Pipeline) Status {
	s := Status{Name: p.Name, Version: strconv.Itoa(p.Version), Pipeline: true, State: Unloaded}
	if p.Err != nil {
		s.Reason = p.Err.Error()
		return s
	}
	made, err := c.table.newPipeline(p)
	if err != nil {
		s.Reason = err.Error()
		return s
	}
	s.Served, s.Current, s.State = true, true, Ready
	s.From, s.To = made.languages()
	for _, v := range made.models() {
		if i := c.instances[v.key]; i == nil || i.state != Ready {
			s.State = Unloaded
		}
	}
	return s
}

// models are those of a pipeline's steps.
func (p *pipeline) models() (list []*version) {
	for _, step := range p.steps {
		switch of := step.candidate.(type) {
		case single:
			list = append(list, of.version)
		case *pipeline:
			list = append(list, of.models()...)
		}
	}
	return list
}

// Engines are the engines of all models that are loaded, for [engine.Metrics].
func (c *Catalog) Engines() (list []engine.Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.instances {
		if i.loaded != nil && !i.leaving {
			list = append(list, engine.Source{Model: i.source.Name, Version: i.source.Version, Stats: i.loaded.Stats(), Rows: i.loaded.Rows()})
		}
	}
	slices.SortFunc(list, func(a, b engine.Source) int { return compare(a.Model, a.Version, b.Model, b.Version) })
	return list
}

// Names are those of the models and pipelines that are served, in the order in which they are
// tried where a request names none. They are not to be changed.
func (c *Catalog) Names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.table.names
}

// Languages are the codes of all languages that are offered, sorted.
func (c *Catalog) Languages() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.table.all.languages
}
