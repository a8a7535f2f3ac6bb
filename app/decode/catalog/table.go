package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dragoman/app/text/language"
	"dragoman/app/translate"
	"dragoman/model/repository"
)

// table is what is served: a view of a snapshot, for Select. It is not changed once it is made,
// but for its detectors, which the catalog's mu guards.
type table struct {
	tableConfig
	names     []string // of models and pipelines, in the order in which they are tried
	pipelines map[string]repository.Pipeline
	aliases   map[string]string     // to names of models
	all       *selection            // where a request names no model
	named     map[string]*selection // where it names one without a version

	detectors map[string]translate.Detector // by languages
}

// entry is a model with a version that can be served.
type entry struct {
	aliases  []string
	current  *version   // that the name alone means
	versions []*version // that are served, the newest last; current is among them
}

// tableConfig is what a table is made of.
type tableConfig struct {
	snapshot repository.Snapshot
	models   map[string]*entry             // of the snapshot's models that are served
	absent   map[string]error              // see [inventory.absent]
	withheld map[string]bool               // names that were unloaded by hand
	hint     string                        // see [Config.Hint]
	before   map[string]translate.Detector // those of the table before; nil once this one is made
}

func newTable(cfg tableConfig) *table {
	t := &table{
		tableConfig: cfg, pipelines: make(map[string]repository.Pipeline), aliases: make(map[string]string),
		named: make(map[string]*selection), detectors: make(map[string]translate.Detector),
	}
	for _, m := range cfg.snapshot.Models {
		aliases := m.Aliases
		if e := cfg.models[m.Name]; e != nil {
			aliases = e.aliases
		}
		for _, alias := range aliases {
			t.aliases[alias] = m.Name
		}
	}
	for _, p := range cfg.snapshot.Pipelines {
		if p.Err == nil {
			t.pipelines[p.Name] = p
		}
	}
	for _, name := range cfg.snapshot.Order {
		if _, isPipeline := t.pipelines[name]; isPipeline || t.models[name] != nil {
			t.names = append(t.names, name)
		}
	}
	t.all = t.newSelection(t.candidates())
	t.before = nil
	return t
}

// candidates are all ways to translate, in the order in which they are tried.
func (t *table) candidates() (list []candidate) {
	for _, name := range t.names {
		var found candidate
		if m := t.models[name]; m != nil {
			found = handle{version: m.current}
		} else if p, err := t.newPipeline(t.pipelines[name]); err == nil {
			found = p
		} else {
			continue
		}
		t.named[name] = t.newSelection([]candidate{found})
		list = append(list, found)
	}
	return list
}

// Select implements [translate.Models].
func (c *Catalog) Select(name string) (translate.Selection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inventory.table.find(name)
}

// find is [Catalog.Select].
func (t *table) find(ref string) (*selection, error) {
	if ref == "" {
		if len(t.names) == 0 && len(t.absent) > 0 {
			return nil, &NoModelsError{"none of those that there are can be served, and the service's log says why"}
		}
		if len(t.names) == 0 {
			return nil, &NoModelsError{t.hint}
		}
		return t.all, nil
	}
	name, number, versioned := strings.Cut(ref, ":")
	p, isPipeline := t.pipelines[name]
	if model, ok := t.aliases[name]; ok && !isPipeline && t.models[name] == nil {
		name = model
	}
	m, found := t.models[name], t.named[name]
	switch {
	case t.withheld[name]:
		return nil, unknown("the model %s was unloaded: load it again, or use another", name)
	case m != nil && versioned:
		return t.version(m, name, number)
	case isPipeline && versioned && number != strconv.Itoa(p.Version):
		return nil, unknown("there is no version %s of %s: use %d", quote(number), name, p.Version)
	case found != nil:
		return found, nil
	case isPipeline:
		_, err := t.newPipeline(p)
		if refused, ok := errors.AsType[*translate.Error](err); ok {
			err = unknown("the pipeline %s is not served: %s", name, refused.Message)
		}
		return nil, err
	}
	if versioned {
		name += ":" + number
	}
	if err := t.absent[name]; err != nil {
		return nil, err
	}
	name, _, _ = strings.Cut(ref, ":")
	return nil, unknown("there is no model %s: use %s", quote(name), list(t.names))
}

// version is a version of a model.
func (t *table) version(m *entry, name, number string) (*selection, error) {
	var served []string
	for _, v := range m.versions {
		if served = append(served, v.source.Version); v.source.Version == number {
			return t.newSelection([]candidate{handle{version: v, exact: true}}), nil
		}
	}
	if err := t.absent[name+":"+number]; err != nil {
		return nil, err
	}
	return nil, unknown("there is no version %s of %s: use %s", quote(number), name, list(served))
}

func unknown(format string, args ...any) error {
	return &translate.Error{Code: translate.CodeUnknownModel, Field: "model", Message: fmt.Sprintf(format, args...)}
}

// list names what there is, the first few of many.
func list(names []string) string {
	const most = 20
	switch n := len(names); {
	case n == 0:
		return "none, there is no model"
	case n > most:
		return fmt.Sprintf("%s or one of %d others", strings.Join(names[:most], ", "), n-most)
	case n == 1:
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// detector is that of some languages, nil where one of them cannot be told.
func (t *table) detector(languages []string) translate.Detector {
	key := strings.Join(languages, " ")
	d, ok := t.detectors[key]
	if !ok {
		d, ok = t.before[key]
	}
	if !ok {
		if made, err := language.NewDetector(language.DetectorConfig{Languages: languages}); err == nil {
			d = made
		}
	}
	t.detectors[key] = d
	return d
}

// sortedUnion is all of some lists, sorted, each once.
func sortedUnion(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
