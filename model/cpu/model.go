package cpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"dragoman/model"
	"dragoman/model/cpu/pool"
	"dragoman/model/mapping"
	"dragoman/model/onnxruntime"
)

// Options says how to run a model.
type Options struct {
	// Threads is the number of threads that share the work of one step; 0 is one
	// for each core.
	Threads int
	// Verify says when the files' checksums are compared; "" is model.VerifyChanged.
	Verify model.Verify
	// NoShortlist has all tokens be candidates, also of a model with a lexical shortlist.
	NoShortlist bool
	// Scripts are the writing systems of a language, as [unicode.Scripts] has them; none: unknown. With them translations have
	// only tokens of their language's scripts, of no script, and of their source, where the export knows scripts: see
	// [model.Manifest]. nil: they may have all.
	Scripts func(language string) []string
}

// Model is an exported model in ONNX Runtime: a session for the encoder and one
// for the decoder step. It implements model.Model.
type Model struct {
	manifest *model.Manifest
	weights  *mapping.File // of both sessions
	encoder  *onnxruntime.Session
	decoder  *onnxruntime.Session
	memory   *pool.Pool // of the sessions
	resident int64      // see Resident
	threads  int        // of a run

	noShortlist bool
	scripts     *scripts // nil: translations may have all
}

// Open loads the exported folder dir. It checks the files against the manifest
// first, so that a damaged weight is an error here, not a wrong translation.
//
// The weights are mapped as they lie in the file: the workers and processes that open
// a folder share its pages, and Open reads none of them but for the checksums. When ctx
// is done Open ends soon, with its error.
func (r *Runtime) Open(ctx context.Context, dir string, opts Options) (*Model, error) {
	defer trimHeap()
	manifest, err := model.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if err := manifest.Check(ctx, dir, opts.Verify); err != nil {
		return nil, err
	}
	m := &Model{manifest: manifest, memory: r.memory, resident: objects, noShortlist: opts.NoShortlist,
		threads: cmp.Or(opts.Threads, runtime.NumCPU())}
	if opts.Scripts != nil && manifest.Scripts != nil {
		if m.scripts, err = readScripts(dir, manifest, opts.Scripts); err != nil {
			return nil, err
		}
	}
	if m.weights, err = mapping.Open(filepath.Join(dir, model.WeightsFile)); err != nil {
		return nil, err
	}
	if err := m.load(ctx, r, dir); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// load loads the two graphs of the folder dir, at the same time.
func (m *Model) load(ctx context.Context, r *Runtime, dir string) error {
	var g errgroup.Group
	var taken [2]int64
	for i, s := range []struct {
		name    string
		session **onnxruntime.Session
	}{{model.EncoderFile, &m.encoder}, {model.DecoderFile, &m.decoder}} {
		m.resident += objectsPerByte * m.manifest.Files[s.name].Size
		g.Go(func() (err error) {
			taken[i], err = pool.Taken(func() (err error) {
				*s.session, err = r.session(ctx, filepath.Join(dir, s.name), m.weights, m.threads)
				return err
			})
			return err
		})
	}
	err := g.Wait()
	m.resident += taken[0] + taken[1]
	return errors.Join(err, lost(m.weights))
}

// lost is the error of a model whose weights are not what they were.
func lost(weights *mapping.File) error {
	if err := weights.Err(); err != nil {
		return fmt.Errorf("%w: %w: %w", model.ErrLost, model.ErrDamaged, err)
	}
	return nil
}

// ONNX Runtime does not say how many bytes its objects take. These were measured, see
// TestResident: for a model, and for each byte of its exported graphs.
const (
	objects        = 512 << 10
	objectsPerByte = 19
)

// Resident is how many bytes of memory the model takes while nothing decodes, beside files
// that are mapped: what the sessions hold of constants, as counted, and of objects, as estimated. What sentences take comes on top of it, see [Model.Footprint].
func (m *Model) Resident() int64 { return m.resident }

// Spec returns the model's sizes.
func (m *Model) Spec() model.Spec { return m.manifest.Spec }

// Close releases the sessions, and gives their memory back to the system.
func (m *Model) Close() error {
	defer trimHeap()
	m.encoder.Close()
	m.decoder.Close()
	m.weights.Close()
	m.encoder, m.decoder, m.weights = nil, nil, nil
	return nil
}
