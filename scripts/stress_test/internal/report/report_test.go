package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/scripts/stress_test/internal/openloop"
	"dragoman/scripts/stress_test/internal/sender"
)

const milli = time.Millisecond

// answered returns a request that was answered with two records.
func answered(due, latency time.Duration) Request {
	return Request{Due: due, Latency: latency, Value: sender.Outcome{Records: 2, Took: latency - milli, Misses: 2}}
}

func failed(due, latency time.Duration, kind, cause string) Request {
	return Request{Due: due, Latency: latency, Err: &sender.Failure{Kind: kind, Cause: errors.New(cause)},
		Value: sender.Outcome{Records: 2, Took: latency}}
}

var limits = Limits{Good: 500 * milli, Timeout: 10 * time.Second}

func TestLine(t *testing.T) {
	phase := func(r ...Request) Summary { return Summarize(Phase{Requests: r}, limits) }
	many := make([]Request, 0, 100000)
	for range cap(many) - 1 {
		many = append(many, answered(0, 40*milli))
	}
	many = append(many, failed(0, milli, "timeout", ""))
	tests := map[string]struct {
		got  Summary
		want string
	}{
		"as in the original": {phase(answered(0, 280*milli), answered(0, 1320*milli), answered(0, 180*milli), answered(0, 220*milli), answered(0, 280*milli)),
			"100.00% of requests were successful with average of 0.46s, minimum of 0.18s and maximum of 1.32s response time"},
		"failures have no response time": {phase(answered(0, 410*milli), failed(0, 9*time.Second, "timeout", ""), answered(0, 410*milli)),
			"66.66% of requests were successful with average of 0.41s, minimum of 0.41s and maximum of 0.41s response time"},
		"one of very many": {phase(many...),
			"99.99% of requests were successful with average of 0.04s, minimum of 0.04s and maximum of 0.04s response time"},
		"none":    {phase(failed(0, milli, "timeout", "")), "0.00% of requests were successful, so there is no response time"},
		"nothing": {phase(), "0.00% of requests were successful, so there is no response time"},
	}
	for name, test := range tests {
		assert.Equal(t, test.want, test.got.Line(), name)
	}
}

func sample() Phase {
	cached := answered(900*milli, 100*milli)
	cached.Value.Hits, cached.Value.Misses = 1, 1
	return Phase{Name: "5/s", Rate: 5, Begin: 2 * time.Second, Over: time.Second, Planned: 7, Stopped: "an interrupt", Requests: []Request{
		answered(0, 100*milli), answered(200*milli, 1800*milli), cached,
		failed(910*milli, 5*milli, "status 503 busy", "full,\n\"really\""), failed(920*milli, 7*milli, "status 503 busy", "full again"),
		{Due: 930 * milli, Err: openloop.ErrNotSent},
	}}
}

func TestSummarize(t *testing.T) {
	got := Summarize(sample(), limits)
	want := Summary{
		Name: "5/s", Rate: 5, Planned: 7, Stopped: "an interrupt",
		Requests: 6, Answered: 3, Good: 2, Seconds: 2, PerSecond: 1.5, Goodput: 1, SuccessPercent: 50,
		Errors:   map[string]int{"status 503 busy": 2, "not sent": 1},
		Examples: map[string]string{"status 503 busy": "full,\n\"really\"", "not sent": "not sent"},
		P50:      1800, P90: 10000, P95: 10000, P99: 10000, P999: 10000, MeanAll: 5333.3, MaxAll: 10000, Min: 100, Mean: 666.7, Max: 1800,
		Records: 6, RecordRate: 3, CacheHits: 1, CacheMisses: 5, LatestMS: 1,
	}
	assert.Equal(t, want, got, "rates are over the time until the last answer, %v s", got.Seconds)

	empty := Summarize(Phase{}, limits)
	assert.Zero(t, empty.PerSecond)
	_, err := json.Marshal(empty)
	assert.NoError(t, err, "no number that JSON has not")
}

// Each model has a summary, also a model without requests.
func TestSummarizeModels(t *testing.T) {
	p := sample()
	p.Models = []string{"a", "b", "c"}
	for i := range p.Requests {
		p.Requests[i].Value.Model = p.Models[i/3]
	}
	got := Summarize(p, limits).Models
	require.Len(t, got, 3)
	a, b, c := got[0], got[1], got[2]
	assert.Equal(t, "a", a.Name)
	assert.Equal(t, []float64{3, 3, 2, 666.7, 1800}, []float64{a.Rate, float64(a.Answered), float64(a.Good), a.MeanAll, a.MaxAll})
	assert.Equal(t, map[string]int{"status 503 busy": 2, "not sent": 1}, b.Errors)
	assert.Equal(t, 10000.0, b.MeanAll)
	assert.Zero(t, c.Requests)
}

func TestQuantile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i + 1)
	}
	for _, test := range []struct {
		values      []float64
		share, want float64
	}{
		{hundred, 0.5, 50}, {hundred, 0.95, 95}, {hundred, 0.99, 99}, {hundred, 1, 100}, {hundred, 0, 1},
		{hundred[:1], 0.5, 1}, {hundred[:1], 0.99, 1}, {hundred[:3], 0.5, 2},
	} {
		assert.Equal(t, test.want, quantile(test.share, test.values), "%d values, %v", len(test.values), test.share)
	}
}

func TestWriteTable(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, WriteTable(&out, []Summary{Summarize(Phase{Name: "10/s", Rate: 10}, limits), Summarize(sample(), limits)}))
	assert.Equal(t, strings.TrimPrefix(`
  phase  requests  successful  answers/s  good/s  records/s  p50 ms    p90    p95    p99  p99.9   max  from cache  sent late, ms
    5/s         6      50.00%        1.5       1          3    1800  10000  10000  10000  10000  1800       16.7%              1
   10/s         0       0.00%          0       0          0       0      0      0      0      0     0          0%              0
5/s: 1 × not sent: not sent
5/s: 2 × status 503 busy: full, "really"
5/s: an interrupt ended it, with 6 requests of 7
`, "\n"), out.String())

	out.Reset()
	p := Phase{Name: "1/s", Rate: 1, Models: []string{"m"}}
	require.NoError(t, WriteTable(&out, []Summary{Summarize(p, limits)}))
	assert.Regexp(t, `(?m)^ +1/s +0 .*\n +m +0 `, out.String())
}

// phase returns requests every 10 ms, of which every seventh failed.
func phase(name string, requests int) Phase {
	p := Phase{Name: name, Rate: 100, Over: time.Duration(requests) * 10 * milli, Planned: requests}
	for i := range requests {
		r := answered(time.Duration(i)*10*milli, time.Duration(i%50)*milli)
		if i%7 == 6 {
			r.Err = errors.New("status 503 busy")
		}
		p.Requests = append(p.Requests, r)
	}
	return p
}

func TestPlot(t *testing.T) {
	for name, phases := range map[string][]Phase{
		"timeline":            {phase("100/s", 5000)},
		"timeline of nothing": {{Name: "1/s"}},
		"sweep":               {phase("200/s", 500), phase("100/s", 500)},
	} {
		t.Run(name, func(t *testing.T) {
			var sums []Summary
			for _, p := range phases {
				sums = append(sums, Summarize(p, limits))
			}
			svg, err := Plot(phases, sums, limits)
			require.NoError(t, err)
			assert.NoError(t, xml.Unmarshal(svg, new(struct{})))
			assert.Contains(t, string(svg), ">limit</text>")
			assert.NotContains(t, string(svg), "NaN")
			assert.Less(t, len(svg), 1<<20)
		})
	}
}

func TestCross(t *testing.T) {
	// points has rates and their p95 in milliseconds.
	points := func(list ...float64) []Summary {
		var all []Summary
		for i := 0; i < len(list); i += 2 {
			all = append(all, Summary{Rate: list[i], Requests: 1, P95: list[i+1]})
		}
		return all
	}
	tests := map[string]struct {
		sweep []Summary
		want  Crossing
		text  string
	}{
		"between": {points(10, 200, 20, 20000), Crossing{2, 10, 20}, "p95 is within 2 s up to 10 requests/s and beyond it at 20"},
		"any order": {points(40, 20000, 10, 100, 20, 200), Crossing{2, 20, 40},
			"p95 is within 2 s up to 20 requests/s and beyond it at 40"},
		"the first that is beyond counts": {points(10, 200, 20, 20000, 30, 100), Crossing{2, 10, 20},
			"p95 is within 2 s up to 10 requests/s and beyond it at 20"},
		"at the limit":  {points(10, 2000, 20, 4000), Crossing{2, 10, 20}, "p95 is within 2 s up to 10 requests/s and beyond it at 20"},
		"always within": {points(10, 1, 20, 2), Crossing{2, 20, 0}, "p95 is within 2 s at all rates, up to 20 requests/s"},
		"never within":  {points(10, 3000, 20, 4000), Crossing{2, 0, 10}, "p95 is beyond 2 s at the lowest rate, 10 requests/s"},
		"no latency":    {points(10, 0, 20, 2500), Crossing{2, 10, 20}, "p95 is within 2 s up to 10 requests/s and beyond it at 20"},
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
