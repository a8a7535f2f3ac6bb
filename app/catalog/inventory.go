package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"dragoman/app/translate"
	"dragoman/model/repository"
)

// inventory is the content of the repositories, with the state of each version.
type inventory struct {
	hint      string // see [Config]
	away      func() error
	outage    func(Source) error
	fetcher   Fetcher
	keepAlive time.Duration
	metrics   *Metrics
	log       *slog.Logger

	snapshot repository.Snapshot
	logged   map[string]bool // problems of the snapshot that were logged
	versions map[versionKey]*version
	withheld map[string]bool // names of models that were unloaded by hand

	// The served part of the snapshot.
	models    map[string]*entry
	names     []string         // names of models and pipelines, in the order of preference
	absent    map[string]error // by name, with and without a version: why the model is not served
	pipelines map[string]repository.Pipeline
	aliases   map[string]string             // names of models by alias
	all       *selection                    // for requests that name no model
	named     map[string]*selection         // for requests that name a model or pipeline without a version
	detectors map[string]translate.Detector // by languages
}

func newInventory(cfg Config) inventory {
	return inventory{
		hint: cfg.Hint, away: cfg.Away, outage: cfg.Outage, fetcher: cfg.Fetcher, keepAlive: cfg.KeepAlive, metrics: cfg.Metrics, log: cfg.Log,
		withheld: make(map[string]bool), detectors: make(map[string]translate.Detector), all: new(selection),
	}
}

// take stores a snapshot, and logs each of its problems once for as long as the problem lasts.
func (n *inventory) take(s repository.Snapshot) {
	n.snapshot = s
	before := n.logged
	n.logged = make(map[string]bool)
	logOnce := func(log func(string, ...any), text string, args ...any) {
		key := fmt.Sprintln(args...)
		if n.logged[key] = true; !before[key] {
			log(text, args...)
		}
	}
	for _, p := range s.Problems {
		logOnce(n.log.Warn, "there is a problem with the repository", "path", p.Path, "problem", p.Text)
	}
	for _, m := range s.Models {
		if m.Err != nil && !errors.Is(s.Err, m.Err) { // errors of a whole repository are in s.Err
			logOnce(n.log.Error, "a model is as it was before", "model", m.Name, "error", m.Err)
		}
		for _, v := range m.Versions {
			if v.Err != nil {
				logOnce(n.log.Error, "a version cannot be served", "model", m.Name, "version", v.Number, "error", v.Err)
			}
		}
	}
	for _, p := range s.Pipelines {
		if p.Err != nil {
			logOnce(n.log.Error, "a pipeline cannot be served", "pipeline", p.Name, "at", p.Origin, "error", p.Err)
		}
	}
}

// refresh determines the served models from the snapshot and the state of its versions. ready reports whether an instance can be
// used. refresh returns the versions to be tried beside those served.
func (n *inventory) refresh(ready func(key string) bool) (try []*version) {
	known, there := make(map[versionKey]*version), make(map[string]bool)
	models := make(map[string]*entry)
	for _, m := range n.snapshot.Models {
		e, next := n.entryOf(m, known, ready)
		if e != nil {
			models[m.Name] = e
		}
		if next != nil {
			try = append(try, next)
		}
	}
	for _, v := range known {
		there[v.source.ref()] = true
	}
	for _, v := range n.versions {
		if !there[v.source.ref()] {
			n.metrics.forget(v.source)
		}
	}
	n.versions, n.models = known, models
	n.absent = n.reasons()
	n.offer()
	return try
}

// entryOf returns the served versions of a model, nil if there are none, and the version to be tried beside them. It adds all
// examined versions to known.
func (n *inventory) entryOf(m repository.Model, known map[versionKey]*version, ready func(key string) bool) (e *entry, try *version) {
	e = n.newEntry(m, known)
	before := n.models[m.Name]
	switch {
	case n.withheld[m.Name]:
		return nil, nil
	case before == nil:
		return e, nil
	}
	current := before.current
	switch {
	case e == nil: // the served version stays if it works, even if its configuration or folder has a fault
		there := slices.ContainsFunc(m.Versions, func(now repository.Version) bool { return now.Number == current.number })
		if current.broken != nil || m.Err == nil && !(there && ready(current.key)) {
			return nil, nil
		}
		working := slices.DeleteFunc(slices.Clone(before.versions), func(v *version) bool { return v.broken != nil })
		e = &entry{aliases: before.aliases, current: current, versions: working}
		for _, v := range e.versions {
			known[v.versionKey] = v
		}
	case e.current.versionState != current.versionState && !e.current.tried && current.broken == nil && (known[current.versionKey] != nil || ready(current.key)):
		try = e.current
		current = cmp.Or(known[current.versionKey], current)
		known[current.versionKey] = current
		others := slices.DeleteFunc(e.versions, func(v *version) bool { return v.number == current.number })
		e.current, e.versions = current, append([]*version{current}, others...)
	}
	return e, try
}

// newEntry returns the entry that a model's folder and configuration define, nil if there is none.
func (n *inventory) newEntry(m repository.Model, known map[versionKey]*version) *entry {
	if m.Err != nil {
		return nil
	}
	e := &entry{aliases: m.Aliases}
	var other *version // the newest version that is not to be served
	for _, v := range m.Versions {
		if v.Err != nil {
			continue
		}
		made := n.versionOf(m, v)
		known[made.versionKey] = made
		switch {
		case made.broken != nil:
		case v.Served:
			e.current = made
			e.versions = append(e.versions, made)
		default:
			other = made
		}
	}
	switch {
	case e.current == nil && other == nil:
		return nil
	case e.current == nil:
		e.current, e.versions = other, []*version{other}
	}
	return e
}

// versionOf returns a version of the repository with its known state.
func (n *inventory) versionOf(m repository.Model, v repository.Version) *version {
	made := newVersion(m, v)
	if known := n.versions[made.versionKey]; known != nil {
		made.versionState = known.versionState
	} else {
		made.arrived = len(n.names) > 0
		n.metrics.know(made.source)
	}
	return made
}

// reasons returns, by name with and without a version, why models and pipelines of the snapshot are not served.
func (n *inventory) reasons() map[string]error {
	why := make(map[string]error)
	for _, m := range n.snapshot.Models {
		for _, v := range m.Versions {
			ref := repository.Ref{Name: m.Name, Version: v.Number}.String()
			switch err := cmp.Or(m.Err, v.Err); {
			case err != nil:
				why[ref] = &BrokenError{Model: ref, Err: err}
				why[m.Name] = why[ref]
			case !v.Served:
				why[ref] = unknown("the version %d of %s is not served, since versions in its %s leaves it out: use %s", v.Number, m.Name, repository.ConfigFile, m.Name)
			}
		}
		if m.Err != nil {
			why[m.Name] = &BrokenError{Model: m.Name, Err: m.Err}
		}
	}
	for _, v := range n.versions {
		if v.broken != nil {
			why[v.source.ref()], why[v.source.Name] = v.broken, v.broken
		}
	}
	for _, p := range n.snapshot.Pipelines {
		if p.Err != nil {
			why[p.Name] = unknown("the pipeline %s is not served: %s", p.Name, p.Err)
			why[repository.Ref{Name: p.Name, Version: p.Version}.String()] = why[p.Name]
		}
	}
	return why
}

// serves reports whether a version is served, perhaps with another configuration.
func (n *inventory) serves(v *version) bool {
	e := n.models[v.source.Name]
	return e != nil && slices.ContainsFunc(e.versions, func(s *version) bool { return s.versionState == v.versionState })
}

// demand reports whether an instance is wanted: a version with its key is served or on a trial. pinned and keep are the most
// generous settings of the served versions.
func (n *inventory) demand(key string) (wanted, pinned bool, keep time.Duration) {
	keep = -1
	for _, v := range n.versions {
		serves := v.key == key && n.serves(v)
		wanted = wanted || serves || v.key == key && v.trial != nil
		if !serves {
			continue
		}
		own := n.keepAlive
		if set := v.source.Config.KeepAlive; set != nil {
			own = *set
		}
		if keep != 0 && (own == 0 || own > keep) {
			keep = own
		}
		pinned = pinned || v.source.Config.Pinned
	}
	return wanted, pinned, max(0, keep)
}

// configure sets the settings of an instance by its versions, and reports whether the instance is wanted: a version uses it.
func (n *inventory) configure(i *instance) (wanted bool) {
	wanted, i.pinned, i.keep = n.demand(i.key)
	return wanted
}

// resolve returns the versions that handles currently refer to, which may have changed since the handles were selected.
func (n *inventory) resolve(handles []handle) ([]*version, error) {
	versions := make([]*version, len(handles))
	for i, h := range handles {
		var err error
		if versions[i], err = n.versionMeant(h); err != nil {
			return nil, err
		}
	}
	return versions, nil
}

// versionMeant returns the version that a handle refers to. If the request did not name the version and it is not served any
// more, the current version with the same languages takes its place.
func (n *inventory) versionMeant(h handle) (*version, error) {
	v := h.version
	if n.serves(v) || h.exact && v.trial != nil && v.broken == nil {
		return v, nil
	}
	if e := n.models[v.source.Name]; e != nil && !h.exact && slices.Equal(e.current.from, v.from) && slices.Equal(e.current.to, v.to) {
		return e.current, nil
	}
	if v.broken != nil {
		return nil, v.broken
	}
	return nil, unknown("the model %s is not served any more: use %s", v.source.ref(), list(n.names))
}

// nameOf returns the version that names an instance shared by several: the version that the instance was loaded for, or, after
// that is gone, the first served one.
func (n *inventory) nameOf(i *instance) Source {
	first := i.version
	for _, v := range n.versions {
		if v.key == i.key && n.serves(v) && (!n.serves(first) ||
			first != i.version && compare(v.source.Name, v.source.Version, first.source.Name, first.source.Version) < 0) {
			first = v
		}
	}
	return first.source
}
