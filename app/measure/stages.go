package measure

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/trace"
)

// Stages measure the stages of work: durations go into a histogram and, if a trace is recorded, into spans. They are safe for
// concurrent use.
type Stages map[string]prometheus.Observer

// NewStages returns the histogram of the durations of stages. With a nil registry it is not exported.
func NewStages(r prometheus.Registerer, name, help string, stages ...string) Stages {
	vec := promauto.With(r).NewHistogramVec(Histogram(name, help,
		[]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60}),
		[]string{"stage"})
	s := Stages{}
	for _, stage := range stages {
		s[stage] = vec.WithLabelValues(stage)
	}
	return s
}

// Observe adds the duration of a stage to the histogram, for example of each of many sentences.
func (s Stages) Observe(stage string, took time.Duration) { s[stage].Observe(took.Seconds()) }

// Timer measures a running stage.
type Timer struct {
	observer prometheus.Observer
	span     trace.Span // nil if no trace is recorded
	start    time.Time
}

// Begin begins a stage, which the returned timer's End ends: its duration goes into the histogram and, if the span of ctx is
// recorded, into a child span.
//
//	defer stages.Begin(ctx, "tokenize").End()
func (s Stages) Begin(ctx context.Context, stage string) Timer {
	t := Timer{observer: s[stage], start: time.Now()}
	if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
		_, t.span = tracerOf(parent).Start(ctx, stage, trace.WithTimestamp(t.start))
	}
	return t
}

// End ends the stage. It must be called once.
func (t Timer) End() {
	var kept trace.SpanContext
	if t.span != nil {
		t.span.End()
		kept = t.span.SpanContext()
	}
	Observe(t.observer, time.Since(t.start), kept)
}

// Span records a finished stage as a child span of ctx's span, if that is recorded. It is for durations known only afterwards,
// such as the waiting time of a request; [Stages.Observe] adds them to the histogram.
func Span(ctx context.Context, stage string, start, end time.Time) {
	if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
		_, span := tracerOf(parent).Start(ctx, stage, trace.WithTimestamp(start))
		span.End(trace.WithTimestamp(end))
	}
}

// tracerOf returns the tracer of a span's provider.
func tracerOf(span trace.Span) trace.Tracer { return span.TracerProvider().Tracer(Scope) }
