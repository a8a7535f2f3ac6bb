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
