package main

import (
	"context"
	"log/slog"
	"runtime"

	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/cpu"
)

// modelRuntime is ONNX Runtime as the program uses it.
type modelRuntime interface {
	Open(ctx context.Context, dir string, opts cpu.Options) (model.Model, error)
	Version() string
	Close() error
}

// ortRuntime is the real one.
type ortRuntime struct{ *cpu.Runtime }

// Open loads an exported folder.
func (r ortRuntime) Open(ctx context.Context, dir string, opts cpu.Options) (model.Model, error) {
	m, err := r.Runtime.Open(ctx, dir, opts)
	if err != nil {
		return nil, err // not m: a nil pointer in an interface is not nil
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
	cfg     config.Config
	log     *slog.Logger
	runtime modelRuntime
}

func (c *cpuBackend) device() config.Device      { return config.CPU }
func (c *cpuBackend) precision() model.Precision { return "" }
func (c *cpuBackend) close() error               { return nil }

func (c *cpuBackend) start(ctx context.Context, dir string, manifest *model.Manifest, cfg engine.Config) (*engine.Engine, error) {
	spec := manifest.Spec
	workers, threads := c.cfg.Share(spec, runtime.GOMAXPROCS(0))
	opts := cpuOptions(c.cfg, c.log, spec, threads)
	models, err := engine.OpenModels(workers, func() (model.Model, error) {
		m, err := c.runtime.Open(ctx, dir, opts)
		opts.Verify = model.VerifyNever // the other workers read the same files
		return m, err
	})
	if err != nil {
		return nil, err
	}
	// What the state of each worker's batch takes at most:
	f, rows := models[0].Footprint(), int64(max(cfg.Rows, cfg.MaxBeams))
	state := rows * (int64(cfg.MaxLength)*f.RowToken + int64(spec.MaxPositions)*f.SourceToken)
	if cfg.Memory > 0 {
		state = min(state, cfg.Memory)
	}
	c.log.Info("decoding", "device", c.device(), "workers", workers, "threads", threads, "rows", rows,
		"max_beams", cfg.MaxBeams, "max_length", cfg.MaxLength, "state_bytes_at_most", int64(workers)*state)
	return engine.Start(cfg, models...)
}

// cpuOptions says how a model is opened on the CPU.
func cpuOptions(cfg config.Config, log *slog.Logger, spec model.Spec, threads int) cpu.Options {
	return cpu.Options{
		Threads: threads, Verify: cfg.Verify, NoPrepack: !bool(cfg.Prepack) || spec.Small(), Log: log,
	}
}
