package measure

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// newStages returns the stages of some work.
func newStages() (*prometheus.Registry, Stages) {
	r := prometheus.NewRegistry()
	return r, NewStages(r, "stage_duration_seconds", "Time of the stages.", "tokenize", "queue")
}

// times returns the number of measurements of a stage.
func times(t testing.TB, r *prometheus.Registry, stage string) uint64 {
	gathered, err := r.Gather()
	require.NoError(t, err)
	require.Len(t, gathered, 1)
	assert.Equal(t, "dragoman_stage_duration_seconds", gathered[0].GetName())
	for _, series := range gathered[0].GetMetric() {
		if series.GetLabel()[0].GetValue() == stage {
			return series.GetHistogram().GetSampleCount()
		}
	}
	require.Fail(t, "no series", stage)
	return 0
}

// recorded starts a recorded span, the parent of the stages' spans.
func recorded(t testing.TB) (context.Context, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	t.Cleanup(func() { assert.NoError(t, provider.Shutdown(context.Background())) })
	ctx, _ := provider.Tracer("test").Start(context.Background(), "request")
	return ctx, recorder
}

func TestStagesAreSpansAndTimes(t *testing.T) {
	ctx, recorder := recorded(t)
	r, stages := newStages()
	stages.Begin(ctx, "tokenize").End()
	begin := time.Unix(1000, 0)
	Span(ctx, "queue", begin, begin.Add(2*time.Second))

	spans := recorder.Ended()
	require.Len(t, spans, 2)
	parent := recorder.Started()[0].SpanContext()
	for i, name := range []string{"tokenize", "queue"} {
		assert.Equal(t, name, spans[i].Name())
		assert.Equal(t, parent.SpanID(), spans[i].Parent().SpanID())
		assert.Equal(t, parent.TraceID(), spans[i].SpanContext().TraceID())
	}
	assert.Equal(t, 2*time.Second, spans[1].EndTime().Sub(spans[1].StartTime()))
	assert.EqualValues(t, 1, times(t, r, "tokenize"))
	assert.Zero(t, times(t, r, "queue"))
}

func TestStagesWithoutATrace(t *testing.T) {
	r, stages := newStages()
	stages.Begin(t.Context(), "tokenize").End()
	assert.EqualValues(t, 1, times(t, r, "tokenize"))

	now := time.Now()
	assert.Zero(t, testing.AllocsPerRun(100, func() { Span(context.Background(), "queue", now, now) }))
}

// The context of a request that is not sampled has a span, too.
func TestStagesOfATraceThatIsDropped(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder), sdktrace.WithSampler(sdktrace.NeverSample()))
	defer func() { assert.NoError(t, provider.Shutdown(context.Background())) }()
	ctx, _ := provider.Tracer("test").Start(context.Background(), "request")
	r, stages := newStages()
	stages.Begin(ctx, "tokenize").End()
	Span(ctx, "queue", time.Now(), time.Now())
	assert.Empty(t, recorder.Started())
	assert.EqualValues(t, 1, times(t, r, "tokenize"))
}

func BenchmarkStage(b *testing.B) {
	_, stages := newStages()
	b.Run("no trace", func(b *testing.B) {
		ctx := b.Context()
		b.ReportAllocs()
		for b.Loop() {
			stages.Begin(ctx, "tokenize").End()
		}
	})
	b.Run("traced", func(b *testing.B) {
		ctx, recorder := recorded(b)
		b.ReportAllocs()
		for b.Loop() {
			stages.Begin(ctx, "tokenize").End()
		}
		recorder.Reset()
	})
	b.Run("span without a trace", func(b *testing.B) {
		ctx, now := b.Context(), time.Now()
		b.ReportAllocs()
		for b.Loop() {
			Span(ctx, "queue", now, now)
		}
	})
}
