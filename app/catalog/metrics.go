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
		loads:     counter("model_loads_total", "Loads of a model, by outcome.", "outcome"),
		evictions: counter("model_evictions_total", "Unloads of a model, by reason: for other models (memory, turns), without use (idle), by a newer version or a request (replaced), because its files changed during use (changed).", "reason"),
		took: factory.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Name: "model_load_seconds", Help: "Duration of the last load of a model.",
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
	info := desc("info", "A model that is served; always 1.", "family", "source", "revision", "precision", "device")
	state := desc("state", "1 for a model's state: unloaded, loading, ready, draining or broken.", "state")
	bytes := desc("resident_bytes", "Maximum memory of a loaded model, without mapped files.")
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
