package repository

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"dragoman/model"
)

// Bounds of a scan: what lies in a folder must not decide how long it takes.
const (
	maxEntries  = 10_000 // of a repository or a model's folder; the others are not looked at
	maxVersions = 10_000 // of all models together
	maxProblems = 100
)

// Scan reads the repositories in dirs. A model's name counts where it comes first. Scan reads
// manifests and configuration and looks at the sizes of files, so it takes milliseconds for
// hundreds of models; it looks at 10,000 entries of a folder and 10,000 versions at most.
func Scan(dirs []string) Snapshot { return (&scanner{}).scan(dirs) }

// scanner scans repositories again and again. It reads a manifest again when it has changed.
type scanner struct {
	known map[string]exported // by folder
}

// scan is a scan in progress.
type scan struct {
	*scanner
	found     map[string]exported // what scanner.known will be
	sum       hash.Hash           // of everything that the snapshot is made of
	snapshot  Snapshot
	names     map[string]string   // of models: their folders
	pipelines map[string]Pipeline // that have been read so far
	order     []Problem           // names, and where they are from
	versions  int
	ignored   int // problems beyond maxProblems
}

func (s *scanner) scan(dirs []string) Snapshot {
	run := &scan{
		scanner: s, found: map[string]exported{}, sum: sha256.New(),
		names: map[string]string{}, pipelines: map[string]Pipeline{},
	}
	var seen []string
	for _, dir := range dirs {
		if dir = filepath.Clean(dir); !slices.Contains(seen, dir) {
			seen = append(seen, dir)
			run.repository(dir)
		}
	}
	slices.SortFunc(run.snapshot.Models, func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
	run.link()
	if run.ignored > 0 {
		run.snapshot.Problems = append(run.snapshot.Problems, Problem{strings.Join(seen, ","), fmt.Sprintf("%d more problems", run.ignored)})
	}
	run.snapshot.Fingerprint = hex.EncodeToString(run.sum.Sum(nil))
	s.known = run.found
	return run.snapshot
}

// problem reports something that is ignored.
func (s *scan) problem(path, format string, args ...any) {
	p := Problem{path, fmt.Sprintf(format, args...)}
	fmt.Fprintf(s.sum, "problem %s\n", p)
	if len(s.snapshot.Problems) >= maxProblems {
		s.ignored++
		return
	}
	s.snapshot.Problems = append(s.snapshot.Problems, p)
}

// unread reports that a repository, or its configuration, is missing in the snapshot.
func (s *scan) unread(path string, err error) {
	s.snapshot.Err = errors.Join(s.snapshot.Err, fmt.Errorf("%s: %w", path, err))
	s.problem(path, "%s", err)
}

// repository reads a repository.
func (s *scan) repository(dir string) {
	entries, err := s.entries(dir)
	if err != nil {
		s.unread(dir, fmt.Errorf("the repository cannot be read: %w: make the folder, or correct MODEL_REPOSITORY", reason(err)))
		return
	}
	for _, name := range entries {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case name == ConfigFile:
			s.settings(path)
		case name == "config.yml":
			s.problem(path, "is ignored: call it %s", ConfigFile)
		case name == "lost+found" || err == nil && !info.IsDir():
		case CheckName(name) != nil:
			s.problem(path, "is ignored: %s", CheckName(name))
		default:
			s.model(name, path)
		}
	}
}

// entries are the names in a folder, sorted, without those that begin with a dot.
func (s *scan) entries(dir string) ([]string, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) > maxEntries {
		s.problem(dir, "has more than %d entries, the others are ignored: remove what does not belong here", maxEntries)
		names = names[:maxEntries]
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	slices.Sort(names)
	return names, nil
}

// settings reads the configuration of a repository.
func (s *scan) settings(path string) {
	raw, err := readFile(path)
	fmt.Fprintf(s.sum, "settings %s %q\n", path, raw)
	var c settings
	if err == nil {
		c, err = parseSettings(raw, path)
	}
	if err != nil {
		s.unread(path, reason(err))
		return
	}
	for _, name := range c.order {
		s.order = append(s.order, Problem{path, name})
	}
	for _, code := range c.pivots {
		if !slices.Contains(s.snapshot.Pivots, code) {
			s.snapshot.Pivots = append(s.snapshot.Pivots, code)
		}
	}
	for _, p := range c.pipelines {
		if first, ok := s.pipelines[p.Name]; ok {
			s.problem(p.origin, "is ignored: %s has a pipeline %s: give one another name", first.origin, p.Name)
			continue
		}
		s.pipelines[p.Name] = p
	}
}

// model reads the folder of a model.
func (s *scan) model(name, dir string) {
	entries, err := s.entries(dir)
	if err == nil && len(entries) == 0 {
		return // a first version may be on its way
	}
	if first, ok := s.names[name]; ok {
		s.problem(dir, "is ignored: %s is found first: rename one of them", first)
		return
	}
	m := Model{Name: name, Dir: dir, Config: Config{Versions: Versions{Latest: 1}}}
	configured := slices.Contains(entries, ConfigFile)
	switch {
	case err != nil:
		m.Err = fmt.Errorf("%s cannot be read: %w", dir, reason(err))
	case configured:
		m.Config, m.Err = s.config(filepath.Join(dir, ConfigFile))
	}
	for _, entry := range entries {
		s.version(&m, entry)
	}
	if len(m.Versions) == 0 && err == nil {
		s.problem(dir, "has no version: export one with `dragoman pull MODEL --repository %s --name %s`", filepath.Dir(dir), name)
		if !configured {
			return
		}
	}
	slices.SortFunc(m.Versions, func(a, b Version) int { return a.Number - b.Number })
	if m.Err == nil {
		m.Config.Versions.choose(m.Versions)
		s.missing(&m)
	}
	fmt.Fprintf(s.sum, "model %s %v\n", dir, m.Err)
	s.names[name] = dir
	s.snapshot.Models = append(s.snapshot.Models, m)
}

// config reads the configuration of a model.
func (s *scan) config(path string) (Config, error) {
	raw, err := readFile(path)
	fmt.Fprintf(s.sum, "config %s %q\n", path, raw)
	var c Config
	if err == nil {
		c, err = ParseConfig(raw)
	}
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, reason(err))
	}
	return c, nil
}

// missing reports the versions that a configuration lists and that are not there.
func (s *scan) missing(m *Model) {
	for _, number := range m.Config.Versions.List {
		if !slices.ContainsFunc(m.Versions, func(v Version) bool { return v.Number == number }) {
			s.problem(filepath.Join(m.Dir, ConfigFile), "lists version %d, which is not there: add it, or take it out of versions", number)
		}
	}
}

// version reads an entry of a model's folder.
func (s *scan) version(m *Model, name string) {
	dir, number := filepath.Join(m.Dir, name), parseVersion(name)
	_, err := os.Stat(filepath.Join(dir, model.ManifestFile))
	switch {
	case name == model.ManifestFile:
		s.problem(m.Dir, "is an exported model itself: move it to %s", filepath.Join(m.Dir, "1"))
	case name == "config.yml":
		s.problem(dir, "is ignored: call it %s", ConfigFile)
	case number == 0 && err == nil:
		s.problem(dir, "is ignored: a version is a number from 1 to %d without leading zeros", maxVersion)
	case number == 0:
	case s.versions == maxVersions:
		s.problem(dir, "is ignored: there are more than %d versions, remove old ones", maxVersions)
	default:
		s.versions++
		v := s.export(dir, m.Config.Precision)
		v.Number = number
		fmt.Fprintf(s.sum, "version %s %s %v\n", dir, v.Fingerprint, v.Err)
		m.Versions = append(m.Versions, v)
	}
}

// reason is an error without the path, which is said before it.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
