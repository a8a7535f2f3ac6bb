package measure

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/trace"
)

// Stages measure the parts of some work: their times go into a histogram and, where a
// trace is recorded, into spans. They are safe for concurrent use.
type Stages map[string]prometheus.Observer

// NewStages makes a histogram of the times of stages. A nil registry has none.
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

// Observe puts the time of a stage into the histogram, such as that of each of many
// sentences.
func (s Stages) Observe(stage string, took time.Duration) { s[stage].Observe(took.Seconds()) }

// Timer measures a stage that has begun.
type Timer struct {
	observer prometheus.Observer
	span     trace.Span // nil where no trace is recorded
	start    time.Time
}

// Begin begins a stage, which the returned timer's End ends: its time goes into the
// histogram and, where ctx has a span that is recorded, into a span below it.
//
//	defer stages.Begin(ctx, "tokenize").End()
func (s Stages) Begin(ctx context.Context, stage string) Timer {
	t := Timer{observer: s[stage], start: time.Now()}
	if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
		_, t.span = tracerOf(parent).Start(ctx, stage, trace.WithTimestamp(t.start))
	}
	return t
}

// End ends the stage. It is called once.
func (t Timer) End() {
	var kept trace.SpanContext
	if t.span != nil {
		t.span.End()
		kept = t.span.SpanContext()
	}
	Observe(t.observer, time.Since(t.start), kept)
}

// Span records a stage that is over as a span below that of ctx, where one is recorded.
// It is for what is known afterwards only, such as how long a request waited: the
// histogram has [Stages.Observe].
func Span(ctx context.Context, stage string, start, end time.Time) {
	if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
		_, span := tracerOf(parent).Start(ctx, stage, trace.WithTimestamp(start))
		span.End(trace.WithTimestamp(end))
	}
}

// tracerOf makes spans for where a span goes.
func tracerOf(span trace.Span) trace.Tracer { return span.TracerProvider().Tracer(Scope) }
