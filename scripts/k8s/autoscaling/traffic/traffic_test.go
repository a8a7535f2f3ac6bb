package traffic_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/scripts/k8s/autoscaling/traffic"
)

func newDay(t *testing.T, cfg traffic.Config, seed uint64) *traffic.Day {
	t.Helper()
	d, err := traffic.New(cfg, seed)
	require.NoError(t, err)
	return d
}

const hour = 3600.0

func TestCurveOfADay(t *testing.T) {
	d := newDay(t, traffic.Config{Night: 2, Noon: 10}, 1)
	assert.InDelta(t, 2, d.Rate(4*hour), 1e-9)
	assert.InDelta(t, 6, d.Rate(10*hour), 1e-9)
	assert.InDelta(t, 10, d.Rate(16*hour), 1e-9)
	assert.InDelta(t, d.Rate(0), d.Rate(24*hour), 1e-9, "days join")
}

func TestSpikes(t *testing.T) {
	d := newDay(t, traffic.Config{Night: 5, Noon: 5, Spikes: 4, Highest: 4}, 3)
	spikes := d.Spikes()
	require.Len(t, spikes, 4)
	first := spikes[0]
	assert.Equal(t, 4.0, first.Factor)
	assert.InDelta(t, 20, d.Rate(first.At+60), 20*0.2, "four times as much within a minute, less or more of another spike")
	for i, s := range spikes {
		assert.GreaterOrEqual(t, s.At, 7*hour)
		assert.LessOrEqual(t, s.At, 22*hour)
		for _, other := range spikes[:i] {
			assert.GreaterOrEqual(t, math.Abs(s.At-other.At), hour)
		}
	}
	for at := 0.0; at < traffic.DaySeconds; at += 60 {
		require.GreaterOrEqual(t, d.Rate(at), 5.0)
		require.Less(t, d.Rate(at), 5*4*1.5)
	}
}

func TestJobs(t *testing.T) {
	with, without := newDay(t, traffic.Config{Night: 1, Noon: 2, Batch: 3}, 5), newDay(t, traffic.Config{Night: 1, Noon: 2}, 5)
	seconds := 0
	for at := 0.5; at < traffic.DaySeconds; at += 10 {
		switch more := with.Rate(at) - without.Rate(at); {
		case more > 2.9999:
			seconds += 10
		default:
			require.InDelta(t, 0, more, 1e-9)
		}
	}
	assert.InDelta(t, 3600, seconds, 20, "two of half an hour")
}

func TestDaysAreOfTheirSeed(t *testing.T) {
	cfg := traffic.Config{Night: 1, Noon: 2, Spikes: 3, Highest: 4, Batch: 1}
	assert.Equal(t, newDay(t, cfg, 1), newDay(t, cfg, 1))
	assert.NotEqual(t, newDay(t, cfg, 1), newDay(t, cfg, 2))
}

func TestImpossibleDays(t *testing.T) {
	for name, cfg := range map[string]traffic.Config{
		"below zero":          {Night: -1, Noon: 2},
		"more at night":       {Night: 3, Noon: 2},
		"batch below zero":    {Batch: -1},
		"too many spikes":     {Noon: 1, Spikes: 9, Highest: 4},
		"spikes below zero":   {Noon: 1, Spikes: -1},
		"spikes that are not": {Noon: 1, Spikes: 1, Highest: 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := traffic.New(cfg, 1)
			assert.ErrorContains(t, err, "traffic: ")
		})
	}
}

// The number of a second's arrivals is Poisson: its mean is its variance.
func TestArrivals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const seconds, rate = 10_000, 7.5
	sum, squares := 0.0, 0.0
	for s := range seconds {
		n, last := 0.0, float64(s)
		traffic.Arrivals(r, s, rate, func(at float64) {
			if at < last || at >= float64(s+1) {
				t.Fatalf("an arrival at %g after one at %g", at, last)
			}
			last = at
			n++
		})
		sum += n
		squares += n * n
	}
	mean := sum / seconds
	assert.InEpsilon(t, rate, mean, 0.01)
	assert.InEpsilon(t, rate, squares/seconds-mean*mean, 0.05)
	traffic.Arrivals(r, 1, 0, func(float64) { t.Error("nothing should arrive") })
}

func TestLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	l := traffic.Lengths{Mean: 32, Spread: 0.5}
	sum, draws := 0.0, 20_000
	for range draws {
		n := l.Draw(r)
		require.GreaterOrEqual(t, n, int32(traffic.Shortest))
		require.LessOrEqual(t, n, int32(traffic.Longest))
		sum += float64(n)
	}
	assert.InEpsilon(t, 32, sum/float64(draws), 0.02)
	assert.Equal(t, int32(32), traffic.Lengths{Mean: 32}.Draw(r))
}

func TestClock(t *testing.T) {
	assert.Equal(t, "00:00", traffic.Clock(0))
	assert.Equal(t, "09:05", traffic.Clock(9*hour+5*60+59))
}
