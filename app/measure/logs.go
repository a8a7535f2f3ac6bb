package measure

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// TraceLogs wraps a handler so that lines logged with the context of a span have trace_id and span_id.
func TraceLogs(h slog.Handler) slog.Handler { return traceHandler{h} }

// traceHandler is a handler that adds the ids, to the open group if there is one.
type traceHandler struct{ slog.Handler }

// Handle passes on a line with its ids.
func (h traceHandler) Handle(ctx context.Context, record slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		record = record.Clone() // other handlers of the caller may have it too
		record.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs returns a handler whose lines have attributes.
func (h traceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return TraceLogs(h.Handler.WithAttrs(attrs))
}

// WithGroup returns a handler whose further attributes are in a group.
func (h traceHandler) WithGroup(name string) slog.Handler {
	return TraceLogs(h.Handler.WithGroup(name))
}
