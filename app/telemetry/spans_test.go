package telemetry

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

func TestRequestsAreSpans(t *testing.T) {
	for _, test := range []struct {
		name, method, path string
		wantName           string
		want               []attribute.KeyValue
		wantStatus         codes.Code
	}{
		{"route", "GET", "/items/secret?text=secret", "GET /items/:id", []attribute.KeyValue{
			attribute.String("http.request.method", "GET"), attribute.String("http.route", "/items/:id"),
			attribute.Int("http.response.status_code", 200)}, codes.Unset},
		{"no route", "GET", "/secret", "GET", []attribute.KeyValue{
			attribute.String("http.request.method", "GET"), attribute.Int("http.response.status_code", 404)}, codes.Unset},
		{"no usual method", "SECRET", "/secret", "HTTP", []attribute.KeyValue{
			attribute.String("http.request.method", "_OTHER"), attribute.Int("http.response.status_code", 404)}, codes.Unset},
		{"the request was wrong", "GET", "/wrong", "GET /wrong", []attribute.KeyValue{
			attribute.String("http.request.method", "GET"), attribute.String("http.route", "/wrong"),
			attribute.Int("http.response.status_code", 400)}, codes.Unset},
		{"panic", "GET", "/panic", "GET /panic", []attribute.KeyValue{
			attribute.String("http.request.method", "GET"), attribute.String("http.route", "/panic"),
			attribute.Int("http.response.status_code", 500), attribute.String("error.type", "500")}, codes.Error},
		{"panic in the middle of an answer", "GET", "/cut", "GET /cut", []attribute.KeyValue{
			attribute.String("http.request.method", "GET"), attribute.String("http.route", "/cut"),
			attribute.String("error.type", "aborted")}, codes.Error},
		{"the client left in the middle of an answer", "GET", "/left", "GET /left", []attribute.KeyValue{
			attribute.String("http.request.method", "GET"), attribute.String("http.route", "/left"),
			attribute.Int("http.response.status_code", 499)}, codes.Unset},
	} {
		t.Run(test.name, func(t *testing.T) {
			recorder := tracetest.NewSpanRecorder()
			provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
			defer func() { assert.NoError(t, provider.Shutdown(context.Background())) }()
			router := newRouter(TraceRequests(provider, "/healthz"), recovering)
			router.GET("/items/:id", func(c *gin.Context) { c.Status(http.StatusOK) })
			router.GET("/wrong", func(c *gin.Context) { c.Status(http.StatusBadRequest) })
			router.GET("/panic", func(*gin.Context) { panic("secret") })
			router.GET("/cut", func(c *gin.Context) { c.String(http.StatusOK, "begun"); panic("secret") })
			ctx, leave := context.WithCancel(t.Context())
			router.GET("/left", func(c *gin.Context) { c.String(http.StatusOK, "begun"); leave(); panic(http.ErrAbortHandler) })
			serve := func() {
				router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, test.method, test.path, nil))
			}
			if test.path == "/cut" || test.path == "/left" {
				assert.PanicsWithValue(t, http.ErrAbortHandler, serve)
			} else {
				serve()
			}
			require.Len(t, recorder.Ended(), 1)
			span := recorder.Ended()[0]
			assert.Equal(t, test.wantName, span.Name())
			assert.Equal(t, trace.SpanKindServer, span.SpanKind())
			assert.ElementsMatch(t, test.want, span.Attributes())
			assert.Equal(t, test.wantStatus, span.Status().Code)
			assert.Empty(t, span.Events(), "the value of a panic can have a user's text")
		})
	}
}

func TestTraceparentIsBelieved(t *testing.T) {
	const traceID, parentID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for _, test := range []struct {
		name, traceparent string
		wantParent        bool
		wantKept          bool
	}{
		{"none", "", false, true},
		{"sampled", "00-" + traceID + "-" + parentID + "-01", true, true},
		{"not sampled", "00-" + traceID + "-" + parentID + "-00", true, false},
		{"of a later version", "01-" + traceID + "-" + parentID + "-01-more", true, true},
		{"zeros", "00-00000000000000000000000000000000-" + parentID + "-01", false, true},
		{"too short", "00-" + traceID[1:] + "-" + parentID + "-01", false, true},
		{"nonsense", "hello", false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			recorder := tracetest.NewSpanRecorder()
			provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
			defer func() { assert.NoError(t, provider.Shutdown(context.Background())) }()
			var inside trace.SpanContext
			router := newRouter(TraceRequests(provider))
			router.GET("/", func(c *gin.Context) { inside = trace.SpanContextFromContext(c.Request.Context()) })
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Traceparent", test.traceparent)
			router.ServeHTTP(httptest.NewRecorder(), r)

			assert.True(t, inside.IsValid())
			assert.Equal(t, test.wantParent, inside.TraceID().String() == traceID)
			assert.Equal(t, test.wantKept, len(recorder.Ended()) == 1)
			if test.wantParent && test.wantKept {
				assert.Equal(t, parentID, recorder.Ended()[0].Parent().SpanID().String())
			}
		})
	}
}

func TestNoTracesNoSpans(t *testing.T) {
	for name, provider := range map[string]trace.TracerProvider{"none": nil, "one that makes none": noop.NewTracerProvider()} {
		t.Run(name, func(t *testing.T) {
			served := false
			router := newRouter(TraceRequests(provider))
			router.GET("/", func(c *gin.Context) {
				served = true
				assert.False(t, trace.SpanContextFromContext(c.Request.Context()).IsValid())
			})
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
			router.ServeHTTP(httptest.NewRecorder(), r)
			assert.True(t, served)
		})
	}
}
