package engine

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/schedule"
)

// Beside a long request that would fill the batch, short ones take at most twice as long as
// alone; the long one has all of the batch where no short ones come, and ends.
func TestShortRequestsBesideALongOne(t *testing.T) {
	for _, caller := range []string{"", "another"} {
		synctest.Test(t, func(t *testing.T) {
			m := newToy()
			m.stepTime, m.rowTime = 2*time.Millisecond, 300*time.Microsecond
			e := start(t, m, func(c *Config) { c.Rows, c.PrefillTokens = 80, 100 })
			short := func(number int) time.Duration {
				job := sentence(10, number, 1)
				s := sendAs(t.Context(), e, Request{Caller: caller, Tokens: 10}, job)
				s.want(t, job)
				return s.took
			}
			alone := short(1000)
			time.Sleep(time.Minute) // nobody remembers it
			ctx, cancel := context.WithCancel(t.Context())
			long := sendAs(ctx, e, Request{Caller: "long", Tokens: 100_000}, sentences(9000, 1)...)
			time.Sleep(100 * time.Millisecond)
			assert.Greater(t, int(m.mostRows.Load()), 60, "it fills the batch")
			var took []time.Duration
			for i := range 60 {
				took = append(took, short(1001+i))
				time.Sleep(50 * time.Millisecond)
			}
			took = took[3:] // what was in the batch goes on
			slices.Sort(took)
			assert.LessOrEqual(t, took[len(took)*95/100], alone*2)

			m.mostRows.Store(0)
			time.Sleep(schedule.Remembered + time.Second)
			assert.Greater(t, int(m.mostRows.Load()), 70, "it fills the batch again")
			cancel()
			<-long.done
			require.Error(t, long.err)
		})
	}
}

// Beside a caller that sends one long source after the other, eight sentences of another one take less than four times as long as
// alone, also where all steps had one row before, so that nothing was known of what more rows cost.
func TestManySentencesBesideOneLongSource(t *testing.T) {
	eight := make([]Job, 8)
	for i := range eight {
		eight[i] = sentence(20, i, 1)
	}
	took := map[bool]time.Duration{}
	for _, beside := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := newToy()
			m.stepTime, m.rowTime, m.pairTime = 30*time.Millisecond, 2*time.Millisecond, 80*time.Microsecond
			e := start(t, m, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if beside {
				go func() {
					for i := 0; ctx.Err() == nil; i++ {
						long := sentence(59, i, 1)
						long.Search.MaxLength = 4
						_, _ = e.Translate(ctx, Request{Caller: "another"}, long)
					}
				}()
				time.Sleep(10 * time.Second)
			}
			s := sendAs(t.Context(), e, Request{Caller: "one"}, eight...)
			s.want(t, eight...)
			took[beside] = s.took
		})
	}
	assert.Less(t, took[true], took[false]*4, "alone: %v", took[false])
}
