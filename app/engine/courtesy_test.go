package engine

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			time.Sleep(courteous + time.Second)
			assert.Greater(t, int(m.mostRows.Load()), 70, "it fills the batch again")
			cancel()
			<-long.done
			require.Error(t, long.err)
		})
	}
}

func TestLineLearnsWhatStepsTake(t *testing.T) {
	var l line
	base, slope := l.fit()
	assert.Zero(t, base+slope, "nothing is known")
	for range 100 {
		l.add(80, 30*time.Millisecond)
	}
	base, slope = l.fit()
	assert.Zero(t, base)
	assert.InDelta(t, 0.030/80, slope, 1e-9, "of other sizes nothing")
	for rows := range 80 {
		l.add(float64(rows), time.Duration(4000+300*rows)*time.Microsecond)
	}
	base, slope = l.fit()
	assert.InDelta(t, 0.004, base, 0.003)
	assert.InDelta(t, 0.0003, slope, 0.00005)
	l = line{}
	for rows := range 80 {
		l.add(float64(rows), time.Millisecond)
	}
	base, slope = l.fit()
	assert.InDelta(t, 0.001, base, 1e-6)
	assert.InDelta(t, 0, slope, 1e-9, "rows cost nothing")
}
