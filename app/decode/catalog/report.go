package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"

	"dragoman/model/repository"
)

// take takes a snapshot, and logs what is wrong with it: once for as long as it is. mu is held.
func (c *Catalog) take(s repository.Snapshot) {
	c.snapshot = s
	before := c.said
	c.said = make(map[string]bool)
	say := func(level slog.Level, text string, args ...any) {
		key := fmt.Sprintln(args...)
		if c.said[key] = true; !before[key] {
			c.cfg.Log.Log(c.closing, level, text, args...)
		}
	}
	for _, p := range s.Problems {
		say(slog.LevelWarn, "there is a problem with the repository", "path", p.Path, "problem", p.Text)
	}
	for _, m := range s.Models {
		if m.Err != nil && !errors.Is(s.Err, m.Err) { // not what is wrong with all of a repository
			say(slog.LevelError, "a model is as it was before", "model", m.Name, "error", m.Err)
		}
		for _, v := range m.Versions {
			if v.Err != nil {
				say(slog.LevelError, "a version cannot be served", "model", m.Name, "version", v.Number, "error", v.Err)
			}
		}
	}
	for _, p := range s.Pipelines {
		if p.Err != nil {
			say(slog.LevelError, "a pipeline cannot be served", "pipeline", p.Name, "at", p.Origin, "error", p.Err)
		}
	}
}

// absent is why names that the snapshot has, with and without a version, are not served, as far
// as it and what is known of its versions tell. mu is held.
func (c *Catalog) absent(known map[versionKey]*version) map[string]error {
	why := make(map[string]error)
	for _, m := range c.snapshot.Models {
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
	for _, v := range known {
		if v.broken != nil {
			why[v.source.ref()], why[v.source.Name] = v.broken, v.broken
		}
	}
	for _, p := range c.snapshot.Pipelines {
		if p.Err != nil {
			why[p.Name] = unknown("the pipeline %s is not served: %s", p.Name, p.Err)
			why[repository.Ref{Name: p.Name, Version: p.Version}.String()] = why[p.Name]
		}
	}
	return why
}
