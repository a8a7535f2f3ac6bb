package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/repository"
)

// Status describes a version of a model, or a pipeline.
type Status struct {
	Name, Version string
	Aliases       []string
	Current       bool // the version that the model's name without a version means
	Served        bool
	State         State
	Reason        string   // why the version cannot be served; "" if it can
	From, To      []string // codes of its languages
	Pipeline      bool

	// Only for models.
	Family    string
	Precision model.Precision
	Source    string // origin of its checkpoint
	Revision  string
	License   string // from its model card
	Device    string // device of the loaded model
	Bytes     int64  // memory of the loaded model
}

// Index returns the status of all models and pipelines, by name, and of their versions, the newest last.
func (c *Catalog) Index() (list []Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.inventory.snapshot.Models {
		serving := make(map[int]*version) // the folders of served versions may be gone
		if e := c.inventory.models[m.Name]; e != nil {
			for _, v := range e.versions {
				serving[v.number] = v
			}
		}
		for _, v := range m.Versions {
			s := c.statusInRepository(m, v, serving[v.Number])
			s.Aliases = m.Aliases
			list = append(list, s)
			delete(serving, v.Number)
		}
		for _, number := range slices.Sorted(maps.Keys(serving)) {
			list = append(list, c.status(serving[number]))
		}
	}
	for _, p := range c.inventory.snapshot.Pipelines {
		list = append(list, c.statusOfPipeline(p))
	}
	return list
}

// statusInRepository returns the status of a version in the repository. If another export with the same number is served,
// statusInRepository returns the status of the other, with the reason why this export is not served.
func (c *controller) statusInRepository(m repository.Model, v repository.Version, serving *version) (s Status) {
	var known *version
	err := cmp.Or(m.Err, v.Err)
	if err == nil {
		known = c.inventory.versions[keyOfVersion(m, v)]
	}
	if known != nil && (serving == nil || serving.versionState == known.versionState) {
		return c.status(known)
	}
	s = Status{Name: m.Name, Version: strconv.Itoa(v.Number), State: Unloaded}
	if serving != nil {
		s = c.status(serving)
	} else if err != nil {
		s.State = Broken
	}
	if err != nil {
		s.Reason = err.Error()
	} else if known != nil {
		s.Reason = c.status(known).Reason
	}
	return s
}

func (c *controller) status(v *version) Status {
	m := v.source.Manifest
	s := Status{
		Name: v.source.Name, Version: v.source.Version, State: Unloaded, From: v.from, To: v.to,
		Family: m.Family, Precision: m.Precision, Source: m.Source, Revision: m.Revision, License: m.License,
		Served: c.inventory.serves(v),
	}
	if e := c.inventory.models[s.Name]; e != nil {
		s.Current = e.current.versionState == v.versionState
	}
	if i := c.residency.instances[v.key]; i != nil && (v.sound || i.version.versionState == v.versionState) {
		s.State = i.state()
		if i.loaded != nil {
			s.Device, s.Bytes = i.loaded.Device(), i.bytes
		}
	}
	switch {
	case v.broken != nil:
		s.State, s.Reason = Broken, v.broken.Error()
	case c.inventory.withheld[s.Name]:
		s.Reason = "it was unloaded by hand"
	case v.trial != nil:
		s.Reason = "it is tried before it takes over"
	case v.checking:
		s.State, s.Reason = Loading, "its files are compared with its manifest"
	case !s.Served:
		s.Reason = "it is none of the versions that are served"
	}
	return s
}

// statusOfPipeline returns the status of a pipeline. It is ready if all of its models are.
func (c *controller) statusOfPipeline(p repository.Pipeline) Status {
	s := Status{Name: p.Name, Version: strconv.Itoa(p.Version), Pipeline: true, State: Unloaded}
	if p.Err != nil {
		s.Reason = p.Origin + ": " + p.Err.Error()
		return s
	}
	made, err := c.inventory.newPipeline(p)
	if err != nil {
		s.Reason = err.Error()
		return s
	}
	s.Served, s.Current, s.State = true, true, Ready
	s.From, s.To = made.languages()
	for _, step := range made.steps {
		if c.residency.ready(step.version.key) == nil {
			s.State = Unloaded
		}
	}
	return s
}

// Engines returns the engines of all loaded models, for [engine.Metrics]. A version that is loaded twice, while one export
// replaces another, counts as one engine.
func (c *Catalog) Engines() (list []engine.Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.residency.instances {
		if i.loaded != nil && !i.closes {
			s := c.inventory.nameOf(i)
			list = append(list, engine.Source{Model: s.Name, Version: s.Version, Stats: i.loaded.Stats(), Rows: i.loaded.Rows()})
		}
	}
	slices.SortFunc(list, func(a, b engine.Source) int { return compare(a.Model, a.Version, b.Model, b.Version) })
	merged := list[:0]
	for _, s := range list {
		if last := len(merged) - 1; last >= 0 && merged[last].Model == s.Model && merged[last].Version == s.Version {
			merged[last].Stats = append(merged[last].Stats, s.Stats...)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// compare orders versions of models by name, then by number, the newest last.
func compare(name, version, otherName, otherVersion string) int {
	return cmp.Or(strings.Compare(name, otherName), cmp.Compare(len(version), len(otherVersion)), strings.Compare(version, otherVersion))
}

// Names returns the names of the served models and pipelines, in the order of preference for requests that name none. The caller
// must not modify them.
func (c *Catalog) Names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inventory.names
}

// Languages returns the codes of all offered languages, sorted.
func (c *Catalog) Languages() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inventory.all.languages
}

// Serving returns a snapshot of the served models only, and the handles of all versions in it by identity. Each handle refers to
// exactly its version.
func (c *Catalog) Serving() (repository.Snapshot, map[string]translate.Handle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := repository.Snapshot{Order: c.inventory.names, Pivots: c.inventory.snapshot.Pivots}
	handles := make(map[string]translate.Handle)
	for _, name := range slices.Sorted(maps.Keys(c.inventory.models)) {
		e := c.inventory.models[name]
		m := repository.Model{Name: name, Aliases: e.aliases, Config: e.current.source.Config}
		for _, v := range e.versions {
			handles[v.source.Identity] = handle{version: v, exact: true}
			m.Versions = append(m.Versions, repository.Version{
				Number: v.number, Dir: v.source.Dir, Served: true, Manifest: v.source.Manifest, Identity: v.source.Identity,
			})
		}
		s.Models = append(s.Models, m)
	}
	for _, name := range slices.Sorted(maps.Keys(c.inventory.pipelines)) {
		s.Pipelines = append(s.Pipelines, c.inventory.pipelines[name])
	}
	return s, handles
}
