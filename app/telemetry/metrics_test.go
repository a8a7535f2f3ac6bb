package telemetry

import (
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

var update = flag.Bool("update", false, "write the golden files")

func TestNamesTypesAndLabels(t *testing.T) {
	gathered, err := exercised(t).registry.Gather()
	require.NoError(t, err)
	var got strings.Builder
	for _, f := range gathered {
		if !isOwn(f.GetName()) {
			continue
		}
		fmt.Fprintf(&got, "%s %s: %s\n", f.GetName(), strings.ToLower(f.GetType().String()), f.GetHelp())
		values := map[string][]string{}
		for _, series := range f.GetMetric() {
			for _, label := range series.GetLabel() {
				if name := label.GetName(); !slices.Contains(values[name], label.GetValue()) {
					values[name] = append(values[name], label.GetValue())
				}
			}
		}
		for _, label := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(&got, "\t%s: %s\n", label, strings.Join(values[label], " "))
		}
	}
	golden := filepath.Join("testdata", "metrics.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String(), "run the test with -update where this is meant, and look at the dashboard")
}

func TestNamesFollowConventions(t *testing.T) {
	m := exercised(t)
	own := slices.DeleteFunc(slices.Collect(maps.Keys(families(t, m.registry))), func(name string) bool { return !isOwn(name) })
	require.NotEmpty(t, own)
	problems, err := testutil.GatherAndLint(m.registry, own...)
	require.NoError(t, err)
	assert.Empty(t, problems)
}

func TestRegistryIsItsOwn(t *testing.T) {
	m := exercised(t)
	New(Config{}) // does not collide with the first
	for name := range families(t, prometheus.DefaultGatherer) {
		assert.False(t, isOwn(name), name)
	}
	assert.Positive(t, sample(t, m, "go_goroutines", ""))
	assert.Positive(t, sample(t, m, "process_resident_memory_bytes", ""))
}

func TestEventsAreCounted(t *testing.T) {
	m := exercised(t)
	m.Translated(Translation{From: "en", To: "fr", Outcome: Decoded,
		SourceCharacters: 3, TargetCharacters: 4, SourceTokens: 5, TargetTokens: 6})
	m.Translated(Translation{From: "en", To: "tlh", Outcome: "guessed"})
	m.Flagged("loop")
	m.Flagged("ugly")
	m.Retried("truncated")
	m.Failed("busy")
	m.Failed("no such code")
	m.Refused(Deadline)
	m.Cancelled(ClientGone)
	m.Observe(Queue, 1)
	m.Observe("nap", 1)
	for _, test := range []struct {
		want         float64
		name, labels string
	}{
		{1, "dragoman_records_total", "outcome=decoded"},
		{0, "dragoman_records_total", "outcome=cached"},
		{1, "dragoman_records_total", "outcome=other"},
		{3, "dragoman_characters_total", "side=source"},
		{4, "dragoman_characters_total", "side=target"},
		{5, "dragoman_tokens_total", "side=source"},
		{6, "dragoman_tokens_total", "side=target"},
		{2, "dragoman_record_languages_total", "language=en side=source"},
		{1, "dragoman_record_languages_total", "language=fr side=target"},
		{1, "dragoman_record_languages_total", "language=other side=target"},
		{1, "dragoman_flags_total", "flag=loop"},
		{1, "dragoman_flags_total", "flag=other"},
		{0, "dragoman_flags_total", "flag=truncated"},
		{1, "dragoman_retries_total", "flag=truncated"},
		{1, "dragoman_errors_total", "code=busy"},
		{1, "dragoman_errors_total", "code=other"},
		{1, "dragoman_refusals_total", "reason=deadline"},
		{1, "dragoman_cancellations_total", "cause=client_gone"},
		{1, "dragoman_stage_duration_seconds", "stage=queue"},
		{0, "dragoman_stage_duration_seconds", "stage=decode"},
	} {
		assert.Equal(t, test.want, sample(t, m, test.name, test.labels), "%s %s", test.name, test.labels)
	}
}

// Tests of others need no metrics.
func TestNilCountsNothing(t *testing.T) {
	var m *Metrics
	assert.NotPanics(t, func() {
		m.Watch(Sources{})
		m.Translated(Translation{})
		m.Flagged("loop")
		m.Retried("loop")
		m.Failed("busy")
		m.Refused(QueueFull)
		m.Cancelled(TimedOut)
		m.Observe(Queue, 1)
		m.Stage(t.Context(), Tokenize).End()
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
		if h := f.GetMetric()[0].GetHistogram(); h != nil && isOwn(f.GetName()) {
			found++
			assert.NotNil(t, h.Schema, f.GetName())
			assert.NotEmpty(t, h.GetBucket(), f.GetName())
		}
	}
	assert.Equal(t, 2, found)
}

// brokenCollector cannot be read.
type brokenCollector struct{ desc *prometheus.Desc }

func (c brokenCollector) Describe(out chan<- *prometheus.Desc) { out <- c.desc }

func (c brokenCollector) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.NewInvalidMetric(c.desc, errors.New("two\nlines"))
}

func TestWhatCannotBeReadIsLogged(t *testing.T) {
	var log strings.Builder
	m := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	m.registry.MustRegister(brokenCollector{newDesc("broken", "Nothing.")})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Body.String(), "dragoman_ready 0")
	assert.Contains(t, log.String(), `msg="reading metrics"`)
	assert.Contains(t, log.String(), "two lines")
	assert.Equal(t, 1, strings.Count(log.String(), "\n"))
}

func TestScrapesWhileInUse(t *testing.T) {
	const users, rounds = 8, 200
	m := exercised(t)
	router := newRouter(m.CountRequests())
	router.GET("/", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	handler := m.Handler()
	var group errgroup.Group
	for range users {
		group.Go(func() error {
			for range rounds {
				router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
				m.Translated(Translation{From: "en", To: "fr", Outcome: Cached, SourceTokens: 2})
				m.Stage(t.Context(), Tokenize).End()
				m.Failed("busy")
			}
			return nil
		})
		group.Go(func() error {
			for range 5 {
				m.Watch(testSources())
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
	assert.Equal(t, 2.0*users*rounds, sample(t, m, "dragoman_tokens_total", "side=source"))
	assert.Equal(t, 1.0*users*rounds, sample(t, m, "dragoman_stage_duration_seconds", "stage=tokenize"))
	assert.Equal(t, 1.0*users*rounds, sample(t, m, "dragoman_record_languages_total", "language=fr side=target"))
}

// FuzzLabels looks for something that a client can send to make a series.
func FuzzLabels(f *testing.F) {
	m := exercised(f)
	router := newRouter(m.CountRequests())
	router.POST("/translation", func(c *gin.Context) { c.Status(http.StatusOK) })
	router.GET("/files/:name", func(c *gin.Context) { c.Status(http.StatusOK) })
	allowed := labelValues(f, m)
	for label, values := range map[string][]string{
		"route": {"/files/:name", unknownRoute}, "method": {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE", other},
		"code": {"404", "405"}, "class": {"4xx"},
	} {
		allowed[label] = append(allowed[label], values...)
	}

	f.Add("GET", "files/a", "en", "busy")
	f.Add("GET", "files/b?c=d", "fr", "busy")
	f.Add("POST", "translation", "auto", "internal")
	f.Add("post", "translation/", "EN", "BUSY")
	f.Add("BREW", "../../etc/passwd", "en\x00", "\xff")
	f.Add("DELETE", "translation", "", "")
	f.Add("", "\xff\xfe", strings.Repeat("x", 10_000), `{code="busy"}`)
	f.Fuzz(func(t *testing.T, method, path, language, code string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Method, r.URL.Path = method, "/"+path
		router.ServeHTTP(httptest.NewRecorder(), r)
		m.Translated(Translation{From: language, To: language, Outcome: Outcome(code)})
		m.Flagged(code)
		m.Retried(code)
		m.Failed(code)
		m.Refused(Reason(code))
		m.Cancelled(Cause(code))
		m.Observe(Stage(code), 1)
		for label, values := range labelValues(t, m) {
			assert.Subset(t, allowed[label], values, label)
		}
	})
}
