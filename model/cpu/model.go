package cpu

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"

	ort "github.com/yalue/onnxruntime_go"
	"golang.org/x/sync/errgroup"

	"dragoman/model"
	"dragoman/model/cpu/pool"
)

// Options says how to run a model.
type Options struct {
	// Threads is the number of threads that share the work of one step; 0 is one
	// for each core.
	Threads int
	// Verify says when the files' checksums are compared; "" is model.VerifyChanged.
	Verify model.Verify
	// NoPrepack makes every session hold its own copy of the matrices instead of
	// sharing files of them, which are kept in a folder beside the model. An int8
	// export has no use for either.
	NoPrepack bool
	// Log is told of prepacked weights that are made or cannot be; nil is no log.
	Log *slog.Logger
}

// Model is an exported model in ONNX Runtime: a session for the encoder and one
// for the decoder step. It implements model.Model.
type Model struct {
	manifest *model.Manifest
	encoder  *ort.DynamicAdvancedSession
	decoder  *ort.DynamicAdvancedSession
	prepack  io.Closer  // keeps the prepacked files from being removed; nil without
	memory   *pool.Pool // of the sessions
	resident int64      // see Resident
}

// Open loads the exported folder dir. It checks the files against the manifest
// first, so that a damaged weight is an error here, not a wrong translation.
//
// The matrices of an int8 export are mapped as they are. For others Open uses
// prepacked weights (see prepack.go), and makes them in dir if there are none for this
// CPU and runtime, which takes some seconds, once. Where that fails
// it says so in the log and loads the model without them. Any number of goroutines
// and processes may open a folder at once. When ctx is done Open ends soon, with its
// error, and leaves nothing unfinished in dir.
func (r *Runtime) Open(ctx context.Context, dir string, opts Options) (*Model, error) {
	defer trimHeap()
	r.memory.Enter(pool.Loading)
	defer r.memory.Leave(pool.Loading)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	manifest, err := model.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if err := manifest.Check(ctx, dir, opts.Verify); err != nil {
		return nil, err
	}
	if !opts.NoPrepack && manifest.Precision != model.INT8 { // whose matrices are read as they were exported
		m, err := r.openPrepacked(ctx, dir, manifest, opts)
		if err == nil {
			return m, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		opts.Log.Warn("no prepacked weights: every worker and process holds its own copy of the matrices",
			"folder", dir, "error", err)
	}
	config := r.newSessionConfig(opts.Threads)
	return r.openModel(manifest, func(name string) (*ort.DynamicAdvancedSession, error) {
		return config.load(ctx, filepath.Join(dir, name))
	})
}

// openPrepacked loads dir with prepacked weights, made now if need be.
func (r *Runtime) openPrepacked(ctx context.Context, dir string, manifest *model.Manifest, opts Options) (*Model, error) {
	store, err := r.newPrepackStore(ctx, dir, manifest, opts)
	if err != nil {
		return nil, err
	}
	packed, err := store.findOrMake(ctx)
	if err != nil {
		return nil, err
	}
	m, err := r.openModel(manifest, func(name string) (*ort.DynamicAdvancedSession, error) {
		return packed.load(ctx, name)
	})
	if err != nil {
		return nil, errors.Join(err, packed.Close())
	}
	m.prepack = packed
	return m, nil
}

// openModel loads the two graphs by their names, at the same time.
func (r *Runtime) openModel(manifest *model.Manifest, load func(name string) (*ort.DynamicAdvancedSession, error)) (*Model, error) {
	m := &Model{manifest: manifest, memory: r.memory, resident: objects}
	var g errgroup.Group
	var taken [2]int64
	for i, s := range []struct {
		name    string
		session **ort.DynamicAdvancedSession
	}{{model.EncoderFile, &m.encoder}, {model.DecoderFile, &m.decoder}} {
		m.resident += objectsPerByte * manifest.Files[s.name].Size
		g.Go(func() (err error) {
			taken[i], err = pool.Taken(func() (err error) { *s.session, err = load(s.name); return err })
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.resident += taken[0] + taken[1]
	return m, nil
}

// ONNX Runtime does not say how many bytes its objects take. These were measured, see
// TestResident: for a model, and for each byte of its exported graphs.
const (
	objects        = 512 << 10
	objectsPerByte = 19
)

// Resident is how many bytes of memory the model takes while nothing decodes, beside files
// that are mapped: what the sessions hold of constants and packed matrices, as counted, and
// of objects, as estimated. What sentences take comes on top of it, see [Model.Footprint].
func (m *Model) Resident() int64 { return m.resident }

// Spec returns the model's sizes.
func (m *Model) Spec() model.Spec { return m.manifest.Spec }

// Close releases the sessions, and gives their memory back to the system.
func (m *Model) Close() error {
	defer trimHeap()
	var errs []error
	for _, s := range []*ort.DynamicAdvancedSession{m.encoder, m.decoder} {
		if s != nil {
			errs = append(errs, s.Destroy())
		}
	}
	if m.prepack != nil { // last: until here the sessions read its files
		errs = append(errs, m.prepack.Close())
	}
	m.encoder, m.decoder, m.prepack = nil, nil, nil
	return errors.Join(errs...)
}
