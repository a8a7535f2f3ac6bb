package jobs

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"dragoman/app/measure"
)

// Outcomes of a chunk of a job.
const (
	chunkSaved     = "saved"
	chunkPostponed = "postponed" // a resource is not available at present
	chunkFailed    = "failed"
)

// Outcomes of a delivery to a webhook.
const (
	delivered       = "delivered"
	deliveryFailed  = "failed" // to be tried again
	deliveryGivenUp = "given_up"
)

type metrics struct {
	jobs                         *prometheus.GaugeVec
	finished, chunks, deliveries measure.Counters
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		jobs: promauto.With(r).NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "dragoman", Name: "jobs", Help: "Jobs in the store, by state; all processes that share the store report the same numbers.",
		}, []string{"state"}),
		finished: measure.NewCounters(r, "jobs_finished_total", "Jobs that this process ended, by state.",
			"state", []string{string(Done), string(Failed), string(Cancelled)}),
		chunks: measure.NewCounters(r, "job_steps_total", "Slices of jobs that this process translated, by outcome.",
			"outcome", []string{chunkSaved, chunkPostponed, chunkFailed}),
		deliveries: measure.NewCounters(r, "webhook_deliveries_total", "Calls of webhooks about ended jobs, by outcome.",
			"outcome", []string{delivered, deliveryFailed, deliveryGivenUp}),
	}
	m.count(nil)
	return m
}

// count sets the number of jobs by state.
func (m *metrics) count(counts map[State]int) {
	for _, state := range States() {
		m.jobs.WithLabelValues(string(state)).Set(float64(counts[state]))
	}
}
