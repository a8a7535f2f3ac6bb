package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/scripts/k8s/autoscaling/cluster"
	"dragoman/scripts/k8s/autoscaling/pod"
)

// BenchmarkHour is an hour under a load that changes, of pods as they were measured and of
// faster ones.
func BenchmarkHour(b *testing.B) {
	for _, shape := range []pod.Shape{pod.CPU418M(), pod.AssumedGPU()} {
		b.Run(shape.Name, func(b *testing.B) {
			full := shape.Capacity(32, 32)
			cfg := hour(steps{0, full / 2, 900, 4 * full, 1800, full})
			cfg.Shape, cfg.Telling, cfg.Lengths.Spread, cfg.Series = shape, 0.5, 0.5, false
			cfg.Spec = spec(cpu(70), metric(cluster.QueueTokens, "500"))
			requests := 0
			for b.Loop() {
				r, err := cluster.Run(cfg)
				require.NoError(b, err)
				requests += r.Requests
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/request")
		})
	}
}
