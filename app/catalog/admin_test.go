package catalog

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
)

func TestUnload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, plain("a", "b")...)
		release, chosen := c.mustUse("a"), c.handles("a")
		require.NoError(t, c.Unload("a"))
		_, err := c.Select("a")
		require.ErrorContains(t, err, "the model a was unloaded: load it again, or use another")
		_, _, err = c.Acquire(t.Context(), chosen)
		unknown, ok := errors.AsType[*translate.Error](err)
		require.True(t, ok, err)
		assert.Equal(t, translate.CodeUnknownModel, unknown.Code)
		assert.Equal(t, "it was unloaded by hand", c.statusOfVersion("a", 1).Reason)
		assert.Len(t, c.loader.open, 1)
		release()
		synctest.Wait()
		assert.Empty(t, c.loader.open)
		c.update(named("a", "a", "a2"), named("b", "b"))
		_, err = c.Select("a")
		require.Error(t, err, "also another version")
		require.ErrorContains(t, c.Unload("a"), `there is no model "a" that is served: use b`)
		require.ErrorContains(t, c.Load(t.Context(), "x", snapshotOf()), `there is no model "x" that can be loaded`)
		require.NoError(t, c.Load(t.Context(), "a", snapshotOf(named("a", "a", "a2"))))
		assert.Equal(t, "a2", c.means("a"))

		// While it is loaded.
		c.loader.slow["b"] = time.Second
		c.update(plain("b")...)
		waits := c.background(t.Context(), "b")
		synctest.Wait()
		require.NoError(t, c.Unload("b"))
		require.Error(t, (<-waits).err)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Empty(t, c.loader.open)
	})
}

func TestPreload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		models := append(plain("a", "b", "c", "d"), named("e", "e1", "e2"))
		for i := range models {
			models[i].Config.Preload = i != 1
		}
		c := start(t, Config{Waiting: 1}, models...)
		c.loader.broken["a"], c.loader.broken["d"], c.loader.broken["e2"] = errors.New("bad file"), errors.New("no file"), errors.New("bad file")
		err := c.Preload(t.Context())
		assert.EqualError(t, err, "load a:1: the model a:1 cannot be loaded: bad file\nload d:1: the model d:1 cannot be loaded: no file")
		assert.Equal(t, []string{"a", "c", "d", "e2", "e1"}, c.loader.loads)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, c.Preload(gone), context.Canceled)
		require.NoError(t, c.Preload(t.Context()), "of what is served")
	})
}
