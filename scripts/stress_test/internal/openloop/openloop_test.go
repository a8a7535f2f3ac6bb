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

	// Gaps of a Poisson process are exponential: their deviation equals their mean, and a share of e^-1 is longer than the mean.
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
	// A server that handles one request at a time, 100 ms each.
	slow := func() Send[int] {
		turn := make(chan struct{}, 1)
		return func(context.Context, int) (int, error) {
			turn <- struct{}{}
			defer func() { <-turn }()
			time.Sleep(100 * ms)
			return 0, nil
		}
	}
	flaky := func() Send[int] {
		return func(_ context.Context, i int) (int, error) {
			if i == 1 {
				return i, errRefused
			}
			return 0, nil
		}
	}
	tests := map[string]struct {
		schedule iter.Seq[time.Duration]
		server   func() Send[int] // called in the test's bubble
		want     []Sample[int]
	}{
		"in time": {Every(time.Second, 3), slow,
			[]Sample[int]{{0, 100 * ms, 0, nil, 0}, {1000 * ms, 100 * ms, 0, nil, 1}, {2000 * ms, 100 * ms, 0, nil, 2}}},
		// Requests are sent when due, not when the previous one is answered, so latencies pile up.
		"overload": {Every(10*ms, 3), slow,
			[]Sample[int]{{0, 100 * ms, 0, nil, 0}, {10 * ms, 190 * ms, 0, nil, 1}, {20 * ms, 280 * ms, 0, nil, 2}}},
		"failure": {Every(ms, 2), flaky, []Sample[int]{{0, 0, 0, nil, 0}, {ms, 0, 1, errRefused, 1}}},
		"nothing": {Every(ms, 0), flaky, []Sample[int]{}},
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
		got := Run(ctx, Every(10*ms, 1000), 10, func(ctx context.Context, _ int) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		assert.Len(t, got, 3)
		assert.ErrorIs(t, got[0].Err, context.DeadlineExceeded)
		assert.Equal(t, 25*ms, got[0].Latency)
	})
}

func TestClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan int, 100)
		got := Closed(t.Context(), 3, 950*ms, func(ctx context.Context, i int) (int, error) {
			seen <- i
			select {
			case <-time.After(100 * ms):
				return 0, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		})
		assert.Len(t, seen, 30)
		assert.Len(t, got, 27, "3 clients, 9 answers each; the tenth is cut off")
		for i, s := range got {
			assert.NoError(t, s.Err)
			assert.Equal(t, 100*ms, s.Latency)
			assert.Equal(t, time.Duration(i/3)*100*ms, s.Due)
			assert.Equal(t, i/3, s.Number/3, "the clients' turns may change places, rounds may not")
		}
	})
}

func TestScheduleDoesNotWait(t *testing.T) {
	tests := map[string]struct {
		inFlight int
		want     []Sample[int]
	}{
		"bounded": {2, []Sample[int]{{0, 100 * ms, 0, nil, 0}, {10 * ms, 100 * ms, 0, nil, 1}, {20 * ms, 0, 0, ErrNotSent, 2}, {30 * ms, 0, 0, ErrNotSent, 3}}},
		"room for all": {4, []Sample[int]{{0, 100 * ms, 0, nil, 0}, {10 * ms, 100 * ms, 0, nil, 1}, {20 * ms, 100 * ms, 0, nil, 2},
			{30 * ms, 100 * ms, 0, nil, 3}}},
	}
	for name, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			got := Run(t.Context(), Every(10*ms, 4), test.inFlight, func(context.Context, int) (int, error) {
				time.Sleep(100 * ms)
				return 0, nil
			})
			assert.Equal(t, test.want, got, name)
		})
	}
}

// A free place is used again.
func TestFreePlaceIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := Run(t.Context(), Every(60*ms, 4), 1, func(context.Context, int) (int, error) {
			time.Sleep(100 * ms)
			return 0, nil
		})
		assert.Equal(t, []Sample[int]{{0, 100 * ms, 0, nil, 0}, {60 * ms, 0, 0, ErrNotSent, 1}, {120 * ms, 100 * ms, 0, nil, 2}, {180 * ms, 0, 0, ErrNotSent, 3}}, got)
	})
}
