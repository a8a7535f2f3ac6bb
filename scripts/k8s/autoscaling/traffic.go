package main

import (
	"math"
	"math/rand/v2"
)

// day is the rate of requests per second over a day: a curve of night and noon, spikes as
// news cause them, and batch jobs. The same seed gives the same day.
type day struct {
	night, noon float64 // lowest rate, at 4:00, and highest, at 16:00
	batch       float64 // rate of batch jobs, on top
	spikes      []spike // the first one is the highest
	jobs        []float64
}

// spike multiplies the rate by factor within a minute, holds it and lets it sink.
type spike struct {
	at     float64 // seconds
	factor float64
	hold   float64 // seconds at the full factor
	sink   float64 // seconds until a 1/e of it is left, from then on
}

// The day, in pods that are full. The highest spike comes to 6.4 of them at most.
const (
	nightPods = 0.4
	noonPods  = 1.6
	batchPods = 1.0
	spikes    = 4   // at random times between 7:00 and 22:00, an hour apart at least
	highest   = 4.0 // factor of the first spike; the others have 1.5 to 3
)

const (
	daySeconds = 24 * 60 * 60
	jobSeconds = 1800
	rise       = 60 // seconds that a spike takes to its full height
)

// newDay draws a day for pods of a shape.
func newDay(pods shape, seed uint64) *day {
	full := pods.capacity(meanTokens)
	r := rand.New(rand.NewPCG(seed, 1))
	d := &day{night: nightPods * full, noon: noonPods * full, batch: batchPods * full}
	const first, last, apart = 7 * 3600, 22 * 3600, 3600
	for len(d.spikes) < spikes {
		s := spike{at: first + (last-first)*r.Float64(), factor: 1.5 + 1.5*r.Float64(), hold: 300 + 600*r.Float64(), sink: 300 + 600*r.Float64()}
		if len(d.spikes) == 0 {
			s.factor, s.hold, s.sink = highest, 600, 600
		}
		free := true
		for _, other := range d.spikes {
			free = free && math.Abs(other.at-s.at) >= apart
		}
		if free {
			d.spikes = append(d.spikes, s)
		}
	}
	d.jobs = []float64{3600 * (1 + 2*r.Float64()), 3600 * (12 + 2*r.Float64())}
	return d
}

// rate is the expected number of requests in a second at a moment.
func (d *day) rate(at float64) float64 {
	phase := 2 * math.Pi * (at/daySeconds - 4.0/24)
	rate := d.night + (d.noon-d.night)*(1-math.Cos(phase))/2
	for _, s := range d.spikes {
		rate *= s.now(at)
	}
	for _, from := range d.jobs {
		if at >= from && at < from+jobSeconds {
			rate += d.batch
		}
	}
	return rate
}

// now is the spike's factor at a moment.
func (s spike) now(at float64) float64 {
	switch t := at - s.at; {
	case t < 0:
		return 1
	case t < rise:
		return 1 + (s.factor-1)*t/rise
	case t < rise+s.hold:
		return s.factor
	default:
		return 1 + (s.factor-1)*math.Exp(-(t-rise-s.hold)/s.sink)
	}
}

// arrivals calls each with the times of a second's requests, in order.
func arrivals(r *rand.Rand, second int, rate float64, each func(at float64)) {
	// Gaps of a Poisson process have no memory, so each second can begin again.
	for at := r.ExpFloat64() / rate; at < 1; at += r.ExpFloat64() / rate {
		each(float64(second) + at)
	}
}

// The tokens of a sentence: log-normal, within bounds.
const (
	meanTokens = 32
	spread     = 0.5 // standard deviation of the logarithm
	shortest   = 4
	longest    = 160
)

// drawTokens are as many in the translation as in the source.
func drawTokens(r *rand.Rand) int {
	tokens := meanTokens * math.Exp(spread*(r.NormFloat64()-spread/2))
	return int(math.Round(min(max(tokens, shortest), longest)))
}
