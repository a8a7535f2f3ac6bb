package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/trace"
)

// scope names the code that makes the spans.
const scope = "dragoman"

// Stage is a part of a translation.
type Stage string

// The stages, in their order.
const (
	Detect     Stage = "detect"     // find out a text's language
	Segment    Stage = "segment"    // split texts, protect markup
	Tokenize   Stage = "tokenize"   // segments to tokens
	Queue      Stage = "queue"      // a sentence waits to join the batch
	Decode     Stage = "decode"     // a sentence is encoded and decoded, beside others
	Detokenize Stage = "detokenize" // tokens to text, markup restored, what looks wrong
)

func newStages(factory promauto.Factory) map[Stage]prometheus.Observer {
	vec := factory.NewHistogramVec(histogram("stage_duration_seconds",
		"Time of the stages of translations: of each sentence in queue and decode, of all texts of a request in the others.",
		[]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60}),
		[]string{"stage"})
	stages := map[Stage]prometheus.Observer{}
	for _, s := range []Stage{Detect, Segment, Tokenize, Queue, Decode, Detokenize} {
		stages[s] = vec.WithLabelValues(string(s))
	}
	return stages
}

// Observe puts the time of a stage into its histogram, such as that of each of many
// sentences. Stages that are none of the constants are dropped.
func (m *Metrics) Observe(s Stage, took time.Duration) {
	if m == nil {
		return
	}
	if o, ok := m.stages[s]; ok {
		o.Observe(took.Seconds())
	}
}

// Timer measures a stage that has begun.
type Timer struct {
	observer prometheus.Observer // nil where nothing is measured
	span     trace.Span          // nil where no trace is recorded
	start    time.Time
}

// Stage begins a stage, which the returned timer's End ends: its time goes into the
// stage's histogram and, where ctx has a span that is recorded, into a span below it.
//
//	defer m.Stage(ctx, telemetry.Tokenize).End()
func (m *Metrics) Stage(ctx context.Context, s Stage) Timer {
	if m == nil {
		return Timer{}
	}
	t := Timer{observer: m.stages[s], start: time.Now()}
	if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
		_, t.span = tracerOf(parent).Start(ctx, string(s), trace.WithTimestamp(t.start))
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
	if t.observer != nil {
		observe(t.observer, time.Since(t.start), kept)
	}
}

// Span records a stage that is over as a span below that of ctx, where one is recorded.
// It is for what is known afterwards only, such as how long a request waited: the
// histogram has [Metrics.Observe].
func (m *Metrics) Span(ctx context.Context, s Stage, start, end time.Time) {
	if m == nil {
		return
	}
	if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
		_, span := tracerOf(parent).Start(ctx, string(s), trace.WithTimestamp(start))
		span.End(trace.WithTimestamp(end))
	}
}

// tracerOf makes spans for where a span goes.
func tracerOf(span trace.Span) trace.Tracer { return span.TracerProvider().Tracer(scope) }
