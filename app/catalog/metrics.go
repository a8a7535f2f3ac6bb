package catalog

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"dragoman/app/text/excerpt"
)

// Metrics count loads and evictions of models. They are safe for concurrent use.
type Metrics struct {
	loads     *prometheus.CounterVec
	evictions *prometheus.CounterVec
	took      *prometheus.GaugeVec
}

// NewMetrics returns the counters of a catalog; [Catalog.Collector] has the gauges. A nil registry registers none.
func NewMetrics(r prometheus.Registerer) *Metrics {
	const namespace = "dragoman"
	factory := promauto.With(r)
	counter := func(name, help, label string) *prometheus.CounterVec {
		return factory.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, []string{"model", "version", label})
	}
	return &Metrics{
		loads:     counter("model_loads_total", "Times that a model was loaded, by whether that succeeded.", "outcome"),
		evictions: counter("model_evictions_total", "Times that a model was unloaded: for others (memory, turns), because nobody used it (idle), because a newer version or a request took its place (replaced), because its files were written while it was in use (changed).", "reason"),
		took: factory.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Name: "model_load_seconds", Help: "How long the last load of a model took.",
		}, []string{"model", "version"}),
	}
}

// know creates the counters of a model, so that the first of each event shows as an increase.
func (m *Metrics) know(s Source) {
	for _, outcome := range []string{"loaded", "failed"} {
		m.loads.WithLabelValues(s.Name, s.Version, outcome)
	}
	for _, why := range []reason{forMemory, forTurns, unused, replaced, changed} {
		m.evictions.WithLabelValues(s.Name, s.Version, string(why))
	}
}

func (m *Metrics) loaded(s Source, took time.Duration) {
	m.loads.WithLabelValues(s.Name, s.Version, "loaded").Inc()
	m.took.WithLabelValues(s.Name, s.Version).Set(took.Seconds())
}

func (m *Metrics) failed(s Source) { m.loads.WithLabelValues(s.Name, s.Version, "failed").Inc() }

// reason is the reason for which a model is unloaded.
type reason string

const (
	forMemory reason = "memory" // idle, and its memory is needed for others
	forTurns  reason = "turns"  // in use while others wait
	unused    reason = "idle"
	replaced  reason = "replaced"
	changed   reason = "changed" // its files have changed
)

func (m *Metrics) evicted(s Source, why reason) {
	m.evictions.WithLabelValues(s.Name, s.Version, string(why)).Inc()
}

// forget removes the counters of a version that has been removed.
func (m *Metrics) forget(s Source) {
	labels := prometheus.Labels{"model": s.Name, "version": s.Version}
	m.loads.DeletePartialMatch(labels)
	m.evictions.DeletePartialMatch(labels)
	m.took.DeletePartialMatch(labels)
}

// Collector returns the gauges of the current state of a catalog. It reads the index once per scrape.
func (c *Catalog) Collector() prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("dragoman_model_"+name, help, append([]string{"model", "version"}, labels...), nil)
	}
	info := desc("info", "What there is to translate with; always 1.", "family", "source", "revision", "precision", "device")
	state := desc("state", "1 for the state that a model is in: unloaded, loading, ready, draining, or broken.", "state")
	bytes := desc("resident_bytes", "Memory that a loaded model takes, or may come to take, beside files that are mapped.")
	return prometheus.CollectorFunc(func(out chan<- prometheus.Metric) {
		gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
			for i := range labels {
				labels[i] = strings.ToValidUTF8(labels[i], "?") // a folder's name may not be UTF-8
			}
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
		}
		for _, s := range c.Index() {
			if s.Pipeline {
				continue
			}
			gauge(state, 1, s.Name, s.Version, string(s.State))
			if s.Served {
				gauge(info, 1, s.Name, s.Version, s.Family, excerpt.Address(s.Source), s.Revision, string(s.Precision), s.Device)
				gauge(bytes, float64(s.Bytes), s.Name, s.Version)
			}
		}
	})
}
