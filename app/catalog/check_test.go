package catalog

import (
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

// A copy of a loaded model is not served by the loaded instance unless its own files are intact, however it came into the
// repository.
func TestDamagedCopy(t *testing.T) {
	damaged := repository.Model{Name: "b"}
	damaged.Versions = []repository.Version{newTestVersion(1, "same")}
	damaged.Versions[0].Dir, damaged.Versions[0].Fingerprint = "copy", "copy"
	for name, test := range map[string]struct {
		models func() []repository.Model
		ref    string
		states map[string]State
	}{
		"a new version": {func() []repository.Model {
			m := named("a", "same", "same")
			m.Versions[1].Dir, m.Versions[1].Fingerprint = "copy", "copy"
			return []repository.Model{m}
		}, "a:2", map[string]State{"a:1": Ready, "a:2": Broken}},
		"one of all versions": {func() []repository.Model {
			m := named("a", "same", "same")
			m.Versions[0].Served = true
			m.Versions[1].Dir, m.Versions[1].Fingerprint = "copy", "copy"
			return []repository.Model{m}
		}, "a:2", map[string]State{"a:1": Ready, "a:2": Broken}},
		"an older version": {func() []repository.Model {
			m := named("a", "same", "same")
			m.Versions[0].Number, m.Versions[1].Number = 1, 2
			m.Versions[0].Dir, m.Versions[0].Fingerprint, m.Versions[0].Served = "copy", "copy", true
			return []repository.Model{m}
		}, "a:1", map[string]State{"a:1": Broken, "a:2": Ready}},
		"another model": {func() []repository.Model { return []repository.Model{named("a", "same"), damaged} }, "b:1", map[string]State{"a:1": Ready, "b:1": Broken}},
		"its folder, while it is": {func() []repository.Model {
			m := named("a", "same")
			m.Versions[0].Fingerprint = "touched"
			m.Versions[0].Dir = "copy"
			return []repository.Model{m}
		}, "", map[string]State{"a:1": Ready}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, Config{}, named("a", "same"))
				c.touch("a")
				c.loader.damage["copy"] = errors.New("weights.bin is corrupt")
				c.loader.broken["copy"] = c.loader.damage["copy"]
				c.update(test.models()...)
				synctest.Wait()
				assert.Equal(t, test.states, c.states())
				assert.Equal(t, "same", c.means("a"))
				assert.Contains(t, c.logged(), "weights.bin is corrupt")
				if test.ref != "" {
					_, err := c.Select(test.ref)
					require.EqualError(t, err, "the model "+test.ref+" cannot be loaded: weights.bin is corrupt")
				}

				// It is checked again after a while, and served once it is intact.
				c.loader.set(func() { clear(c.loader.damage); clear(c.loader.broken) })
				time.Sleep(time.Minute)
				synctest.Wait()
				if test.ref != "" {
					assert.Equal(t, "same", c.means(test.ref))
					assert.Equal(t, Ready, c.states()[test.ref])
				}
			})
		})
	}
}

// A request for a copy waits while the copy's files are checked.
func TestClaimWaitsForTheCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, plain("a")...)
		c.touch("a")
		c.loader.mu.Lock()
		other := named("b", "a")
		c.update(named("a", "a"), other)
		assert.Equal(t, Loading, func() State {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.status(c.inventory.models["b"].current).State
		}())
		got := c.background(t.Context(), "b")
		c.loader.mu.Unlock()
		o := <-got
		require.NoError(t, o.err)
		o.release()
		assert.Equal(t, []string{"a"}, c.loader.loads)
		assert.Equal(t, []string{"a"}, c.loader.checks)
		c.update(named("a", "a"), other)
		synctest.Wait()
		assert.Len(t, c.loader.checks, 1, "what has not changed is not checked again")
	})
}

// A fault of the repositories is logged when it begins, but not repeated.
func TestProblemsAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, plain("a")...)
		away := errors.New("/models: the repository cannot be read")
		broken := func() repository.Snapshot {
			s := snapshotOf(named("a", "a"), named("b", "b", "c"), named("d", "d"), named("e", "e"))
			s.Err = errors.Join(away)
			s.Problems = []repository.Problem{{Path: "/models", Text: "cannot be read"}}
			s.Models[1].Versions[0].Err = errors.New("half of it is missing")
			s.Models[2].Err = errors.New("config.yaml: line 1")
			s.Models[3].Err = away
			s.Pipelines = []repository.Pipeline{{Name: "p", Version: 1, Origin: "config.yaml: line 3", Err: errors.New("there is no model x")}}
			return s
		}
		c.Update(broken())
		said := c.logged()
		for _, want := range []string{
			`level=WARN msg="there is a problem with the repository" path=/models problem="cannot be read"`,
			`level=ERROR msg="a version cannot be served" model=b version=1 error="half of it is missing"`,
			`level=ERROR msg="a model is as it was before" model=d error="config.yaml: line 1"`,
			`level=ERROR msg="a pipeline cannot be served" pipeline=p at="config.yaml: line 3" error="there is no model x"`,
		} {
			assert.Equal(t, 1, strings.Count(said, want), want)
		}
		assert.Equal(t, 4, strings.Count(said, "\n"), said)
		c.Update(broken())
		_ = c.Load(t.Context(), "a", broken())
		assert.NotContains(t, c.logged(), "level=WARN")
		changed := broken()
		changed.Models[1].Versions[0].Err = errors.New("all of it is missing")
		c.Update(changed)
		said = c.logged()
		assert.Contains(t, said, "all of it is missing")
		assert.Equal(t, 1, strings.Count(said, "level="), said)
		c.update(plain("a")...)
		c.Update(broken())
		assert.Equal(t, 4, strings.Count(c.logged(), "\n"), "it has come back")
	})
}

// The error for a model that cannot be served has the reason, also if a pipeline names the model.
func TestReasonOfWhatIsNotServed(t *testing.T) {
	c := start(t, Config{})
	s := snapshotOf(named("bad", "bad1"), named("left", "left1", "left2"), named("away", "away1"))
	s.Models[0].Versions[0].Err, s.Models[0].Versions[0].Served = errors.New("bad file"), false
	s.Models[2].Err = errors.New("no file system")
	for _, ref := range []string{"bad", "bad:1", "left:1", "away", "away:1"} {
		name, version, _ := strings.Cut(ref, ":")
		step := repository.Step{Model: repository.Ref{Name: name, Version: len(version)}}
		s.Pipelines = append(s.Pipelines, repository.Pipeline{Name: "p-" + name + version, Version: 1, Steps: []repository.Step{step}})
	}
	c.Update(s)
	for ref, want := range map[string]string{
		"bad": "bad:1", "bad:1": "bad:1", "away": "away", "away:1": "away:1", "p-bad": "bad:1", "p-bad1": "bad:1", "p-away": "away", "p-away1": "away:1",
	} {
		_, err := c.Select(ref)
		broken, ok := errors.AsType[*BrokenError](err)
		require.True(t, ok, "%s: %v", ref, err)
		assert.Equal(t, want, broken.Model, ref)
	}
	for _, ref := range []string{"left:1", "p-left1"} {
		_, err := c.Select(ref)
		refused, ok := errors.AsType[*translate.Error](err)
		require.True(t, ok, "%s: %v", ref, err)
		assert.Contains(t, refused.Message, "the version 1 of left is not served, since versions in its config.yaml leaves it out: use left")
	}
	_, err := c.Select("bad:7")
	assert.ErrorContains(t, err, "there is no model")
	s.Models, s.Pipelines, s.Order = s.Models[:1], nil, s.Order[:1]
	c.Update(s)
	_, err = c.Select("")
	assert.ErrorContains(t, err, "none of those that there are can be served")
}
