package server

import (
	"context"
	"log/slog"

	"dragoman/app/cli"
	"dragoman/app/config"
	"dragoman/model"
)

// pull prepares the folder of a model, or adds it as a version to a repository, and returns which of the two as text.
func (p *program) pull(ctx context.Context, cfg config.Config, log *slog.Logger, into cli.Repository) (string, error) {
	l := p.loader(cfg, log)
	if into.Server != "" {
		return l.addServer(ctx, into)
	}
	needed, err := l.pullPrecision()
	if err != nil {
		return "", err
	}
	if into.Name != "" {
		return (&addition{loader: l, precision: needed, name: into.Name}).add(ctx, into.Dir)
	}
	return l.prepare(ctx, needed)
}

// pullPrecision returns the precision for the device on which serve will run the model, if PRECISION is not set: with DEVICE=cuda
// the GPU need not be in this machine.
func (l *loader) pullPrecision() (model.Precision, error) {
	if l.cfg.Device == config.CUDA {
		return model.FP16, nil
	}
	if !l.cfg.UseGPUs() {
		return "", nil
	}
	library, err := findLibrary(l.cfg.Library, libraryFolders())
	if err != nil {
		return "", nil // without the library, GPUs cannot be detected
	}
	g, err := l.openGPUs(library)
	if err != nil {
		l.log.Info("the model is exported for the CPU", "no_gpu", cli.OneLine(err))
		return "", nil
	}
	return g.precision(), g.close()
}
