package cpu

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model"
)

// ONNX Runtime's kernels rearrange ("prepack") constant matrices into the layout
// that suits the CPU. By default every session keeps such copies on its heap: the
// whole model again, for each worker of each process.
//
// Here the packed matrices are files, made once:
//
//	<exported folder>/prepacked/.lock        held while one is made
//	<exported folder>/prepacked/<key>/
//	    prepack.json                         key, sizes, checksums; locked while in use
//	    encoder.onnx, decoder.onnx           the graphs as ONNX Runtime optimized them
//	    prepacked.bin                        packed matrices of both, page aligned
//	<exported folder>/weights.bin            everything else, as exported
//
// Sessions map both data files, so their pages exist once on the machine. At load
// ONNX Runtime still packs one matrix after the other to compare with the file's,
// and frees its copy if they are the same. Therefore packed matrices of another
// CPU or runtime cannot be used by mistake, only damaged ones, which verify finds.
const (
	prepackFolder   = "prepacked"
	prepackLockFile = ".lock"
	prepackDataFile = "prepacked.bin"
)

// prepackStore is the prepacked weights of one exported folder.
type prepackStore struct {
	dir       string // the exported folder
	precision model.Precision
	root      string // the folder of all prepacked folders
	name      string // of ours in there
	key       prepackKey
	config    sessionConfig
	verify    model.Verify
	log       *slog.Logger
}

func (r *Runtime) newPrepackStore(ctx context.Context, dir string, manifest *model.Manifest, opts Options) (*prepackStore, error) {
	config := r.newSessionConfig(opts.Threads)
	config.profile = opts.Profile
	key, err := newPrepackKey(ctx, dir, r.Version(), config)
	if err != nil {
		return nil, err
	}
	name, err := key.name()
	return &prepackStore{
		dir: dir, root: filepath.Join(dir, prepackFolder), name: name, key: key,
		precision: manifest.Precision, config: config, verify: opts.Verify, log: opts.Log,
	}, err
}

// findOrMake returns the prepacked weights, made if there are none or if they are
// damaged. One process makes them; the others wait for it.
func (s *prepackStore) findOrMake(ctx context.Context) (*prepacked, error) {
	p, err := s.find(ctx)
	if err == nil {
		s.cleanIfFree()
	}
	if err == nil || ctx.Err() != nil {
		return p, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, fmt.Errorf("prepack: %w: make the folder writable once, for instance in `dragoman pull`", err)
	}
	defer unlock()
	p, err = s.find(ctx)
	if err == nil || ctx.Err() != nil {
		return p, err // another process was faster
	}
	if !errors.Is(err, errNotPrepacked) {
		s.log.Warn("prepacked weights are damaged and will be made again", "error", err)
	}
	if err := s.make(ctx); err != nil {
		return nil, fmt.Errorf("prepack: %w", err)
	}
	s.removeStale()
	return s.find(ctx)
}

// lock waits until no other process makes prepacked weights in the folder.
func (s *prepackStore) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(s.root, 0o755); err != nil {
		return nil, err
	}
	return model.Lock(ctx, filepath.Join(s.root, prepackLockFile), func() {
		s.log.Info("waiting for another process that makes prepacked weights", "folder", s.root)
	})
}

// cleanIfFree removes what interrupted processes left, if there is something and
// no process is working there.
func (s *prepackStore) cleanIfFree() {
	if len(s.unfinished()) == 0 {
		return
	}
	unlock, ok := model.TryLock(filepath.Join(s.root, prepackLockFile))
	if !ok {
		return // also in a folder that cannot be written
	}
	defer unlock()
	if err := s.clean(); err != nil {
		s.log.Warn("cannot remove unfinished prepacked weights", "error", err)
	}
}

// prepacked is a complete prepacked folder in use.
type prepacked struct {
	store *prepackStore
	inUse *flock.Flock // shared, on the manifest
}

// errNotPrepacked means that there are no prepacked weights for a key.
var errNotPrepacked = errors.New("no prepacked weights")

// find opens the folder of the store's key. It fails with errNotPrepacked where
// there is none and otherwise says what is damaged.
func (s *prepackStore) find(ctx context.Context) (*prepacked, error) {
	dir := filepath.Join(s.root, s.name)
	// Before the files are looked at, so that no process removes them afterwards. On a
	// file system without locks no process can tell that they are unused.
	inUse := lockOf(dir)
	if _, err := inUse.TryRLock(); errors.Is(err, fs.ErrNotExist) {
		return nil, errNotPrepacked
	}
	if err := s.check(ctx, dir); err != nil {
		return nil, errors.Join(err, inUse.Close())
	}
	return &prepacked{store: s, inUse: inUse}, nil
}

// check compares the folder with its manifest.
func (s *prepackStore) check(ctx context.Context, dir string) error {
	m, err := readPrepackManifest(dir)
	if err != nil {
		return err
	}
	for _, name := range []string{model.EncoderFile, model.DecoderFile, prepackDataFile} {
		if _, ok := m.Files[name]; !ok {
			return fmt.Errorf("%s lacks %s", filepath.Join(dir, prepackManifestFile), name)
		}
	}
	return model.CheckFiles(ctx, dir, m.Files, s.verify)
}

// load loads a graph by its name.
func (p *prepacked) load(ctx context.Context, name string) (*ort.DynamicAdvancedSession, error) {
	path := filepath.Join(p.store.root, p.store.name, name)
	graph, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return p.store.config.loadOptimized(ctx, path, graph, p.store.dir)
}

// Close says that the folder is not in use any more.
func (p *prepacked) Close() error { return p.inUse.Close() }

// lockOf is the lock of a prepacked folder: shared while it is in use, exclusive
// to remove it. It makes no file.
func lockOf(dir string) *flock.Flock {
	return flock.New(filepath.Join(dir, prepackManifestFile), flock.SetFlag(os.O_RDONLY))
}

// removeStale removes what interrupted processes left and the folders of other
// keys that are not in use. It keeps the newest one of the same export: hosts with
// different CPUs may share the folder, or a new runtime be taken back. The caller
// holds the lock.
func (s *prepackStore) removeStale() {
	entries, err := os.ReadDir(s.root)
	if err != nil {
		return
	}
	var kept string
	var newest time.Time
	for _, e := range entries {
		if !e.IsDir() || e.Name() == s.name {
			continue
		}
		m, err := readPrepackManifest(filepath.Join(s.root, e.Name()))
		info, statErr := e.Info()
		if err != nil || statErr != nil || m.Key.Model != s.key.Model || info.ModTime().Before(newest) {
			s.remove(e.Name())
			continue
		}
		if kept != "" {
			s.remove(kept)
		}
		kept, newest = e.Name(), info.ModTime()
	}
}

// remove removes a folder below root unless it is in use. It is renamed first: no
// folder that looks complete may lack files.
func (s *prepackStore) remove(name string) {
	dir := filepath.Join(s.root, name)
	lock := lockOf(dir)
	defer lock.Unlock()
	if free, err := lock.TryLock(); !free && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	aside := filepath.Join(s.root, prepackWork+"remove-"+name)
	if err := os.Rename(dir, aside); err != nil {
		return
	}
	s.log.Info("removed prepacked weights of another model, CPU or runtime", "folder", dir)
	os.RemoveAll(aside) //nolint:errcheck // what stays is removed the next time
}
