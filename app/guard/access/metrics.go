package access

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are the metrics of a gate and of its keys.
type metrics struct {
	keys, broken           prometheus.Gauge
	reloads, failedReloads prometheus.Counter
	refusals               map[string]prometheus.Counter // by reason
}

// Reasons of refusals, besides the names of limits.
const reasonNoKey, reasonWrongKey = "no_key", "wrong_key"

// newMetrics returns the metrics. A nil registry registers none.
func newMetrics(r prometheus.Registerer, known *clients) *metrics {
	factory := promauto.With(r)
	gauge := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Namespace: "dragoman", Name: name, Help: help}
	}
	counter := func(name, help, label string) *prometheus.CounterVec {
		return factory.NewCounterVec(prometheus.CounterOpts{Namespace: "dragoman", Name: name, Help: help}, []string{label})
	}
	factory.NewGaugeFunc(gauge("clients", "Addresses of clients without keys that are remembered for their limits."),
		func() float64 { return float64(known.len()) })
	reloads := counter("keys_reloads_total", "Times that the keys file had changed, by what became of it.", "result")
	refusals := counter("keys_refusals_total", "Requests that were refused because they had no valid key or were over a limit of their caller.", "reason")
	m := &metrics{
		keys:    factory.NewGauge(gauge("keys", "Callers in the keys file that is in use.")),
		broken:  factory.NewGauge(gauge("keys_file_broken", "1 where the keys file cannot be used as it is now, so that the keys of before are in use.")),
		reloads: reloads.WithLabelValues("done"), failedReloads: reloads.WithLabelValues("failed"),
		refusals: make(map[string]prometheus.Counter),
	}
	for _, reason := range []string{reasonNoKey, reasonWrongKey, requestsLimit, charactersLimit, tokensLimit} {
		m.refusals[reason] = refusals.WithLabelValues(reason)
	}
	return m
}
