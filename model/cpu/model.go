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

// Options configures a model.
type Options struct {
	// Threads is the number of threads that share the work of a step; 0 means one per core.
	Threads int
	// Verify selects when the files' checksums are compared; "" is model.VerifyChanged.
	Verify model.Verify
	// NoShortlist makes all tokens candidates, also for a model with a lexical shortlist.
	NoShortlist bool
	// Scripts returns the writing systems of a language, by the names of [unicode.Scripts]; none: unknown. With Scripts, if the
	// export has scripts (see [model.Manifest]), translations have only tokens of their language's scripts, of any script, and
	// those within their source, and Latin ones if the source has letters that are not Latin. nil: all tokens are allowed.
	Scripts func(language string) []string
	// Within calls add with the tokens whose text is within a source, see [tokenizer.Tokenizer.Within]. It must be safe for
	// concurrent use. nil: the source's own tokens.
	Within func(source []int64, add func(id int64))
}

// Model is an exported model in ONNX Runtime: a session for the encoder and one for the decoder step. It implements model.Model.
type Model struct {
	manifest *model.Manifest
	weights  *mapping.File // weights of both sessions
	encoder  *onnxruntime.Session
	decoder  *onnxruntime.Session
	memory   *pool.Pool // shared by the sessions
	resident int64      // see Resident
	threads  int        // threads of a run

	noShortlist bool
	scripts     *scripts // nil: translations may have all tokens
}

// Open loads the exported folder dir. It first checks the files against the manifest, so that a damaged weight causes an error,
// not a wrong translation.
//
// The weights are mapped from the file: workers and processes that open the same folder share its pages, and Open reads them only
// for the checksums. If ctx ends, Open soon ends with ctx's error.
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
		if m.scripts, err = readScripts(dir, manifest, opts); err != nil {
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

// load loads the two graphs of the folder dir concurrently.
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

// lost returns the error of a model whose weights have changed.
func lost(weights *mapping.File) error {
	if err := weights.Err(); err != nil {
		return fmt.Errorf("%w: %w: %w", model.ErrLost, model.ErrDamaged, err)
	}
	return nil
}

// ONNX Runtime does not report the memory of its objects. The figures below were measured, see TestResident: per model, and per
// byte of its exported graphs.
const (
	objects        = 512 << 10
	objectsPerByte = 19
)

// Resident returns the bytes of memory of an idle model, besides mapped files: the sessions' constants, as counted, and objects,
// as estimated. The memory of sentences comes on top, see [Model.Footprint].
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
