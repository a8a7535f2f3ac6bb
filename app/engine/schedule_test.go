package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// On the clock of these tests a step takes a millisecond and nothing else takes
// any, so a greedy sentence of n tokens takes n ms.
func stepping() *toy {
	m := newToy()
	m.stepTime = time.Millisecond
	return m
}

func TestSentencesJoinAndLeaveBetweenSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		e := start(t, m, nil)
		long, short := sentence(20, 1, 1), sentence(5, 2, 1)
		a := send(t.Context(), e, Normal, long)
		time.Sleep(3500 * time.Microsecond)
		b := send(t.Context(), e, Normal, short)
		b.want(t, short)
		assert.Equal(t, 5500*time.Microsecond, b.took, "half a step until it joins, and its own five")
		assert.Equal(t, 500*time.Microsecond, b.results[0].Queued)
		assert.Equal(t, 5*time.Millisecond, b.results[0].Computed)
		a.want(t, long)
		assert.Equal(t, 20*time.Millisecond, a.took, "not slowed down")
		assert.EqualValues(t, 20, m.steps.Load())
	})
}

func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		jobs, want := map[string]Job{}, []string(nil)
		for i := range 12 {
			want = append(want, fmt.Sprint(i))
			jobs[want[i]] = sentence(3+i*5%13, i, 1)
		}
		joined := watch(m, jobs)
		e := start(t, m, rows(1))
		all := make([]*sent, 0, len(want))
		for _, name := range want {
			all = append(all, send(t.Context(), e, Normal, jobs[name]))
			synctest.Wait()
		}
		for i, s := range all {
			s.want(t, jobs[want[i]])
		}
		assert.Equal(t, want, joined.order())
	})
}

func TestHigherPriorityGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		jobs := map[string]Job{}
		for i, name := range []string{"running", "low", "low 2", "normal", "normal 2", "high", "high 2"} {
			jobs[name] = sentence(5, i, 1)
		}
		joined := watch(m, jobs)
		e := start(t, m, rows(1))
		for _, r := range []struct {
			name string
			p    Priority
		}{{"running", Low}, {"low", Low}, {"normal", Normal}, {"high", High}, {"low 2", Low}, {"high 2", High}, {"normal 2", Normal}} {
			s := send(t.Context(), e, r.p, jobs[r.name])
			synctest.Wait()
			defer s.want(t, jobs[r.name])
		}
		time.Sleep(time.Second)
		assert.Equal(t, []string{"running", "high", "high 2", "normal", "normal 2", "low", "low 2"}, joined.order())
	})
}

// High sentences come as fast as they are decoded, on top of a backlog. One of low
// priority lets them pass for the aging period and no longer.
func TestAging(t *testing.T) {
	for _, test := range []struct {
		priority Priority
		aging    time.Duration
	}{{Low, 200 * time.Millisecond}, {Normal, 100 * time.Millisecond}, {High, 0}} {
		t.Run(fmt.Sprint(test.priority), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, stepping(), func(c *Config) { c.Rows, c.Aging = 1, 200*time.Millisecond })
				const backlog = 3
				number := 0
				flood := func() {
					number++
					send(t.Context(), e, High, sentence(5, number, 1))
					synctest.Wait()
				}
				for range backlog {
					flood()
				}
				job := sentence(5, 0, 1)
				old := send(t.Context(), e, test.priority, job)
				for range 100 {
					flood()
					time.Sleep(5 * time.Millisecond)
				}
				old.want(t, job)
				queued := old.results[0].Queued
				assert.GreaterOrEqual(t, queued, test.aging, "the others go first")
				assert.LessOrEqual(t, queued, test.aging+(backlog+1)*5*time.Millisecond, "but not for ever")
			})
		})
	}
}

// Small sentences come all the time and would fit, one after the other, beside
// each other; one that needs all rows is not passed by those that come later.
func TestLargeIsNotStarvedBySmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		jobs, want := map[string]Job{"large": sentence(5, 0, 5)}, []string(nil)
		for i := range 40 {
			jobs[fmt.Sprint(i)] = sentence(10, 1+i, 1)
			want = append(want, fmt.Sprint(i))
		}
		want = append(want[:20:20], append([]string{"large"}, want[20:]...)...)
		joined := watch(m, jobs)
		e := start(t, m, rows(5))
		for _, name := range want {
			s := send(t.Context(), e, Normal, jobs[name])
			defer s.want(t, jobs[name])
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(time.Second)
		assert.Equal(t, want, joined.order())
		assert.EqualValues(t, 5, m.mostRows.Load())
	})
}

// Newcomers join in portions while others decode, and in larger ones when nobody has
// to stand still for them.
func TestPrefillLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		var portions [][]int
		m.onJoin = func(sources [][]int64) error {
			var lengths []int
			for _, s := range sources {
				lengths = append(lengths, len(s))
			}
			portions = append(portions, lengths)
			return nil
		}
		e := start(t, m, func(c *Config) { c.PrefillTokens, c.MaxLength = 25, 80 })
		var jobs []Job
		for i, n := range []int{40, 12, 28, 20, 9, 30, 3, 22, 4} {
			jobs = append(jobs, sentence(n, i, 1))
		}
		first, more := jobs[:5], jobs
		for i := range more {
			more[i].Search.MinLength = 30 // nobody leaves meanwhile
		}
		a := send(t.Context(), e, Normal, first...)
		time.Sleep(1500 * time.Microsecond)
		b := send(t.Context(), e, Normal, more[5:]...)
		a.want(t, first...)
		b.want(t, more[5:]...)
		assert.Equal(t, [][]int{
			{40, 28, 20, 12}, // nothing runs: four times the limit, 9 more are too many
			{9},              // 30 more are too many
			{30},             // more than the limit, but alone
			{22, 3},          // exactly the limit
			{4},
		}, portions)
	})
}

func TestMemoryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		const beam, greedy = 5*40*10 + 100*3, 40*10 + 10*3 // of the two kinds below
		e := start(t, m, func(c *Config) { c.MaxLength, c.Memory = 40, beam+greedy })
		large, small := sentence(100, 1, 5), make([]Job, 9)
		for i := range small {
			small[i] = sentence(10, 2+i, 1)
		}
		a := send(t.Context(), e, Normal, append([]Job{large}, small...)...)
		time.Sleep(500 * time.Microsecond)
		for range 60 {
			time.Sleep(time.Millisecond)
			s := e.Stats()
			require.LessOrEqual(t, s.ReservedBytes, int64(beam+greedy))
			require.LessOrEqual(t, m.mostBytes.Load(), int64(beam+greedy))
			if s.SentencesDone < 3 {
				require.Equal(t, 2, s.RunningSentences, "the large one and one small one fit")
			}
		}
		a.want(t, append([]Job{large}, small...)...)
		assert.Greater(t, m.mostBytes.Load(), int64(beam), "the budget is used")
	})
}

func TestWideSentencesDecodeAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		e := start(t, m, rows(3))
		jobs := []Job{sentence(5, 1, 1), sentence(6, 2, 5), sentence(7, 3, 2), sentence(8, 4, 1), sentence(9, 5, 4)}
		a := send(t.Context(), e, Normal, jobs...)
		for range 60 {
			time.Sleep(time.Millisecond)
			if s := e.Stats(); s.ReservedRows > 3 {
				require.Equal(t, 1, s.RunningSentences)
			}
		}
		a.want(t, jobs...)
		assert.EqualValues(t, 5, m.mostRows.Load())
	})
}

func TestQueueBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		e := start(t, m, func(c *Config) { c.Rows, c.QueueRequests, c.QueueTokens = 1, 3, 50 })
		running := sentence(20, 1, 1)
		send(t.Context(), e, Normal, running)
		synctest.Wait()

		ten := send(t.Context(), e, Normal, sentence(10, 2, 1))
		thirty := send(t.Context(), e, Normal, sentence(15, 3, 1), sentence(15, 4, 1))
		synctest.Wait()
		refused := send(t.Context(), e, High, sentence(11, 5, 1)) // 51 tokens
		refused.fails(t, ErrBusy)
		assert.Zero(t, refused.took, "it is told at once")
		assert.EqualError(t, refused.err, "too many requests are waiting: 2 requests with 40 source tokens, try again in 1s")
		third := send(t.Context(), e, Normal, sentence(10, 6, 1)) // exactly 50
		synctest.Wait()
		send(t.Context(), e, Normal, sentence(3, 7, 1)).fails(t, ErrBusy)
		time.Sleep(1500 * time.Microsecond)
		s := e.Stats()
		assert.Equal(t, []int{3, 4, 50, 2}, []int{s.QueuedRequests, s.QueuedSentences, s.QueuedTokens, int(s.RequestsRefused)})

		<-ten.done // its room is free since it began
		last := send(t.Context(), e, Normal, sentence(10, 8, 1))
		for _, s := range []*sent{ten, thirty, third, last} {
			<-s.done
			assert.NoError(t, s.err)
		}
		synctest.Wait()
		s = e.Stats()
		assert.Zero(t, s.QueuedRequests+s.QueuedTokens+s.QueuedSentences)

		oversized := sentences(20, 1) // 230 tokens
		send(t.Context(), e, Normal, oversized...).want(t, oversized...)
	})
}

// The wait is what the queue's tokens take at the rate of late.
func TestBusyErrorEstimatesTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newToy()
		m.stepTime = 100 * time.Millisecond // a row, so 10 source tokens per second
		e := start(t, m, func(c *Config) { c.Rows, c.QueueTokens = 1, 300 })
		warm := sentences(20, 1)
		send(t.Context(), e, Normal, warm...).want(t, warm...)
		assert.InDelta(t, 10, e.Stats().SourceTokensPerSecond, 0.6)

		var busy *BusyError
		accepted := 0
		for i := 0; busy == nil; i++ {
			s := send(t.Context(), e, Normal, sentence(20, 100+i, 1))
			synctest.Wait()
			select {
			case <-s.done:
				require.ErrorAs(t, s.err, &busy)
			default:
				accepted++
			}
		}
		assert.Equal(t, 16, accepted, "one runs, the others wait")
		assert.Equal(t, 15, busy.Requests)
		assert.Equal(t, 300, busy.Tokens)
		assert.InDelta(t, 30, busy.Wait.Seconds(), 2)
	})
}

// What waits is bounded by the time that it takes.
func TestQueueWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newToy()
		m.stepTime = 100 * time.Millisecond // a row, so 10 source tokens per second
		e := start(t, m, func(c *Config) { c.Rows, c.QueueWait = 1, 5*time.Second })
		warm := sentences(20, 1) // taken although it is more than 5 s of work: no rate is known
		send(t.Context(), e, Normal, warm...).want(t, warm...)

		accepted := 0
		for i, full := 0, false; !full; i++ {
			s := send(t.Context(), e, Normal, sentence(20, 100+i, 1))
			synctest.Wait()
			select {
			case <-s.done:
				require.ErrorIs(t, s.err, ErrBusy)
				full = true
			default:
				accepted++
			}
		}
		assert.Equal(t, 4, accepted, "one runs; before the third that waits are 40 tokens, before a fourth 60")
	})
}

func TestWaitFor(t *testing.T) {
	for _, test := range []struct {
		tokens int
		rate   float64
		want   time.Duration
	}{
		{1000, 0, time.Second}, {0, 100, time.Second}, {50, 100, time.Second},
		{250, 100, 2500 * time.Millisecond}, {1 << 40, 1e-9, 10 * time.Minute},
	} {
		assert.Equal(t, test.want, waitFor(test.tokens, test.rate), "%+v", test)
	}
}
