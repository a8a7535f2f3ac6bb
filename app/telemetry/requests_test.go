package telemetry

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// recovering handles panics as the API does: a panic after the first byte is passed on, so that the connection is cut.
func recovering(c *gin.Context) {
	defer func() {
		if caught := recover(); caught != nil {
			if c.Writer.Written() {
				panic(http.ErrAbortHandler)
			}
			c.AbortWithStatus(http.StatusInternalServerError)
		}
	}()
	c.Next()
}

func TestRequestsAreCounted(t *testing.T) {
	for _, test := range []struct {
		name, method, path string
		wantSeries         string // of dragoman_http_requests_total
		wantClass          string
	}{
		{"by pattern", "GET", "/items/1", "code=200 method=GET route=/items/:id", "2xx"},
		{"without a query", "GET", "/items/1?text=secret", "code=200 method=GET route=/items/:id", "2xx"},
		{"no such route", "GET", "/wp-login.php", "code=404 method=GET route=unknown", "4xx"},
		{"no such method here", "PUT", "/items/1", "code=405 method=PUT route=unknown", "4xx"},
		{"no such method at all", "BREW", "/items/1", "code=405 method=other route=unknown", "4xx"},
		{"a status of its own", "GET", "/odd", "code=other method=GET route=/odd", "other"},
		{"the client left", "GET", "/gone", "code=499 method=GET route=/gone", "4xx"},
		{"panic", "GET", "/panic", "code=500 method=GET route=/panic", "5xx"},
		{"panic in the middle of an answer", "GET", "/cut", "code=aborted method=GET route=/cut", "aborted"},
		{"the client left in the middle of an answer", "GET", "/left", "code=499 method=GET route=/left", "4xx"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _ := newMetrics()
			router := newRouter(m.CountRequests(), recovering)
			router.GET("/items/:id", func(c *gin.Context) { c.Status(http.StatusOK) })
			router.GET("/odd", func(c *gin.Context) { c.Status(799) })
			router.GET("/gone", func(c *gin.Context) { c.AbortWithStatus(499) })
			router.GET("/panic", func(*gin.Context) { panic("oops") })
			router.GET("/cut", func(c *gin.Context) { c.String(http.StatusOK, "begun"); panic("oops") })
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
			all := families(t, m.registry)
			assert.Equal(t, map[string]float64{test.wantSeries: 1}, all["dragoman_http_requests_total"])
			_, route, _ := strings.Cut(test.wantSeries, "route=")
			assert.Equal(t, map[string]float64{"class=" + test.wantClass + " route=" + route: 1},
				all["dragoman_http_request_duration_seconds"])
			assert.Equal(t, map[string]float64{"route=" + route: 0}, all["dragoman_http_requests_in_flight"])
		})
	}
}

func TestBodiesAreCounted(t *testing.T) {
	m, _ := newMetrics()
	router := newRouter(m.CountRequests())
	router.POST("/all", func(c *gin.Context) {
		text, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, 100))
		assert.NoError(t, err)
		c.String(http.StatusOK, "%s%s", text, text)
	})
	router.POST("/part", func(c *gin.Context) {
		_, err := io.ReadFull(c.Request.Body, make([]byte, 2))
		assert.NoError(t, err)
		c.Status(http.StatusRequestEntityTooLarge)
	})
	server := httptest.NewServer(router)
	defer server.Close()
	for _, path := range []string{"/all", "/all", "/part"} {
		resp, err := http.Post(server.URL+path, "text/plain", strings.NewReader("12345"))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
	}
	server.Close() // waits for the handlers
	all := families(t, m.registry)
	assert.Equal(t, map[string]float64{"route=/all": 10, "route=/part": 2}, all["dragoman_http_request_bytes_total"])
	assert.Equal(t, map[string]float64{"route=/all": 20, "route=/part": 0}, all["dragoman_http_response_bytes_total"])
}

func TestStreamsAreInFlightUntilTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := newMetrics()
		router := newRouter(m.CountRequests())
		w := httptest.NewRecorder()
		router.GET("/stream", func(c *gin.Context) {
			for i := range 3 {
				fmt.Fprintf(c.Writer, "line %d\n", i)
				c.Writer.Flush()
				assert.Equal(t, 1.0, sample(t, m, "dragoman_http_requests_in_flight", "route=/stream"))
				time.Sleep(time.Second)
			}
		})
		router.ServeHTTP(w, httptest.NewRequest("GET", "/stream", nil))
		assert.True(t, w.Flushed)
		assert.Equal(t, 0.0, sample(t, m, "dragoman_http_requests_in_flight", "route=/stream"))
		assert.Equal(t, 21.0, sample(t, m, "dragoman_http_response_bytes_total", "route=/stream"))
		assert.Contains(t, scrape(m, ""), `dragoman_http_request_duration_seconds_sum{class="2xx",route="/stream"} 3`+"\n")
	})
}

// scrape returns the answer to a scraper that accepts a format.
func scrape(m *Metrics, accept string) string {
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, r)
	return w.Body.String()
}

// A sampled trace is an exemplar of the durations; one that is not sampled leaves no id.
func TestTracesAreExemplars(t *testing.T) {
	for _, test := range []struct {
		name    string
		sampler sdktrace.Sampler
		want    bool
	}{
		{"kept", sdktrace.AlwaysSample(), true},
		{"dropped", sdktrace.NeverSample(), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			provider := sdktrace.NewTracerProvider(sdktrace.WithSampler(test.sampler))
			defer func() { assert.NoError(t, provider.Shutdown(context.Background())) }()
			m, stages := newMetrics()
			router := newRouter(TraceRequests(provider), m.CountRequests())
			router.GET("/", func(c *gin.Context) { stages.Begin(c.Request.Context(), "tokenize").End() })
			router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))

			text := scrape(m, "application/openmetrics-text;version=1.0.0")
			for _, name := range []string{"dragoman_http_request_duration_seconds_bucket", "dragoman_stage_duration_seconds_bucket"} {
				assert.Equal(t, test.want, hasExemplar(text, name), name)
			}
		})
	}
}

// hasExemplar reports whether a bucket of a histogram has a trace as its exemplar.
func hasExemplar(text, bucket string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, bucket) && strings.Contains(line, `# {trace_id="`) {
			return true
		}
	}
	return false
}
