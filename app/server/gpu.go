package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sort"

	"dragoman/app/cli"
	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/cuda"
	"dragoman/tokenizer"
)

// gpuRuntime is the part of ONNX Runtime with its CUDA provider that the program uses.
type gpuRuntime interface {
	// Devices returns the number of GPUs; see [cuda.Runtime.Devices].
	Devices() (int, error)
	// Memory returns the free and the total bytes of a GPU; see [cuda.Runtime.Memory].
	Memory(number int) (free, total int64, err error)
	Open(ctx context.Context, dir string, opts cuda.Options) (model.Model, error)
	Close() error
}

// cudaRuntime implements gpuRuntime by ONNX Runtime.
type cudaRuntime struct{ *cuda.Runtime }

// Open loads an exported folder onto a GPU.
func (r cudaRuntime) Open(ctx context.Context, dir string, opts cuda.Options) (model.Model, error) {
	return opened(r.Runtime.Open(ctx, dir, opts))
}

func loadGPUs(library string) (gpuRuntime, error) {
	r, err := cuda.Load(library)
	if err != nil {
		return nil, err
	}
	return cudaRuntime{r}, nil
}

// gpuBackend runs models on the NVIDIA GPUs that the configuration allows.
type gpuBackend struct {
	log     *slog.Logger
	runtime gpuRuntime
	numbers []int
	// place is set if there may be many models: then each runs on one GPU. A single model runs on all GPUs.
	place bool
}

// openGPUs opens the configured GPUs. openGPUs fails if there is no GPU, with the missing part, and if CUDA_DEVICES names a GPU
// that does not exist.
func (l *loader) openGPUs(library string) (_ *gpuBackend, err error) {
	rt, err := l.loadGPUs(library)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, rt.Close())
		}
	}()
	n, err := rt.Devices()
	if err != nil {
		return nil, err
	}
	numbers := l.cfg.CUDADevices
	if len(numbers) == 0 {
		for i := range n {
			numbers = append(numbers, i)
		}
	}
	if last := slices.Max(numbers); last >= n {
		return nil, fmt.Errorf("CUDA_DEVICES has %d, but there are %d GPUs, the first is 0", last, n)
	}
	return &gpuBackend{log: l.log, runtime: rt, numbers: numbers}, nil
}

func (g *gpuBackend) device() config.Device      { return config.CUDA }
func (g *gpuBackend) precision() model.Precision { return model.FP16 }
func (g *gpuBackend) close() error               { return g.runtime.Close() }

// needs returns 0, because a model uses memory of the GPU, whose size limits the models placed there.
func (g *gpuBackend) needs(config.Config, *model.Manifest) int64 { return 0 }

// acceptsNetwork returns an error for a network that GPUs cannot run.
func acceptsNetwork(spec model.Spec) error {
	if err := cuda.Accepts(spec); err != nil {
		return fmt.Errorf("%w: %w: set DEVICE=cpu", errElsewhere, err)
	}
	return nil
}

func (g *gpuBackend) accepts(m *model.Manifest) error {
	if err := acceptsNetwork(m.Spec); err != nil {
		return err
	}
	if m.Precision == model.INT8 {
		return fmt.Errorf("%w: it is an int8 model, which is for CPUs: export it with PRECISION=fp16 for GPUs", errElsewhere)
	}
	return nil
}

func (g *gpuBackend) start(ctx context.Context, cfg config.Config, dir string, m *model.Manifest, _ *tokenizer.Tokenizer, decoding engine.Config) (*engine.Engine, int64, error) {
	if err := g.accepts(m); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", dir, err)
	}
	limits, err := fit(func(l model.Limits) int64 { return cuda.StateBytes(m, l) }, &decoding)
	if err != nil {
		return nil, 0, err
	}
	decoding.Pool = nil // because the pool is memory of the host
	state := cuda.StateBytes(m, limits)
	open := g.open
	if g.place {
		open = placement{g, m.Files[model.WeightsFile].Size, state}.open
	}
	models, err := open(ctx, cfg, dir)
	if err != nil {
		return nil, 0, err
	}
	decoding.Log.Info("decoding", "device", g.device(), "workers", len(models), "rows", limits.Rows, "max_beams", decoding.MaxBeams,
		"max_length", decoding.MaxLength, "state_bytes", int64(len(models))*state)
	engines, err := engine.Start(decoding, models...)
	return engines, 0, err
}

// open loads the model for each worker, GPU by GPU. If CUDA_DEVICES is not set, failing GPUs are left out, as long as one works.
func (g *gpuBackend) open(ctx context.Context, cfg config.Config, dir string) (models []model.Model, err error) {
	defer func() {
		if err != nil {
			models, err = nil, errors.Join(err, engine.CloseModels(models))
		}
	}()
	var unavailable []error
	opts := cuda.Options{Verify: cfg.Verify, Log: g.log}
	for _, number := range g.numbers {
		opts.Number = number
		opened, err := g.openOn(ctx, cfg.Workers, dir, &opts)
		models = append(models, opened...)
		switch {
		case err == nil:
		case !errors.Is(err, cuda.ErrUnavailable):
			return models, err
		case len(cfg.CUDADevices) > 0:
			return models, fmt.Errorf("CUDA_DEVICES: GPU %d: %w", number, err)
		default:
			unavailable = append(unavailable, fmt.Errorf("GPU %d: %w", number, err))
		}
	}
	if len(models) == 0 {
		return nil, fmt.Errorf("%w: %w", errElsewhere, errors.Join(unavailable...))
	}
	for _, err := range unavailable {
		g.log.Warn("a GPU is not used", "error", cli.OneLine(err))
	}
	return models, nil
}

// openOn loads the model for each worker of a GPU. On error openOn returns no models.
func (g *gpuBackend) openOn(ctx context.Context, workers int, dir string, opts *cuda.Options) ([]model.Model, error) {
	return engine.OpenModels(max(1, workers), func() (model.Model, error) {
		m, err := g.runtime.Open(ctx, dir, *opts)
		opts.Verify = model.VerifyNever // for the other workers and GPUs, because they read the same files
		return m, err
	})
}

// fit lowers cfg's rows so that the state of a batch, which a GPU reserves as a whole, fits into cfg's memory; then the engine
// has nothing left to count. It returns the limits of a batch.
func fit(stateBytes func(model.Limits) int64, cfg *engine.Config) (model.Limits, error) {
	limits, memory := cfg.Limits(), cfg.Memory
	cfg.Memory = 0
	if memory == 0 || stateBytes(limits) <= memory {
		return limits, nil
	}
	of := func(rows int) model.Limits {
		fewer := *cfg
		fewer.Rows = rows
		return fewer.Limits()
	}
	cfg.Rows = sort.Search(cfg.Rows, func(rows int) bool { return stateBytes(of(rows+1)) > memory })
	limits = of(cfg.Rows)
	if need := stateBytes(limits); cfg.Rows == 0 || need > memory {
		return limits, fmt.Errorf("KV_MEMORY is %d bytes, but a GPU reserves %d for a sentence with %d beams of %d tokens: "+
			"raise KV_MEMORY, or lower MAX_BEAMS or MAX_LENGTH_LIMIT", memory, need, cfg.MaxBeams, cfg.MaxLength)
	}
	return limits, nil
}
