package openloop

import (
	"math"
	"slices"
	"time"
)

// Limits are what a summary measures by.
type Limits struct {
	// Good is the latency that an answer may have to be of use.
	Good time.Duration
	// Timeout is the latency that a failed request counts with, so that failing
	// fast makes no percentile look better.
	Timeout time.Duration
	// Over is the time that rates are taken over: that in which requests were due.
	Over time.Duration
}

// Summary is what a run comes to. Latencies are in milliseconds.
type Summary struct {
	Requests  int            `json:"requests"`
	Answered  int            `json:"answered"` // without an error
	Good      int            `json:"good"`     // and in time
	Seconds   float64        `json:"seconds"`  // Limits.Over
	PerSecond float64        `json:"answered_per_s"`
	Goodput   float64        `json:"good_per_s"`
	Errors    map[string]int `json:"errors,omitempty"` // by text
	// Of all requests, failed ones at Limits.Timeout.
	P50  float64 `json:"p50_ms"`
	P90  float64 `json:"p90_ms"`
	P95  float64 `json:"p95_ms"`
	P99  float64 `json:"p99_ms"`
	P999 float64 `json:"p999_ms"`
	// Of answered requests.
	Min  float64 `json:"min_ms"`
	Mean float64 `json:"mean_ms"`
	Max  float64 `json:"max_ms"`
}

// Summarize sums samples up.
func Summarize(samples []Sample, limits Limits) Summary {
	s := Summary{Requests: len(samples), Seconds: limits.Over.Seconds(), Errors: map[string]int{}}
	all, answered := make([]time.Duration, 0, len(samples)), make([]time.Duration, 0, len(samples))
	for _, x := range samples {
		if x.Err != nil {
			s.Errors[x.Err.Error()]++
			all = append(all, max(x.Latency, limits.Timeout))
			continue
		}
		all, answered = append(all, x.Latency), append(answered, x.Latency)
		if x.Latency <= limits.Good {
			s.Good++
		}
	}
	s.Answered = len(answered)
	s.PerSecond = round(float64(s.Answered)/s.Seconds, 1000)
	s.Goodput = round(float64(s.Good)/s.Seconds, 1000)
	slices.Sort(all)
	for p, field := range map[float64]*float64{50: &s.P50, 90: &s.P90, 95: &s.P95, 99: &s.P99, 99.9: &s.P999} {
		*field = milliseconds(Percentile(all, p))
	}
	if len(answered) > 0 {
		s.Min, s.Max = milliseconds(slices.Min(answered)), milliseconds(slices.Max(answered))
		s.Mean = milliseconds(mean(answered))
	}
	return s
}

// Percentile is the smallest of the sorted values that p percent of them are not
// above (nearest rank); 0 where there are none.
func Percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

func mean(values []time.Duration) time.Duration {
	var sum time.Duration
	for _, x := range values {
		sum += x
	}
	return sum / time.Duration(len(values))
}

// milliseconds keeps a tenth of one.
func milliseconds(d time.Duration) float64 { return round(d.Seconds()*1000, 10) }

// round rounds to a multiple of 1/parts.
func round(x, parts float64) float64 { return math.Round(x*parts) / parts }
