// Package telemetry exposes the service to monitoring: a registry of metrics for Prometheus, traces for OpenTelemetry, trace ids
// in log lines, and profiles.
//
// Packages declare the metrics of their own work: engine, cache, access, translate, failure and httpapi. This package has the
// metrics of HTTP requests. Events are counted as they happen, in [measure.Counters] and [measure.Stages]; figures that a package
// keeps anyway are read at every scrape.
//
// Every label value comes from a fixed list, so that clients cannot add series: routes from the router, codes and reasons from
// constants, languages from the model. Texts, ids, keys and URLs are in no label, span or exemplar.
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

// maxScrapes is the maximum number of concurrent scrapes; further ones get 503.
const maxScrapes = 8

// Metrics are the metrics of the service, on a registry of their own. They are safe for concurrent use. A nil *Metrics is
// disabled: it counts nothing.
type Metrics struct {
	log      *slog.Logger
	registry *prometheus.Registry
	requests *requestMetrics
}

// New returns metrics, including those of HTTP requests, of the Go runtime and of the process. log receives errors of scrapes.
func New(log *slog.Logger) *Metrics {
	m := &Metrics{log: log, registry: prometheus.NewRegistry()}
	m.registry.MustRegister(
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsScheduler)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.requests = newRequestMetrics(promauto.With(m.registry))
	return m
}

// Registry returns the registry for packages' metrics, or nil, which package promauto accepts, if metrics are disabled.
func (m *Metrics) Registry() prometheus.Registerer {
	if m == nil {
		return nil
	}
	return m.registry
}

// Handler serves the metrics in the format that the scraper accepts (text, OpenMetrics, or protobuf with native histograms),
// compressed if it allows that. Metrics that cannot be read are logged and omitted.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            &errorLog{outage.Log{Log: m.log, Level: slog.LevelWarn, Failing: "reading metrics"}},
		ErrorHandling:       promhttp.ContinueOnError,
		Registry:            m.registry,
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   true,
	})
}

// errorLog receives the errors of scrapes.
type errorLog struct{ log outage.Log }

// Println logs one line; several failing metrics are several calls.
func (l *errorLog) Println(v ...any) {
	l.log.Note(errors.New(strings.Join(strings.Fields(fmt.Sprintln(v...)), " ")))
}
