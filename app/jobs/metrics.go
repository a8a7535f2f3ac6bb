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
			Namespace: "dragoman", Name: "jobs", Help: "Jobs in the store, by state; every process that shares it has the same number.",
		}, []string{"state"}),
		finished: measure.NewCounters(r, "jobs_finished_total", "Jobs that ended here, by state.",
			"state", []string{string(Done), string(Failed), string(Cancelled)}),
		chunks: measure.NewCounters(r, "job_steps_total", "Slices of jobs that were translated here, by what became of them.",
			"outcome", []string{chunkSaved, chunkPostponed, chunkFailed}),
		deliveries: measure.NewCounters(r, "webhook_deliveries_total", "Tries to tell webhooks how jobs have ended, by what became of them.",
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
