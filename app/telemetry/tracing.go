package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"dragoman/app/outage"
	"dragoman/app/text/excerpt"
)

// StartTracing exports traces by OTLP over HTTP to OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT. If neither
// is set, or with OTEL_SDK_DISABLED=true or OTEL_TRACES_EXPORTER=none, the provider creates no spans and costs nothing.
//
// OpenTelemetry's libraries read its variables from the environment of the process, as in every program: OTEL_SERVICE_NAME
// (dragoman if unset), OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER and its ARG, OTEL_EXPORTER_OTLP_HEADERS, _TIMEOUT,
// _COMPRESSION, _CERTIFICATE and others, OTEL_BSP_ and OTEL_SPAN_. StartTracing fails on values that they would silently ignore.
//
// The spans name the service's version. log receives errors of the export.
//
// Nothing global is changed: the provider must be passed to the code that creates spans. shutdown exports the remaining spans,
// within its ctx; spans that end later are not exported.
func StartTracing(ctx context.Context, version string, log *slog.Logger) (_ trace.TracerProvider, shutdown func(context.Context) error, err error) {
	endpoint, err := tracesEndpoint()
	if err != nil {
		return nil, nil, fmt.Errorf("tracing: %w", err)
	}
	if endpoint == "" {
		return noop.NewTracerProvider(), func(context.Context) error { return nil }, nil
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", "dragoman"), attribute.String("service.version", version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, nil, fmt.Errorf("tracing: what the traces are of: %w: OTEL_RESOURCE_ATTRIBUTES takes name=value,name=value", err)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("tracing: %w", err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(newExporter(exporter, log)), sdktrace.WithResource(about))
	log.Info("tracing", "endpoint", excerpt.Address(endpoint))
	return provider, provider.Shutdown, nil
}

// variable returns the first environment variable that is set, or "". As in OpenTelemetry, an empty one counts as unset.
func variable(names ...string) (name, value string) {
	for _, name := range names {
		if value := strings.TrimSpace(os.Getenv(name)); value != "" {
			return name, value
		}
	}
	return "", ""
}

// tracesEndpoint returns the endpoint of traces, or its base, or "" if tracing is disabled. It fails on unsupported settings.
func tracesEndpoint() (string, error) {
	if _, disabled := variable("OTEL_SDK_DISABLED"); strings.EqualFold(disabled, "true") {
		return "", nil
	}
	switch _, exporter := variable("OTEL_TRACES_EXPORTER"); exporter {
	case "", "otlp":
	case "none":
		return "", nil
	default:
		return "", fmt.Errorf("OTEL_TRACES_EXPORTER=%q: use otlp or none", exporter)
	}
	name, endpoint := variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	if endpoint == "" {
		return "", nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", fmt.Errorf("%s is not an http or https URL: use one such as http://collector:4318", name)
	}
	name, protocol := variable("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	if protocol != "" && protocol != "http/protobuf" {
		return "", fmt.Errorf("%s=%q: use http/protobuf, which collectors take on port 4318", name, protocol)
	}
	return endpoint, checkSampler()
}

// checkSampler fails on an unknown sampler, for which the library would trace everything.
func checkSampler() error {
	known := []string{
		"always_on", "always_off", "traceidratio",
		"parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
	}
	_, sampler := variable("OTEL_TRACES_SAMPLER")
	sampler = strings.ToLower(sampler)
	if sampler != "" && !slices.Contains(known, sampler) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER=%q: use one of %s", sampler, strings.Join(known, ", "))
	}
	_, arg := variable("OTEL_TRACES_SAMPLER_ARG")
	if !strings.HasSuffix(sampler, "traceidratio") || arg == "" {
		return nil
	}
	if ratio, err := strconv.ParseFloat(arg, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG=%q: use a part of all traces, from 0 to 1", arg)
	}
	return nil
}

// loggedExporter logs lost spans. The SDK would pass the errors to a global handler.
type loggedExporter struct {
	sdktrace.SpanExporter
	outage outage.Log
}

func newExporter(inner sdktrace.SpanExporter, log *slog.Logger) *loggedExporter {
	return &loggedExporter{inner, outage.Log{
		Log: log, Level: slog.LevelWarn, Failing: "traces cannot be sent and are dropped", Over: "traces are sent again",
	}}
}

// ExportSpans exports spans. It returns no error for lost ones.
func (e *loggedExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	e.outage.Note(e.SpanExporter.ExportSpans(ctx, spans), "spans", len(spans))
	return nil
}
