package engine

import (
	"fmt"
	"slices"
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

// Of equal requests the first to come is the first to go.
func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		jobs, want := map[string]Job{}, []string(nil)
		for i := range 12 {
			want = append(want, fmt.Sprint(i))
			jobs[want[i]] = sentence(7, i, 1)
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

// Of requests of a caller that wait, the higher priority goes first.
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

// A flood of urgent sentences, which come as fast as they are decoded on top of a
// backlog, does not keep others waiting for ever, of the same caller or of another.
func TestNobodyStarves(t *testing.T) {
	for _, test := range []struct {
		priority Priority
		caller   string
		most     int // sentences that go before
	}{{Low, "", 120}, {Normal, "", 30}, {High, "", 4}, {Low, "other", 5}, {Normal, "other", 2}, {High, "other", 2}} {
		t.Run(fmt.Sprint(test.priority, " ", test.caller), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := start(t, stepping(), rows(1))
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
				old := sendAs(t.Context(), e, Request{Priority: test.priority, Caller: test.caller}, job)
				for range 200 {
					flood()
					time.Sleep(5 * time.Millisecond)
				}
				old.want(t, job)
				assert.LessOrEqual(t, int(old.results[0].Queued/(5*time.Millisecond)), test.most)
			})
		})
	}
}

// Small sentences come all the time and would fit, one after the other, beside
// each other; one that needs all rows is passed by a few of those that come later.
func TestLargeIsNotStarvedBySmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := stepping()
		jobs, want := map[string]Job{"large": sentence(5, 0, 5)}, []string(nil)
		for i := range 40 {
			jobs[fmt.Sprint(i)] = sentence(10, 1+i, 1)
			want = append(want, fmt.Sprint(i))
		}
		want = slices.Insert(want, 20, "large")
		joined := watch(m, jobs)
		e := start(t, m, rows(5))
		for _, name := range want {
			s := send(t.Context(), e, Normal, jobs[name])
			defer s.want(t, jobs[name])
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(time.Second)
		assert.LessOrEqual(t, slices.Index(joined.order(), "large"), 25)
		assert.Len(t, joined.order(), len(want))
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
