package telemetry_test

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"dragoman/app/catalog"
	"dragoman/app/fleet"
	"dragoman/model/repository"
)

// withFleet registers the metrics of a gateway with a worker, and gathers both. Some metrics exist in both.
func withFleet(t *testing.T, registry prometheus.Registerer, models *catalog.Catalog, log *slog.Logger) prometheus.Gatherer {
	ofWorker := prometheus.NewRegistry()
	broker, err := fleet.NewBroker(fleet.BrokerConfig{
		URL: "redis://" + miniredis.RunT(t).Addr(), Prefix: "test", Timing: fleet.Timing{Beat: 5 * time.Millisecond, Lease: time.Minute}, Log: log, Registry: registry,
	})
	require.NoError(t, err)
	defer broker.Close()

	var working sync.WaitGroup
	defer working.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	worker := fleet.NewWorker(fleet.WorkerConfig{Broker: broker, Models: models, Metrics: fleet.NewWorkerMetrics(ofWorker)})
	working.Go(func() { worker.Run(ctx, ctx, func() {}) })

	known := make(chan struct{})
	know := sync.OnceFunc(func() { close(known) })
	gateway := fleet.StartGateway(fleet.GatewayConfig{
		Broker: broker, Metrics: fleet.NewGatewayMetrics(registry), Serve: func(repository.Snapshot) { know() },
	})
	defer gateway.Close()
	registry.MustRegister(gateway.Collector())
	<-known
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		all, err := registry.(prometheus.Gatherer).Gather()
		if err != nil {
			return nil, err
		}
		workers, err := ofWorker.Gather()
		for _, f := range workers {
			if !slices.ContainsFunc(all, func(g *dto.MetricFamily) bool { return g.GetName() == f.GetName() }) {
				all = append(all, f)
			}
		}
		slices.SortFunc(all, func(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) })
		return all, err
	})
}
