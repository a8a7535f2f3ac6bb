package main

import (
	"context"
	"errors"
	"fmt"

	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/cuda"
)

// place is where a model runs.
type place interface {
	// device is the place's name, for metrics.
	device() config.Device
	// precision is what a model is exported in where PRECISION does not say; "" lets its
	// size decide.
	precision() model.Precision
	// start loads the exported folder dir once for each worker and starts engines on
	// them, which the caller closes before the place. An error that wraps errElsewhere
	// says that another place may do. When ctx is done start ends soon, with its error.
	start(ctx context.Context, dir string, manifest *model.Manifest, cfg engine.Config) (*engine.Engine, error)
	close() error
}

// errElsewhere means that a model cannot run in a place, but may in another.
var errElsewhere = errors.New("the model cannot run there")

// places are where the configuration lets the model run, the best first; there is one at
// least. Those that this machine lacks are left out. The caller closes them.
func (p *program) places(rt modelRuntime, library string) ([]place, error) {
	var list []place
	if p.cfg.UseGPUs() {
		g, err := p.openGPUs(library)
		switch {
		case err == nil:
			list = append(list, g)
		case p.cfg.Device == config.CUDA:
			return nil, fmt.Errorf("DEVICE=cuda: %w", err)
		case errors.Is(err, cuda.ErrNoProvider):
			p.log.Debug("the model runs on the CPU", "no_gpu", oneLine(err)) // as where nobody thinks of GPUs
		default:
			p.log.Info("the model runs on the CPU", "no_gpu", oneLine(err))
		}
	}
	if p.cfg.Device != config.CUDA {
		list = append(list, &processor{p, rt})
	}
	return list, nil
}
