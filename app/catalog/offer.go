package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
	"dragoman/app/translate"
	"dragoman/model/repository"
)

// entry is a model with at least one version that can be served.
type entry struct {
	aliases  []string
	current  *version   // the version that the name without a version means
	versions []*version // served versions, the newest last, current included
}

// offer builds the selections for requests from the served models.
func (n *inventory) offer() {
	n.names, n.pipelines, n.aliases, n.named = nil, make(map[string]repository.Pipeline), make(map[string]string), make(map[string]*selection)
	for _, m := range n.snapshot.Models {
		aliases := m.Aliases
		if e := n.models[m.Name]; e != nil {
			aliases = e.aliases
		}
		for _, alias := range aliases {
			n.aliases[alias] = m.Name
		}
	}
	for _, p := range n.snapshot.Pipelines {
		if p.Err == nil {
			n.pipelines[p.Name] = p
		}
	}
	for _, name := range n.snapshot.Order {
		if _, isPipeline := n.pipelines[name]; isPipeline || n.models[name] != nil {
			n.names = append(n.names, name)
		}
	}
	candidates, missing := n.candidates(), newPromise(n.fetcher)
	if missing != nil {
		candidates = append(candidates, missing)
	}
	n.all = n.newSelection(candidates)
	n.all.promise = missing
}

// candidates returns all models and pipelines, in the order of preference.
func (n *inventory) candidates() (list []candidate) {
	for _, name := range n.names {
		var found candidate
		if m := n.models[name]; m != nil {
			found = handle{version: m.current}
		} else if p, err := n.newPipeline(n.pipelines[name]); err == nil {
			found = p
		} else {
			continue
		}
		n.named[name] = n.newSelection([]candidate{found})
		list = append(list, found)
	}
	return list
}

// Select implements [translate.Models].
func (c *Catalog) Select(name string) (translate.Selection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inventory.find(name)
}

// find implements [Catalog.Select].
func (n *inventory) find(ref string) (*selection, error) {
	if n.away != nil && len(n.names)+len(n.absent) == 0 {
		if err := n.away(); err != nil {
			return nil, err
		}
	}
	if ref == "" {
		if n.all.promise != nil {
			return n.all, nil
		}
		if len(n.names) == 0 && len(n.absent) > 0 {
			return nil, noModels("none of those that there are can be served, and the service's log says why")
		}
		if len(n.names) == 0 {
			return nil, noModels(n.hint)
		}
		return n.all, nil
	}
	name, number, versioned := strings.Cut(ref, ":")
	p, isPipeline := n.pipelines[name]
	if model, ok := n.aliases[name]; ok && !isPipeline && n.models[name] == nil {
		name = model
	}
	m, found := n.models[name], n.named[name]
	switch {
	case n.withheld[name]:
		return nil, unknown("the model %s was unloaded: load it again, or use another", name)
	case m != nil && versioned:
		return n.version(m, name, number)
	case isPipeline && versioned && number != strconv.Itoa(p.Version):
		return nil, unknown("there is no version %s of %s: use %d", excerpt.Quote(number), name, p.Version)
	case found != nil:
		return found, nil
	case isPipeline:
		_, err := n.newPipeline(p)
		if refused, ok := errors.AsType[*translate.Error](err); ok {
			err = unknown("the pipeline %s is not served: %s", name, refused.Message)
		}
		return nil, err
	}
	if versioned {
		name += ":" + number
	}
	if err := n.absent[name]; err != nil {
		return nil, err
	}
	name, _, _ = strings.Cut(ref, ":")
	return nil, unknown("there is no model %s: use %s", excerpt.Quote(name), list(n.names))
}

// version returns the selection of a version of a model.
func (n *inventory) version(m *entry, name, number string) (*selection, error) {
	var served []string
	for _, v := range m.versions {
		if served = append(served, v.source.Version); v.source.Version == number {
			return n.newSelection([]candidate{handle{version: v, exact: true}}), nil
		}
	}
	if err := n.absent[name+":"+number]; err != nil {
		return nil, err
	}
	return nil, unknown("there is no version %s of %s: use %s", excerpt.Quote(number), name, list(served))
}

func unknown(format string, args ...any) error {
	return &translate.Error{Code: translate.CodeUnknownModel, Field: "model", Message: fmt.Sprintf(format, args...)}
}

// list returns the names as text, the first few of many.
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

// mostDetectors is the maximum number of cached detectors.
const mostDetectors = 100

// detector returns the detector of some languages, nil if none of them can be detected.
func (n *inventory) detector(languages []string) translate.Detector {
	key := strings.Join(languages, " ")
	d, ok := n.detectors[key]
	if ok {
		return d
	}
	known := slices.DeleteFunc(slices.Clone(languages), func(code string) bool { _, ok := language.NameOf(code); return !ok })
	if made, err := language.NewDetector(language.DetectorConfig{Languages: known}); err == nil {
		d = made
	}
	if len(n.detectors) == mostDetectors {
		clear(n.detectors)
	}
	n.detectors[key] = d
	return d
}

// sortedUnion returns the elements of all lists, sorted, without duplicates.
func sortedUnion(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
