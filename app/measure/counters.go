// Package measure has the types with which packages declare their metrics: counters whose labels come from a fixed list, and
// durations of stages as histograms and spans, whose ids are added to log lines. It knows nothing of HTTP, nor of the export of
// metrics and traces, which is in [dragoman/app/telemetry].
package measure

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/trace"
)

const (
	// Namespace is the prefix of all metric names.
	Namespace = "dragoman"
	// Scope is the instrumentation scope of the spans.
	Scope = "dragoman"
	// Other is the label value for values outside a label's list.
	Other = "other"
)

// Counters are the counters of a metric by the values of its last label. All are created at once: each is present from the first
// scrape on, with 0, and no later value can add one.
type Counters map[string]prometheus.Counter

// NewCounters returns a metric that counts by one label. With a nil registry it is not exported.
func NewCounters(r prometheus.Registerer, name, help, label string, values []string) Counters {
	return CountersOf(promauto.With(r).NewCounterVec(
		prometheus.CounterOpts{Namespace: Namespace, Name: name, Help: help}, []string{label}), values)
}

// CountersOf returns the counters of a list of values and of Other. before are the values of the preceding labels.
func CountersOf(vec *prometheus.CounterVec, values []string, before ...string) Counters {
	c := make(Counters, len(values)+1)
	for _, value := range append([]string{Other}, values...) {
		value = strings.ToValidUTF8(value, "?") // invalid UTF-8 is refused
		c[value] = vec.WithLabelValues(append(before[:len(before):len(before)], value)...)
	}
	return c
}

// Inc counts a value; values outside the list count as Other.
func (c Counters) Inc(value string) {
	counter, ok := c[value]
	if !ok {
		counter = c[Other]
	}
	counter.Inc()
}

// Histogram returns options with buckets in seconds for every scraper, and a native histogram, within 10% of any value, for
// scrapers that support it.
func Histogram(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Namespace: Namespace, Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
	}
}

// Observe adds a time to a histogram, with the trace as its exemplar if the trace is sampled.
func Observe(o prometheus.Observer, took time.Duration, span trace.SpanContext) {
	if e, ok := o.(prometheus.ExemplarObserver); ok && span.IsSampled() {
		e.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": span.TraceID().String()})
		return
	}
	o.Observe(took.Seconds())
}
