package catalog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
	"dragoman/model/repository"
)

// world is a repository that changes at random.
type world struct {
	*tested
	rnd    *rand.Rand
	models map[string]*repository.Model
	next   int // number of the next identity
}

const worldMemory = 40

// snapshot is the current state of the repository.
func (w *world) snapshot() repository.Snapshot {
	s := repository.Snapshot{Pivots: []string{"de"}}
	for _, name := range numbered(6) {
		if m := w.models[name]; m != nil {
			s.Models = append(s.Models, *m)
			s.Order = append(s.Order, name)
		}
	}
	s.Pipelines = []repository.Pipeline{pipe("p", "m00>de", "m01"), pipe("q", "m02>fr", "m03")}
	s.Order = append(s.Order, "p", "q")
	return s
}

// export adds a version to a model: broken, large, or equal to another one.
func (w *world) export(m *repository.Model) {
	number := 1
	if n := len(m.Versions); n > 0 {
		number = m.Versions[n-1].Number + 1
		m.Versions[n-1].Served = w.rnd.IntN(3) == 0
	}
	identity := fmt.Sprint("shared", w.rnd.IntN(2))
	if w.rnd.IntN(3) > 0 {
		w.next++
		identity = fmt.Sprint("own", w.next)
	}
	v := newTestVersion(number, identity)
	v.Dir = fmt.Sprintf("%s/%d", m.Name, number)
	w.loader.set(func() {
		if w.loader.sizes[identity] == 0 {
			w.loader.sizes[identity] = 1 + w.rnd.Int64N(20)
		}
		w.loader.slow[identity] = time.Duration(w.rnd.IntN(1000)) * time.Millisecond
		delete(w.loader.broken, v.Dir)
		if w.rnd.IntN(4) == 0 {
			w.loader.broken[v.Dir] = errors.New("bad file")
		}
	})
	m.Versions = append(m.Versions, v)
}

// change changes a random part of the repository.
func (w *world) change() {
	name := numbered(6)[w.rnd.IntN(6)]
	m := w.models[name]
	if m == nil {
		m = &repository.Model{Name: name}
		w.models[name] = m
	} else {
		copied := *m
		copied.Versions = append([]repository.Version(nil), m.Versions...)
		m = &copied
		w.models[name] = m
	}
	last := len(m.Versions) - 1
	switch op := w.rnd.IntN(8); {
	case last < 0 || op < 3:
		w.export(m)
	case op == 3:
		delete(w.models, name)
	case op == 4:
		m.Config.Beams = w.rnd.IntN(3)
		m.Config.KeepAlive = new(time.Duration(w.rnd.IntN(4)) * time.Second)
	case op == 5:
		m.Versions[last].Fingerprint += "x"
		w.loader.set(func() { delete(w.loader.broken, m.Versions[last].Dir) })
	case op == 6:
		m.Versions = m.Versions[1:]
	default:
		m.Err = nil
		if w.rnd.IntN(2) == 0 {
			m.Err = errors.New("no such field")
		}
	}
}

// operate makes a random call of the catalog.
func (w *world) operate() {
	name := numbered(6)[w.rnd.IntN(6)]
	switch w.rnd.IntN(8) {
	case 0:
		_ = w.Unload(name)
	case 1:
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		_ = w.Load(ctx, name, w.snapshot())
		cancel()
	case 2:
		away := w.snapshot() // as from a scanner of an unreadable repository
		away.Err = errors.New("no such directory")
		for i := range away.Models {
			away.Models[i].Err = away.Err
		}
		w.Update(away)
	case 3:
		_ = w.Preload(w.t.Context())
	default:
		w.change()
		w.Update(w.snapshot())
	}
}

// request translates with a random model, and checks the models it gets.
func (w *world) request(rnd *rand.Rand) {
	ref := append(numbered(6), "p", "q", "", "m00:1", "m01:2")[rnd.IntN(11)]
	s, err := w.Select(ref)
	if err != nil {
		return
	}
	r, err := s.Route("en", "fr")
	if err != nil {
		return
	}
	handles := []translate.Handle{}
	for _, step := range r.Steps {
		if len(handles) == 0 || handles[0] != step.Model {
			handles = append(handles, step.Model)
		}
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Duration(rnd.IntN(10_000))*time.Millisecond)
	defer cancel()
	models, release, err := w.Acquire(ctx, handles)
	if err != nil {
		assert.Nil(w.t, models)
		return
	}
	for i, m := range models {
		assert.Equal(w.t, handles[i].(handle).version.source.Name, m.Name)
		assert.NoError(w.t, m.Healthy())
	}
	time.Sleep(time.Duration(rnd.IntN(2000)) * time.Millisecond)
	for _, m := range models {
		assert.NoError(w.t, m.Healthy(), "it was closed while it was used")
	}
	release()
}

// check checks the invariants.
func (w *world) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var bytes int64
	for key, i := range w.residency.instances {
		assert.Equal(w.t, key, i.key)
		assert.GreaterOrEqual(w.t, i.users, 0)
		assert.Equal(w.t, i.state() != Loading, i.loaded != nil)
		if i.state() == Ready {
			wanted, _, _ := w.inventory.demand(key)
			assert.True(w.t, wanted, "nobody can ask for %s", i.version.source.ref())
		}
		assert.False(w.t, i.state() == Draining && i.users == 0 && !i.closes, "%s stays", i.version.source.ref())
		bytes += i.bytes
	}
	assert.Equal(w.t, w.residency.used, bytes)
	assert.LessOrEqual(w.t, w.residency.used, int64(worldMemory))
	for name, e := range w.inventory.models {
		assert.Contains(w.t, e.versions, e.current, name)
		for _, v := range e.versions {
			assert.Nil(w.t, v.broken, v.source.ref())
			assert.Same(w.t, v, w.inventory.versions[v.versionKey])
		}
	}
}

// Random changes of the repository, by operators and by requests, at random times.
func TestRandomOperations(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			c, registry := gathered(t, Config{Memory: worldMemory, KeepAlive: 3 * time.Second, Waiting: 10})
			w := &world{tested: c, rnd: rand.New(rand.NewPCG(seed, 3)), models: map[string]*repository.Model{}}
			var clients sync.WaitGroup
			for n := range uint64(8) {
				rnd := rand.New(rand.NewPCG(seed, n+10))
				clients.Go(func() {
					for range 60 {
						w.request(rnd)
						time.Sleep(time.Duration(rnd.IntN(500)) * time.Millisecond)
					}
				})
			}
			for range 60 {
				w.operate()
				synctest.Wait()
				w.check()
				_, err := registry.Gather()
				require.NoError(t, err, "seed %d", seed)
				time.Sleep(time.Duration(w.rnd.IntN(2000)) * time.Millisecond)
			}
			clients.Wait()
			time.Sleep(time.Hour)
			synctest.Wait()
			w.check()
			assert.Empty(t, c.claims)
		})
	}
}
