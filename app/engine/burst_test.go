package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A burst of a caller's requests takes as many steps beside a caller who was there once as without, and
// not many more beside one who comes each second.
func TestBurstBesideWhoIsAway(t *testing.T) {
	for _, large := range []bool{false, true} {
		burst := func(before func(ctx context.Context, e tested)) (steps int, took time.Duration) {
			synctest.Test(t, func(t *testing.T) {
				m := costly(large)
				e := start(t, m, func(cfg *Config) { cfg.Rows, cfg.MaxBeams, cfg.PrefillTokens = 80, 8, 512 })
				ctx, stop := context.WithCancel(t.Context())
				before(ctx, e)
				first, begun := m.steps.Load(), time.Now()
				var all sync.WaitGroup
				for i := range 30 {
					time.Sleep(10 * time.Millisecond)
					var jobs []Job
					for n := range 16 {
						jobs = append(jobs, sentence(8+(i+n)%9, 100*i+n, 5))
					}
					s := sendAs(ctx, e, Request{Caller: "burst", Tokens: 16 * 12, Beams: 5}, jobs...)
					all.Go(func() {
						<-s.done
						assert.NoError(t, s.err)
					})
				}
				all.Wait()
				steps, took = int(m.steps.Load()-first), time.Since(begun)
				stop()
			})
			return steps, took
		}
		once := func(ctx context.Context, e tested, number int) {
			job := sentence(6, 9000+number, 5)
			s := sendAs(ctx, e, Request{Caller: "other", Tokens: 6, Beams: 5}, job)
			<-s.done
		}
		alone, _ := burst(func(context.Context, tested) {})
		trial, _ := burst(func(ctx context.Context, e tested) { once(ctx, e, 0) })
		assert.InDelta(t, alone, trial, 40, "large: %t: who came once", large) // while it counts as there
		_, aloneTook := burst(func(context.Context, tested) {})
		_, took := burst(func(ctx context.Context, e tested) {
			once(ctx, e, 0)
			go func() {
				for i := 1; ctx.Err() == nil; i++ {
					once(ctx, e, i)
					sleep(ctx, time.Second)
				}
			}()
		})
		t.Logf("large: %t: %d steps, %d after one sentence; %s, %s beside a sentence each second", large, alone, trial, aloneTook, took)
		require.Less(t, took, aloneTook*3/2, "large: %t", large)
	}
}
