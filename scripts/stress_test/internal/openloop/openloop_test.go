package openloop

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

const ms = time.Millisecond

func TestPoisson(t *testing.T) {
	const rate, total = 50.0, 200 * time.Second
	at := slices.Collect(Poisson(rate, total, 1))
	assert.InDelta(t, rate*total.Seconds(), len(at), 400, "arrivals: 4 standard deviations")
	assert.True(t, slices.IsSorted(at))
	assert.Less(t, at[len(at)-1], total)

	// Gaps of a Poisson process are exponential: their deviation equals their mean,
	// and e^-1 of them are longer than it.
	long := 0
	for i := range len(at) - 1 {
		if (at[i+1] - at[i]).Seconds() > 1/rate {
			long++
		}
	}
	assert.InDelta(t, 0.368, float64(long)/float64(len(at)-1), 0.02)

	assert.Equal(t, at, slices.Collect(Poisson(rate, total, 1)), "the same seed")
	assert.NotEqual(t, at[0], slices.Collect(Poisson(rate, total, 2))[0], "another seed")
	assert.Empty(t, slices.Collect(Poisson(1e-9, time.Second, 1)))
}

func TestEvery(t *testing.T) {
	assert.Equal(t, []time.Duration{0, 10 * ms, 20 * ms}, slices.Collect(Every(10*ms, 3)))
	assert.Empty(t, slices.Collect(Every(10*ms, 0)))
	for range Every(ms, 3) {
		break // stops without a panic
	}
	for range Poisson(1, time.Hour, 1) {
		break
	}
}

var errRefused = errors.New("refused")

func TestRun(t *testing.T) {
	// A server that works on one request at a time, 100 ms each.
	slow := func() Send {
		turn := make(chan struct{}, 1)
		return func(context.Context, int) error {
			turn <- struct{}{}
			defer func() { <-turn }()
			time.Sleep(100 * ms)
			return nil
		}
	}
	flaky := func() Send {
		return func(_ context.Context, i int) error {
			if i == 1 {
				return errRefused
			}
			return nil
		}
	}
	tests := map[string]struct {
		schedule iter.Seq[time.Duration]
		server   func() Send // called in the test's bubble
		want     []Sample
	}{
		"in time": {Every(time.Second, 3), slow,
			[]Sample{{0, 100 * ms, nil}, {1000 * ms, 100 * ms, nil}, {2000 * ms, 100 * ms, nil}}},
		// Sent when due, not when the one before is answered: latencies pile up.
		"overload": {Every(10*ms, 3), slow,
			[]Sample{{0, 100 * ms, nil}, {10 * ms, 190 * ms, nil}, {20 * ms, 280 * ms, nil}}},
		"failure": {Every(ms, 2), flaky, []Sample{{0, 0, nil}, {ms, 0, errRefused}}},
		"nothing": {Every(ms, 0), flaky, []Sample{}},
	}
	for name, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			got := Run(t.Context(), test.schedule, 10, test.server())
			assert.Len(t, got, len(test.want), name)
			for i := range got {
				assert.Equal(t, test.want[i].Due, got[i].Due, name)
				assert.Equal(t, test.want[i].Err, got[i].Err, name)
				assert.Equal(t, test.want[i].Latency, got[i].Latency, name)
			}
		})
	}
}

func TestRunStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 25*ms)
		defer cancel()
		got := Run(ctx, Every(10*ms, 1000), 10, func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		})
		assert.Len(t, got, 3)
		assert.ErrorIs(t, got[0].Err, context.DeadlineExceeded)
		assert.Equal(t, 25*ms, got[0].Latency)
	})
}

func TestClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan int, 100)
		got := Closed(t.Context(), 3, 950*ms, func(ctx context.Context, i int) error {
			seen <- i
			select {
			case <-time.After(100 * ms):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		assert.Len(t, got, 30)
		assert.Len(t, seen, 30)
		for i, s := range got {
			if i >= 27 {
				assert.ErrorIs(t, s.Err, ErrCutOff, "3 clients, 9 answers each; the tenth is cut off")
				continue
			}
			assert.NoError(t, s.Err)
			assert.Equal(t, 100*ms, s.Latency)
		}
	})
}

func TestSummarize(t *testing.T) {
	limits := Limits{Good: 20 * ms, Timeout: time.Second, Over: 2 * time.Second}
	got := Summarize([]Sample{
		{0, 10 * ms, nil}, {0, 30 * ms, nil}, {0, 20 * ms, nil}, {0, ms, errRefused}, {0, 3 * time.Second, errRefused},
	}, limits)
	assert.Equal(t, Summary{
		Requests: 5, Answered: 3, Good: 2, Seconds: 2, PerSecond: 1.5, Goodput: 1,
		Errors: map[string]int{"refused": 2},
		P50:    30, P90: 3000, P95: 3000, P99: 3000, P999: 3000, Min: 10, Mean: 20, Max: 30,
	}, got)

	empty := Summarize(nil, limits)
	assert.Equal(t, Summary{Seconds: 2, Errors: map[string]int{}}, empty)
}

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	tests := []struct {
		values []time.Duration
		p      float64
		want   time.Duration
	}{
		{hundred, 50, 50}, {hundred, 95, 95}, {hundred, 99, 99}, {hundred, 100, 100}, {hundred, 0, 1},
		{hundred[:1], 50, 1}, {hundred[:1], 99, 1}, {hundred[:3], 50, 2}, {nil, 50, 0},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, Percentile(test.values, test.p), "%d values, p%v", len(test.values), test.p)
	}
}
