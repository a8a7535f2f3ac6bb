package catalog

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Requests that need several models cannot deadlock over memory.
func TestSeveralModelsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Memory: 2}, plain("a", "b", "c", "d")...)
		for _, name := range []string{"a", "b", "c", "d"} {
			c.loader.slow[name] = time.Second
		}
		var all []<-chan outcome
		for range 10 {
			all = append(all, c.background(t.Context(), "a", "b"), c.background(t.Context(), "c", "d"), c.background(t.Context(), "b", "c"), c.background(t.Context(), "d"))
		}
		for _, ended := range all {
			go func() {
				o := <-ended
				if assert.NoError(t, o.err) {
					time.Sleep(time.Second)
					o.release()
				}
			}()
		}
		time.Sleep(40 * time.Second)
		synctest.Wait()
		assert.Empty(t, c.claims, "all have had their models")
		assert.LessOrEqual(t, len(c.loader.loads), 12)
	})
}

// A request that needs several models gets them although others are always in use.
func TestSeveralModelsBesideBusyOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Memory: 2}, plain("a", "b", "c", "x")...)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for range 4 {
			for _, name := range []string{"c", "x"} {
				go c.keepBusy(ctx, name)
			}
		}
		time.Sleep(time.Second)
		o := <-c.background(t.Context(), "a", "b")
		require.NoError(t, o.err)
		assert.Equal(t, []string{"a", "b"}, o.identities)
		assert.Less(t, o.after, 10*time.Second)
		o.release()
		stop()
		time.Sleep(time.Minute)
	})
}

// keepBusy uses a model repeatedly.
func (c *tested) keepBusy(ctx context.Context, name string) (times int) {
	for handles := c.handles(name); ctx.Err() == nil; times++ {
		_, release, err := c.Acquire(ctx, handles)
		if err != nil {
			return times
		}
		time.Sleep(100 * time.Millisecond)
		release()
	}
	return times
}

// Models that do not fit into the memory together are refused, with the numbers.
func TestSeveralModelsThatDoNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		models := plain("a", "b", "p")
		models[2].Config.Pinned = true
		c := start(t, Config{Memory: 10}, models...)
		c.loader.sizes = map[string]int64{"a": 6, "b": 4, "p": 1}
		c.touch("a", "b")
		c.touch("p")
		_, _, err := c.use(t.Context(), "a", "b")
		full, ok := errors.AsType[*MemoryError](err)
		require.True(t, ok, err)
		assert.Equal(t, MemoryError{Model: "a and b", Needs: 10, Limit: 10, Pinned: 1}, *full)
		c.touch("a")
		c.touch("b", "p")
	})
}

// A cancelled request for several models does not block others.
func TestSeveralModelsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Memory: 2}, plain("a", "b", "c", "d")...)
		c.loader.slow["a"] = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first, second := c.background(ctx, "a", "b"), c.background(t.Context(), "c", "d")
		require.ErrorIs(t, (<-first).err, context.DeadlineExceeded)
		c.loader.set(func() { c.loader.slow["a"] = 0 })
		o := <-second
		require.NoError(t, o.err)
		o.release()
	})
}
