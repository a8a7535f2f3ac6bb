package telemetry

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"dragoman/app/access"
	"dragoman/app/cache"
	"dragoman/app/engine"
)

// fixedEngines and the like always have the same numbers.
type (
	fixedEngines []engine.Stats
	fixedCache   cache.Stats
	fixedKeys    access.Stats
)

func (e fixedEngines) Stats() []engine.Stats { return e }
func (c fixedCache) Stats() cache.Stats      { return cache.Stats(c) }
func (k fixedKeys) Stats() access.Stats      { return access.Stats(k) }

// testSources are two workers and a cache.
func testSources() Sources {
	return Sources{
		Engines: fixedEngines{{
			QueuedRequests: 1, QueuedSentences: 2, QueuedTokens: 300, RunningSentences: 4, RunningRows: 20, ReservedRows: 25,
			ReservedBytes: 6, SourceTokensPerSecond: 100, SentencesDone: 7, SentencesShared: 8, SentencesCancelled: 9,
			SentencesFailed: 10, RequestsRefused: 11, Joins: 12, PrefilledTokens: 13, Steps: 14, SteppedRows: 15,
			DecodedTokens: 16, BrokenBatches: 17, Busy: 10 * time.Second, Joining: 2 * time.Second, Stepping: 7 * time.Second,
		}, {QueuedTokens: 100, SourceTokensPerSecond: 60, RunningRows: 80}},
		Rows: 80, Cache: fixedCache{Hits: 1, Misses: 2, Evictions: 3, Entries: 4, Bytes: 5}, CacheBytes: 6,
		Keys: fixedKeys{
			WithoutKey: 1, BadKey: 2, OverRequests: 3, OverCharacters: 4, Clients: 5, Callers: 6, Reloads: 7, FailedReloads: 8, KeysBroken: true,
		},
		Ready:     func() bool { return true },
		Model:     ModelInfo{Source: "owner/name", Revision: "main", Precision: "int8", Version: "v1", Device: "cpu"},
		Languages: []string{"en", "fr"},
	}
}

// exercised are metrics in which every series is there that can be without clients,
// and one request.
func exercised(t testing.TB) *Metrics {
	m := New(Config{ErrorCodes: []string{"busy", "internal"}, Flags: []string{"loop", "truncated"}})
	m.Watch(testSources())
	router := newRouter(m.CountRequests())
	router.POST("/translation", func(c *gin.Context) { c.String(http.StatusOK, "done") })
	w := httptest.NewRecorder()
	router.ServeHTTP(w, httptest.NewRequest("POST", "/translation", strings.NewReader("text")))
	require.Equal(t, http.StatusOK, w.Code)
	return m
}

// newRouter is a router as the API has it.
func newRouter(middleware ...gin.HandlerFunc) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.RedirectTrailingSlash = false
	router.HandleMethodNotAllowed = true
	router.Use(middleware...)
	return router
}

// isOwn tells the service's own metrics from those of the runtime.
func isOwn(name string) bool { return strings.HasPrefix(name, namespace+"_") }

// families are the metrics of a registry by name, each with its series: the value of a
// counter or gauge, or the number of times that a histogram has, by labels such as
// "code=204 method=GET".
func families(t testing.TB, g prometheus.Gatherer) map[string]map[string]float64 {
	gathered, err := g.Gather()
	require.NoError(t, err)
	all := map[string]map[string]float64{}
	for _, f := range gathered {
		all[f.GetName()] = map[string]float64{}
		for _, series := range f.GetMetric() {
			var labels []string
			for _, label := range series.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			all[f.GetName()][strings.Join(labels, " ")] =
				series.GetCounter().GetValue() + series.GetGauge().GetValue() + float64(series.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// sample is the value of a series, with labels such as "code=204 method=GET" in
// alphabetical order; 0 where there is no such series.
func sample(t testing.TB, m *Metrics, name, labels string) float64 {
	return families(t, m.registry)[name][labels]
}

// labelValues are the values that each label of the service's own metrics has.
func labelValues(t testing.TB, m *Metrics) map[string][]string {
	gathered, err := m.registry.Gather()
	require.NoError(t, err)
	values := map[string][]string{}
	for _, f := range gathered {
		for _, series := range f.GetMetric() {
			for _, label := range series.GetLabel() {
				if name := label.GetName(); isOwn(f.GetName()) && !slices.Contains(values[name], label.GetValue()) {
					values[name] = append(values[name], label.GetValue())
				}
			}
		}
	}
	return values
}

// newPedantic is a registry that checks what a collector sends against what it said
// that it would.
func newPedantic(t *testing.T, c prometheus.Collector) *prometheus.Registry {
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	return registry
}
