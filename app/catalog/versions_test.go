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

	"dragoman/app/translate"
	"dragoman/model/repository"
)

// serves is the identity of what a name means.
func (c *tested) means(ref string) string {
	list, release, err := c.use(c.t.Context(), ref)
	require.NoError(c.t, err)
	release()
	return list[0]
}

// log returns what was logged; nothing may run.
func (c *tested) logged() string {
	synctest.Wait()
	defer c.log.Reset()
	return c.log.String()
}

// A new version takes over when it was loaded beside the old one, which then leaves.
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

// A new version that is broken leaves the old one serving, until its folder changes or it is
// loaded by hand.
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
		require.ErrorContains(t, err, `there is no version "2" of a: use 1`)

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

// A first version that is broken leaves an older one to serve, of which nobody has said that it
// should; a request that waits for it gets that one.
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
		require.ErrorContains(t, err, `there is no model "b": use a`)
		assert.Equal(t, Broken, c.states()["b:1"])
	})
}

// A stand-in has to know the same languages.
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

// Of versions with equal files one may be broken for a reason of its folder: the others are tried
// by themselves.
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

// A new version of equal files has nothing to be loaded for, and takes over at once.
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

// A version that disappears while it is used is used to the end.
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

		// Also while it is loaded.
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

// What cannot be read changes nothing of what is served.
func TestUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := named("a", "one")
		served.Aliases = []string{"x"}
		c := start(t, Config{}, served)
		c.touch("a")
		c.Update(repository.Snapshot{Err: errors.New("no such directory")})
		assert.Equal(t, "one", c.means("x"))
		assert.Contains(t, c.logged(), "the repository cannot be read")

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

// Another configuration is a model that is loaded again, beside the one that serves.
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

		// Whom it is offered to is no reason to load it again.
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

// A folder that is replaced under its number is another version.
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

		// The old one is gone where it was not loaded.
		c.update(named("b", "b"))
		c.update(named("b", "c"))
		assert.Equal(t, "c", c.means("b"))
		assert.Zero(t, c.loader.count("b"))
	})
}

// Of three versions in a row the last one takes over, whichever is tried first.
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
		time.Sleep(time.Minute)
		assert.Equal(t, "two", c.means("a"))
		assert.Equal(t, []string{"one", "two", "three", "two"}, c.loader.loads)
		stop()
		time.Sleep(time.Second)
	})
}

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

// Changes says that there is something new, once.
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
