package engine

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine/fairshare"
	"dragoman/model"
)

// machine has two cores, which engines share.
func machine(t testing.TB) *fairshare.Cores {
	c, err := fairshare.New(2)
	require.NoError(t, err)
	return c
}

// on makes an engine use the machine's cores.
func on(t testing.TB, c *fairshare.Cores, threads int) func(*Config) {
	m, err := c.Join(threads)
	require.NoError(t, err)
	return func(cfg *Config) { cfg.Cores, cfg.Rows = m, 80 }
}

// heavy takes as long as a model of the 418M shape on two cores.
func heavy() *toy {
	m := newToy()
	m.stepTime, m.rowTime, m.joinTime = 12500*time.Microsecond, 500*time.Microsecond, 500*time.Microsecond
	return m
}

// stuck is a model whose steps last until release is closed.
func stuck() (m *toy, release chan struct{}) {
	m, release = newToy(), make(chan struct{})
	m.onStep = func([]model.Feed) error {
		<-release
		return nil
	}
	return m, release
}

// allFree wants all cores of a machine to be free, now.
func allFree(t testing.TB, c *fairshare.Cores) {
	all, err := c.Join(2)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if assert.NoError(t, all.Take(ctx, time.Now(), false)) {
		all.Release()
	}
}

// Two engines with as much to do take as long as one after the other would: never both at
// once, and never none. They end together.
func TestEnginesShareCores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := machine(t)
		jobs, begin := sentences(300, 1), time.Now()
		a, b := start(t, heavy(), on(t, c, 2)), start(t, heavy(), on(t, c, 2))
		first, second := send(t.Context(), a, Normal, jobs...), send(t.Context(), b, Normal, jobs...)
		first.want(t, jobs...)
		second.want(t, jobs...)
		assert.Equal(t, time.Since(begin), a.Stats().Busy+b.Stats().Busy)
		assert.InEpsilon(t, first.took, second.took, 0.2)
		for _, e := range []tested{a, b} {
			assert.InEpsilon(t, time.Since(begin), e.Stats().Waiting+e.Stats().Busy, 0.2)
		}
		allFree(t, c)
	})
}

// percentile95 is that of all but the requests of the first seconds.
func percentile95(all []*sent) time.Duration {
	var took []time.Duration
	for _, s := range all[len(all)/10:] {
		<-s.done
		took = append(took, s.took)
	}
	slices.Sort(took)
	return took[len(took)*95/100]
}

// A cold model's sentences do not wait for what waits at the hot one, and its own take as
// long as they must: longer by a sentence of the cold one or two, or by all of them where it
// has a queue that grows.
func TestColdBesideHot(t *testing.T) {
	const alone = 20*13*time.Millisecond + 10*time.Millisecond // a sentence of 20 tokens
	for _, test := range []struct {
		name    string
		backlog int
		most    time.Duration // for a cold sentence
		more    time.Duration // for the hot model's: all cold ones' time where that is short
	}{{"busy", 0, 2 * alone, 2 * alone}, {"saturated", 3000, 8 * alone, 20 * alone}} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.backlog > 0 {
				t.Skip("takes long with the race detector")
			}
			hot := func(trickle bool) (p95, slowest time.Duration) {
				synctest.Test(t, func(t *testing.T) {
					c := machine(t)
					hot, cold := start(t, heavy(), on(t, c, 2)), start(t, heavy(), on(t, c, 2))
					var hots, colds []*sent
					for i := range test.backlog {
						hots = append(hots, send(t.Context(), hot, Normal, sentence(20, 1000+i, 1)))
					}
					for i := range 600 {
						hots = append(hots, send(t.Context(), hot, Normal, sentence(20+i%20, i, 1+i%2*4)))
						if trickle && i%30 == 29 {
							colds = append(colds, send(t.Context(), cold, Normal, sentence(20, i, 1)))
						}
						time.Sleep(100 * time.Millisecond)
					}
					for _, s := range colds {
						<-s.done
						require.NoError(t, s.err)
						slowest = max(slowest, s.took)
					}
					p95 = percentile95(hots)
				})
				return p95, slowest
			}
			without, _ := hot(false)
			with, slowest := hot(true)
			assert.LessOrEqual(t, slowest, test.most)
			assert.LessOrEqual(t, with, without+test.more)
		})
	}
}

// What comes while a worker waits for its turn joins when it has it, all together; who
// leaves meanwhile does not.
func TestArrivalsWhileWaitingForCores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := machine(t)
		hog, release := stuck()
		m := stepping()
		a, b := start(t, hog, on(t, c, 2)), start(t, m, on(t, c, 2))
		long := send(t.Context(), a, Normal, sentence(3, 1, 1))
		synctest.Wait()
		jobs := sentences(5, 1)
		var all []*sent
		for _, job := range jobs {
			all = append(all, send(t.Context(), b, Normal, job))
			time.Sleep(time.Second)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := send(ctx, b, Normal, sentence(30, 100, 1))
		synctest.Wait()
		cancel(errGone)
		gone.fails(t, errGone) // at once
		assert.Zero(t, b.Stats().Joins)
		close(release)
		<-long.done
		for i, s := range all {
			s.want(t, jobs[i])
		}
		stats := b.Stats()
		assert.EqualValues(t, 1, stats.Joins)
		assert.EqualValues(t, 1, stats.SentencesCancelled)
		assert.EqualValues(t, len(jobs), m.joined.Load())
		assert.Equal(t, 5*time.Second, stats.Waiting)
		assert.Equal(t, stats.Joining+stats.Stepping, stats.Busy)
		allFree(t, c)
	})
}

// Behind a model that does not return everybody waits, but it alone seems to hang; who
// waits can be closed.
func TestWaitingIsNotHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := machine(t)
		hog, release := stuck()
		a, b := start(t, hog, on(t, c, 2)), start(t, newToy(), on(t, c, 1))
		hung := send(t.Context(), a, Normal, sentence(3, 1, 1))
		synctest.Wait()
		waiting := send(t.Context(), b, Normal, sentence(3, 1, 1))
		time.Sleep(2 * time.Minute)
		assert.Error(t, a.Err())
		assert.NoError(t, b.Err())
		b.Close()
		waiting.fails(t, ErrClosed)
		close(release)
		<-hung.done
		require.NoError(t, hung.err)
		synctest.Wait()
		allFree(t, c)
	})
}

// What a model is known to do in a second is what it does beside others, as long as they
// have something to do; time when it has nothing to do does not count.
func TestSpeedIsThatOfItsTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := machine(t)
		var engines []tested
		var all []*sent
		for range 3 {
			e := start(t, heavy(), on(t, c, 2))
			engines = append(engines, e)
			all = append(all, send(t.Context(), e, Normal, sentences(2000, 1)...))
		}
		time.Sleep(30 * time.Second)
		for _, e := range engines {
			s := e.Stats()
			assert.InEpsilon(t, float64(s.PrefilledTokens)/30, s.SourceTokensPerSecond, 0.1)
		}
		for _, s := range all {
			<-s.done
		}
		before := engines[0].Stats().SourceTokensPerSecond
		time.Sleep(time.Hour)
		job := sentence(10, 5000, 1)
		send(t.Context(), engines[0], Normal, job).want(t, job)
		assert.InEpsilon(t, before, engines[0].Stats().SourceTokensPerSecond, 0.1)
	})
}

// Single sentences say little about what a model could do in its turns: that they wait is
// no reason to refuse a long request.
func TestSpeedOfColdModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := machine(t)
		hot, cold := start(t, heavy(), on(t, c, 2)), start(t, heavy(), on(t, c, 2))
		backlog := send(t.Context(), hot, Normal, sentences(3000, 1)...)
		for i := range 30 {
			time.Sleep(2 * time.Second)
			send(t.Context(), cold, Normal, sentence(20, i, 1)).want(t, sentence(20, i, 1))
		}
		jobs := make([]Job, 300)
		for i := range jobs {
			jobs[i] = sentence(20, 100+i, 1)
		}
		estimate := cold.backlog().Time(20 * float64(len(jobs)))
		long := sendAs(t.Context(), cold, Request{Tokens: 20 * len(jobs)}, jobs...)
		long.want(t, jobs...)
		ratio := estimate.Seconds() / long.took.Seconds()
		assert.Greater(t, ratio, 0.5)
		assert.Less(t, ratio, 2.0)
		<-backlog.done
	})
}
