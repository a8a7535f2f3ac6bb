package monitor

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/engine"
	"dragoman/app/fault"
	"dragoman/app/telemetry"
	"dragoman/app/translate"
	"dragoman/app/translate/cache"
)

// service simulates dragoman for a monitor: the metrics are the real ones, only the process's figures are made up.
type service struct {
	metrics      *telemetry.Metrics
	translations *translate.Metrics
	failures     *dialect.Metrics
	ready        prometheus.Gauge
	router       *gin.Engine

	took                 time.Duration   // of a request
	stats                engine.Stats    // of its worker
	others               []engine.Source // of models beside m
	cache                cache.Stats
	memory, cpu, started float64
}

func newService() *service {
	gin.SetMode(gin.ReleaseMode)
	metrics := telemetry.New(slog.New(slog.DiscardHandler))
	s := &service{
		metrics: metrics, translations: translate.NewMetrics(metrics.Registry()), failures: dialect.NewMetrics(metrics.Registry()),
		ready:  promauto.With(metrics.Registry()).NewGauge(prometheus.GaugeOpts{Name: "dragoman_ready"}),
		router: gin.New(), memory: 600 << 20, started: 1e9,
	}
	s.router.Use(s.metrics.CountRequests())
	s.router.POST("/translation", func(c *gin.Context) {
		time.Sleep(s.took)
		c.String(http.StatusOK, "done")
	})
	s.router.POST("/v2/translate", func(c *gin.Context) { c.String(http.StatusServiceUnavailable, "busy") })
	s.router.GET("/healthz", func(c *gin.Context) { c.String(http.StatusOK, "ok") })
	s.router.GET("/metrics", gin.WrapH(s))
	return s
}

// load makes the service ready.
func (s *service) load() *service {
	s.metrics.Registry().MustRegister(engine.Metrics(func() []engine.Source {
		return append([]engine.Source{{Model: "m", Version: "1", Stats: []engine.Stats{s.stats, {}}, Rows: 80}}, s.others...)
	}))
	s.translations.Know("m", "1")
	promauto.With(s.metrics.Registry()).NewGaugeVec(prometheus.GaugeOpts{Name: "dragoman_model_resident_bytes"},
		[]string{"model", "version"}).WithLabelValues("m", "1").Set(1 << 20)
	s.metrics.Registry().MustRegister(cache.Metrics(func() cache.Stats { return s.cache }, 1<<20)...)
	s.ready.Set(1)
	return s
}

// post sends requests, one after the other.
func (s *service) post(path string, times int) {
	for range times {
		s.router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", path, nil))
	}
}

// work simulates a second: 8 sentences of 4 answered requests, and one refused request.
func (s *service) work() {
	s.post("/translation", 4)
	s.post("/v2/translate", 1)
	s.failures.Count(fault.New(fault.Busy, "", "busy"))
	stages := s.translations.Stages
	for range 8 {
		stages.Observe("tokenize", 200*time.Microsecond)
		stages.Observe("queue", 30*time.Millisecond)
		stages.Observe("detokenize", 100*time.Microsecond)
		s.translations.Count("", translate.Result{Model: "m", Version: "1", Decoded: true, SourceTokens: 12, TargetTokens: 15})
	}
	s.stats.QueuedTokens, s.stats.QueuedSentences, s.stats.QueuedRequests = 120, 9, 5
	s.stats.SourceTokensPerSecond = 400
	s.stats.RunningRows = 40
	s.stats.Joins += 2
	s.stats.Steps += 100
	s.stats.SteppedRows += 6000
	s.stats.SentencesDone += 8
	s.stats.Joining += 100 * time.Millisecond
	s.stats.Stepping += 800 * time.Millisecond
	s.stats.Busy += time.Second
	s.cache.Hits, s.cache.Misses = s.cache.Hits+3, s.cache.Misses+9
	s.cpu += 1.5
}

// restart simulates a restart of the service.
func (s *service) restart() {
	fresh := newService()
	fresh.took, fresh.started = s.took, s.started+100
	*s = *fresh
	s.load()
}

var ofProcess = regexp.MustCompile(`(?m)^process_(resident_memory_bytes|cpu_seconds_total|start_time_seconds) .*$`)

// text returns the text of /metrics.
func (s *service) text() string {
	w := httptest.NewRecorder()
	s.metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return ofProcess.ReplaceAllStringFunc(w.Body.String(), func(line string) string {
		name, _, _ := strings.Cut(line, " ")
		return fmt.Sprintf("%s %g", name, map[string]float64{
			"process_resident_memory_bytes": s.memory, "process_cpu_seconds_total": s.cpu, "process_start_time_seconds": s.started,
		}[name])
	})
}

// ServeHTTP serves /metrics.
func (s *service) ServeHTTP(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s.text()) }

// sampleOf parses a valid text.
func sampleOf(t *testing.T, text string, at time.Time) *sample {
	t.Helper()
	s, err := parse(strings.NewReader(text))
	require.NoError(t, err)
	s.time = at
	return s
}

// network has servers by host. It is safe for concurrent use if its servers are.
type network map[string]http.Handler

// RoundTrip waits for a server until the request's context ends.
func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	server := n[r.URL.Host]
	if server == nil {
		return nil, errors.New("connection refused")
	}
	answered := make(chan *http.Response, 1)
	go func() {
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		answered <- w.Result()
	}()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case resp := <-answered:
		return resp, nil
	}
}

// day is the time of events in the tests.
var day = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
