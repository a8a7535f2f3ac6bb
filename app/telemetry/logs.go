package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// TraceLogs wraps a handler so that lines which are logged with a context that has a
// span carry trace_id and span_id, at the top level whatever groups are open.
func TraceLogs(h slog.Handler) slog.Handler { return &traceHandler{Handler: h, ungrouped: h} }

// traceHandler is a handler that adds the ids. They belong outside of the groups that
// were opened since; a handler cannot close these, so the last one without any is kept,
// with all that came after it.
type traceHandler struct {
	slog.Handler
	ungrouped slog.Handler
	since     []func(slog.Handler) slog.Handler // nothing before the first group
}

// Handle passes a line on, with its ids.
func (h *traceHandler) Handle(ctx context.Context, record slog.Record) error {
	span := trace.SpanContextFromContext(ctx)
	if !span.IsValid() {
		return h.Handler.Handle(ctx, record)
	}
	ids := []slog.Attr{slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String())}
	if len(h.since) == 0 {
		record = record.Clone() // the caller's other handlers may have it too
		record.AddAttrs(ids...)
		return h.Handler.Handle(ctx, record)
	}
	next := h.ungrouped.WithAttrs(ids)
	for _, apply := range h.since {
		next = apply(next)
	}
	return next.Handle(ctx, record)
}

// WithAttrs returns a handler whose lines have attributes.
func (h *traceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(h.since) == 0 {
		return TraceLogs(h.Handler.WithAttrs(attrs))
	}
	return h.and(func(next slog.Handler) slog.Handler { return next.WithAttrs(attrs) })
}

// WithGroup returns a handler whose further attributes are in a group.
func (h *traceHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.and(func(next slog.Handler) slog.Handler { return next.WithGroup(name) })
}

// and returns a handler with one more change since the last one without groups.
func (h *traceHandler) and(change func(slog.Handler) slog.Handler) slog.Handler {
	return &traceHandler{
		Handler: change(h.Handler), ungrouped: h.ungrouped,
		since: append(h.since[:len(h.since):len(h.since)], change),
	}
}
