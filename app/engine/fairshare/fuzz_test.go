package fairshare

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzCores has models of all widths, with one worker or several, take rounds of all
// lengths for sentences that come at all times and may be cancelled while they wait: cores
// are never given twice, nobody waits for what is free, and everybody ends.
func FuzzCores(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, uint8(1+seed%8), uint8(2+seed%11))
	}
	f.Fuzz(func(t *testing.T, seed uint64, count, models uint8) {
		c, rng := some(t, 1+int(count%16)), rand.New(rand.NewPCG(seed, 1))
		synctest.Test(t, func(t *testing.T) {
			var all []*Model
			for range 1 + models%16 {
				all = append(all, join(t, c, 1+rng.IntN(2*c.count)))
			}
			var group sync.WaitGroup
			for _, m := range all {
				for range 1 + rng.IntN(4) {
					own := rand.New(rand.NewPCG(rng.Uint64(), 2))
					group.Go(func() { visit(t, own, m, all) })
				}
			}
			group.Wait()
			c.check(t, all...)
			assert.Equal(t, c.count, c.line.Free)
			assert.Empty(t, c.line.Waiting)
		})
	})
}

// visit takes rounds for sentences that come one after the other.
func visit(t *testing.T, rng *rand.Rand, m *Model, all []*Model) {
	for range 1 + rng.IntN(5) {
		time.Sleep(time.Duration(rng.IntN(100)) * time.Millisecond)
		ctx, cancel := t.Context(), func() {}
		if rng.IntN(3) == 0 {
			ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(rng.IntN(200))*time.Millisecond, errGone)
		}
		came := time.Now().Add(-time.Duration(rng.IntN(8000)) * time.Millisecond)
		err := m.Acquire(ctx, came)
		for rounds := rng.IntN(20); err == nil; rounds-- {
			m.cores.check(t, all...)
			time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
			if rounds == 0 {
				m.Release()
				break
			}
			err = m.Yield(ctx, came)
		}
		if err != nil {
			assert.ErrorIs(t, err, errGone)
		}
		m.cores.check(t, all...)
		cancel()
	}
}

// Many workers at the same time, with the race detector and without a fake clock.
func TestUnderLoad(t *testing.T) {
	const rounds = 200
	c := some(t, 4)
	var taken atomic.Int32
	var group sync.WaitGroup
	for i := range 24 {
		m := join(t, c, 1+i%4)
		for worker := range 2 {
			group.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(worker)))
				for range rounds {
					ctx, cancel := context.WithCancelCause(t.Context())
					if rng.IntN(4) == 0 {
						go cancel(errGone)
					}
					err := m.Acquire(ctx, time.Now())
					for range 1 + rng.IntN(3) {
						if err != nil {
							break
						}
						assert.LessOrEqual(t, taken.Add(int32(m.need)), int32(4))
						taken.Add(int32(-m.need))
						err = m.Yield(ctx, time.Now())
					}
					if err == nil {
						m.Release()
					}
					cancel(nil)
				}
			})
		}
	}
	group.Wait()
	require.Empty(t, c.line.Waiting)
	assert.Equal(t, 4, c.line.Free)
}
