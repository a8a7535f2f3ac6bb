package catalog

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"dragoman/app/text/excerpt"
)

// Metrics count what becomes of models. They are safe for concurrent use.
type Metrics struct {
	loads     *prometheus.CounterVec
	evictions *prometheus.CounterVec
	took      *prometheus.GaugeVec
}

// NewMetrics makes the metrics of a catalog; what it has at the moment is in [Catalog.Collector].
// A nil registry has none.
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

// know makes the counters of a model, so that the first of each event is seen as one.
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

// reason is why a model is unloaded.
type reason string

const (
	forMemory reason = "memory" // idle, and others need its memory
	forTurns  reason = "turns"  // in use, but others are waiting
	unused    reason = "idle"
	replaced  reason = "replaced"
	changed   reason = "changed" // its files, under it
)

func (m *Metrics) evicted(s Source, why reason) {
	m.evictions.WithLabelValues(s.Name, s.Version, string(why)).Inc()
}

// forget removes the counters of a version that is not there any more.
func (m *Metrics) forget(s Source) {
	labels := prometheus.Labels{"model": s.Name, "version": s.Version}
	m.loads.DeletePartialMatch(labels)
	m.evictions.DeletePartialMatch(labels)
	m.took.DeletePartialMatch(labels)
}

// Collector are the metrics of what a catalog has at the moment. It reads the index once a scrape.
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
				labels[i] = strings.ToValidUTF8(labels[i], "?") // a folder's name need not be
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
