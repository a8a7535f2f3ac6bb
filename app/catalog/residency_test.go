package catalog

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/repository"
)

// The idle model with the longest time since its last use is unloaded, and never one in use.
func TestLeastRecentlyUsedLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Memory: 3}, plain("a", "b", "c", "d", "e")...)
		for _, name := range []string{"a", "b", "c", "a"} {
			c.touch(name)
			time.Sleep(time.Second)
		}
		c.touch("d")
		assert.Equal(t, map[string]State{"a:1": Ready, "b:1": Unloaded, "c:1": Ready, "d:1": Ready, "e:1": Unloaded}, c.states())
		release := c.mustUse("c") // would be the next one to be unloaded
		time.Sleep(time.Second)
		c.touch("e")
		assert.Equal(t, map[string]State{"a:1": Unloaded, "b:1": Unloaded, "c:1": Ready, "d:1": Ready, "e:1": Ready}, c.states())
		release()
		assert.Equal(t, 3, c.loader.most)
	})
}

// For a large model several small ones are unloaded at once.
func TestSeveralLeaveForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Memory: 4}, plain("a", "b", "c", "d", "large")...)
		c.loader.sizes["large"] = 3
		for _, name := range []string{"a", "b", "c", "d", "large"} {
			c.touch(name)
			time.Sleep(time.Second)
		}
		assert.Equal(t, map[string]State{"a:1": Unloaded, "b:1": Unloaded, "c:1": Unloaded, "d:1": Ready, "large:1": Ready}, c.states())
	})
}

// While a draining model stays in use, an idle one is unloaded in its place.
func TestSlowDrainDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Memory: 2}, plain("a", "b", "c")...)
		slow := c.mustUse("a")
		time.Sleep(time.Second)
		busy := c.mustUse("b")
		waits := c.background(t.Context(), "c")
		time.Sleep(10 * time.Second)
		assert.Equal(t, Draining, c.states()["a:1"])
		busy()
		o := <-waits
		require.NoError(t, o.err)
		assert.Equal(t, 10*time.Second, o.after)
		o.release()
		slow()
	})
}

func TestTooLargeIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		models := plain("a", "b", "p")
		models[2].Config.Pinned = true
		c := start(t, Config{Memory: 5 << 20}, models...)
		c.loader.sizes = map[string]int64{"a": 6 << 20, "b": 4 << 20, "p": 2 << 20}
		_, _, err := c.use(t.Context(), "a")
		full, ok := errors.AsType[*MemoryError](err)
		require.True(t, ok, err)
		assert.Equal(t, MemoryError{Model: "a", Needs: 6 << 20, Limit: 5 << 20}, *full)
		assert.Equal(t, "the model a needs 6.0 MiB of memory, but MODEL_MEMORY is 5.0 MiB: raise it, or lower KV_MEMORY", err.Error())
		c.touch("b")
		c.touch("p")
		_, _, err = c.use(t.Context(), "b")
		require.ErrorAs(t, err, &full)
		assert.Equal(t, MemoryError{Model: "b", Needs: 4 << 20, Limit: 5 << 20, Pinned: 2 << 20}, *full)
		assert.Empty(t, c.statusOfVersion("b", 1).Reason, "it is not broken")

		models[2].Config.Pinned = false // there is room again
		c.update(models...)
		c.touch("b")
		assert.Equal(t, 2, c.loader.count("b"))
	})
}

// A model may take more memory than expected. The next load makes room for it.
func TestMoreThanExpected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Memory: 10}, plain("a", "b", "c")...)
		c.loader.sizes["a"], c.loader.sizes["b"], c.loader.more["b"] = 4, 4, 3
		c.touch("a")
		time.Sleep(time.Second)
		c.touch("b")
		synctest.Wait()
		assert.Equal(t, map[string]State{"a:1": Unloaded, "b:1": Ready, "c:1": Unloaded}, c.states())
		assert.EqualValues(t, 7, c.residency.used)
	})
}

// If all resident models are always in use, other models get turns.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := numbered(8)
		c := start(t, Config{Memory: 4}, plain(names...)...)
		for _, name := range names {
			c.loader.slow[name] = time.Second / 2
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make([]int, len(names))
		var clients sync.WaitGroup
		for i, name := range names {
			clients.Go(func() { served[i] = c.keepBusy(ctx, name) })
			clients.Go(func() { time.Sleep(50 * time.Millisecond); c.keepBusy(ctx, name) })
		}
		time.Sleep(10 * time.Minute)
		stop()
		clients.Wait()
		for i, n := range served { // each had at least a quarter of its share, which is one half
			assert.Greater(t, n, 10*60*10/2/4, names[i])
		}
		synctest.Wait()
		assert.LessOrEqual(t, len(c.loader.loads), 4*10*60*2/5, "each of the four stays four times as long as it takes to load it")
	})
}

// With 24 models and memory for 4, each request gets the answer of its own model, none is lost, and none waits for many loads.
func TestManyModelsFewFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := numbered(24)
		c := start(t, Config{Memory: 4, Waiting: 50}, plain(names...)...)
		for _, name := range names {
			c.loader.slow[name] = 100 * time.Millisecond
		}
		var clients sync.WaitGroup
		longest := make([]time.Duration, 50)
		for n := range 50 {
			rnd := rand.New(rand.NewPCG(uint64(n), 1))
			clients.Go(func() {
				for range 200 {
					name := names[min(rnd.IntN(24), rnd.IntN(24))] // some models are more popular
					begin := time.Now()
					list, release, err := c.use(t.Context(), name)
					if !assert.NoError(t, err) {
						return
					}
					longest[n] = max(longest[n], time.Since(begin))
					assert.Equal(t, []string{name}, list)
					time.Sleep(time.Duration(rnd.IntN(50)) * time.Millisecond)
					release()
				}
			})
		}
		clients.Wait()
		for _, wait := range longest {
			assert.Less(t, wait, 30*time.Second)
		}
		assert.Equal(t, 4, c.loader.most)
	})
}

// Random loads and uses keep the limit of memory.
func TestMemoryIsNeverExceeded(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 2))
			names := numbered(12)
			c := start(t, Config{Memory: 100, KeepAlive: 5 * time.Second}, plain(names...)...)
			for _, name := range names {
				c.loader.sizes[name], c.loader.slow[name] = 1+rnd.Int64N(60), time.Duration(rnd.IntN(500))*time.Millisecond
			}
			var clients sync.WaitGroup
			for n := range 10 {
				rnd := rand.New(rand.NewPCG(seed, uint64(n)+10))
				clients.Go(func() {
					for range 50 {
						refs := []string{names[rnd.IntN(12)]}
						if rnd.IntN(4) == 0 {
							refs = append(refs, names[rnd.IntN(12)])
						}
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rnd.IntN(20_000))*time.Millisecond)
						if _, release, err := c.use(ctx, refs...); err == nil {
							time.Sleep(time.Duration(rnd.IntN(1000)) * time.Millisecond)
							release()
						}
						cancel()
					}
				})
			}
			clients.Wait()
		})
	}
}

// Decoding state and models share the memory: freed state makes room for a waiting model, and idle models are unloaded for
// state.
func TestStateSharesMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Memory: 10}, plain("a", "b", "c")...)
		c.loader.sizes["a"], c.loader.sizes["b"] = 4, 4
		release := c.mustUse("a")
		state := (*pool)(&c.controller)
		require.True(t, state.Take(3, false))
		require.True(t, state.Take(3, false))
		assert.False(t, state.Take(1, false))
		waits := c.background(t.Context(), "b")
		synctest.Wait()
		state.Give(3)
		time.Sleep(2 * time.Second) // a must be unloaded for it
		assert.False(t, state.Take(1, false), "it is for the model")
		assert.True(t, state.Take(1, true), "one sentence goes on in any case")
		state.Give(1)
		state.Give(3)
		o := <-waits
		require.NoError(t, o.err)
		o.release()
		release()
		assert.True(t, state.Take(2, false))
		assert.False(t, state.Take(1, false), "one of them leaves first")
		synctest.Wait()
		assert.True(t, state.Take(4, false))
		assert.Len(t, c.loader.open, 1)
		state.Give(6)
	})
}

// pinnedModel is never unloaded for other models.
func TestPinnedStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		models := plain("p", "a", "b")
		models[0].Config = repository.Config{Pinned: true, Preload: true}
		c := start(t, Config{Memory: 2, KeepAlive: time.Second}, models...)
		require.NoError(t, c.Preload(t.Context()))
		for range 10 {
			c.touch("a")
			time.Sleep(time.Minute)
			c.touch("b")
		}
		assert.Equal(t, Ready, c.states()["p:1"])
		assert.Equal(t, 1, c.loader.count("p"))
	})
}
