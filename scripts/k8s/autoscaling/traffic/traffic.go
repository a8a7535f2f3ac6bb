// Package traffic makes days of requests: a curve of day and night, spikes as news
// cause them, and batch jobs, with Poisson arrivals. The same seed gives the same day.
package traffic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// DaySeconds is the length of a day.
const DaySeconds = 24 * 60 * 60

// Config describes days. Rates are requests per second.
type Config struct {
	Night, Noon float64 // lowest rate, at 4:00, and highest, at 16:00
	Spikes      int     // at random times between 7:00 and 22:00, an hour apart at least
	Highest     float64 // factor of the first spike; the others have 1.5 to 3
	Batch       float64 // rate of batch jobs, on top
}

// Day is the rate of requests over a day.
type Day struct {
	cfg    Config
	spikes []Spike
	jobs   []Job
}

// Spike multiplies the rate by Factor within a minute, holds it and lets it sink.
type Spike struct {
	At     float64 // seconds
	Factor float64
	Hold   float64 // seconds at the full factor
	Sink   float64 // seconds until a 1/e of it is left, from then on
}

// Job adds a rate from one moment to the next.
type Job struct{ From, Until, Rate float64 }

// rise is how long a spike takes to its full height, in seconds.
const rise = 60

// New draws a day. It fails where the rates make no sense.
func New(cfg Config, seed uint64) (*Day, error) {
	if cfg.Night < 0 || cfg.Noon < cfg.Night || cfg.Batch < 0 {
		return nil, fmt.Errorf("traffic: rates of %g at night, %g at noon and %g of batch jobs: use 0 or more, and no less at noon", cfg.Night, cfg.Noon, cfg.Batch)
	}
	if cfg.Spikes < 0 || cfg.Spikes > 8 || (cfg.Spikes > 0 && cfg.Highest < 1) {
		return nil, fmt.Errorf("traffic: %d spikes of up to × %g: use 0 to 8, and a factor of 1 or more", cfg.Spikes, cfg.Highest)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	d := &Day{cfg: cfg}
	d.drawSpikes(r)
	if cfg.Batch > 0 {
		hour := func(h float64) float64 { return 3600 * h }
		for _, from := range []float64{1 + 2*r.Float64(), 12 + 2*r.Float64()} {
			d.jobs = append(d.jobs, Job{hour(from), hour(from) + 1800, cfg.Batch})
		}
	}
	return d, nil
}

func (d *Day) drawSpikes(r *rand.Rand) {
	const first, last, apart = 7 * 3600, 22 * 3600, 3600
	for len(d.spikes) < d.cfg.Spikes {
		s := Spike{At: first + (last-first)*r.Float64(), Factor: 1.5 + 1.5*r.Float64(), Hold: 300 + 600*r.Float64(), Sink: 300 + 600*r.Float64()}
		if len(d.spikes) == 0 {
			s.Factor, s.Hold, s.Sink = d.cfg.Highest, 600, 600
		}
		free := true
		for _, other := range d.spikes {
			free = free && math.Abs(other.At-s.At) >= apart
		}
		if free {
			d.spikes = append(d.spikes, s)
		}
	}
}

// Spikes are those of the day; the first one is the highest. The slice is the day's own.
func (d *Day) Spikes() []Spike { return d.spikes }

// Rate is the expected number of requests in a second at a moment.
func (d *Day) Rate(at float64) float64 {
	phase := 2 * math.Pi * (at/DaySeconds - 4.0/24)
	rate := d.cfg.Night + (d.cfg.Noon-d.cfg.Night)*(1-math.Cos(phase))/2
	for _, s := range d.spikes {
		rate *= s.factor(at)
	}
	for _, j := range d.jobs {
		if at >= j.From && at < j.Until {
			rate += j.Rate
		}
	}
	return rate
}

func (s Spike) factor(at float64) float64 {
	switch t := at - s.At; {
	case t < 0:
		return 1
	case t < rise:
		return 1 + (s.Factor-1)*t/rise
	case t < rise+s.Hold:
		return s.Factor
	default:
		return 1 + (s.Factor-1)*math.Exp(-(t-rise-s.Hold)/s.Sink)
	}
}

// Arrivals calls each with the times of a second's requests, in order.
func Arrivals(r *rand.Rand, second int, rate float64, each func(at float64)) {
	if rate <= 0 {
		return
	}
	// Gaps of a Poisson process have no memory, so each second can begin anew.
	for at := r.ExpFloat64() / rate; at < 1; at += r.ExpFloat64() / rate {
		each(float64(second) + at)
	}
}

// Lengths draws the tokens of sentences: log-normal, MeanTokens on average, as many
// tokens in the translation as in the source.
type Lengths struct {
	Mean   float64 // tokens
	Spread float64 // standard deviation of the logarithm; 0: all have Mean tokens
}

// The bounds of Draw, in tokens.
const (
	Shortest = 4
	Longest  = 160
)

// Draw returns the tokens of a sentence.
func (l Lengths) Draw(r *rand.Rand) int32 {
	if l.Spread == 0 {
		return int32(math.Round(l.Mean))
	}
	tokens := l.Mean * math.Exp(l.Spread*(r.NormFloat64()-l.Spread/2))
	return int32(math.Round(min(max(tokens, Shortest), Longest)))
}

// Clock writes a moment of the day as hh:mm.
func Clock(at float64) string {
	d := time.Duration(at) * time.Second
	return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60)
}
