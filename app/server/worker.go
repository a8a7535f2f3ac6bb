package server

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/fleet"
)

// loadWorker is load for a worker. The engines of a worker accept everything, because each job is a single sentence, taken only
// when there is room. Gateways limit the waiting sentences.
func (l *loader) loadWorker(ctx context.Context, broker *fleet.Broker, registry prometheus.Registerer) (*translation, error) {
	l.cfg.Concurrency, l.cfg.QueueWait = math.MaxInt32, 0
	t, err := l.load(ctx, registry)
	if err != nil {
		return nil, err
	}
	for _, m := range t.snapshot.Models {
		if m.Config.OpenAI != nil {
			l.log.Warn("a worker offers no language models: serve them by a process of role all", "model", m.Name)
		}
	}
	worker := fleet.NewWorker(fleet.WorkerConfig{
		Broker: broker, Models: t.catalog, Rows: l.cfg.BatchSize, Version: l.version,
		MaxBeams: l.cfg.MaxBeams, MaxLength: l.cfg.MaxLengthLimit, Metrics: fleet.NewWorkerMetrics(registry),
	})
	t.unready = worker.Err
	t.work = func(ctx context.Context, refresh func()) {
		hurry, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		defer context.AfterFunc(ctx, func() { time.AfterFunc(l.cfg.ShutdownTimeout, cancel) })()
		worker.Run(ctx, hurry, refresh)
	}
	return t, nil
}
