package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/slogtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
)

func TestTraceLogsIsAHandler(t *testing.T) {
	var log bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		log.Reset()
		return TraceLogs(slog.NewJSONHandler(&log, nil))
	}, func(t *testing.T) map[string]any {
		var line map[string]any
		require.NoError(t, json.Unmarshal(log.Bytes(), &line))
		return line
	})
}

func TestLinesHaveTheTrace(t *testing.T) {
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	traced := trace.ContextWithSpanContext(context.Background(), span)
	const traceID, spanID = "01000000000000000000000000000000", "0200000000000000"
	for _, test := range []struct {
		name string
		ctx  context.Context
		with func(log *slog.Logger) *slog.Logger
		want map[string]any
	}{
		{"no span", t.Context(), func(log *slog.Logger) *slog.Logger { return log }, map[string]any{"a": "b"}},
		{"a span", traced, func(log *slog.Logger) *slog.Logger { return log },
			map[string]any{"a": "b", "trace_id": traceID, "span_id": spanID}},
		{"attributes", traced, func(log *slog.Logger) *slog.Logger { return log.With("c", "d") },
			map[string]any{"a": "b", "c": "d", "trace_id": traceID, "span_id": spanID}},
		{"groups", traced, func(log *slog.Logger) *slog.Logger {
			return log.With("c", "d").WithGroup("g").With("e", "f").WithGroup("h")
		},
			map[string]any{"c": "d", "g": map[string]any{"e": "f", "h": map[string]any{"a": "b", "trace_id": traceID, "span_id": spanID}}}},
		{"groups without a span", t.Context(), func(log *slog.Logger) *slog.Logger { return log.WithGroup("g").With("e", "f") },
			map[string]any{"g": map[string]any{"a": "b", "e": "f"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			log := test.with(slog.New(TraceLogs(slog.NewJSONHandler(&out, nil))))
			log.InfoContext(test.ctx, "hello", "a", "b")
			log.DebugContext(test.ctx, "below the level")
			var line map[string]any
			require.NoError(t, json.Unmarshal(out.Bytes(), &line))
			for _, key := range []string{"time", "level", "msg"} {
				assert.Contains(t, line, key)
				delete(line, key)
			}
			assert.Equal(t, test.want, line)
		})
	}
}
