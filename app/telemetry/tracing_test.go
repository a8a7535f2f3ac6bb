package telemetry

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// setenv sets these variables of OpenTelemetry and unsets all others.
func setenv(t *testing.T, environ ...string) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "") // restores it at the end
			require.NoError(t, os.Unsetenv(name))
		}
	}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
}

// otlp is a collector that stores traces.
type otlp struct {
	*httptest.Server
	status int

	mu    sync.Mutex // guards the fields below
	paths []string
	got   []*tracepb.ResourceSpans
}

func startOTLP(t *testing.T, status int) *otlp {
	c := &otlp{status: status}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		var sent collectorpb.ExportTraceServiceRequest
		assert.NoError(t, proto.Unmarshal(body, &sent))
		c.mu.Lock()
		defer c.mu.Unlock()
		c.paths, c.got = append(c.paths, r.URL.Path), append(c.got, sent.ResourceSpans...)
		w.WriteHeader(c.status)
	}))
	t.Cleanup(c.Close)
	return c
}

// spans returns all received spans, by name.
func (c *otlp) spans() map[string]*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	spans := map[string]*tracepb.Span{}
	for _, resource := range c.got {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				spans[span.Name] = span
			}
		}
	}
	return spans
}

// attributes returns the text attributes as key=value.
func attributes(list []*commonpb.KeyValue) []string {
	var text []string
	for _, a := range list {
		text = append(text, a.Key+"="+a.Value.GetStringValue())
	}
	return text
}

func TestTracesArrive(t *testing.T) {
	collector := startOTLP(t, http.StatusOK)
	setenv(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test")
	var log strings.Builder
	provider, shutdown, err := StartTracing(t.Context(), "v1", slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	_, stages := newMetrics()
	router := newRouter(TraceRequests(provider, "/healthz"))
	router.POST("/translation", func(c *gin.Context) { stages.Begin(c.Request.Context(), "tokenize").End() })
	router.GET("/healthz", func(c *gin.Context) { stages.Begin(c.Request.Context(), "queue").End() })

	const traceID, parentID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for _, target := range []string{"POST /translation?text=secret", "GET /healthz"} {
		method, path, _ := strings.Cut(target, " ")
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("traceparent", "00-"+traceID+"-"+parentID+"-01")
		router.ServeHTTP(httptest.NewRecorder(), r)
	}
	require.NoError(t, shutdown(t.Context()))

	spans := collector.spans()
	assert.Len(t, spans, 2, "none of the probe")
	server, stage := spans["POST /translation"], spans["tokenize"]
	require.NotNil(t, server)
	require.NotNil(t, stage)
	assert.Equal(t, traceID, hex.EncodeToString(server.TraceId))
	assert.Equal(t, parentID, hex.EncodeToString(server.ParentSpanId))
	assert.Equal(t, tracepb.Span_SPAN_KIND_SERVER, server.Kind)
	assert.Equal(t, traceID, hex.EncodeToString(stage.TraceId))
	assert.Equal(t, server.SpanId, stage.ParentSpanId)
	assert.Contains(t, attributes(server.Attributes), "http.route=/translation")
	assert.NotContains(t, strings.Join(attributes(server.Attributes), " "), "secret")
	about := attributes(collector.got[0].Resource.Attributes)
	for _, want := range []string{"service.name=dragoman", "service.version=v1", "deployment.environment.name=test"} {
		assert.Contains(t, about, want)
	}
	assert.Equal(t, []string{"/v1/traces"}, collector.paths)
	assert.Contains(t, log.String(), collector.URL)
}

func TestEnvironmentOfTraces(t *testing.T) {
	const on = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"
	for _, test := range []struct {
		name    string
		environ []string
		wantOn  bool
		wantErr string
	}{
		{"nothing is set", nil, false, ""},
		{"empty", []string{"OTEL_EXPORTER_OTLP_ENDPOINT= "}, false, ""},
		{"an endpoint", []string{on}, true, ""},
		{"an endpoint for traces", []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://127.0.0.1:1/traces"}, true, ""},
		{"disabled", []string{on, "OTEL_SDK_DISABLED=TRUE"}, false, ""},
		{"no exporter", []string{on, "OTEL_TRACES_EXPORTER=none"}, false, ""},
		{"settings without an endpoint", []string{"OTEL_TRACES_SAMPLER=nonsense"}, false, ""},
		{"a sampler", []string{on, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.5"}, true, ""},
		{"an argument that is not used", []string{on, "OTEL_TRACES_SAMPLER=always_on", "OTEL_TRACES_SAMPLER_ARG=x"}, true, ""},

		{"another exporter", []string{on, "OTEL_TRACES_EXPORTER=zipkin"}, false, `OTEL_TRACES_EXPORTER="zipkin": use otlp or none`},
		{"no URL", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318"}, false,
			"OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL: use one such as http://collector:4318"},
		{"no host", []string{on, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http:///v1/traces"}, false, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is no"},
		{"gRPC", []string{on, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, false, `OTEL_EXPORTER_OTLP_PROTOCOL="grpc": use http/protobuf`},
		{"another sampler", []string{on, "OTEL_TRACES_SAMPLER=jaeger_remote"}, false, `OTEL_TRACES_SAMPLER="jaeger_remote": use one of always_on`},
		{"a ratio above 1", []string{on, "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=50"}, false,
			`OTEL_TRACES_SAMPLER_ARG="50": use a part of all traces, from 0 to 1`},
		{"no ratio", []string{on, "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=NaN"}, false, "OTEL_TRACES_SAMPLER_ARG"},
		{"attributes", []string{on, "OTEL_RESOURCE_ATTRIBUTES=environment"}, false, "OTEL_RESOURCE_ATTRIBUTES takes name=value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			setenv(t, test.environ...)
			provider, shutdown, err := StartTracing(t.Context(), "", slog.New(slog.DiscardHandler))
			if test.wantErr != "" {
				assert.ErrorContains(t, err, test.wantErr)
				return
			}
			require.NoError(t, err)
			_, off := provider.(noop.TracerProvider)
			assert.Equal(t, test.wantOn, !off)
			assert.NoError(t, shutdown(t.Context()))
		})
	}
}

func TestServiceNameIsTheOperators(t *testing.T) {
	collector := startOTLP(t, http.StatusOK)
	setenv(t, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+collector.URL+"/here", "OTEL_SERVICE_NAME=translations")
	provider, shutdown, err := StartTracing(t.Context(), "", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	_, span := provider.Tracer("test").Start(t.Context(), "one")
	span.End()
	require.NoError(t, shutdown(t.Context()))
	assert.Contains(t, attributes(collector.got[0].Resource.Attributes), "service.name=translations")
	assert.Equal(t, []string{"/here"}, collector.paths)
}

func TestCollectorThatRefuses(t *testing.T) {
	collector := startOTLP(t, http.StatusBadRequest)
	setenv(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	var log strings.Builder
	provider, shutdown, err := StartTracing(t.Context(), "", slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	_, span := provider.Tracer("test").Start(t.Context(), "one")
	span.End()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	assert.NoError(t, shutdown(ctx))
	assert.Contains(t, log.String(), "traces cannot be sent")
	assert.Contains(t, log.String(), "400")
}

// failing is an exporter that fails while err is set.
type failing struct {
	tracetest.NoopExporter
	err error
}

func (f *failing) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return f.err }

func TestLostSpansAreLoggedOnce(t *testing.T) {
	var log strings.Builder
	inner := &failing{}
	exporter := newExporter(inner, slog.New(slog.NewTextHandler(&log, nil)))
	spans := tracetest.SpanStubs{{Name: "a"}, {Name: "b"}}.Snapshots()
	for _, err := range []error{nil, errors.New("down"), errors.New("still down"), nil, nil} {
		inner.err = err
		assert.NoError(t, exporter.ExportSpans(t.Context(), spans))
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Len(t, lines, 2)
	assert.Contains(t, lines[0], "error=down")
	assert.Contains(t, lines[1], "traces are sent again")
}
