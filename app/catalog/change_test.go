package catalog

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/repository"
)

// A version that is removed during use is used until the end.
func TestVersionDisappears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, plain("a", "b")...)
		release := c.mustUse("a")
		c.update(plain("b")...)
		_, err := c.Select("a")
		require.Error(t, err)
		assert.Len(t, c.loader.open, 1)
		release()
		synctest.Wait()
		assert.Empty(t, c.loader.open)

		// The same during its load.
		c.update(plain("a", "b")...)
		c.loader.slow["a"] = time.Second
		waits := c.background(t.Context(), "a")
		synctest.Wait()
		c.update(plain("b")...)
		assert.ErrorContains(t, (<-waits).err, "the model a:1 is not served any more: use b")
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Empty(t, c.loader.open)
	})
}

// Unreadable folders do not change the served models.
func TestUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := named("a", "one")
		served.Aliases = []string{"x"}
		c := start(t, Config{}, served)
		c.touch("a")
		config := served
		config.Err, config.Aliases = errors.New("config.yaml:1: bem: no such field"), nil
		c.update(config)
		assert.Equal(t, "one", c.means("x"))
		assert.Equal(t, "config.yaml:1: bem: no such field", c.statusOfVersion("a", 1).Reason)
		assert.True(t, c.statusOfVersion("a", 1).Served)

		folder := named("a", "one")
		folder.Versions[0].Err, folder.Versions[0].Manifest, folder.Versions[0].Served = errors.New("weights.bin is missing"), nil, false
		folder.Versions[0].Fingerprint = "broken"
		c.update(folder)
		assert.Equal(t, "one", c.means("a"), "it is loaded")
		assert.Equal(t, Status{Name: "a", Version: "1", Current: true, Served: true, State: Ready, Reason: "weights.bin is missing",
			From: []string{"de", "en", "fr"}, To: []string{"de", "en", "fr"}, Family: "m2m100", Device: "cpu", Bytes: 1}, c.statusOfVersion("a", 1))
		assert.Equal(t, []string{"one"}, c.loader.loads)
		require.NoError(t, c.Unload("a"))
		c.update(folder)
		_, err := c.Select("a")
		require.Error(t, err)
		assert.Equal(t, map[string]State{"a:1": Broken}, c.states())
	})
}

func TestSameSnapshotChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, named("a", "one", "two"), named("b", "b"))
		c.touch("a")
		before := c.handles("a", "a:2", "b")
		for range 3 {
			c.update(named("a", "one", "two"), named("b", "b"))
			synctest.Wait()
		}
		c.touch("a")
		assert.Equal(t, []string{"two"}, c.loader.loads)
		_, release, err := c.Acquire(t.Context(), before)
		require.NoError(t, err)
		release()
	})
}

// A changed configuration makes a new instance, which is loaded beside the one that serves.
func TestConfigurationChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := named("a", "one")
		c := start(t, Config{}, m)
		c.loader.slow["one"] = time.Second
		release := c.mustUse("a")
		m.Config.Beams = 5
		c.update(m)
		synctest.Wait()
		assert.Equal(t, map[string]State{"a:1": Ready}, c.states())
		assert.True(t, c.statusOfVersion("a", 1).Current)
		assert.Equal(t, "it is tried before it takes over", c.statusOfVersion("a", 1).Reason)
		assert.Equal(t, "one", c.means("a:1"))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(t, c.loader.open, 2, "a request has the old one")
		assert.Equal(t, map[string]State{"a:1": Ready}, c.states())
		assert.Empty(t, c.statusOfVersion("a", 1).Reason)
		release()
		synctest.Wait()
		assert.Len(t, c.loader.open, 1)

		// A change of the offered languages causes no load.
		m.Config.Pairs = []repository.Pair{{From: "en", To: "fr"}}
		c.update(m)
		s, err := c.Select("a")
		require.NoError(t, err)
		_, err = s.Route("fr", "en")
		require.Error(t, err)
		assert.Equal(t, "one", c.means("a"))
		assert.Len(t, c.loader.loads, 2)
	})
}

// A replaced folder under the same number is another version.
func TestFolderReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, named("a", "one"))
		release := c.mustUse("a")
		c.loader.slow["uno"] = time.Second
		c.update(named("a", "uno"))
		assert.Equal(t, "one", c.means("a"))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, "uno", c.means("a"))
		release()

		// The old one is gone, because it was not loaded.
		c.update(named("b", "b"))
		c.update(named("b", "c"))
		assert.Equal(t, "c", c.means("b"))
		assert.Zero(t, c.loader.count("b"))
	})
}
