package repository

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of a scan: the contents of a folder must not determine its duration, nor affect other repositories.
const (
	maxEntries  = 10_000           // of a repository or a model's folder; further ones are ignored
	maxVersions = 10_000           // of a repository
	maxProblems = 100              // of a repository
	patience    = 10 * time.Second // longest wait for an unresponsive file system
)

// Scan reads the repositories in dirs once; see [Scanner.Scan].
func Scan(dirs []string) Snapshot { return NewScanner(dirs).Scan() }

// Scanner reads repositories repeatedly, each independently: unreadable parts of a repository stay as before, with a reason, and
// everything else is read. A manifest is read again if it has changed. A Scanner is safe for concurrent use.
type Scanner struct {
	dirs []string // without duplicates
	read func(dir string, before root) root

	mu      sync.Mutex          // guards the fields below; held by a scan
	roots   []root              // contents of dirs, as last read
	pending map[int]<-chan root // reads of dirs in progress
}

// NewScanner returns a scanner of the repositories in dirs.
func NewScanner(dirs []string) *Scanner {
	s := &Scanner{read: read, pending: map[int]<-chan root{}}
	for _, dir := range dirs {
		if dir = filepath.Clean(dir); !slices.Contains(s.dirs, dir) {
			s.dirs = append(s.dirs, dir)
		}
	}
	s.roots = make([]root, len(s.dirs))
	return s
}

// Scan reads the repositories. If several repositories have a model of the same name, the first one counts. Scan reads manifests
// and configuration and compares the sizes of files, so it takes milliseconds for hundreds of models; it reads at most 10,000
// entries of a folder and 10,000 versions of a repository.
func (s *Scanner) Scan() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, dir := range s.dirs {
		if s.pending[i] == nil {
			answer, before := make(chan root, 1), s.roots[i]
			s.pending[i] = answer
			go func() { answer <- s.read(dir, before) }() // in another goroutine, because a wait for a file system cannot be cancelled
		}
	}
	late := make(chan struct{})
	defer time.AfterFunc(patience, func() { close(late) }).Stop()
	for i, dir := range s.dirs {
		select {
		case <-late:
		case s.roots[i] = <-s.pending[i]:
			delete(s.pending, i)
			continue
		}
		select { // the answer may have been ready at the same time
		case s.roots[i] = <-s.pending[i]:
			delete(s.pending, i)
		default:
			s.roots[i] = s.roots[i].away(dir, fmt.Errorf("the repository does not answer for %s: look at its file system", patience))
		}
	}
	return s.merge()
}

// scan is an unfinished snapshot.
type scan struct {
	findings
	snapshot  Snapshot
	pipelines map[string]Pipeline // read so far
	order     []Problem           // names, and their origins
}

// merge combines all repositories into a snapshot.
func (s *Scanner) merge() Snapshot {
	run := &scan{pipelines: map[string]Pipeline{}}
	names := map[string]string{} // folders of models, by name
	for i, r := range s.roots {
		run.snapshot.Err = errors.Join(run.snapshot.Err, r.err)
		run.snapshot.Problems = append(run.snapshot.Problems, r.all(s.dirs[i])...)
		run.take(filepath.Join(s.dirs[i], ConfigFile), r.settings)
		for _, m := range r.models {
			if first, ok := names[m.Name]; ok {
				run.problem(m.Dir, "is ignored: %s is found first: rename one of them", first)
				continue
			}
			names[m.Name] = m.Dir
			run.snapshot.Models = append(run.snapshot.Models, m)
		}
	}
	slices.SortFunc(run.snapshot.Models, func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
	run.link()
	run.snapshot.Problems = append(run.snapshot.Problems, run.all(strings.Join(s.dirs, ","))...)
	run.snapshot.Fingerprint = run.snapshot.print()
	return run.snapshot
}

// print returns the snapshot's fingerprint.
func (s *Snapshot) print() string {
	sum := sha256.New()
	for _, m := range s.Models {
		config, _ := json.Marshal(m.Config) // numbers, words and lists
		fmt.Fprintf(sum, "model %s %s %q %v\n", m.Dir, config, m.Aliases, m.Err)
		for _, v := range m.Versions {
			fmt.Fprintf(sum, "version %s %t %s %v\n", v.Dir, v.Served, v.Fingerprint, v.Err)
		}
	}
	fmt.Fprintf(sum, "%+v\n%q\n%q\n%q\n%v\n", s.Pipelines, s.Order, s.Pivots, s.Problems, s.Err)
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// take adds the configuration of a repository, read from path.
func (s *scan) take(path string, c settings) {
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
			s.problem(p.Origin, "is ignored: %s has a pipeline %s: give one another name", first.Origin, p.Name)
			continue
		}
		s.pipelines[p.Name] = p
	}
}
