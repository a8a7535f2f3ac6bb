// Package telemetry is the service seen from outside: numbers for Prometheus, traces
// for OpenTelemetry, trace ids in log lines, and profiles.
//
// Numbers come in two ways. What happens is counted when it happens, by methods of
// [Metrics] that others call at their seams. What is, or is counted elsewhere already
// (engines, cache, readiness), is read at every scrape from [Sources].
//
// Every label value comes from a fixed list, so nothing that a client sends can add a
// series: routes from the router, codes and reasons from constants, languages from the
// model. Texts, ids, keys and URLs are in no label, no span and no exemplar.
package telemetry

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	namespace = "dragoman"

	// other is the label value of whatever is not in the label's list.
	other = "other"

	// maxScrapes is how many scrapes run side by side; one more gets 503.
	maxScrapes = 8
)

// Config is what a [Metrics] works with.
type Config struct {
	// Log gets what goes wrong while metrics are read; nil drops it.
	Log *slog.Logger
	// ErrorCodes are the codes of all errors that the service answers with.
	ErrorCodes []string
	// Flags are the names of what can look wrong with a translation.
	Flags []string
}

// Metrics are the numbers of the service, on a registry of their own. It is safe for
// concurrent use. A nil *Metrics is off: it counts nothing.
type Metrics struct {
	log      *slog.Logger
	registry *prometheus.Registry

	requests  *requestMetrics
	languages *prometheus.CounterVec
	texts     textMetrics
	faults    faultMetrics
	stages    map[Stage]prometheus.Observer

	watched atomic.Pointer[watched] // nil until Watch
}

// watched is what a Metrics has after Watch.
type watched struct {
	sources Sources
	source  counters // by the language of the source
	target  counters // by that of the translation
}

// New makes metrics, with those of the Go runtime and of the process.
func New(cfg Config) *Metrics {
	m := &Metrics{log: cfg.Log, registry: prometheus.NewRegistry()}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsScheduler)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		newCollector(&m.watched),
	)
	factory := promauto.With(m.registry)
	m.requests = newRequestMetrics(factory)
	m.texts = newTextMetrics(factory, cfg.Flags)
	m.faults = newFaultMetrics(factory, cfg.ErrorCodes)
	m.stages = newStages(factory)
	m.languages = factory.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "record_languages_total",
		Help: "Results by the language of the source and by that of the translation.",
	}, []string{"side", "language"})
	return m
}

// Watch makes the metrics read the sources from now on, in place of any before.
func (m *Metrics) Watch(s Sources) {
	if m == nil {
		return
	}
	m.watched.Store(&watched{
		sources: s,
		source:  newCounters(m.languages, s.Languages, sourceSide),
		target:  newCounters(m.languages, s.Languages, targetSide),
	})
}

// Handler serves the metrics in the format that the scraper asks for (text,
// OpenMetrics, or protobuf with native histograms), compressed where it allows that.
// Metrics that cannot be read are logged and left out, the others are served.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            errorLog{m.log},
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            m.registry,
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   true,
	})
}

// errorLog takes the errors of a scrape.
type errorLog struct{ log *slog.Logger }

// Println logs one line; errors of several metrics come as several.
func (l errorLog) Println(v ...any) {
	l.log.Warn("reading metrics", "error", strings.Join(strings.Fields(fmt.Sprintln(v...)), " "))
}

// counters are the counters of a metric by the values of its last label. They are made
// for all values at once: each is there from the first scrape, with 0, and nothing that
// comes later can add one.
type counters map[string]prometheus.Counter

// newCounters makes the counters of a list of values and of other ones. before are the
// values of the labels before the last.
func newCounters(vec *prometheus.CounterVec, values []string, before ...string) counters {
	c := make(counters, len(values)+1)
	for _, value := range append([]string{other}, values...) {
		value = strings.ToValidUTF8(value, "?") // others are refused
		c[value] = vec.WithLabelValues(append(before[:len(before):len(before)], value)...)
	}
	return c
}

// get returns the counter of a value; values that are not in the list share one.
func (c counters) get(value string) prometheus.Counter {
	if counter, ok := c[value]; ok {
		return counter
	}
	return c[other]
}

// newByLabel makes a metric that counts by one label.
func newByLabel(factory promauto.Factory, name, help, label string, values []string) counters {
	return newCounters(factory.NewCounterVec(
		prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, []string{label}), values)
}
