package telemetry

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"dragoman/app/measure"
)

// exercised returns the metrics after one request.
func exercised(t testing.TB) *Metrics {
	m, _ := newMetrics()
	router := newRouter(m.CountRequests())
	router.POST("/translation", func(c *gin.Context) { c.String(http.StatusOK, "done") })
	w := httptest.NewRecorder()
	router.ServeHTTP(w, httptest.NewRequest("POST", "/translation", strings.NewReader("text")))
	require.Equal(t, http.StatusOK, w.Code)
	return m
}

func TestRegistryIsItsOwn(t *testing.T) {
	m := exercised(t)
	newMetrics() // does not collide with the first registration
	for name := range families(t, prometheus.DefaultGatherer) {
		assert.False(t, strings.HasPrefix(name, measure.Namespace), name)
	}
	assert.Positive(t, sample(t, m, "go_goroutines", ""))
	assert.Positive(t, sample(t, m, "process_resident_memory_bytes", ""))
}

// Tests of other packages need no metrics.
func TestNilCountsNothing(t *testing.T) {
	var m *Metrics
	assert.NotPanics(t, func() {
		measure.NewCounters(m.Registry(), "errors_total", "Errors.", "code", nil).Inc("busy")
		measure.NewStages(m.Registry(), "stages", "Stages.", "tokenize").Begin(t.Context(), "tokenize").End()
		newRouter(m.CountRequests()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	})
}

func TestHandlerSpeaksWhatIsAskedFor(t *testing.T) {
	for _, test := range []struct{ name, accept, encoding, wantType, wantEncoding, wantEnd string }{
		{"text", "", "", "text/plain; version=0.0.4", "", "\n"},
		{"OpenMetrics", "application/openmetrics-text;version=1.0.0", "", "application/openmetrics-text; version=1.0.0", "", "# EOF\n"},
		{"compressed", "", "gzip", "text/plain; version=0.0.4", "gzip", "\n"},
		{"with native histograms", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited", "",
			"application/vnd.google.protobuf", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/metrics", nil)
			r.Header.Set("Accept", test.accept)
			r.Header.Set("Accept-Encoding", test.encoding)
			w := httptest.NewRecorder()
			exercised(t).Handler().ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code)
			assert.Contains(t, w.Header().Get("Content-Type"), test.wantType)
			require.Equal(t, test.wantEncoding, w.Header().Get("Content-Encoding"))
			var body io.Reader = w.Body
			if test.wantEncoding == "gzip" {
				unzipped, err := gzip.NewReader(body)
				require.NoError(t, err)
				body = unzipped
			}
			text, err := io.ReadAll(body)
			require.NoError(t, err)
			assert.Contains(t, string(text), "dragoman_http_requests")
			assert.True(t, strings.HasSuffix(string(text), test.wantEnd))
		})
	}
}

func TestHistogramsAreNativeToo(t *testing.T) {
	gathered, err := exercised(t).registry.Gather()
	require.NoError(t, err)
	found := 0
	for _, f := range gathered {
		if h := f.GetMetric()[0].GetHistogram(); h != nil && strings.HasPrefix(f.GetName(), measure.Namespace) {
			found++
			assert.NotNil(t, h.Schema, f.GetName())
			assert.NotEmpty(t, h.GetBucket(), f.GetName())
		}
	}
	assert.Equal(t, 2, found)
}

// brokenCollector fails to collect.
type brokenCollector struct{ desc *prometheus.Desc }

func (c brokenCollector) Describe(out chan<- *prometheus.Desc) { out <- c.desc }

func (c brokenCollector) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.NewInvalidMetric(c.desc, errors.New("two\nlines"))
}

func TestWhatCannotBeReadIsLogged(t *testing.T) {
	var log strings.Builder
	m := New(slog.New(slog.NewTextHandler(&log, nil)))
	m.Registry().MustRegister(brokenCollector{prometheus.NewDesc("dragoman_broken", "Nothing.", nil, nil)})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Body.String(), "go_goroutines")
	assert.Contains(t, log.String(), `msg="reading metrics"`)
	assert.Contains(t, log.String(), "two lines")
	assert.Equal(t, 1, strings.Count(log.String(), "\n"))
}

func TestScrapesWhileInUse(t *testing.T) {
	const users, rounds = 8, 200
	m, stages := newMetrics()
	codes := measure.NewCounters(m.Registry(), "errors_total", "Errors.", "code", []string{"busy"})
	router := newRouter(m.CountRequests())
	router.GET("/", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	handler := m.Handler()
	var group errgroup.Group
	for range users {
		group.Go(func() error {
			for range rounds {
				router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
				stages.Begin(t.Context(), "tokenize").End()
				codes.Inc("busy")
			}
			return nil
		})
		group.Go(func() error {
			for range 5 {
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
				if w.Code != http.StatusOK {
					return fmt.Errorf("status %d: %s", w.Code, w.Body)
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	assert.Equal(t, 1.0*users*rounds, sample(t, m, "dragoman_http_requests_total", "code=204 method=GET route=/"))
	assert.Equal(t, 1.0*users*rounds, sample(t, m, "dragoman_stage_duration_seconds", "stage=tokenize"))
	assert.Equal(t, 1.0*users*rounds, sample(t, m, "dragoman_errors_total", "code=busy"))
}

// FuzzLabels looks for a request that creates a series.
func FuzzLabels(f *testing.F) {
	m, _ := newMetrics()
	codes := measure.NewCounters(m.Registry(), "errors_total", "Errors.", "code", []string{"busy", "internal"})
	router := newRouter(m.CountRequests())
	router.POST("/translation", func(c *gin.Context) { c.Status(http.StatusOK) })
	router.GET("/files/:name", func(c *gin.Context) { c.Status(http.StatusOK) })
	allowed := map[string][]string{
		"route": {"/translation", "/files/:name", unknownRoute}, "method": {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE", measure.Other},
		"code": {"200", "404", "405", "busy", "internal", measure.Other}, "class": {"2xx", "4xx"}, "stage": {"tokenize", "queue"},
	}
	f.Add("GET", "files/a", "busy")
	f.Add("GET", "files/b?c=d", "busy")
	f.Add("POST", "translation", "internal")
	f.Add("post", "translation/", "BUSY")
	f.Add("BREW", "../../etc/passwd", "\xff")
	f.Add("DELETE", "translation", "")
	f.Add("", "\xff\xfe", `{code="busy"}`)
	f.Fuzz(func(t *testing.T, method, path, code string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Method, r.URL.Path = method, "/"+path
		router.ServeHTTP(httptest.NewRecorder(), r)
		codes.Inc(code)
		gathered, err := m.registry.Gather()
		require.NoError(t, err)
		for _, family := range gathered {
			for _, series := range family.GetMetric() {
				for _, label := range series.GetLabel() {
					if strings.HasPrefix(family.GetName(), measure.Namespace) {
						assert.Contains(t, allowed[label.GetName()], label.GetValue(), label.GetName())
					}
				}
			}
		}
	})
}
