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
			time.Sleep(remembered + time.Second)
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

func TestPlaneLearnsWhatStepsTake(t *testing.T) {
	const prior = 1000.0
	attended := prior
	var p plane
	base, slope := p.fit(&attended)
	assert.Zero(t, base+slope, "nothing is known")
	for range 100 {
		p.add(80, 80*20, 30*time.Millisecond)
	}
	base, slope = p.fit(&attended)
	assert.InDelta(t, 0.030/(80*(1+20/prior)+usual), slope, 1e-9, "of other sizes nothing")
	assert.InDelta(t, 0.030, base+80*(1+20/prior)*slope, 1e-9)
	assert.InDelta(t, prior, attended, 0)

	p = plane{}
	for rows := range 80 {
		p.add(float64(rows), 0, time.Duration(4000+300*rows)*time.Microsecond)
	}
	base, slope = p.fit(&attended)
	assert.InDelta(t, 0.004, base, 0.0001)
	assert.InDelta(t, 0.0003, slope, 0.00001)
	assert.InDelta(t, prior, attended, 0, "nothing of attention")
	p = plane{}
	for rows := range 80 {
		p.add(float64(rows), 0, time.Millisecond)
	}
	base, slope = p.fit(&attended)
	assert.InDelta(t, 0.001, base, 1e-6)
	assert.InDelta(t, 0, slope, 1e-9, "rows cost nothing")

	p = plane{}
	for i := range 400 {
		rows, tokens := 1+i%13, 10+37*(i%31)
		p.add(float64(rows), float64(rows*tokens), time.Duration(4000+300*rows+6*rows*tokens)*time.Microsecond)
	}
	base, slope = p.fit(&attended)
	assert.InDelta(t, 50, attended, 1e-3, "a row costs as much as 50 tokens")
	assert.InDelta(t, 0.004, base, 1e-6)
	assert.InDelta(t, 0.0003, slope, 1e-8)
}
