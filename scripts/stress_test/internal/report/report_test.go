package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/scripts/stress_test/internal/corpus"
	"dragoman/scripts/stress_test/internal/openloop"
	"dragoman/scripts/stress_test/internal/sender"
	"dragoman/scripts/stress_test/internal/traffic"
)

const ms = time.Millisecond

// answered is a request that was answered with two records of ten characters.
func answered(due, latency time.Duration) Request {
	return Request{openloop.Sample{Due: due, Latency: latency},
		sender.Outcome{Records: 2, Chars: 10, Took: latency - ms, Status: 200, Tries: 1, Misses: 2}}
}

func failed(due, latency time.Duration, kind, cause string) Request {
	return Request{openloop.Sample{Due: due, Latency: latency, Err: &sender.Failure{Kind: kind, Cause: errors.New(cause)}},
		sender.Outcome{Records: 2, Chars: 10, Took: latency, Status: 503, Tries: 2}}
}

var limits = Limits{Good: 500 * ms, Timeout: 10 * time.Second}

func TestLine(t *testing.T) {
	phase := func(r ...Request) Summary { return Summarize(Phase{Requests: r}, limits) }
	many := make([]Request, 0, 100000)
	for range cap(many) - 1 {
		many = append(many, answered(0, 40*ms))
	}
	many = append(many, failed(0, ms, "timeout", ""))
	tests := map[string]struct {
		got  Summary
		want string
	}{
		"as in the original": {phase(answered(0, 280*ms), answered(0, 1320*ms), answered(0, 180*ms), answered(0, 220*ms), answered(0, 280*ms)),
			"100.00% of requests were successful with average of 0.46s, minimum of 0.18s and maximum of 1.32s response time"},
		"failures have no response time": {phase(answered(0, 410*ms), failed(0, 9*time.Second, "timeout", ""), answered(0, 410*ms)),
			"66.66% of requests were successful with average of 0.41s, minimum of 0.41s and maximum of 0.41s response time"},
		"one of very many": {phase(many...),
			"99.99% of requests were successful with average of 0.04s, minimum of 0.04s and maximum of 0.04s response time"},
		"none":    {phase(failed(0, ms, "timeout", "")), "0.00% of requests were successful, so there is no response time"},
		"nothing": {phase(), "0.00% of requests were successful, so there is no response time"},
	}
	for name, test := range tests {
		assert.Equal(t, test.want, test.got.Line(), name)
	}
}

func sample() Phase {
	cached := answered(900*ms, 100*ms)
	cached.Hits, cached.Misses, cached.Flags = 1, 1, map[string]int{"loop": 1}
	return Phase{Name: "5/s", Rate: 5, Begin: 2 * time.Second, Over: time.Second, Planned: 7, Stopped: "an interrupt", Requests: []Request{
		answered(0, 100*ms), answered(200*ms, 1800*ms), cached,
		failed(910*ms, 5*ms, "status 503 busy", "full,\n\"really\""), failed(920*ms, 7*ms, "status 503 busy", "full again"),
		{Sample: openloop.Sample{Due: 930 * ms, Err: openloop.ErrNotSent}},
	}}
}

func TestSummarize(t *testing.T) {
	got := Summarize(sample(), limits)
	want := Summary{
		Name: "5/s", Rate: 5, Planned: 7, Stopped: "an interrupt",
		Summary: openloop.Summary{
			Requests: 6, Answered: 3, Good: 2, Seconds: 2, PerSecond: 1.5, Goodput: 1,
			Errors: map[string]int{"status 503 busy": 2, "not sent": 1},
			P50:    1800, P90: 10000, P95: 10000, P99: 10000, P999: 10000, Min: 100, Mean: 666.7, Max: 1800,
		},
		SuccessPercent: 50, NotSent: 1, Records: 6, RecordRate: 3, Chars: 30, CacheHits: 1, CacheMisses: 5, Retried: 2, LatestMS: 1,
		Statuses: counts{"200": 3, "503": 2}, Flags: counts{"loop": 1},
		Examples: texts{"status 503 busy": "full,\n\"really\"", "not sent": "not sent"},
	}
	assert.Equal(t, want, got, "rates are over the time until the last answer, %v s", got.Seconds)

	empty := Summarize(Phase{}, limits)
	assert.Zero(t, empty.PerSecond)
	_, err := json.Marshal(empty)
	assert.NoError(t, err, "no number that JSON has not")
}

func TestWriteText(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Summarize(sample(), limits).WriteText(&out, limits))
	assert.Equal(t, strings.TrimPrefix(`
requests  6, 5/s; 1 of them were not sent, as too many were on their way; an interrupt ended it before 1 others were due
answers   3 in 2 s: 1.5/s, of these 1/s within 500 ms
latency   p50 1.8 s, p90 10 s, p95 10 s, p99 10 s, p99.9 10 s (failures count as 10 s)
records   6 with 30 characters: 3/s; 16.7% came from the service's cache
failed    status 503 busy: 2, such as: full, "really"
failed    not sent: 1
flags     loop=1
retried   2 requests
sender    at most 1 ms late
`, "\n"), out.String())
}

func TestWriteTable(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, WriteTable(&out, []Summary{Summarize(Phase{Rate: 10}, limits), Summarize(sample(), limits)}))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 3)
	assert.Equal(t, strings.Fields("5 6 50.00% 1.5 1 1.8 s 10 s 10 s 10 s 10 s 1.8 s 1"), strings.Fields(lines[1]))
}

func TestCSV(t *testing.T) {
	models := []traffic.Model{{URL: "http://a", Pair: corpus.Pair{From: "en", To: "fr"}}}
	var out bytes.Buffer
	require.NoError(t, WriteCSV(&out, []Phase{sample(), sample()}, models))
	rows, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 13)
	assert.Equal(t, columns, rows[0])
	assert.Equal(t, []string{"5/s", "2", "2.900000", "0.100000", "0.099000", "200", "", "http://a", "en", "fr", "2", "10", "1", "1", "1", "loop=1"}, rows[3])
	assert.Equal(t, []string{"5/s", "3", "2.910000", "0.005000", "0.005000", "503", "status 503 busy", "http://a", "en", "fr", "2", "10", "2", "0", "0", ""}, rows[4])
	assert.Equal(t, []string{"5/s", "5", "2.930000", "0.000000", "0.000000", "0", "not sent", "http://a", "en", "fr", "0", "0", "0", "0", "0", ""}, rows[6])

	assert.ErrorIs(t, WriteCSV(full{}, []Phase{sample()}, models), errFull)
}

// full is a disk without room.
type full struct{}

var errFull = errors.New("no room")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestJSON(t *testing.T) {
	crossing := Crossing{Limit: 2, Within: 10, Beyond: 20, At: 12.5}
	want := Document{
		Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Services: []Service{{URL: "http://a", Model: "m<2>"}},
		Settings: map[string]string{"rate": "5"}, Phases: []Summary{Summarize(sample(), limits)}, Crossing: &crossing, Missed: []string{"p95"},
	}
	var out bytes.Buffer
	require.NoError(t, want.WriteJSON(&out))
	assert.Contains(t, out.String(), `"m<2>"`)
	assert.Contains(t, out.String(), `"p95_ms": 10000`)
	var got Document
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	assert.Equal(t, want, got)
	assert.ErrorIs(t, want.WriteJSON(full{}), errFull)
}

func TestCross(t *testing.T) {
	// points are rates and their p95 in milliseconds.
	points := func(list ...float64) []Summary {
		var all []Summary
		for i := 0; i < len(list); i += 2 {
			all = append(all, Summary{Rate: list[i], Summary: openloop.Summary{Requests: 1, P95: list[i+1]}})
		}
		return all
	}
	tests := map[string]struct {
		sweep []Summary
		want  Crossing
		text  string
	}{
		"between": {points(10, 200, 20, 20000), Crossing{2, 10, 20, 15}, "p95 is within 2 s up to 10 requests/s and beyond it at 20; it crosses it at about 15"},
		"any order": {points(40, 20000, 10, 100, 20, 200), Crossing{2, 20, 40, 30},
			"p95 is within 2 s up to 20 requests/s and beyond it at 40; it crosses it at about 30"},
		"the first that is beyond counts": {points(10, 200, 20, 20000, 30, 100), Crossing{2, 10, 20, 15},
			"p95 is within 2 s up to 10 requests/s and beyond it at 20; it crosses it at about 15"},
		"at the limit":  {points(10, 2000, 20, 4000), Crossing{2, 10, 20, 10}, "p95 is within 2 s up to 10 requests/s and beyond it at 20; it crosses it at about 10"},
		"always within": {points(10, 1, 20, 2), Crossing{2, 20, 0, 0}, "p95 is within 2 s at all rates, up to 20 requests/s"},
		"never within":  {points(10, 3000, 20, 4000), Crossing{2, 0, 10, 0}, "p95 is beyond 2 s at the lowest rate, 10 requests/s"},
		"no latency":    {points(10, 0, 20, 2500), Crossing{2, 10, 20, 19.78}, "p95 is within 2 s up to 10 requests/s and beyond it at 20; it crosses it at about 19.8"},
	}
	for name, test := range tests {
		got := Cross(test.sweep, 2*time.Second)
		assert.Equal(t, test.want, got, name)
		assert.Equal(t, test.text, got.String(), name)
	}
	nothing := Cross([]Summary{{Rate: 5}}, 2*time.Second)
	assert.Equal(t, Crossing{Limit: 2}, nothing, "a rate at which nothing was due says nothing")
	assert.Equal(t, "no request was due at any rate", nothing.String())
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.004: "0", 0.126: "0.13", 1: "1", 1.5: "1.5", 9.999: "10", 12.34: "12.3", 99.96: "100", 1234.5: "1234"} {
		assert.Equal(t, want, Number(x))
	}
	for ms, want := range map[float64]string{0: "0 ms", 1.26: "1.26 ms", 999: "999 ms", 1000: "1 s", 61234: "61.2 s"} {
		assert.Equal(t, want, Duration(ms))
	}
}
