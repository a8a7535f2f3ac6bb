package telemetry

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"dragoman/app/measure"
)

// TraceRequests returns the middleware that creates a span for each request, as a child of the client's span if it sends a
// traceparent (W3C Trace Context), in the request's context. It must come before all middleware that logs or creates spans.
// Requests of the routes except, such as probes, have no span. A client's sampling decision is accepted, unless
// OTEL_TRACES_SAMPLER says otherwise. It does nothing without a provider, or with one that creates no spans.
func TraceRequests(provider trace.TracerProvider, except ...string) gin.HandlerFunc {
	if _, off := provider.(noop.TracerProvider); off || provider == nil {
		return func(*gin.Context) {}
	}
	tracer := provider.Tracer(measure.Scope)
	propagator := propagation.TraceContext{}
	return func(c *gin.Context) {
		route := c.FullPath()
		if slices.Contains(except, route) {
			return
		}
		name, attributes := describe(c.Request, route)
		ctx := propagator.Extract(c.Request.Context(), propagation.HeaderCarrier(c.Request.Header))
		ctx, span := tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...))
		c.Request = c.Request.WithContext(ctx)
		complete := false
		// In a closure: a directly deferred End would record the value of a panic in the span.
		defer func() {
			conclude(span, statusOf(c, complete))
			span.End()
		}()
		c.Next()
		complete = true
	}
}

// describe returns a span's name and attributes by OpenTelemetry's conventions for HTTP servers, without the URL, which clients
// choose.
func describe(r *http.Request, route string) (string, []attribute.KeyValue) {
	method := methodOf(r)
	if method == measure.Other {
		method = "_OTHER"
	}
	attributes := []attribute.KeyValue{attribute.String("http.request.method", method)}
	if method == "_OTHER" {
		method = "HTTP"
	}
	if route == "" {
		return method, attributes
	}
	return method + " " + route, append(attributes, attribute.String("http.route", route))
}

// conclude records the status of a request in its span, see [statusOf]. A 4xx is not an error of the server.
func conclude(span trace.Span, status int) {
	if status == 0 {
		span.SetAttributes(attribute.String("error.type", aborted))
		span.SetStatus(codes.Error, "the answer was cut off")
		return
	}
	code, _ := statusLabels(status)
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		span.SetAttributes(attribute.String("error.type", code))
		span.SetStatus(codes.Error, "")
	}
}
