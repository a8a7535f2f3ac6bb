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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// number returns the number of a column.
func (r Row) number(name string) float64 {
	for i, c := range columns {
		if c.name == name {
			return r.numbers[i]
		}
	}
	return math.NaN()
}

// Each column is the growth of the service's metric.
func TestColumns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService().load()
		s.took = 80 * time.Millisecond
		s.work()
		before := sampleOf(t, s.text(), day)
		s.work()
		s.post("/healthz", 3) // counts for nothing
		row := compare("a", before, sampleOf(t, s.text(), day.Add(2*time.Second)))
		assert.Equal(t, 2.0, row.Seconds)
		want := map[string]float64{
			"count": 4, "request": 320e3, "failed": 1, "refused": 1, "tokens_in": 96, "tokens_out": 120,
			"tokenize": 1600, "detokenize": 800, "queue": 240e3, "encode": 100e3, "decode": 800e3,
			"decoded": 8, "cpu_time": 1.5e6, "queue_tokens": 120, "queue_wait": 300e3,
			"batch_rows": 40, "memory": 600 << 20, "resident": 1 << 20,
		}
		assert.Len(t, want, len(columns))
		for name, v := range want {
			assert.InDelta(t, v, row.number(name), 1e-6, name)
		}
	})
}

func TestRestarts(t *testing.T) {
	for _, test := range []struct {
		name        string
		change      func(s *service)
		want        string
		wantDecoded float64
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
			row := compare("a", before, sampleOf(t, s.text(), day.Add(time.Second)))
			assert.Equal(t, test.want, row.State)
			assert.Equal(t, test.wantDecoded, row.number("decoded"))
		})
	}
}

func TestFirstSampleHasNoDifferences(t *testing.T) {
	s := newService().load()
	s.work()
	row := compare("a", nil, sampleOf(t, s.text(), day))
	assert.Zero(t, row.Seconds)
	assert.Zero(t, row.number("decoded"))
	assert.Equal(t, 40.0, row.number("batch_rows"))
}

// A model that is unloaded loses its counters, and they begin again at 0 when it is loaded. That is not a restart of the server,
// and other models still count.
func TestModelsThatComeAndGo(t *testing.T) {
	s := newService().load()
	load := func(sentences uint64) {
		s.others = []engine.Source{{Model: "other", Version: "10", Rows: 16, Stats: []engine.Stats{{SentencesDone: sentences}}}}
	}
	last := sampleOf(t, s.text(), day)
	for _, test := range []struct {
		name    string
		do      func()
		decoded float64
	}{
		{"it works", func() { s.work(); load(50) }, 58},
		{"it leaves", func() { s.others = nil }, 0},
		{"it comes back", func() { s.work(); load(60) }, 68},
		{"it works on", func() { load(65) }, 5},
		{"it left and came back between two polls", func() { load(10) }, 10},
	} {
		test.do()
		now := sampleOf(t, s.text(), day)
		row := compare("a", last, now)
		last = now
		assert.Equal(t, "ready", row.State, test.name)
		assert.Equal(t, test.decoded, row.number("decoded"), test.name)
	}
}

func TestWriters(t *testing.T) {
	s := newService().load()
	s.work()
	before := sampleOf(t, s.text(), day)
	s.work()
	rows := []Row{compare("10.0.0.1:9527", before, sampleOf(t, s.text(), day.Add(2*time.Second))),
		compare("c:9527", nil, before), {Time: day, Server: "b:9527", State: "down", Reason: "connection refused"}}
	var text, lines strings.Builder
	require.NoError(t, Table(&text)(rows))
	assert.Equal(t, `server         state  req/s  tokens in/s  out/s  sentences/s  queued  wait s  rows  failed  refused  memory MiB  models MiB  cores
10.0.0.1:9527  ready  2.0    48.0         60.0   4.0          120.0   0.3     40.0  1.0     1.0      600.0       1.0         0.8
c:9527         ready                                          120.0   0.3     40.0  0.0     0.0      600.0       1.0         
b:9527         down: connection refused

`, text.String())

	put := CSV(&lines)
	for range 2 {
		require.NoError(t, put(rows))
	}
	all, err := csv.NewReader(strings.NewReader(lines.String())).ReadAll()
	require.NoError(t, err)
	require.Len(t, all, 7)
	assert.Equal(t, strings.Fields("time server state reason seconds count queue tokenize encode decode detokenize request"), all[0][:12])
	assert.Equal(t, []string{"2026-11-21T12:00:02.000Z", "10.0.0.1:9527", "ready", "", "2.000", "4", "240000", "1600", "100000", "800000", "800"}, all[1][:11])
	assert.Equal(t, []string{"2026-11-21T12:00:00.000Z", "b:9527", "down", "connection refused", "0.000", "", ""}, all[3][:7])
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
		{"too long", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "dragoman_ready 1\n"+strings.Repeat("#\n", maxBody/2))
		}, "http: request body too large"},
		{"broken off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			fmt.Fprint(w, "dragoman_ready 1\n")
		}, "unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(test.answer)
			defer server.Close()
			got, err := parseServer(server.URL, 0)
			require.NoError(t, err)
			_, err = scrape(t.Context(), server.Client(), got.url)
			assert.ErrorContains(t, err, test.want)
		})
	}
	none, err := parseServer("127.0.0.1:1", 0)
	require.NoError(t, err)
	_, err = scrape(t.Context(), http.DefaultClient, none.url)
	assert.ErrorContains(t, err, "dial tcp 127.0.0.1:1: connect: connection refused")
}

// Impossible numbers become unknown; all others are read.
func TestOddNumbers(t *testing.T) {
	for text, want := range map[string]float64{
		"dragoman_batch_rows 3\n": 3,
		"dragoman_batch_rows{worker=\"0\"} 3\ndragoman_batch_rows{worker=\"1\"} 4\n": 7,
		"dragoman_batch_rows NaN\n":  0,
		"dragoman_batch_rows +Inf\n": 0,
		"dragoman_batch_rows -1\n":   0,
		"# TYPE dragoman_batch_rows histogram\ndragoman_batch_rows_count 3\n":         0,
		"dragoman_batch_rows{worker=\"0\"} -1\ndragoman_batch_rows{worker=\"1\"} 4\n": 4,
	} {
		assert.Equal(t, want, compare("a", nil, sampleOf(t, "dragoman_ready 1\n"+text, day)).number("batch_rows"), text)
	}
}

// FuzzMetrics looks for answers that make a monitor fail.
func FuzzMetrics(f *testing.F) {
	const short = "dragoman_ready 1\ndragoman_steps_total{worker=\"0\",model=\"a\",version=\"1\"} 100\n"
	f.Add(short, strings.ReplaceAll(short, "0", "9"))
	f.Add(short, "dragoman_ready 1\n")
	f.Add("", "<html>")
	f.Add("dragoman_ready 1\n", "dragoman_ready NaN\nprocess_resident_memory_bytes 1e308\n")
	f.Add("# TYPE dragoman_ready gauge\n{a=\"b\"} 1\n", "{}")
	f.Add("dragoman_ready 1\ndragoman_tokens_total{model=\"\x1b[2J\n\",side=\"source\"} 1\n", short)
	f.Fuzz(func(t *testing.T, first, second string) {
		var earlier *sample
		for _, text := range []string{first, second} {
			now, err := parse(strings.NewReader(text))
			if err != nil {
				assert.NotContains(t, printable(err.Error()), "\n")
				continue
			}
			rows := []Row{compare("a", earlier, now)}
			earlier = now
			for i, v := range rows[0].numbers {
				assert.False(t, v < 0 || math.IsNaN(v), "%s: %v", columns[i].name, v)
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
