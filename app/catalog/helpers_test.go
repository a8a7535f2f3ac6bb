package catalog

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/repository"
)

// tested is a catalog with its loader.
type tested struct {
	*Catalog
	t      *testing.T
	loader *fakeLoader
	log    *bytes.Buffer // the log may be read after synctest.Wait until the catalog is closed
}

func start(t *testing.T, cfg Config, models ...repository.Model) *tested {
	l := &fakeLoader{
		t: t, limit: cfg.Memory, sizes: map[string]int64{}, more: map[string]int64{}, slow: map[string]time.Duration{},
		broken: map[string]error{}, damage: map[string]error{}, open: map[*fakeInstance]bool{},
	}
	log := new(bytes.Buffer)
	cfg.Loader, cfg.Log = l, slog.New(slog.NewTextHandler(log, nil))
	c := &tested{New(cfg), t, l, log}
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		assert.Empty(t, l.open, "not all models are closed")
		assert.Zero(t, c.residency.used, "memory is not given back")
		assert.Empty(t, c.claims)
	})
	c.update(models...)
	return c
}

func (c *tested) update(models ...repository.Model) { c.Update(snapshotOf(models...)) }

func snapshotOf(models ...repository.Model) repository.Snapshot {
	s := repository.Snapshot{Models: models}
	for _, m := range models {
		s.Order = append(s.Order, m.Name)
	}
	return s
}

// newTestVersion returns a version with a number and an identity, in a folder named after the identity.
func newTestVersion(number int, identity string) repository.Version {
	return repository.Version{
		Number: number, Served: true, Dir: identity, Identity: identity, Fingerprint: identity,
		Manifest: &model.Manifest{Languages: []string{"en", "fr", "de"}, Family: "m2m100"},
	}
}

// named returns a model whose versions have these identities. The last one is served.
func named(name string, identities ...string) repository.Model {
	m := repository.Model{Name: name}
	for i, identity := range identities {
		v := newTestVersion(i+1, identity)
		v.Served = i == len(identities)-1
		m.Versions = append(m.Versions, v)
	}
	return m
}

// plain returns models with one version each, whose identity is the model's name.
func plain(names ...string) (models []repository.Model) {
	for _, name := range names {
		models = append(models, named(name, name))
	}
	return models
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("m%02d", i))
	}
	return names
}

// handles returns the models of a request that names some.
func (c *tested) handles(refs ...string) (list []translate.Handle) {
	for _, ref := range refs {
		s, err := c.Select(ref)
		require.NoError(c.t, err)
		r, err := s.Route("en", "fr")
		require.NoError(c.t, err)
		for _, step := range r.Steps {
			if !slices.Contains(list, step.Model) {
				list = append(list, step.Model)
			}
		}
	}
	return list
}

// use acquires models, and returns their identities.
func (c *tested) use(ctx context.Context, refs ...string) (identities []string, release func(), err error) {
	models, release, err := c.Acquire(ctx, c.handles(refs...))
	for _, m := range models {
		assert.NoError(c.t, m.Healthy(), "%s is closed", m.Identity)
		identities = append(identities, m.Identity)
	}
	return identities, release, err
}

// mustUse is use that must succeed.
func (c *tested) mustUse(refs ...string) (release func()) {
	c.t.Helper()
	_, release, err := c.use(c.t.Context(), refs...)
	require.NoError(c.t, err)
	return release
}

// touch acquires and releases models.
func (c *tested) touch(refs ...string) {
	c.t.Helper()
	c.mustUse(refs...)()
}

// outcome is the result of a use in the background.
type outcome struct {
	identities []string
	release    func()
	err        error
	after      time.Duration
}

func (c *tested) background(ctx context.Context, refs ...string) <-chan outcome {
	ended, begin := make(chan outcome, 1), time.Now()
	handles := c.handles(refs...)
	go func() {
		var o outcome
		var models []*translate.Model
		models, o.release, o.err = c.Acquire(ctx, handles)
		for _, m := range models {
			o.identities = append(o.identities, m.Identity)
		}
		o.after = time.Since(begin)
		ended <- o
	}()
	return ended
}

// states returns the states in the index, by name and version.
func (c *tested) states() map[string]State {
	states := map[string]State{}
	for _, s := range c.Index() {
		name := s.Name + ":" + s.Version
		assert.NotContains(c.t, states, name, "it is listed twice")
		states[name] = s.State
	}
	return states
}

// status returns the status of a version.
func (c *tested) statusOfVersion(name string, number int) Status {
	for _, s := range c.Index() {
		if s.Name == name && s.Version == strconv.Itoa(number) {
			return s
		}
	}
	c.t.Errorf("%s:%d is not in the index", name, number)
	return Status{}
}
