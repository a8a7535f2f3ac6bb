package server

import (
	"context"
	"runtime"

	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/app/engine/fairshare"
	"dragoman/app/text/language"
	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/tokenizer"
)

// modelRuntime is the part of ONNX Runtime that the program uses.
type modelRuntime interface {
	Open(ctx context.Context, dir string, opts cpu.Options) (model.Model, error)
	Version() string
	Close() error
}

// ortRuntime implements modelRuntime by ONNX Runtime.
type ortRuntime struct{ *cpu.Runtime }

// Open loads an exported folder.
func (r ortRuntime) Open(ctx context.Context, dir string, opts cpu.Options) (model.Model, error) {
	return opened(r.Runtime.Open(ctx, dir, opts))
}

// opened returns the model as an interface, or nil after an error: a nil pointer in an interface is not nil.
func opened[M model.Model](m M, err error) (model.Model, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

func loadRuntime(library string) (modelRuntime, error) {
	r, err := cpu.Load(library)
	if err != nil {
		return nil, err
	}
	return ortRuntime{r}, nil
}

// cpuBackend runs models on the CPU.
type cpuBackend struct {
	runtime modelRuntime
	cores   *fairshare.Cores // shared by its models
}

// roundsPerCore is the maximum number of rounds that share a core. A round leaves cores idle at times, when threads of an
// operator wait for each other; the round of another model uses these cores.
const roundsPerCore = 2

// newCPUBackend returns a backend whose models share all cores.
func newCPUBackend(rt modelRuntime) (*cpuBackend, error) {
	shared, err := fairshare.New(roundsPerCore * runtime.GOMAXPROCS(0))
	return &cpuBackend{rt, shared}, err
}

func (c *cpuBackend) device() config.Device      { return config.CPU }
func (c *cpuBackend) precision() model.Precision { return "" }
func (c *cpuBackend) close() error               { return nil }

func (c *cpuBackend) accepts(*model.Manifest) error { return nil }

// copies returns the number of times that a model is opened for its workers. Workers of one thread share one copy. With more
// threads, each worker has a copy of its own, with threads of its own.
func copies(workers, threads int) int {
	if threads == 1 {
		return 1
	}
	return workers
}

// companion is a worker's view of a model that another worker has opened, and closes.
type companion struct{ model.Model }

// Close leaves the model open.
func (companion) Close() error { return nil }

// needs returns little, because the matrices are in files that processes share.
func (c *cpuBackend) needs(cfg config.Config, m *model.Manifest) int64 {
	return int64(copies(cfg.Share(m.Spec, runtime.GOMAXPROCS(0)))) * ownBytes
}

// ownBytes is an upper limit of the memory of a copy besides files; a loaded model reports its actual size.
const ownBytes = 8 << 20

// stateBytes returns the maximum size of the state of a worker's batch.
func stateBytes(cfg engine.Config, spec model.Spec, f model.Footprint) int64 {
	rows := int64(max(cfg.Rows, cfg.MaxBeams))
	state := rows * (int64(cfg.MaxLength)*f.RowToken + int64(spec.MaxPositions)*f.SourceToken)
	if cfg.Memory > 0 {
		state = min(state, cfg.Memory)
	}
	return state
}

// targetScripts reports whether translations of a model on the CPU have only tokens in the scripts of the target language and of
// the source.
func targetScripts(cfg config.Config, m *model.Manifest) bool {
	return cfg.Scripts != config.No && m.Scripts != nil && m.Scripts.Rules == model.ScriptRules
}

// isOlder reports whether an export of an earlier version has to be made again for what [targetScripts] says.
func isOlder(cfg config.Config, m *model.Manifest) bool {
	return cfg.Scripts != config.No && m.Scripts != nil && m.Scripts.Rules != model.ScriptRules
}

func (c *cpuBackend) start(ctx context.Context, cfg config.Config, dir string, m *model.Manifest, tok *tokenizer.Tokenizer, decoding engine.Config) (*engine.Engine, int64, error) {
	workers, threads := cfg.Share(m.Spec, runtime.GOMAXPROCS(0))
	share, err := c.cores.Join(threads)
	if err != nil {
		return nil, 0, err
	}
	decoding.Cores = share
	opts := cpu.Options{Threads: threads, Verify: cfg.Verify, NoShortlist: !bool(cfg.Shortlist)}
	if targetScripts(cfg, m) {
		opts.Scripts, opts.Within = language.Scripts, tok.Within
	} else if cfg.Scripts == config.Yes || isOlder(cfg, m) {
		decoding.Log.Warn("TARGET_SCRIPTS has no effect on this model: it needs several languages, PRECISION=int8 and an export by this version; if it has both, pull it again", "model", m.Source)
	}
	models, err := engine.OpenModels(copies(workers, threads), func() (model.Model, error) {
		opened, err := c.runtime.Open(ctx, dir, opts)
		opts.Verify = model.VerifyNever // for the other copies, because they read the same files
		return opened, err
	})
	if err != nil {
		return nil, 0, err
	}
	bytes := resident(models)
	for len(models) < workers {
		models = append(models, companion{models[0]})
	}
	state := int64(workers) * stateBytes(decoding, m.Spec, models[0].Footprint())
	decoding.Log.Info("decoding", "device", c.device(), "workers", workers, "threads", threads, "rows", max(decoding.Rows, decoding.MaxBeams),
		"max_beams", decoding.MaxBeams, "max_length", decoding.MaxLength, "target_scripts", opts.Scripts != nil, "state_bytes_at_most", state)
	engines, err := engine.Start(decoding, models...)
	return engines, bytes, err
}

// resident returns the memory of models that report it, besides memory shared by processes.
func resident(models []model.Model) (bytes int64) {
	for _, m := range models {
		if m, ok := m.(interface{ Resident() int64 }); ok {
			bytes += m.Resident()
		}
	}
	return bytes
}
