package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"dragoman/app/catalog"
	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/cuda"
)

// gpuWorking is an estimate of the GPU memory of a model besides its weights and the state of its batch: the data between two
// operators, and the needs of the libraries. The estimate only saves tries that would fail, because a GPU that turns out to be
// too full is skipped too.
const gpuWorking = 512 << 20

// placement places one of many models on a GPU: of the GPUs with room for it, the one with the most free memory.
type placement struct {
	*gpuBackend
	weights, state int64 // bytes of a worker
}

// room is a GPU and its memory, in bytes.
type room struct {
	number      int
	free, total int64
}

// rooms returns the GPUs, the one with the most free memory first, and the errors of unusable ones.
func (g *gpuBackend) rooms() (list []room, unavailable []error) {
	for _, number := range g.numbers {
		free, total, err := g.runtime.Memory(number)
		if err != nil {
			unavailable = append(unavailable, err)
			continue
		}
		list = append(list, room{number, free, total})
	}
	slices.SortStableFunc(list, func(a, b room) int { return cmp.Compare(b.free, a.free) })
	return list, unavailable
}

// open loads the model for each worker onto one GPU. It fails with a [catalog.NoRoomError] if all GPUs that are large enough are
// too full.
func (p placement) open(ctx context.Context, cfg config.Config, dir string) ([]model.Model, error) {
	workers := max(1, cfg.Workers)
	need := int64(workers) * (p.weights + p.state + gpuWorking)
	rooms, unavailable := p.rooms()
	var most int64 = -1 // maximum free memory of the GPUs that are large enough
	opts := cuda.Options{Verify: cfg.Verify, Log: p.log}
	for _, r := range rooms {
		if r.total < need {
			unavailable = append(unavailable, fmt.Errorf("GPU %d: the model needs %s of memory, but the GPU has %s: lower KV_MEMORY or workers",
				r.number, size(need), size(r.total)))
			continue
		}
		if r.free < need {
			most = max(most, r.free)
			continue
		}
		opts.Number = r.number
		models, err := p.openIn(ctx, workers, dir, &opts)
		switch {
		case err == nil:
			p.log.Info("placed a model", "gpu", r.number, "needs", need, "free", r.free)
			return models, nil
		case errors.Is(err, cuda.ErrMemory):
			most = max(most, r.free)
		case errors.Is(err, cuda.ErrUnavailable):
			unavailable = append(unavailable, fmt.Errorf("GPU %d: %w", r.number, err))
		default:
			return nil, err
		}
	}
	if most >= 0 {
		return nil, &catalog.NoRoomError{Device: string(config.CUDA), Needs: need, Free: most}
	}
	return nil, fmt.Errorf("%w: %w", errElsewhere, errors.Join(unavailable...))
}

// openIn loads the model onto a GPU, and requires room on the GPU for the batches, which are reserved later.
func (p placement) openIn(ctx context.Context, workers int, dir string, opts *cuda.Options) ([]model.Model, error) {
	models, err := p.openOn(ctx, workers, dir, opts)
	if err != nil {
		return nil, err
	}
	free, _, err := p.runtime.Memory(opts.Number)
	if need := int64(workers) * p.state; err == nil && free < need {
		err = fmt.Errorf("%w: batches take %s, GPU %d has %s left", cuda.ErrMemory, size(need), opts.Number, size(free))
	}
	if err != nil {
		return nil, errors.Join(err, engine.CloseModels(models))
	}
	return models, nil
}

// size formats bytes for people.
func size(bytes int64) string { return humanize.IBytes(uint64(max(0, bytes))) }
