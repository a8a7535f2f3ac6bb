package main

import (
	"context"
	"sync"
	"time"

	"dragoman/app/fleet"
)

// newWorker makes a worker that decodes with a translation's models.
func (s *server) newWorker(t *translation) *fleet.Worker {
	cfg := s.loader.cfg
	return fleet.NewWorker(fleet.WorkerConfig{
		Broker: s.broker, Models: t.catalog, Rows: cfg.BatchSize, Version: version,
		MaxBeams: cfg.MaxBeams, MaxLength: cfg.MaxLengthLimit, Metrics: fleet.NewWorkerMetrics(s.frontend.metrics.Registry()),
	})
}

// workFor decodes what gateways put into the queue until ctx is done, and ends what it has taken by
// then, within the time for shutting down.
func (s *server) workFor(ctx context.Context, t *translation) {
	hurry, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(s.loader.cfg.ShutdownTimeout, cancel) })()
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { t.watch(ctx, s.loader.cfg.Repositories) })
	s.worker.Run(ctx, hurry, func() { s.frontend.refreshed(t) })
}
