package memorystore

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
	"dragoman/app/memory"
	"dragoman/app/store/porttest"
	"dragoman/app/store/redistest"
	"dragoman/app/translate"
)

var french = memory.Pair{From: "en", To: "fr"}

func entry(i int) memory.Entry {
	return memory.Entry{Pair: french, Source: fmt.Sprintf("a source with the number %d", i), Target: fmt.Sprint(i)}
}

func add(t *testing.T, s *memory.Service, id string, i int) {
	_, _, err := s.Add(t.Context(), "alice", id, []memory.Entry{entry(i)}, func(int) string { return "" })
	assert.NoError(t, err)
}

func put(t *testing.T, s *memory.Service, id string, entries int) {
	_, _, err := s.Put(t.Context(), "alice", id, false, func(add func(string, memory.Entry) error, _ func(string, string)) error {
		for i := range entries {
			if err := add("", entry(i)); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
}

// conform runs the tests of all stores; open opens the same store each time.
func conform(t *testing.T, open func() memory.Store) {
	s := memory.New(memory.Config{Store: open(), Limits: memory.Limits{Entries: 10_000, PerOwner: 3}})
	put(t, s, "m", 3000)
	put(t, s, "n", 10)
	var adding sync.WaitGroup
	for i := range 20 {
		adding.Go(func() { add(t, s, "n", 100+i) })
	}
	adding.Wait()
	again := memory.New(memory.Config{Store: open()})
	list, err := again.List(t.Context(), "alice")
	require.NoError(t, err)
	counts := map[string]int{}
	for _, m := range list {
		counts[m.ID] = m.Entries()
	}
	assert.Equal(t, map[string]int{"m": 3000, "n": 30}, counts)
	found, err := again.Open(t.Context(), translate.MemoryRef{Owner: "alice", ID: "n"})
	require.NoError(t, err)
	for i := range 20 {
		list, err := found.Find(t.Context(), "en", "fr", entry(100+i).Source, 0)
		require.NoError(t, err)
		require.Len(t, list, 1)
		assert.Equal(t, fmt.Sprint(100+i), list[0].Target)
	}
	store := open()
	again = memory.New(memory.Config{Store: store})
	// A writer ended before it had written all blocks.
	require.NoError(t, store.Write(t.Context(), []memory.Block{{Name: "x.3", Number: 1, Bytes: []byte("block")}}))
	require.NoError(t, store.Change(t.Context(), "alice", "n", 3, func(m *memory.Memory, _ memory.Blocks) error {
		m.Building = []string{"x"}
		return nil
	}))
	for _, id := range []string{"m", "n"} {
		require.NoError(t, again.Remove(t.Context(), "alice", id))
	}
	_, err = again.Get(t.Context(), "alice", "m")
	assert.ErrorIs(t, err, memory.ErrUnknown)
	_, err = store.Blocks(t.Context(), "x.3", []int{1})
	assert.ErrorIs(t, err, memory.ErrChanged, "blocks of an unfinished writing go with their memory")
}

func TestInFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "memories.db")
	var open memory.Store
	conform(t, func() memory.Store {
		if open != nil {
			require.NoError(t, open.Close())
		}
		s, err := OpenFile(path)
		require.NoError(t, err)
		open = s
		return s
	})
	assert.NoError(t, open.Close())
}

func inRedis(t *testing.T, client func() redis.UniversalClient) {
	conform(t, func() memory.Store {
		c := client()
		s := InRedis(c, "test")
		t.Cleanup(func() {
			assert.NoError(t, s.Close())
			assert.NoError(t, c.FlushDB(context.Background()).Err())
			assert.NoError(t, c.Close())
		})
		return s
	})
}

// Removed memories, and files that were refused, leave no keys behind.
func TestInRedis(t *testing.T) {
	server := miniredis.RunT(t)
	inRedis(t, func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: server.Addr()}) })
	assert.Empty(t, server.Keys())
}

func TestRedisServer(t *testing.T) {
	t.Run("alone", func(t *testing.T) {
		address := redistest.Start(t)
		inRedis(t, func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: address}) })
	})
	t.Run("cluster", func(t *testing.T) {
		address := redistest.StartCluster(t)
		inRedis(t, func() redis.UniversalClient {
			return redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{address}})
		})
	})
}

// An unreachable server is reported soon, by an error of its own.
func TestServerAway(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: porttest.Hold(t), MaxRetries: -1})
	defer func() { assert.NoError(t, client.Close()) }()
	s := memory.New(memory.Config{Store: InRedis(client, "test"), Limits: memory.Limits{Entries: 1, PerOwner: 1}})
	var away *fault.Unavailable
	_, err := s.List(t.Context(), "alice")
	assert.ErrorAs(t, err, &away)
	assert.Error(t, away.Err)
	assert.ErrorAs(t, s.Remove(t.Context(), "alice", "a"), &away)
}
