// Package openloop sends requests at predetermined times, independently of the answers.
//
// A client that waits for an answer before it sends the next request goes easy on a slow server, and measures few of the
// latencies that real clients would have seen ("coordinated omission"). Here requests are sent when they are due, and their
// latency counts from then, even if the sender itself is late.
package openloop

import (
	"iter"
	"math/rand/v2"
	"time"
)

// Poisson returns arrivals at random times, rate per second on average, for total. The same seed gives the same times.
func Poisson(rate float64, total time.Duration, seed uint64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		r := rand.New(rand.NewPCG(seed, 0))
		for at := gap(r, rate); at < total; at += gap(r, rate) {
			if !yield(at) {
				return
			}
		}
	}
}

// gap returns the time between two arrivals.
func gap(r *rand.Rand, rate float64) time.Duration {
	return time.Duration(r.ExpFloat64() / rate * float64(time.Second))
}

// Every returns n arrivals, the first at 0, with interval between them.
func Every(interval time.Duration, n int) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for i := range n {
			if !yield(time.Duration(i) * interval) {
				return
			}
		}
	}
}
