package telemetry

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/trace"
)

const (
	namespace = "dragoman"

	// other is the label value of whatever is not in the label's list.
	other = "other"
)

// Counters are the counters of a metric by the values of its last label. They are made
// for all values at once: each is there from the first scrape, with 0, and nothing that
// comes later can add one.
type Counters map[string]prometheus.Counter

// NewCounters makes a metric that counts by one label. A nil registry has none.
func NewCounters(r prometheus.Registerer, name, help, label string, values []string) Counters {
	return CountersOf(promauto.With(r).NewCounterVec(
		prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, []string{label}), values)
}

// CountersOf makes the counters of a list of values and of other ones. before are the
// values of the labels before the last.
func CountersOf(vec *prometheus.CounterVec, values []string, before ...string) Counters {
	c := make(Counters, len(values)+1)
	for _, value := range append([]string{other}, values...) {
		value = strings.ToValidUTF8(value, "?") // others are refused
		c[value] = vec.WithLabelValues(append(before[:len(before):len(before)], value)...)
	}
	return c
}

// Inc counts a value; those that are not in the list count as one.
func (c Counters) Inc(value string) {
	counter, ok := c[value]
	if !ok {
		counter = c[other]
	}
	counter.Inc()
}

// histogram has buckets in seconds for every scraper, and a native histogram, within
// 10% of any value, for those that ask for it.
func histogram(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Namespace: namespace, Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
	}
}

// observe puts a time into a histogram, with the trace as its exemplar where the trace
// is kept.
func observe(o prometheus.Observer, took time.Duration, span trace.SpanContext) {
	if e, ok := o.(prometheus.ExemplarObserver); ok && span.IsSampled() {
		e.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": span.TraceID().String()})
		return
	}
	o.Observe(took.Seconds())
}
