// Package report summarizes the requests of a stress test as numbers, text and plots.
package report

import (
	"errors"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"dragoman/scripts/stress_test/internal/openloop"
	"dragoman/scripts/stress_test/internal/sender"
)

// Request is the result of one request; if it was not sent, its outcome has only the model.
type Request = openloop.Sample[sender.Outcome]

// Phase is a part of a test with one rate of requests.
type Phase struct {
	Name     string
	Rate     float64       // due requests per second, on average; 0: all at once
	Begin    time.Duration // since the test began
	Over     time.Duration // the time in which requests were due
	Planned  int           // requests
	Stopped  string        // why fewer requests were due; "": all were
	Models   []string      // if there are several, the most popular first
	Requests []Request     // in the order of due times
}

// Limits are the limits used by a summary.
type Limits struct {
	Good    time.Duration // maximum latency of a useful answer
	Timeout time.Duration // minimum latency that counts for a failed request
}

// latency returns the latency that counts for a request: failing fast improves no percentile.
func (l Limits) latency(r Request) time.Duration {
	if r.Err != nil {
		return max(r.Latency, l.Timeout)
	}
	return r.Latency
}

// Summary is the summary of a phase.
type Summary struct {
	Name    string  `json:"name"`
	Rate    float64 `json:"rate_per_s"`
	Planned int     `json:"planned"`
	Stopped string  `json:"stopped,omitempty"`

	Requests int `json:"requests"`
	Answered int `json:"answered"` // without an error
	Good     int `json:"good"`     // and in time
	// Seconds is the time from the beginning until no more requests were due and the last answer had arrived; rates refer to it.
	Seconds        float64           `json:"seconds"`
	PerSecond      float64           `json:"answered_per_s"`
	Goodput        float64           `json:"good_per_s"`
	SuccessPercent float64           `json:"success_percent"`
	Errors         map[string]int    `json:"errors,omitempty"` // by kind
	Examples       map[string]string `json:"error_examples,omitempty"`

	// Milliseconds, of all requests, with failed ones at Limits.Timeout.
	P50     float64 `json:"p50_ms"`
	P90     float64 `json:"p90_ms"`
	P95     float64 `json:"p95_ms"`
	P99     float64 `json:"p99_ms"`
	P999    float64 `json:"p999_ms"`
	MeanAll float64 `json:"mean_all_ms"`
	MaxAll  float64 `json:"max_all_ms"`
	// Of answered requests.
	Min  float64 `json:"min_ms"`
	Mean float64 `json:"mean_ms"`
	Max  float64 `json:"max_ms"`

	Records     int     `json:"records"` // of answered requests
	RecordRate  float64 `json:"records_per_s"`
	CacheHits   int     `json:"cache_hits"`   // records
	CacheMisses int     `json:"cache_misses"` // records
	LatestMS    float64 `json:"latest_ms"`    // the maximum delay of a request after its due time

	Models []Summary `json:"models,omitempty"` // of each of several models, the most popular first
}

// Summarize summarizes a phase.
func Summarize(p Phase, limits Limits) Summary {
	s := Summary{Name: p.Name, Rate: p.Rate, Planned: p.Planned, Stopped: p.Stopped, Requests: len(p.Requests),
		Errors: map[string]int{}, Examples: map[string]string{}}
	var all, answered []float64
	over := max(p.Over, time.Millisecond) // rates are finite
	for _, r := range p.Requests {
		all = append(all, ms(limits.latency(r)))
		s.add(r)
		if r.Err != nil {
			continue
		}
		answered = append(answered, ms(r.Latency))
		over = max(over, r.Due+r.Latency)
		if r.Latency <= limits.Good {
			s.Good++
		}
	}
	s.Answered, s.Seconds = len(answered), over.Seconds()
	s.PerSecond, s.Goodput = round(float64(s.Answered)/s.Seconds, 1000), round(float64(s.Good)/s.Seconds, 1000)
	s.RecordRate = round(float64(s.Records)/s.Seconds, 1000)
	if len(all) > 0 {
		s.SuccessPercent = math.Floor(1e4*float64(s.Answered)/float64(len(all))) / 100 // so that 100 means all
		slices.Sort(all)
		for share, field := range map[float64]*float64{0.5: &s.P50, 0.9: &s.P90, 0.95: &s.P95, 0.99: &s.P99, 0.999: &s.P999} {
			*field = quantile(share, all)
		}
		s.MeanAll, s.MaxAll = round(stat.Mean(all, nil), 10), all[len(all)-1]
	}
	if len(answered) > 0 {
		s.Min, s.Mean, s.Max = slices.Min(answered), round(stat.Mean(answered, nil), 10), slices.Max(answered)
	}
	for _, model := range p.Models {
		of := slices.DeleteFunc(slices.Clone(p.Requests), func(r Request) bool { return r.Value.Model != model })
		s.Models = append(s.Models, Summarize(Phase{Name: model, Over: p.Over, Planned: len(of), Requests: of,
			Rate: float64(len(of)) / max(p.Over, time.Millisecond).Seconds()}, limits))
	}
	return s
}

// add counts the properties of a request other than times.
func (s *Summary) add(r Request) {
	if r.Err == nil {
		s.Records += r.Value.Records
	} else {
		s.Errors[r.Err.Error()]++
		if s.Examples[r.Err.Error()] == "" {
			s.Examples[r.Err.Error()] = cause(r.Err)
		}
	}
	s.CacheHits += r.Value.Hits
	s.CacheMisses += r.Value.Misses
	if !errors.Is(r.Err, openloop.ErrNotSent) {
		s.LatestMS = max(s.LatestMS, ms(r.Latency-r.Value.Took))
	}
}

// cause returns the cause of a failure.
func cause(err error) string {
	if failed, ok := errors.AsType[*sender.Failure](err); ok {
		return failed.Cause.Error()
	}
	return err.Error()
}

// quantile returns the smallest of the sorted values that a share of them do not exceed.
func quantile(share float64, sorted []float64) float64 {
	return stat.Quantile(share, stat.Empirical, sorted, nil)
}

// ms converts to milliseconds, rounded to tenths.
func ms(d time.Duration) float64 { return round(d.Seconds()*1000, 10) }

// round rounds to a multiple of 1/parts.
func round(x, parts float64) float64 { return math.Round(x*parts) / parts }
