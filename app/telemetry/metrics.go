// Package telemetry is the service seen from outside: a registry of numbers for Prometheus,
// traces for OpenTelemetry, trace ids in log lines, and profiles.
//
// Metrics are declared by the packages that they measure: engine, cache, access, translate,
// failure and httpapi; here are those of HTTP requests, and what others declare theirs
// with. What happens is counted when it happens, in [measure.Counters] and [measure.Stages]; what a package
// counts anyway is read at every scrape.
//
// Every label value comes from a fixed list, so nothing that a client sends can add a
// series: routes from the router, codes and reasons from constants, languages from the
// model. Texts, ids, keys and URLs are in no label, no span and no exemplar.
package telemetry

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"dragoman/app/outage"
)

// maxScrapes is how many scrapes run side by side; one more gets 503.
const maxScrapes = 8

// Metrics are the numbers of the service, on a registry of their own. It is safe for
// concurrent use. A nil *Metrics is off: it counts nothing.
type Metrics struct {
	log      *slog.Logger
	registry *prometheus.Registry
	requests *requestMetrics
}

// New makes metrics, with those of HTTP requests, of the Go runtime and of the process. The
// log gets what goes wrong while they are read.
func New(log *slog.Logger) *Metrics {
	m := &Metrics{log: log, registry: prometheus.NewRegistry()}
	m.registry.MustRegister(
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsScheduler)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.requests = newRequestMetrics(promauto.With(m.registry))
	return m
}

// Registry is where packages register their metrics; nil, which package promauto takes, for
// metrics that are off.
func (m *Metrics) Registry() prometheus.Registerer {
	if m == nil {
		return nil
	}
	return m.registry
}

// Handler serves the metrics in the format that the scraper asks for (text,
// OpenMetrics, or protobuf with native histograms), compressed where it allows that.
// Metrics that cannot be read are logged and left out, the others are served.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            &errorLog{outage.Log{Log: m.log, Level: slog.LevelWarn, Failing: "reading metrics"}},
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            m.registry,
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   true,
	})
}

// errorLog takes the errors of scrapes.
type errorLog struct{ log outage.Log }

// Println logs one line; errors of several metrics come as several.
func (l *errorLog) Println(v ...any) {
	l.log.Note(errors.New(strings.Join(strings.Fields(fmt.Sprintln(v...)), " ")))
}
