package dialect

import (
	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/fault"
	"dragoman/app/measure"
)

// Metrics count failures. They are safe for concurrent use.
type Metrics struct{ errors, refusals, cancellations measure.Counters }

// NewMetrics makes the metrics of failures. A nil registry has none.
func NewMetrics(r prometheus.Registerer) *Metrics {
	return &Metrics{
		errors: measure.NewCounters(r, "errors_total", "Errors that requests were answered with, within a stream too, by code.",
			"code", fault.Codes()),
		refusals: measure.NewCounters(r, "refusals_total", "Requests that were refused before anything was done for them, by reason.",
			"reason", fault.Refusals()),
		cancellations: measure.NewCounters(r, "cancellations_total", "Requests that ended before their answer was complete, by cause.",
			"cause", fault.Cancellations()),
	}
}

// Count counts a failure that is answered.
func (m *Metrics) Count(f *fault.Failure) {
	for _, c := range []struct {
		counters measure.Counters
		value    string
	}{{m.errors, f.Code()}, {m.refusals, f.Refusal()}, {m.cancellations, f.Cancellation()}} {
		if c.value != "" {
			c.counters.Inc(c.value)
		}
	}
}
