package repository

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"dragoman/model"
)

// root is the content of one repository, independent of the others.
type root struct {
	models   []Model
	settings settings
	exported map[string]exported // by folder
	err      error               // why the folder, or its config.yaml, cannot be read
	findings
}

// findings are the ignored parts.
type findings struct {
	problems []Problem
	more     int // problems beyond maxProblems
}

// problem reports an ignored part.
func (f *findings) problem(path, format string, args ...any) {
	if len(f.problems) >= maxProblems {
		f.more++
		return
	}
	f.problems = append(f.problems, Problem{path, fmt.Sprintf(format, args...)})
}

// all returns the problems, with a last problem that tells the number of further ones.
func (f *findings) all(path string) []Problem {
	if f.more == 0 {
		return f.problems
	}
	return append(slices.Clip(f.problems), Problem{path, fmt.Sprintf("%d more problems", f.more)})
}

// reading is the state of reading a repository.
type reading struct {
	root
	before   root
	versions int
}

// read reads the repository dir. Unreadable parts stay as before.
func read(dir string, before root) root {
	r := &reading{before: before, root: root{exported: map[string]exported{}}}
	if err := r.folder(dir); err != nil {
		return before.away(dir, fmt.Errorf("the repository cannot be read: %w: make the folder, or correct MODEL_REPOSITORY", reason(err)))
	}
	return r.root
}

// away returns the previous content of a repository that cannot be read, with the error in all its models.
func (r root) away(dir string, err error) root {
	now := root{settings: r.settings, exported: r.exported, err: fmt.Errorf("%s: %w", dir, err)}
	now.problem(dir, "%s", err)
	for _, m := range r.models {
		m.Err = now.err
		now.models = append(now.models, m)
	}
	return now
}

// folder reads the entries of the repository dir. It fails if there is no such folder.
func (r *reading) folder(dir string) error {
	entries, err := r.entries(dir)
	if err != nil {
		return err
	}
	for _, name := range entries {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case name == ConfigFile:
			r.readSettings(path)
		case name == otherConfigFile:
			r.problem(path, "is ignored: call it %s", ConfigFile)
		case name == "lost+found" || err == nil && !info.IsDir():
		case CheckName(name) != nil:
			r.problem(path, "is ignored: %s", CheckName(name))
		default:
			r.model(name, path)
		}
	}
	return nil
}

// entries returns the names in a folder, sorted, without names that begin with a dot.
func (r *reading) entries(dir string) ([]string, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not block on a pipe
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) > maxEntries {
		r.problem(dir, "has more than %d entries, the others are ignored: remove what does not belong here", maxEntries)
		names = names[:maxEntries]
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	slices.Sort(names)
	return names, nil
}

// readSettings reads the configuration of the repository. If the configuration is invalid, the previous one stays.
func (r *reading) readSettings(path string) {
	raw, err := model.ReadSmall(path, maxConfig)
	if err == nil {
		r.settings, err = parseSettings(raw, path)
	}
	if err != nil {
		r.settings = r.before.settings
		r.err = fmt.Errorf("%s: %w", path, reason(err))
		r.problem(path, "%s", reason(err))
	}
}

// model reads the folder of a model. Unreadable parts of the folder stay as before, too.
func (r *reading) model(name, dir string) {
	entries, err := r.entries(dir)
	if err == nil && len(entries) == 0 {
		return // a first version may be being added
	}
	m := Model{Name: name, Dir: dir, Config: Config{Versions: Versions{Latest: 1}}}
	var before Model
	if i := slices.IndexFunc(r.before.models, func(m Model) bool { return m.Dir == dir }); i >= 0 {
		before = r.before.models[i]
	}
	configured := slices.Contains(entries, ConfigFile)
	switch {
	case err != nil:
		m.Config, m.Versions = before.Config, slices.Clone(before.Versions)
		m.Err = fmt.Errorf("%s cannot be read: %w", dir, reason(err))
	case configured:
		if m.Config, m.Err = readConfig(filepath.Join(dir, ConfigFile)); m.Err != nil {
			m.Config = before.Config
		}
	}
	for _, entry := range entries {
		r.version(&m, entry)
	}
	if server := m.Config.OpenAI; server != nil {
		if len(m.Versions) > 0 {
			m.Err = fmt.Errorf("%s has versions, and its %s has openai: move one of the two into a folder of its own", dir, ConfigFile)
		} else {
			m.Versions = []Version{server.version(dir)}
		}
	}
	if len(m.Versions) == 0 && err == nil && (m.Err == nil || !configured) {
		r.problem(dir, "has no version: export one with `dragoman pull MODEL --repository %s --name %s`", filepath.Dir(dir), name)
		if !configured {
			return
		}
	}
	slices.SortFunc(m.Versions, func(a, b Version) int { return a.Number - b.Number })
	if m.Config.OpenAI == nil {
		m.Config.Versions.choose(m.Versions)
	}
	if m.Err == nil {
		r.missing(&m)
	}
	r.models = append(r.models, m)
}

// readConfig reads the configuration of a model.
func readConfig(path string) (Config, error) {
	raw, err := model.ReadSmall(path, maxConfig)
	var c Config
	if err == nil {
		c, err = ParseConfig(raw)
	}
	if err == nil && c.OpenAI != nil {
		err = c.OpenAI.openProfile(filepath.Dir(path))
	}
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, reason(err))
	}
	return c, nil
}

// missing reports listed versions that do not exist.
func (r *reading) missing(m *Model) {
	for _, number := range m.Config.Versions.List {
		if !slices.ContainsFunc(m.Versions, func(v Version) bool { return v.Number == number }) {
			r.problem(filepath.Join(m.Dir, ConfigFile), "lists version %d, which is not there: add it, or take it out of versions", number)
		}
	}
}

// version reads an entry of a model's folder.
func (r *reading) version(m *Model, name string) {
	dir, number := filepath.Join(m.Dir, name), parseVersion(name)
	_, err := os.Stat(filepath.Join(dir, model.ManifestFile))
	switch {
	case name == model.ManifestFile:
		r.problem(m.Dir, "is an exported model itself: move it to %s", filepath.Join(m.Dir, "1"))
	case name == otherConfigFile:
		r.problem(dir, "is ignored: call it %s", ConfigFile)
	case number == 0 && err == nil:
		r.problem(dir, "is ignored: a version is a number from 1 to %d without leading zeros", maxVersion)
	case number == 0:
	case r.versions == maxVersions:
		r.problem(dir, "is ignored: there are more than %d versions, remove old ones", maxVersions)
	default:
		r.versions++
		v := r.export(dir, m.Config.Precision)
		v.Number = number
		m.Versions = append(m.Versions, v)
	}
}

// reason returns an error without its path, which the message already has.
func reason(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
