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
	"dragoman/tokenizer"
)

// backend runs models.
type backend interface {
	// device returns the backend's name, for metrics.
	device() config.Device
	// precision returns the precision of exports for the backend if PRECISION is not set; "" leaves the choice to the size of the
	// model.
	precision() model.Precision
	// accepts returns an error that wraps errElsewhere for a model that cannot run on any device of the backend.
	accepts(m *model.Manifest) error
	// needs returns the estimated host memory of a model, besides memory shared by processes, in bytes.
	needs(cfg config.Config, m *model.Manifest) int64
	// start loads the exported folder dir once for each worker and starts engines on them, which the caller must close before the
	// backend. start returns the maximum of the engines' host memory, as needs does. start fails with a [catalog.NoRoomError] if
	// devices have no room for the model, but would have room without other models. An error that wraps errElsewhere means that
	// another backend may run the model. When ctx is done, start ends soon, with ctx's error.
	start(ctx context.Context, cfg config.Config, dir string, m *model.Manifest, tok *tokenizer.Tokenizer, decoding engine.Config) (engines *engine.Engine, bytes int64, err error)
	close() error
}

// errElsewhere means that a model cannot run on a backend, but may run on another backend.
var errElsewhere = errors.New("the model cannot run there")

// backends returns the backends that the configuration allows for the model, the best first; there is at least one. Backends that
// this machine lacks are left out. The caller must close them.
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
			l.log.Debug("the model runs on the CPU", "no_gpu", cli.OneLine(err)) // most users without a GPU need no message
		default:
			l.log.Info("the model runs on the CPU", "no_gpu", cli.OneLine(err))
		}
	}
	if l.cfg.Device != config.CUDA {
		onCPU, err := newCPUBackend(rt)
		if err != nil {
			return nil, err
		}
		list = append(list, onCPU)
	}
	return list, nil
}
