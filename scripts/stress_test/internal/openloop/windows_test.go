package openloop

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/stat/distuv"
)

// perWindow counts the arrivals of each second.
func perWindow(at []time.Duration, seconds int) []int {
	counts := make([]int, seconds)
	for _, due := range at {
		counts[int(due/time.Second)]++
	}
	return counts
}

// The counts of the windows have the distribution that they are drawn from: a
// chi-square test, with the counts that are rare in one class at each end.
func TestWindowsArePoisson(t *testing.T) {
	const seconds, low, high = 5000, 1, 9
	for _, rate := range []float64{4, 5} {
		counts := perWindow(slices.Collect(Windows(rate, seconds*time.Second, 7)), seconds)
		seen := make([]float64, high+1)
		for _, n := range counts {
			seen[min(max(n, low), high)]++
		}
		law := distuv.Poisson{Lambda: rate}
		statistic := 0.0
		for n := low; n <= high; n++ {
			p := law.Prob(float64(n))
			switch n {
			case low:
				p = law.CDF(low)
			case high:
				p = law.Survival(high - 1)
			}
			statistic += math.Pow(seen[n]-seconds*p, 2) / (seconds * p)
		}
		p := distuv.ChiSquared{K: high - low}.Survival(statistic)
		assert.Greater(t, p, 0.001, "rate %v: chi-square %.1f with %d degrees of freedom", rate, statistic, high-low)
	}
}

func TestWindows(t *testing.T) {
	at := slices.Collect(Windows(20, 100*time.Second, 1))
	assert.True(t, slices.IsSorted(at))
	assert.InDelta(t, 2000, len(at), 180, "arrivals: 4 standard deviations")

	// Within a second they are evenly spread, and the first comes at its beginning.
	counts := perWindow(at, 100)
	for s, n := range counts {
		for i := range n {
			assert.Equal(t, time.Duration(s)*time.Second+time.Duration(i)*time.Second/time.Duration(n), at[0])
			at = at[1:]
		}
	}

	assert.Equal(t, slices.Collect(Windows(5, time.Minute, 3)), slices.Collect(Windows(5, time.Minute, 3)), "the same seed")
	assert.NotEqual(t, slices.Collect(Windows(5, time.Minute, 3)), slices.Collect(Windows(5, time.Minute, 4)), "another seed")

	short := slices.Collect(Windows(1000, 2500*ms, 1))
	assert.InDelta(t, 2500, len(short), 200, "the last half second has half as many")
	assert.Less(t, short[len(short)-1], 2500*ms)
	assert.Empty(t, slices.Collect(Windows(1000, 0, 1)))
	for range Windows(1000, time.Hour, 1) {
		break
	}
}

func TestScheduleDoesNotWait(t *testing.T) {
	tests := map[string]struct {
		inFlight int
		want     []Sample
	}{
		"bounded": {2, []Sample{{0, 100 * ms, nil}, {10 * ms, 100 * ms, nil}, {20 * ms, 0, ErrNotSent}, {30 * ms, 0, ErrNotSent}}},
		"room for all": {4, []Sample{{0, 100 * ms, nil}, {10 * ms, 100 * ms, nil}, {20 * ms, 100 * ms, nil},
			{30 * ms, 100 * ms, nil}}},
	}
	for name, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			got := Run(t.Context(), Every(10*ms, 4), test.inFlight, func(context.Context, int) error {
				time.Sleep(100 * ms)
				return nil
			})
			assert.Equal(t, test.want, got, name)
		})
	}
}

// A place that becomes free is used again.
func TestFreePlaceIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := Run(t.Context(), Every(60*ms, 4), 1, func(context.Context, int) error {
			time.Sleep(100 * ms)
			return nil
		})
		assert.Equal(t, []Sample{{0, 100 * ms, nil}, {60 * ms, 0, ErrNotSent}, {120 * ms, 100 * ms, nil}, {180 * ms, 0, ErrNotSent}}, got)
	})
}
