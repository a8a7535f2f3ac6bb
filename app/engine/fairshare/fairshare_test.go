package fairshare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCoresMustExist(t *testing.T) {
	_, err := New(0)
	require.ErrorContains(t, err, "0 cores")
	_, err = some(t, 2).Join(0)
	require.ErrorContains(t, err, "not 0")
	assert.Equal(t, 2, join(t, some(t, 2), 16).need, "all that there are")
}

func TestNobodyElseMeansNoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := some(t, 2)
		w := &worker{model: join(t, c, 2), round: time.Second}
		require.NoError(t, w.work(t.Context(), 10, time.Now()))
		assert.Zero(t, w.longest)
		assert.InDelta(t, 1-math.Exp2(-10./3), w.model.share.At(time.Now()), 1e-9)
		time.Sleep(3 * time.Second)
		assert.InDelta(t, (1-math.Exp2(-10./3))/2, w.model.share.At(time.Now()), 1e-9)
		c.check(t, w.model)
	})
}

// Those who had nothing go in the order in which their sentences came, each until it is
// done; those who asked later do not get in between.
func TestOldestGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, start := some(t, 1), time.Now()
		var workers []*worker
		var group sync.WaitGroup
		for i, age := range []time.Duration{0, time.Second, 3 * time.Second, 2 * time.Second} {
			w := &worker{model: join(t, c, 1), round: 10 * time.Millisecond}
			workers = append(workers, w)
			group.Go(func() { assert.NoError(t, w.work(t.Context(), 10, start.Add(-age)), "%d", i) })
			synctest.Wait()
		}
		group.Wait()
		order := []*worker{workers[2], workers[3], workers[1], workers[0]}
		begin := workers[0].round // the first round is that of who asked first
		for i, w := range order {
			rounds := w.began
			if i == 3 {
				assert.Equal(t, start, rounds[0])
				rounds = rounds[1:]
			}
			for _, at := range rounds {
				assert.Equal(t, begin, at.Sub(start), "worker %d", i)
				begin += w.round
			}
		}
	})
}

// Equal scores go in the order of asking.
func TestFirstToAskGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, came := some(t, 1), time.Now()
		first := join(t, c, 1)
		require.NoError(t, first.Acquire(t.Context(), came))
		var order []int
		var group sync.WaitGroup
		for i := range 5 {
			m := join(t, c, 1)
			group.Go(func() {
				assert.NoError(t, m.Acquire(t.Context(), came))
				order = append(order, i) // guarded by the only core
				m.Release()
			})
			synctest.Wait()
		}
		first.Release()
		group.Wait()
		assert.Equal(t, []int{0, 1, 2, 3, 4}, order)
	})
}

// A sentence for a model that had nothing gets half of the cores at least from the end of
// the current round on, whatever waits at a model that had all.
func TestColdGoesBeforeHot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := some(t, 2)
		hot := &worker{model: join(t, c, 2), round: 52 * time.Millisecond}
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { hot.endless(ctx) })
		for range 5 {
			time.Sleep(20*time.Second + time.Millisecond)
			cold, came := &worker{model: join(t, c, 2), round: 13 * time.Millisecond}, time.Now()
			require.NoError(t, cold.work(ctx, 30, came))
			assert.LessOrEqual(t, cold.began[0].Sub(came), 2*hot.round)
			assert.LessOrEqual(t, time.Since(came), 2*30*cold.round+2*hot.round)
		}
		cancel()
		group.Wait()
		assert.LessOrEqual(t, hot.longest, time.Second/4, "nor does the hot one stand still")
		c.check(t, hot.model)
	})
}

// Models that always have something to do get equal times, however long their rounds are
// and however many cores they need, and nobody waits longer than promised.
func TestEqualTimesAndNobodyStarves(t *testing.T) {
	for _, test := range []struct {
		name   string
		cores  int
		needs  []int
		rounds []time.Duration // in milliseconds
	}{
		{"alike", 2, []int{2, 2, 2}, []time.Duration{20, 20, 20}},
		{"long and short rounds", 2, []int{2, 2, 2}, []time.Duration{200, 13, 52}},
		{"wide among narrow", 2, []int{1, 1, 2, 1}, []time.Duration{5, 7, 30, 3}},
		{"narrow among wide", 4, []int{4, 4, 1, 4}, []time.Duration{50, 40, 3, 30}},
		{"many", 1, slices.Repeat([]int{1}, 12), slices.Repeat([]time.Duration{30}, 12)},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := some(t, test.cores)
				var workers []*worker
				for i, need := range test.needs {
					workers = append(workers, &worker{model: join(t, c, need), round: test.rounds[i] * time.Millisecond})
				}
				during(t, 30*time.Second, workers[0]) // had all that there is
				during(t, 10*time.Minute, workers...)
				bound := patience + time.Duration(float64(halfLife)*math.Log2(float64(len(workers)))) + time.Second
				had := make([]float64, len(workers))
				for i, w := range workers {
					had[i] = float64(len(w.began)) * w.round.Seconds()
					assert.Less(t, w.longest, bound, "worker %d", i)
				}
				had[0] -= 30
				for i := range had {
					assert.InEpsilon(t, had[0], had[i], 0.1, "worker %d", i)
				}
				assert.Greater(t, had[0]*float64(len(had)), 0.98*600)
			})
		})
	}
}

// Small models run side by side, and beside each other only: what needs all cores gets
// its turn among them.
func TestNarrowRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := some(t, 3)
		start := time.Now()
		var group sync.WaitGroup
		for range 3 {
			w := &worker{model: join(t, c, 1), round: 10 * time.Millisecond}
			group.Go(func() { assert.NoError(t, w.work(t.Context(), 10, start)) })
		}
		group.Wait()
		assert.Equal(t, 100*time.Millisecond, time.Since(start))
	})
}

// A worker that needs all cores and is next has them kept for it; those that come later
// wait, and go on when it gives up.
func TestCoresAreKeptForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, came := some(t, 2), time.Now()
		narrow, wide, late := join(t, c, 1), join(t, c, 2), join(t, c, 1)
		require.NoError(t, narrow.Acquire(t.Context(), came))
		ctx, cancel := context.WithCancelCause(t.Context())
		var err error
		var group sync.WaitGroup
		group.Go(func() { err = wide.Acquire(ctx, came) })
		synctest.Wait()
		begun := false
		group.Go(func() {
			assert.NoError(t, late.Acquire(t.Context(), came.Add(time.Millisecond)))
			begun = true
			late.Release()
		})
		synctest.Wait()
		assert.False(t, begun)
		c.check(t, narrow, wide, late)
		cancel(errGone)
		group.Wait()
		require.ErrorIs(t, err, errGone)
		assert.True(t, begun)
		c.check(t, narrow, wide, late)
		narrow.Release()
		assert.Equal(t, 2, c.line.Free)
	})
}

// Who is cancelled has no cores, whenever that happens.
func TestCancel(t *testing.T) {
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errGone)
	c := some(t, 1)
	a, b := join(t, c, 1), join(t, c, 1)
	require.ErrorIs(t, a.Acquire(gone, time.Now()), errGone)
	require.NoError(t, a.Acquire(t.Context(), time.Now()))
	require.ErrorIs(t, a.Yield(gone, time.Now()), errGone)
	assert.Equal(t, 1, c.line.Free)
	for range 100 { // its turn comes and its context ends at the same time
		require.NoError(t, a.Acquire(t.Context(), time.Now()))
		c.line.Lock()
		mine := c.line.Join(round{b, time.Now()}, 1, false)
		c.line.Unlock()
		a.Release()
		if c.line.Await(gone, mine) == nil {
			b.Release()
		}
		require.Equal(t, 1, c.line.Free)
		c.check(t, a, b)
	}
}

func BenchmarkYield(b *testing.B) {
	for _, others := range []int{0, 1, 24} {
		b.Run(fmt.Sprint(others, " others"), func(b *testing.B) {
			c := some(b, 1)
			m, other := join(b, c, 1), join(b, c, 1)
			came := time.Now().Add(-time.Hour)
			require.NoError(b, m.Acquire(b.Context(), came))
			for range others { // who came after all that happens here
				c.line.Lock()
				c.line.Join(round{other, time.Now().Add(time.Hour)}, 1, false)
				c.line.Unlock()
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Yield(b.Context(), came); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
