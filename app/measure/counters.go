// Package measure is what packages declare their metrics with: counters whose labels come from a
// fixed list, and the times of stages as histograms and spans, whose ids lines of the log have. It knows
// nothing of HTTP and of how metrics and traces leave the process, which is [dragoman/app/telemetry]'s.
package measure

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/trace"
)

const (
	// Namespace begins the name of each metric.
	Namespace = "dragoman"
	// Scope names the code that makes the spans.
	Scope = "dragoman"
	// Other is the label value of whatever is not in the label's list.
	Other = "other"
)

// Counters are the counters of a metric by the values of its last label. They are made
// for all values at once: each is there from the first scrape, with 0, and nothing that
// comes later can add one.
type Counters map[string]prometheus.Counter

// NewCounters makes a metric that counts by one label. A nil registry has none.
func NewCounters(r prometheus.Registerer, name, help, label string, values []string) Counters {
	return CountersOf(promauto.With(r).NewCounterVec(
		prometheus.CounterOpts{Namespace: Namespace, Name: name, Help: help}, []string{label}), values)
}

// CountersOf makes the counters of a list of values and of other ones. before are the
// values of the labels before the last.
func CountersOf(vec *prometheus.CounterVec, values []string, before ...string) Counters {
	c := make(Counters, len(values)+1)
	for _, value := range append([]string{Other}, values...) {
		value = strings.ToValidUTF8(value, "?") // others are refused
		c[value] = vec.WithLabelValues(append(before[:len(before):len(before)], value)...)
	}
	return c
}

// Inc counts a value; those that are not in the list count as one.
func (c Counters) Inc(value string) {
	counter, ok := c[value]
	if !ok {
		counter = c[Other]
	}
	counter.Inc()
}

// Histogram has buckets in seconds for every scraper, and a native histogram, within
// 10% of any value, for those that ask for it.
func Histogram(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Namespace: Namespace, Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
	}
}

// Observe puts a time into a histogram, with the trace as its exemplar where the trace
// is kept.
func Observe(o prometheus.Observer, took time.Duration, span trace.SpanContext) {
	if e, ok := o.(prometheus.ExemplarObserver); ok && span.IsSampled() {
		e.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": span.TraceID().String()})
		return
	}
	o.Observe(took.Seconds())
}
