package catalog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// means returns the identity of the files that a name stands for.
func (c *tested) means(ref string) string {
	list, release, err := c.use(c.t.Context(), ref)
	require.NoError(c.t, err)
	release()
	return list[0]
}

// log returns the log. No goroutine may run.
func (c *tested) logged() string {
	synctest.Wait()
	defer c.log.Reset()
	return c.log.String()
}

// A new version is loaded beside the old one and then replaces it.
func TestNewVersionTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, named("a", "one"))
		c.loader.slow["two"] = time.Minute
		release := c.mustUse("a")
		chosen := c.handles("a")
		c.update(named("a", "one", "two"))
		time.Sleep(time.Minute - 1)
		assert.Equal(t, "one", c.means("a"))
		assert.Equal(t, map[string]State{"a:1": Ready, "a:2": Loading}, c.states())
		assert.Equal(t, "it is tried before it takes over", c.statusOfVersion("a", 2).Reason)
		assert.True(t, c.statusOfVersion("a", 1).Current)
		assert.False(t, c.statusOfVersion("a", 2).Current)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, "two", c.means("a"))
		assert.Contains(t, c.logged(), `level=INFO msg="a new version takes over" model=a version=2`)
		assert.Equal(t, map[string]State{"a:1": Draining, "a:2": Ready}, c.states(), "a request has it")
		models, late, err := c.Acquire(t.Context(), chosen)
		require.NoError(t, err)
		assert.Equal(t, "2", models[0].Version, "it was chosen before, and is given what there is now")
		late()
		assert.Len(t, c.loader.open, 2)
		release()
		synctest.Wait()
		assert.Equal(t, map[string]State{"a:1": Unloaded, "a:2": Ready}, c.states())
		assert.Equal(t, []string{"one", "two"}, c.loader.loads)
	})
}

// If a new version is broken, the old one serves until the folder changes or an admin loads the new one.
func TestBrokenNewVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, named("a", "one"))
		c.touch("a")
		c.loader.broken["two"] = errors.New("bad file")
		models := named("a", "one", "two")
		c.update(models)
		synctest.Wait()
		c.update(models)
		assert.Equal(t, "one", c.means("a"))
		assert.Equal(t, map[string]State{"a:1": Ready, "a:2": Broken}, c.states())
		assert.Equal(t, "the model a:2 cannot be loaded: bad file", c.statusOfVersion("a", 2).Reason)
		assert.False(t, c.statusOfVersion("a", 2).Served)
		assert.Contains(t, c.logged(), `level=ERROR msg="a new version does not take over" model=a version=2 error="the model a:2 cannot be loaded: bad file"`)
		assert.Equal(t, 1, c.loader.count("two"))
		_, err := c.Select("a:2")
		require.EqualError(t, err, "the model a:2 cannot be loaded: bad file")

		err = c.Load(t.Context(), "a", snapshotOf(models))
		require.EqualError(t, err, "the model a:2 cannot be loaded: bad file")
		assert.Equal(t, 2, c.loader.count("two"))
		c.loader.set(func() { delete(c.loader.broken, "two") })
		models.Versions[1].Fingerprint = "exported again"
		c.update(models)
		synctest.Wait()
		assert.Equal(t, "two", c.means("a"))
		assert.Equal(t, 3, c.loader.count("two"))
	})
}

// A failed load is retried automatically, after longer and longer pauses.
func TestBrokenVersionIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, named("a", "one"))
		c.touch("a")
		c.loader.broken["two"] = errors.New("no file handles")
		c.update(named("a", "one", "two"))
		synctest.Wait()
		for tries, wait := range []time.Duration{0, time.Minute, 2 * time.Minute, 4 * time.Minute} {
			time.Sleep(wait)
			synctest.Wait()
			assert.Equal(t, tries+1, c.loader.count("two"))
			assert.Equal(t, "one", c.means("a"))
		}
		c.loader.set(func() { delete(c.loader.broken, "two") })
		time.Sleep(8 * time.Minute)
		synctest.Wait()
		assert.Equal(t, "two", c.means("a"))
	})
}

func TestLoadTriesWhatWasBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, named("a", "one"))
		c.touch("a")
		c.loader.broken["two"] = errors.New("bad file")
		models := named("a", "one", "two")
		c.update(models)
		synctest.Wait()
		c.loader.set(func() { delete(c.loader.broken, "two") })
		c.loader.set(func() { c.loader.slow["two"] = time.Minute })
		hurry, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, c.Load(hurry, "a", snapshotOf(models)), context.DeadlineExceeded)
		require.NoError(t, c.Load(t.Context(), "a", snapshotOf(models)))
		assert.Equal(t, "two", c.means("a"), "at once")
		assert.Equal(t, []string{"one", "two", "two"}, c.loader.loads)
	})
}

// If the first version is broken, an older one serves automatically; a waiting request gets that one.
func TestBrokenFirstVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, named("a", "one", "two"), named("b", "b"))
		c.loader.broken["two"] = errors.New("bad file")
		exact := c.handles("a:2")
		assert.Equal(t, "one", c.means("a"))
		_, _, err := c.Acquire(t.Context(), exact)
		broken, ok := errors.AsType[*BrokenError](err)
		require.True(t, ok, err)
		assert.Equal(t, "a:2", broken.Model)
		assert.Equal(t, "one", c.means("a"))
		assert.Equal(t, []string{"two", "one"}, c.loader.loads)

		c.loader.broken["b"] = errors.New("bad file")
		_, _, err = c.use(t.Context(), "b")
		require.ErrorAs(t, err, &broken)
		_, err = c.Select("b")
		require.EqualError(t, err, "the model b:1 cannot be loaded: bad file")
		assert.Equal(t, Broken, c.states()["b:1"])
	})
}

// The older version must have the same languages.
func TestBrokenVersionOfOtherLanguages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := named("a", "one", "two")
		m.Versions[0].Manifest.Languages = []string{"en", "fr"}
		c := start(t, Config{}, m)
		c.loader.broken["two"] = errors.New("bad file")
		_, _, err := c.use(t.Context(), "a")
		_, broken := errors.AsType[*BrokenError](err)
		assert.True(t, broken, err)
		assert.Equal(t, "one", c.means("a"), "of a request that knows")
	})
}

// Versions with equal files may be broken for reasons of their folders, so each is tried by itself.
func TestBrokenFolderOfEqualFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := named("a", "same"), named("b", "same")
		a.Versions[0].Dir = "bad"
		c := start(t, Config{}, a, b)
		c.loader.broken["bad"] = errors.New("no permission")
		c.loader.slow["same"] = time.Second
		bad := c.background(t.Context(), "a")
		synctest.Wait()
		good := c.background(t.Context(), "b")
		assert.EqualError(t, (<-bad).err, "the model a:1 cannot be loaded: no permission")
		o := <-good
		require.NoError(t, o.err)
		o.release()
		assert.Equal(t, []string{"bad", "same"}, c.loader.loads)
		assert.Equal(t, map[string]State{"a:1": Broken, "b:1": Ready}, c.states())
	})
}

// A new version with equal files needs no load, and takes over at once.
func TestNewVersionOfEqualFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, named("a", "same"))
		c.touch("a")
		c.update(named("a", "same", "same"))
		synctest.Wait()
		models, release, err := c.Acquire(t.Context(), c.handles("a"))
		require.NoError(t, err)
		release()
		assert.Equal(t, "2", models[0].Version)
		assert.Len(t, c.loader.loads, 1)
		c.update(named("a", "same"))
		assert.Equal(t, "same", c.means("a"))
		assert.Len(t, c.loader.loads, 1)
	})
}

// Of three successive versions the last one takes over, whichever is tried first.
func TestNewVersionsInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, named("a", "one"))
		c.touch("a")
		c.loader.slow["two"], c.loader.slow["three"] = time.Second, time.Second
		c.update(named("a", "one", "two"))
		synctest.Wait()
		c.update(named("a", "one", "two", "three"))
		time.Sleep(time.Second)
		assert.Equal(t, "one", c.means("a"))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, "three", c.means("a"))
		assert.Len(t, c.loader.open, 1)
		assert.Equal(t, 1, strings.Count(c.logged(), "takes over"))
	})
}

// A new version may need the memory of the old one.
func TestNewVersionWithoutRoomForBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{Memory: 1}, named("a", "one"))
		c.loader.slow["one"], c.loader.slow["two"] = time.Second, time.Second
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for range 3 {
			go c.keepBusy(ctx, "a")
		}
		time.Sleep(time.Minute)
		c.update(named("a", "one", "two"))
		time.Sleep(time.Minute)
		assert.Equal(t, "two", c.means("a"))
		assert.Equal(t, []string{"one", "two"}, c.loader.loads)

		c.loader.set(func() { c.loader.broken["three"] = errors.New("bad file") })
		c.update(named("a", "one", "two", "three"))
		time.Sleep(time.Minute / 2) // before the next attempt
		assert.Equal(t, "two", c.means("a"))
		assert.Equal(t, []string{"one", "two", "three", "two"}, c.loader.loads)
		stop()
		time.Sleep(time.Second)
	})
}

// Changes signals each change once.
func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, named("a", "one"))
		<-c.Changes()
		c.touch("a")
		assert.Empty(t, c.Changes(), "a load changes nothing")
		c.update(named("a", "one", "two"))
		<-c.Changes()
		synctest.Wait()
		<-c.Changes() // it has taken over
		assert.Empty(t, c.Changes())
	})
}
