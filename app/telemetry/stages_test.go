package telemetry

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// recorded starts a span that is recorded, below which those of stages go.
func recorded(t testing.TB) (context.Context, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	t.Cleanup(func() { assert.NoError(t, provider.Shutdown(context.Background())) })
	ctx, _ := provider.Tracer("test").Start(context.Background(), "request")
	return ctx, recorder
}

func TestStagesAreSpansAndTimes(t *testing.T) {
	ctx, recorder := recorded(t)
	m, stages := newMetrics()
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
	assert.Equal(t, 1.0, sample(t, m, "dragoman_stage_duration_seconds", "stage=tokenize"))
	assert.Equal(t, 0.0, sample(t, m, "dragoman_stage_duration_seconds", "stage=queue"))
}

func TestStagesWithoutATrace(t *testing.T) {
	m, stages := newMetrics()
	stages.Begin(t.Context(), "tokenize").End()
	assert.Equal(t, 1.0, sample(t, m, "dragoman_stage_duration_seconds", "stage=tokenize"))

	now := time.Now()
	assert.Zero(t, testing.AllocsPerRun(100, func() { Span(context.Background(), "queue", now, now) }))
}

// A request that is not sampled has a span in its context all the same.
func TestStagesOfATraceThatIsDropped(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder), sdktrace.WithSampler(sdktrace.NeverSample()))
	defer func() { assert.NoError(t, provider.Shutdown(context.Background())) }()
	ctx, _ := provider.Tracer("test").Start(context.Background(), "request")
	m, stages := newMetrics()
	stages.Begin(ctx, "tokenize").End()
	Span(ctx, "queue", time.Now(), time.Now())
	assert.Empty(t, recorder.Started())
	assert.Equal(t, 1.0, sample(t, m, "dragoman_stage_duration_seconds", "stage=tokenize"))
}
