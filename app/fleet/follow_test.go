package fleet

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/repository"
)

// published are models whose tokenizer is a file.
type published struct {
	*models
	snapshot repository.Snapshot
}

func (p published) Serving() (repository.Snapshot, map[string]translate.Handle) {
	return p.snapshot, map[string]translate.Handle{}
}

// stateOf returns what Redis has, as far as members know it: the content of strings, the ids of members, and which streams exist.
func stateOf(t *testing.T, server *miniredis.Miniredis, leaving ...string) map[string]string {
	state := make(map[string]string)
	for _, key := range server.Keys() {
		if slices.ContainsFunc(leaving, func(name string) bool { return strings.HasSuffix(key, name) }) {
			continue
		}
		switch server.Type(key) {
		case "string":
			state[key], _ = server.Get(key)
		case "hash":
			ids, err := server.HKeys(key)
			require.NoError(t, err)
			state[key] = strings.Join(ids, " ")
		default:
			state[key] = server.Type(key)
		}
	}
	return state
}

// damage makes a server lose keys, in one of the ways that servers do.
func damage(r *rand.Rand, server *miniredis.Miniredis) (what string) {
	switch r.IntN(4) {
	case 0:
		server.FlushAll()
		return "all"
	case 1:
		server.FastForward(time.Duration(r.Int64N(int64(3 * kept))))
		return "what expires"
	default:
		lost := ""
		for _, key := range server.Keys() {
			if r.IntN(2) == 0 {
				server.Del(key)
				lost += " " + key
			}
		}
		return lost
	}
}

// Members restore all keys that Redis has lost, by a flush, deletion or expiry. Without workers, gateways restore all but the
// workers' own.
func TestForgottenKeysComeBack(t *testing.T) {
	server := newServer(t)
	s := onDisk(t, "m", "words")
	w := NewWorker(WorkerConfig{Broker: newTestBroker(t, server.Addr(), calm), Models: published{newModels(&decoder{}), s}, Rows: 8})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Run(ctx, t.Context(), func() {})
	}()
	for range 2 {
		g := newTestGateway(t, newTestBroker(t, server.Addr(), calm), nil)
		eventually(t, func() bool { return g.Err() == nil })
	}
	known := newTestBroker(t, server.Addr(), calm).keys.known()
	file := w.broker.keys.file(s.Models[0].Versions[0].Manifest.Files[model.VocabFile].SHA256)
	survive := func(seed uint64, leaving ...string) {
		r := rand.New(rand.NewPCG(seed, 0))
		before := stateOf(t, server, leaving...)
		require.Contains(t, before, known)
		require.Contains(t, before, file)
		for n := range 50 {
			lost := damage(r, server)
			require.Eventually(t, func() bool { return maps.Equal(before, stateOf(t, server, leaving...)) }, patient, time.Millisecond,
				"seed %d, %d: lost %s\nbefore %v", seed, n, lost, before)
		}
	}
	eventually(t, func() bool { return len(server.Keys()) == 10 }) // lanes, members, replies, and kept content
	survive(1)
	stop()
	<-ended
	survive(2, ":high", ":normal", ":low", ":workers")

	server.FlushAll() // a gateway that starts then knows the models, and an autoscaler has keys to count
	late := newTestGateway(t, newTestBroker(t, server.Addr(), calm), nil)
	eventually(t, func() bool { return late.Err() == nil })
	eventually(t, func() bool {
		return late.broker.FetchTokenizer(t.Context(), s.Models[0].Versions[0].Manifest, t.TempDir()) == nil
	})
	assert.Contains(t, server.Keys(), known)
}

// Gateways follow the workers' catalogues, remember them without workers, and skip those that they cannot read.
func TestFollow(t *testing.T) {
	server := newServer(t)
	b := newTestBroker(t, server.Addr(), calm)
	publish := func(c *Catalogue) WorkerStatus {
		raw, hash := c.encode()
		require.NoError(t, b.client.Set(t.Context(), b.keys.catalogue(hash), raw, 0).Err())
		return WorkerStatus{Catalogue: hash}
	}
	a, both := publish(having([3]string{"a", "1", "A"})), publish(having([3]string{"a", "1", "A"}, [3]string{"b", "1", "B"}))
	damaged := publish(&Catalogue{Models: []repository.Model{{Name: "x", Versions: []repository.Version{{Number: 1}}}}})
	missing := WorkerStatus{Catalogue: "missing"}
	follows := func(c *catalogues, workers ...WorkerStatus) (models []string, changed bool) {
		changed, err := c.follow(t.Context(), workers)
		require.NoError(t, err)
		if changed {
			for _, m := range c.offered.Models {
				models = append(models, m.Name)
			}
		}
		return models, changed
	}
	c := newCatalogues(b)
	for i, step := range []struct {
		workers []WorkerStatus
		models  []string
		called  bool
	}{
		{nil, nil, false},
		{[]WorkerStatus{{}}, nil, false}, // a worker that has published nothing yet
		{[]WorkerStatus{missing}, nil, false},
		{[]WorkerStatus{a}, []string{"a"}, true},
		{[]WorkerStatus{a}, nil, false},
		{[]WorkerStatus{both, a}, []string{"a", "b"}, true},
		{[]WorkerStatus{both, missing, a}, nil, false},
		{nil, nil, false},
		{[]WorkerStatus{damaged, a}, []string{"a"}, true},
		{[]WorkerStatus{damaged, a}, nil, false},
	} {
		models, called := follows(c, step.workers...)
		assert.Equal(t, step.models, models, "step %d", i)
		assert.Equal(t, step.called, called, "step %d", i)
	}
	models, _ := follows(newCatalogues(b)) // another gateway, without workers
	assert.Equal(t, []string{"a"}, models)
	require.NoError(t, server.Set(b.keys.known(), "{"))
	_, called := follows(newCatalogues(b))
	assert.False(t, called)
}

// A further worker with the same models does not change what is served. Limits are the lowest of all workers.
func TestServe(t *testing.T) {
	c := newCatalogues(nil)
	one, other := having([3]string{"a", "1", "A"}), having([3]string{"a", "1", "A"})
	one.MaxBeams, one.MaxLength, other.MaxBeams = 5, 200, 3
	c.take([]*Catalogue{one})
	assert.True(t, c.serve(time.Now()))
	c.take([]*Catalogue{one, other})
	assert.False(t, c.serve(time.Now()))
	assert.Equal(t, terms{names: map[string]modelName{"A": {"a", "1"}}, beams: 3, maxLength: 200}, c.terms)
	c.take([]*Catalogue{having([3]string{"b", "1", "B"})})
	assert.True(t, c.serve(time.Now()))
}

// A gateway serves a model or pipeline that no worker has for a while longer.
func TestMissed(t *testing.T) {
	offers := func(names ...string) (s repository.Snapshot) {
		for _, name := range names {
			if name == "p" {
				s.Pipelines = append(s.Pipelines, repository.Pipeline{Name: name})
			} else {
				s.Models = append(s.Models, repository.Model{Name: name})
			}
			s.Order = append(s.Order, name)
		}
		return s
	}
	begin := time.Now()
	for name, steps := range map[string][]struct {
		minute  int
		offered repository.Snapshot
		want    repository.Snapshot
	}{
		"all stay": {{0, offers("a", "b", "p"), offers("a", "b", "p")}, {99, offers("b", "a", "p"), offers("b", "a", "p")}},
		"one is missed": {
			{0, offers("a", "b", "p"), offers("a", "b", "p")}, {1, offers("b"), offers("b", "a", "p")}, {9, offers("b"), offers("b", "a", "p")},
			{11, offers("b"), offers("b")}, {12, offers("b"), offers("b")},
		},
		"it comes back": {
			{0, offers("a", "b"), offers("a", "b")}, {1, offers("b"), offers("b", "a")}, {9, offers("a", "b"), offers("a", "b")},
			{15, offers("b"), offers("b", "a")}, {24, offers("b"), offers("b", "a")}, {25, offers("b"), offers("b")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCatalogues(nil)
			for _, step := range steps {
				c.offered = step.offered
				c.serve(begin.Add(time.Duration(step.minute) * time.Minute))
				assert.Equal(t, step.want, c.served, "minute %d", step.minute)
			}
		})
	}
}
