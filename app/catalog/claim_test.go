package catalog

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
	"dragoman/model/repository"
)

// Concurrent requests for a model load it once.
func TestOneLoadForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, plain("a")...)
		c.loader.slow["a"] = time.Second
		var all []<-chan outcome
		for range 100 {
			all = append(all, c.background(t.Context(), "a"))
		}
		synctest.Wait()
		assert.Equal(t, Loading, c.states()["a:1"])
		for _, ended := range all {
			o := <-ended
			require.NoError(t, o.err)
			assert.Equal(t, time.Second, o.after)
			assert.Equal(t, []string{"a"}, o.identities)
			o.release()
		}
		assert.Equal(t, []string{"a"}, c.loader.loads)
		assert.Equal(t, Ready, c.states()["a:1"])
	})
}

// Names of equal files share an instance, and its memory counts once.
func TestEqualFilesAreOpenedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := numbered(12)
		var models []repository.Model
		for _, name := range names {
			models = append(models, named(name, "same"))
		}
		c := start(t, Config{Memory: 5}, models...)
		c.loader.sizes["same"] = 5
		for _, name := range names {
			list, release, err := c.Acquire(t.Context(), c.handles(name))
			require.NoError(t, err)
			assert.Equal(t, name, list[0].Name)
			release()
		}
		c.touch(names...) // together
		assert.Len(t, c.loader.loads, 1)
		assert.EqualValues(t, 5, c.residency.used)
		assert.Len(t, c.Engines(), 1)

		models[3].Config.Beams = 3 // the other one has an instance of its own
		c.update(models...)
		synctest.Wait()
		c.touch(names[3])
		assert.Len(t, c.loader.loads, 2)
	})
}

func TestWaitersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Waiting: 2}, plain("a", "b")...)
		c.loader.slow["a"], c.loader.slow["b"] = 10*time.Second, 10*time.Second
		first, second := c.background(t.Context(), "a"), c.background(t.Context(), "a")
		synctest.Wait()
		_, _, err := c.use(t.Context(), "a")
		loading, ok := errors.AsType[*LoadingError](err)
		require.True(t, ok, err)
		assert.Equal(t, LoadingError{Model: "a", Waiting: 2}, *loading)
		assert.Equal(t, 1, loading.RetryAfter(), "there was no load to tell by")
		other := c.background(t.Context(), "b") // waits for another model
		(<-first).release()
		(<-second).release()
		(<-other).release()
		c.mustUse("a")()
	})
}

// A request with less time than a load needs is refused at once, with the time to retry after.
func TestWaitersWithDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Memory: 1}, plain("a", "b")...)
		c.loader.slow["a"], c.loader.slow["b"] = 10*time.Second, time.Second
		hurry, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, _, err := c.use(hurry, "a")
		require.ErrorIs(t, err, context.DeadlineExceeded, "nobody knows how long it takes yet")
		time.Sleep(10 * time.Second)
		c.touch("b")

		hurry, cancel = context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begin := time.Now()
		_, _, err = c.use(hurry, "a")
		loading, ok := errors.AsType[*LoadingError](err)
		require.True(t, ok, err)
		assert.Equal(t, LoadingError{Model: "a", Wait: 10 * time.Second}, *loading)
		assert.Equal(t, 10, loading.RetryAfter())
		assert.Zero(t, time.Since(begin))
		assert.Equal(t, 1, c.loader.count("a"), "a load that nobody waits for is not begun")

		patient := c.background(t.Context(), "a")
		time.Sleep(8 * time.Second)
		c.mustUse("a")() // two seconds of the load are left, and two of the request
		(<-patient).release()
	})
}

func TestLoadsGoOnWithoutSomeWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, plain("a")...)
		c.loader.slow["a"] = 10 * time.Second
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		leaves, stays := c.background(ctx, "a"), c.background(t.Context(), "a")
		time.Sleep(time.Second)
		cancel(gone)
		o := <-leaves
		require.ErrorIs(t, o.err, gone)
		assert.Equal(t, time.Second, o.after)
		(<-stays).release()

		_, _, err := c.use(ctx, "a")
		assert.ErrorIs(t, err, gone, "also where it is ready")
	})
}

// A load that has begun continues without its request; a load that has not begun is cancelled.
func TestLoadsWithoutWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Memory: 1}, plain("a", "b", "c")...)
		c.loader.slow["a"], c.loader.slow["b"] = 10*time.Second, time.Second
		ctx, cancel := context.WithCancel(t.Context())
		a := c.background(ctx, "a")
		synctest.Wait()
		b := c.background(ctx, "b")
		synctest.Wait()
		cancel()
		require.Error(t, (<-a).err)
		require.Error(t, (<-b).err)
		time.Sleep(time.Minute)
		assert.Equal(t, map[string]State{"a:1": Ready, "b:1": Unloaded, "c:1": Unloaded}, c.states())
		assert.Equal(t, []string{"a"}, c.loader.loads)

		// Also a load that waits for memory.
		ctx, cancel = context.WithCancel(t.Context())
		release := c.mustUse("a")
		b = c.background(ctx, "b")
		synctest.Wait()
		cancel()
		require.Error(t, (<-b).err)
		next := c.background(t.Context(), "c")
		synctest.Wait()
		release()
		(<-next).release()
		assert.Zero(t, c.loader.count("b"))
	})
}

// Every wait of a request ends with the catalog.
func TestCloseEndsAllWaits(t *testing.T) {
	for name, prepare := range map[string]func(c *tested) []<-chan outcome{
		"during a load": func(c *tested) []<-chan outcome {
			c.loader.slow["a"] = time.Hour
			first := c.background(c.t.Context(), "a")
			synctest.Wait()
			return []<-chan outcome{first, c.background(c.t.Context(), "a"), c.background(c.t.Context(), "b"), c.background(c.t.Context(), "a", "c")}
		},
		"during a drain": func(c *tested) []<-chan outcome {
			c.mustUse("a")
			waits := c.background(c.t.Context(), "b")
			time.Sleep(time.Minute)
			assert.Equal(t, Draining, c.states()["a:1"])
			return []<-chan outcome{waits, c.background(c.t.Context(), "a")}
		},
		"during a wait for memory": func(c *tested) []<-chan outcome {
			c.mustUse("a")
			return []<-chan outcome{c.background(c.t.Context(), "b")}
		},
		"while a model is used": func(c *tested) []<-chan outcome {
			c.mustUse("a")
			return nil
		},
		"while a model is idle": func(c *tested) []<-chan outcome {
			c.touch("a")
			return nil
		},
		"during a trial": func(c *tested) []<-chan outcome {
			c.touch("a")
			c.loader.slow["a2"] = time.Hour
			c.update(named("a", "a", "a2"), named("b", "b"))
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, Config{Memory: 2, KeepAlive: time.Hour}, plain("a", "b", "c")...)
				c.loader.sizes["a"], c.loader.sizes["b"] = 1, 2
				waits := prepare(c)
				synctest.Wait()
				closed := make(chan error, 2)
				for range 2 { // also two at a time
					go func() { closed <- c.Close() }()
				}
				require.NoError(t, <-closed)
				require.NoError(t, <-closed)
				for _, ended := range waits {
					assert.ErrorIs(t, (<-ended).err, ErrClosed)
				}
				_, _, err := c.use(t.Context(), "a")
				assert.ErrorIs(t, err, ErrClosed)
				c.update(plain("a", "b", "c")...)
				assert.Empty(t, c.loader.open)
			})
		})
	}
}

// A request that chose its models before a change gets the current ones of these names.
func TestHandlesThatAreOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, named("a", "a1"), named("b", "b"))
		byName, byVersion := c.handles("a"), c.handles("a:1")
		c.update(named("a", "a1", "a2"), named("b", "b"))
		synctest.Wait() // it is tried, and takes over
		models, release, err := c.Acquire(t.Context(), byName)
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "2", "a2"}, []string{models[0].Name, models[0].Version, models[0].Identity})
		release()
		_, _, err = c.Acquire(t.Context(), byVersion)
		unknown, ok := errors.AsType[*translate.Error](err)
		require.True(t, ok, err)
		assert.Equal(t, "the model a:1 is not served any more: use a or b", unknown.Message)
		require.NoError(t, c.Unload("a"))
		_, _, err = c.Acquire(t.Context(), byName)
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, translate.CodeUnknownModel, unknown.Code)
		assert.True(t, slices.Equal([]string{"a2"}, c.loader.loads))
	})
}
