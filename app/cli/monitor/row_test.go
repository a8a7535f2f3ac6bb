package monitor

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// Each column is what the service calls it: it is known, and how much it grew.
func TestColumns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService().load()
		s.took = 80 * time.Millisecond
		s.work()
		s.models.loads.WithLabelValues("m", "1", "loaded").Inc()
		s.models.evictions.WithLabelValues("m", "1", "memory").Inc()
		before := sampleOf(t, s.text(), day)
		s.work()
		s.models.loads.WithLabelValues("m", "1", "loaded").Add(2)
		s.models.evictions.WithLabelValues("m", "1", "memory").Add(3)
		s.post("/healthz", 3) // counts for nothing
		rows := compare("a", before, sampleOf(t, s.text(), day.Add(2*time.Second)))
		require.Len(t, rows, 1, "it has one model")
		assert.Equal(t, 2.0, rows[0].Seconds)
		want := map[string]float64{
			"count": 4, "request": 320e3, "failed": 1, "refused": 1, "cancelled": 0, "records": 8, "tokens_in": 96, "tokens_out": 120,
			"tokenize": 1600, "detokenize": 800, "sentences": 8, "queue": 240e3, "encode": 100e3, "decode": 800e3,
			"steps": 100, "step_rows": 6000, "decoded": 8, "loads": 2, "evictions": 3, "cache_hits": 3, "cache_misses": 9, "cpu_time": 1.5e6,
			"ready": 1, "in_flight": 0, "queue_sentences": 9, "queue_tokens": 120, "queue_wait": 300e3,
			"batch_rows": 40, "workers": 2, "memory": 600 << 20, "resident": 1 << 20,
		}
		assert.Len(t, want, len(columns))
		assert.InDeltaMapValues(t, want, rows[0].numbers, 1e-6)
		for _, c := range columns {
			_, known := c.read(first(t, sampleOf(t, s.text(), day), c), before)
			assert.True(t, known, c.name)
		}
	})
}

// first is a series that a column reads.
func first(t *testing.T, s *sample, c column) *model.Sample {
	for _, one := range s.series {
		if string(one.Metric["__name__"]) == c.metric && (c.keep == nil || c.keep(one.Metric)) {
			return one
		}
	}
	require.Failf(t, "the service has no such metric", "%s: %s", c.name, c.metric)
	return nil
}

func TestRestarts(t *testing.T) {
	for _, test := range []struct {
		name        string
		change      func(s *service)
		want        string
		wantRecords float64
	}{
		{"nothing happened", func(*service) {}, "ready", 0},
		{"work", (*service).work, "ready", 8},
		{"the clock was set", func(s *service) { s.started++ }, "ready", 0},
		{"began again", (*service).restart, "restarted", 0},
		{"began again and did more than before", func(s *service) { s.restart(); s.work(); s.work() }, "restarted", 16},
		{"began to load", func(s *service) { s.ready.Set(0) }, "not ready", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newService().load()
			s.work()
			before := sampleOf(t, s.text(), day)
			test.change(s)
			row := compare("a", before, sampleOf(t, s.text(), day.Add(time.Second)))[0]
			assert.Equal(t, test.want, row.State)
			assert.Equal(t, test.wantRecords, row.numbers["records"])
		})
	}
}

func TestFirstSampleHasNoDifferences(t *testing.T) {
	row := compare("a", nil, sampleOf(t, newService().load().text(), day))[0]
	assert.Zero(t, row.Seconds)
	assert.NotContains(t, row.numbers, "records")
	assert.Equal(t, 1.0, row.numbers["ready"])
}

// A model that leaves takes its counters with it, and one that comes back begins again. That is no
// restart of the server, and what the others did still counts.
func TestModelsThatComeAndGo(t *testing.T) {
	s := newService().load()
	s.models.state.WithLabelValues("other", "9", "unloaded").Set(1) // is not served
	s.models.state.WithLabelValues("bad\x1b", "1", "broken").Set(1)
	s.models.state.WithLabelValues("other", "10", "ready").Set(1)
	s.models.resident.WithLabelValues("other", "10").Set(3 << 30)
	load := func(steps uint64) {
		s.others = []engine.Source{{Model: "other", Version: "10", Rows: 16, Stats: []engine.Stats{{Steps: steps}}}}
	}
	var last *sample
	next := func() (models, steps string) {
		now := sampleOf(t, s.text(), day)
		for _, row := range compare("a", last, now) {
			models += fmt.Sprintf("%s %s,", row.Model, row.State)
			steps += row.cell("steps", 1, 0) + ","
		}
		last = now
		return models, steps
	}
	next()
	for _, test := range []struct {
		name  string
		do    func()
		steps string
	}{
		{"it works", func() { s.work(); load(50) }, "150,,100,50,"},
		{"it leaves", func() { s.others = nil }, "0,,0,,"},
		{"it comes back", func() { s.work(); load(60) }, "160,,100,60,"},
		{"it works on", func() { load(65) }, "5,,0,5,"},
		{"it left and came back between two polls", func() { load(10) }, "10,,0,10,"},
	} {
		test.do()
		models, steps := next()
		assert.Equal(t, `ready,bad\x1b:1 broken,m:1 ready,other:10 ready,`, strings.TrimPrefix(models, " "), test.name)
		assert.Equal(t, test.steps, steps, test.name)
	}
}

func TestWriters(t *testing.T) {
	s := newService().load()
	s.work()
	before := sampleOf(t, s.text(), day)
	s.work()
	rows := append(compare("10.0.0.1:9527", before, sampleOf(t, s.text(), day.Add(time.Second))),
		Row{Time: day, Server: "b:9527", State: "down", Reason: "connection refused"})
	var text, lines strings.Builder
	require.NoError(t, Table(&text)(rows))
	assert.Equal(t, `server         model  state  req/s  tokens in/s  out/s  sentences/s  queued  wait s  rows  failed  refused  memory MiB  models MiB  cores
10.0.0.1:9527         ready  4.0    96.0         120.0  8.0          120.0   0.3     40.0  1.0     1.0      600.0       1.0         1.5
b:9527                down: connection refused

`, text.String())

	put := CSV(&lines)
	for range 2 {
		require.NoError(t, put(rows))
	}
	all, err := csv.NewReader(strings.NewReader(lines.String())).ReadAll()
	require.NoError(t, err)
	require.Len(t, all, 5)
	assert.Equal(t, strings.Fields("time server model state reason seconds count queue tokenize encode decode detokenize request"), all[0][:13])
	assert.Equal(t, []string{"2026-11-21T12:00:01.000Z", "10.0.0.1:9527", "", "ready", "", "1.000", "4", "240000", "1600", "100000", "800000", "800"}, all[1][:12])
	assert.Equal(t, []string{"2026-11-21T12:00:00.000Z", "b:9527", "", "down", "connection refused", "", ""}, all[2][:7])
	for _, name := range all[0] {
		assert.Contains(t, ColumnsHelp(), "  "+name+" ")
	}
	for _, full := range []func([]Row) error{CSV(failing{}), Table(failing{})} {
		assert.ErrorIs(t, full(rows), errFull)
	}
}

var errFull = errors.New("no space left on device")

// failing is a file on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestServersThatDoNotAnswer(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"an error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "/metrics answered 500 Internal Server Error"},
		{"a key is needed", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "answered 401 Unauthorized"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "cannot be parsed"},
		{"nothing", func(http.ResponseWriter, *http.Request) {}, "these are not dragoman's metrics"},
		{"no dragoman", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "up 1\n") }, "is another service listening there?"},
		{"no number", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "dragoman_ready yes\n") }, `expected float as value, got "yes"`},
		{"a label without a name", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "# TYPE a gauge\n{a=\"b\"} 1\n") }, "cannot be parsed"},
		{"too long", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxBody+1)) }, "broke off after 8388608 bytes: http: request body too large"},
		{"broken off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			fmt.Fprint(w, "dragoman_ready 1\n")
		}, "broke off after 17 bytes: unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(test.answer)
			defer server.Close()
			_, err := scrape(t.Context(), server.Client(), server.URL+metricsPath)
			assert.ErrorContains(t, err, test.want)
		})
	}
	_, err := scrape(t.Context(), http.DefaultClient, "http://127.0.0.1:1/metrics")
	assert.ErrorContains(t, err, "dial tcp 127.0.0.1:1: connect: connection refused")
}

// Numbers that cannot be are unknown; all others are read.
func TestOddNumbers(t *testing.T) {
	for text, want := range map[string]float64{
		"dragoman_workers 3\n": 3,
		"dragoman_workers{worker=\"0\"} 3\ndragoman_workers{worker=\"1\"} 4\n": 7,
		"dragoman_workers NaN\n":  0,
		"dragoman_workers +Inf\n": 0,
		"dragoman_workers -1\n":   0,
		"# TYPE dragoman_workers histogram\ndragoman_workers_count 3\n":         0,
		"dragoman_workers{worker=\"0\"} -1\ndragoman_workers{worker=\"1\"} 4\n": 4,
	} {
		assert.Equal(t, want, compare("a", nil, sampleOf(t, "dragoman_ready 1\n"+text, day))[0].numbers["workers"], text)
	}
}

// FuzzMetrics looks for answers that a monitor cannot stand.
func FuzzMetrics(f *testing.F) {
	const short = "dragoman_ready 1\ndragoman_steps_total{worker=\"0\",model=\"a\",version=\"1\"} 100\n"
	f.Add(short, strings.ReplaceAll(short, "0", "9"))
	f.Add(short, "dragoman_ready 1\n")
	f.Add("", "<html>")
	f.Add("dragoman_ready 1\n", "dragoman_ready NaN\nprocess_resident_memory_bytes 1e308\n")
	f.Add("# TYPE dragoman_ready gauge\n{a=\"b\"} 1\n", "{}")
	f.Add(short+"dragoman_model_state{model=\"\x1b[2J\n\",version=\"1\",state=\"broken\"} 1\ndragoman_model_state{model=\"b\",state=\"\x07\"} 1\n", short)
	f.Fuzz(func(t *testing.T, first, second string) {
		var earlier *sample
		for _, text := range []string{first, second} {
			now, err := parse(text)
			if err != nil {
				assert.NotContains(t, printable(err.Error()), "\n")
				continue
			}
			rows := compare("a", earlier, now)
			earlier = now
			for _, row := range rows {
				for name, v := range row.numbers {
					assert.False(t, v < 0 || math.IsNaN(v), "%s: %v", name, v)
				}
			}
			var csv, lines strings.Builder
			require.NoError(t, CSV(&csv)(rows))
			require.NoError(t, Table(&lines)(rows))
			assert.Equal(t, 1+len(rows), strings.Count(csv.String(), "\n"))
			assert.Equal(t, 2+len(rows), strings.Count(lines.String(), "\n"))
			assert.NotContains(t, csv.String()+lines.String(), "\x1b")
		}
	})
}
