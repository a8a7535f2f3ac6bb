package server

import (
	"context"
	"errors"
	"fmt"

	"dragoman/app/cli"
	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/cuda"
)

// backend is where a model runs.
type backend interface {
	// device is the backend's name, for metrics.
	device() config.Device
	// precision is what a model is exported in where PRECISION does not say; "" lets its
	// size decide.
	precision() model.Precision
	// accepts says why a model cannot run on any device of the backend, with an error that wraps
	// errElsewhere.
	accepts(m *model.Manifest) error
	// needs is the memory of the host that a model will take beside what processes share, estimated.
	needs(cfg config.Config, m *model.Manifest) int64
	// start loads the exported folder dir once for each worker and starts engines on
	// them, which the caller closes before the backend. It returns the memory that they take
	// at most, likewise. It fails with a [catalog.NoRoomError] where devices have no room for the
	// model, but would have without others. An error that wraps errElsewhere says that another backend may do.
	// When ctx is done start ends soon, with its error.
	start(ctx context.Context, cfg config.Config, dir string, m *model.Manifest, decoding engine.Config) (engines *engine.Engine, bytes int64, err error)
	close() error
}

// errElsewhere means that a model cannot run on a backend, but may on another.
var errElsewhere = errors.New("the model cannot run there")

// backends are where the configuration lets the model run, the best first; there is one at
// least. Those that this machine lacks are left out. The caller closes them.
func (l *loader) backends(rt modelRuntime, library string) ([]backend, error) {
	var list []backend
	if l.cfg.UseGPUs() {
		g, err := l.openGPUs(library)
		switch {
		case err == nil:
			g.place = len(l.cfg.Repositories) > 0
			list = append(list, g)
		case l.cfg.Device == config.CUDA:
			return nil, fmt.Errorf("DEVICE=cuda: %w", err)
		case errors.Is(err, cuda.ErrNoProvider):
			l.log.Debug("the model runs on the CPU", "no_gpu", cli.OneLine(err)) // as where nobody thinks of GPUs
		default:
			l.log.Info("the model runs on the CPU", "no_gpu", cli.OneLine(err))
		}
	}
	if l.cfg.Device != config.CUDA {
		onCPU, err := newCPUBackend(l.log, rt)
		if err != nil {
			return nil, err
		}
		list = append(list, onCPU)
	}
	return list, nil
}
