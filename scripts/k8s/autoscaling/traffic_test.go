package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const hour = 3600.0

func TestDay(t *testing.T) {
	d, full := newDay(cpu418M, 3), cpu418M.capacity(meanTokens)
	assert.Equal(t, d.rate(1), newDay(cpu418M, 3).rate(1), "the seed decides")
	assert.NotEqual(t, d.spikes, newDay(cpu418M, 4).spikes)
	require.Len(t, d.spikes, spikes)
	for i, s := range d.spikes {
		assert.True(t, s.at >= 7*hour && s.at <= 22*hour)
		for _, other := range d.spikes[:i] {
			assert.GreaterOrEqual(t, math.Abs(s.at-other.at), hour)
		}
	}
	most := 0.0
	for at := 0.0; at < daySeconds; at += 60 {
		most = max(most, d.rate(at))
	}
	assert.Greater(t, most, 3*full)
	d.spikes, d.jobs = nil, nil
	assert.InDelta(t, nightPods*full, d.rate(4*hour), 1e-9)
	assert.InDelta(t, noonPods*full, d.rate(16*hour), 1e-9)
	assert.InDelta(t, d.rate(0), d.rate(24*hour), 1e-9, "days join")
	d.jobs = []float64{hour}
	assert.InDelta(t, batchPods*full, d.rate(hour)-d.rate(2*hour), full, "more by a job, less by the curve")
}

func TestSpike(t *testing.T) {
	s := spike{at: 100, factor: 4, hold: 50, sink: 30}
	for at, want := range map[float64]float64{0: 1, 130: 2.5, 160: 4, 200: 4, 240: 1 + 3/math.E, 1000: 1} {
		assert.InDelta(t, want, s.now(at), 1e-9, "at %g", at)
	}
}

// The number of a second's arrivals is Poisson: its mean is its variance.
func TestArrivals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const seconds, rate = 10_000, 7.5
	sum, squares := 0.0, 0.0
	for s := range seconds {
		n, last := 0.0, float64(s)
		arrivals(r, s, rate, func(at float64) {
			require.True(t, at >= last && at < float64(s+1))
			last = at
			n++
		})
		sum += n
		squares += n * n
	}
	mean := sum / seconds
	assert.InEpsilon(t, rate, mean, 0.01)
	assert.InEpsilon(t, rate, squares/seconds-mean*mean, 0.05)
}

func TestTokens(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	sum, draws := 0, 20_000
	for range draws {
		n := drawTokens(r)
		require.True(t, n >= shortest && n <= longest)
		sum += n
	}
	assert.InEpsilon(t, meanTokens, float64(sum)/float64(draws), 0.02)
}
