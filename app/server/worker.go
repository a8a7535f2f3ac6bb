package server

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/config"
	"dragoman/app/fleet"
)

// newWorker makes a worker that decodes with a translation's models.
func (l *loader) newWorker(t *translation, broker *fleet.Broker, registry prometheus.Registerer) *fleet.Worker {
	return fleet.NewWorker(fleet.WorkerConfig{
		Broker: broker, Models: t.catalog, Rows: l.cfg.BatchSize, Version: l.version,
		MaxBeams: l.cfg.MaxBeams, MaxLength: l.cfg.MaxLengthLimit, Metrics: fleet.NewWorkerMetrics(registry),
	})
}

// withoutQueue is a configuration whose engines take in whatever they are given: a worker gives them
// one sentence at a time, as many as they have room for. Gateways bound what waits.
func withoutQueue(cfg config.Config) config.Config {
	cfg.Concurrency, cfg.QueueWait = math.MaxInt32, 0
	return cfg
}

// workFor decodes what gateways put into the queue until ctx is done, and ends what it has taken by
// then, within the time for shutting down.
func (s *server) workFor(ctx context.Context, t *translation) {
	hurry, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(s.loader.cfg.ShutdownTimeout, cancel) })()
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { t.watch(ctx) })
	s.worker.Run(ctx, hurry, func() { s.frontend.refreshed(t) })
}
