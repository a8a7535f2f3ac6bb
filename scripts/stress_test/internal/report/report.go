// Package report sums up what became of the requests of a stress test, and writes it as
// text, CSV and JSON.
package report

import (
	"errors"
	"math"
	"strconv"
	"time"

	"dragoman/scripts/stress_test/internal/openloop"
	"dragoman/scripts/stress_test/internal/sender"
)

// Request is what became of one request.
type Request struct {
	openloop.Sample
	sender.Outcome // zero for one that was not sent
}

// Phase is a part of a test in which requests were due at one rate.
type Phase struct {
	Name     string
	Rate     float64       // requests that were due per second, on average; 0: all at once
	Begin    time.Duration // since the test began
	Over     time.Duration // in which requests were due
	Planned  int           // requests
	Stopped  string        // why fewer than that were due; "": they were not
	Requests []Request     // in the order in which they were due
}

// Limits are what a summary measures by.
type Limits struct {
	Good    time.Duration // latency that an answer may have to be of use
	Timeout time.Duration // latency that a failed request counts with, at least
}

// Summary is what a phase comes to.
type Summary struct {
	Name    string  `json:"name"`
	Rate    float64 `json:"rate_per_s"`
	Planned int     `json:"planned"`
	Stopped string  `json:"stopped,omitempty"`
	// Seconds are from the beginning until no more requests were due and the last
	// answer was there; rates are over these.
	openloop.Summary
	SuccessPercent float64 `json:"success_percent"`
	NotSent        int     `json:"not_sent"`        // as too many were on their way
	Records        int     `json:"records"`         // of answered requests
	RecordRate     float64 `json:"records_per_s"`   // likewise
	Chars          int     `json:"chars"`           // likewise
	CacheHits      int     `json:"cache_hits"`      // records
	CacheMisses    int     `json:"cache_misses"`    // records
	Retried        int     `json:"retried"`         // requests that took several tries
	LatestMS       float64 `json:"latest_ms"`       // the most that a request was sent after it was due
	Statuses       counts  `json:"statuses"`        // answers by HTTP status
	Flags          counts  `json:"flags,omitempty"` // records by flag
	Examples       texts   `json:"error_examples,omitempty"`
}

type (
	counts = map[string]int
	texts  = map[string]string
)

// Summarize sums a phase up.
func Summarize(p Phase, limits Limits) Summary {
	s := Summary{Name: p.Name, Rate: p.Rate, Planned: p.Planned, Stopped: p.Stopped,
		Statuses: counts{}, Flags: counts{}, Examples: texts{}}
	samples, over := make([]openloop.Sample, len(p.Requests)), p.Over
	for i, r := range p.Requests {
		samples[i] = r.Sample
		if r.Err == nil {
			over = max(over, r.Due+r.Latency)
		}
		s.add(r)
	}
	over = max(over, time.Millisecond) // rates are finite
	s.Summary = openloop.Summarize(samples, openloop.Limits{Good: limits.Good, Timeout: limits.Timeout, Over: over})
	s.SuccessPercent = percent(s.Answered, s.Requests)
	s.RecordRate = round(float64(s.Records)/over.Seconds(), 1000)
	return s
}

// add counts what openloop does not know of.
func (s *Summary) add(r Request) {
	if r.Err == nil {
		s.Records += r.Records
		s.Chars += r.Chars
	} else if kind := r.Err.Error(); s.Examples[kind] == "" {
		s.Examples[kind] = cause(r.Err)
	}
	if errors.Is(r.Err, openloop.ErrNotSent) {
		s.NotSent++
		return
	}
	if r.Status != 0 {
		s.Statuses[strconv.Itoa(r.Status)]++
	}
	if r.Tries > 1 {
		s.Retried++
	}
	s.CacheHits += r.Hits
	s.CacheMisses += r.Misses
	for flag, n := range r.Flags {
		s.Flags[flag] += n
	}
	s.LatestMS = max(s.LatestMS, round((r.Latency-r.Took).Seconds()*1000, 10))
}

// cause is what is behind a failure, on a line.
func cause(err error) string {
	if failed, ok := errors.AsType[*sender.Failure](err); ok {
		return failed.Cause.Error()
	}
	return err.Error()
}

// percent is rounded down, so that 100 means all.
func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return math.Floor(1e4*float64(part)/float64(whole)) / 100
}

// round rounds to a multiple of 1/parts.
func round(x, parts float64) float64 { return math.Round(x*parts) / parts }
