package failure

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/measure"
)

// reason says why a request was refused before anything was done for it.
type reason string

const (
	queueFull       reason = "queue_full"        // too much waits already, or would for too long
	deadline        reason = "deadline"          // it cannot be done in the time that the client gives
	rateLimit       reason = "rate_limit"        // its key has had its share
	tooManyJobs     reason = "too_many_jobs"     // its key has as many jobs as it may
	tooManySessions reason = "too_many_sessions" // there are as many live sessions as there may be
	unauthorized    reason = "unauthorized"      // its key is missing or unknown
	tooLarge        reason = "too_large"         // its body, or the number of its records
	notReady        reason = "not_ready"         // there is no model, or none that can be loaded
	loading         reason = "loading"           // the model is loading, and too much waits for it
	shuttingDown    reason = "shutting_down"     // the service is about to end
)

// cause says why a request ended before its answer was complete.
type cause string

const (
	clientGone  cause = "client_gone" // the client did not wait
	timedOut    cause = "timeout"     // it took longer than a request may
	interrupted cause = "shutdown"    // it was cut off when the service ended
)

// Metrics count failures. They are safe for concurrent use.
type Metrics struct{ errors, refusals, cancellations measure.Counters }

// NewMetrics makes the metrics of failures. A nil registry has none.
func NewMetrics(r prometheus.Registerer) *Metrics {
	return &Metrics{
		errors: measure.NewCounters(r, "errors_total", "Errors that requests were answered with, within a stream too, by code.",
			"code", column(func(r row) string { return string(r.code) })),
		refusals: measure.NewCounters(r, "refusals_total", "Requests that were refused before anything was done for them, by reason.",
			"reason", column(func(r row) string { return string(r.refusal) })),
		cancellations: measure.NewCounters(r, "cancellations_total", "Requests that ended before their answer was complete, by cause.",
			"cause", column(func(r row) string { return string(r.cancellation) })),
	}
}

// column are the values that a column of the table has, each once.
func column(of func(row) string) (values []string) {
	for _, r := range table {
		if value := of(r); value != "" && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// Count counts a failure that is answered.
func (m *Metrics) Count(f *Failure) {
	r := table[f.Kind]
	if r.code != "" {
		m.errors.Inc(string(r.code))
	}
	if r.refusal != "" {
		m.refusals.Inc(string(r.refusal))
	}
	if r.cancellation != "" {
		m.cancellations.Inc(string(r.cancellation))
	}
}
