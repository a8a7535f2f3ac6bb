package glossarystore

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
	"dragoman/app/glossary"
	"dragoman/app/store/porttest"
	"dragoman/app/store/redistest"
)

// conform runs the tests of all stores against a Redis server.
func conform(t *testing.T, client func() redis.UniversalClient) {
	runSuite(t, func(t *testing.T) fixture {
		open := func() glossary.Store {
			c := client()
			s := InRedis(c, "test")
			t.Cleanup(func() {
				assert.NoError(t, s.Close())
				assert.NoError(t, c.Close())
			})
			return s
		}
		t.Cleanup(func() {
			c := client()
			assert.NoError(t, c.FlushDB(context.Background()).Err())
			assert.NoError(t, c.Close())
		})
		return fixture{Store: open(), Again: open}
	})
}

func TestInFile(t *testing.T) {
	runSuite(t, func(t *testing.T) fixture {
		path := filepath.Join(t.TempDir(), "new", "glossaries.db")
		s, err := OpenFile(path)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
		return fixture{Store: s, Again: func() glossary.Store {
			require.NoError(t, s.Close())
			again, err := OpenFile(path)
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, again.Close()) })
			return again
		}}
	})
}

func TestInRedis(t *testing.T) {
	server := miniredis.RunT(t)
	conform(t, func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: server.Addr()}) })
}

// A removed glossary leaves no keys behind.
func TestRemoveLeavesNothing(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer func() { assert.NoError(t, client.Close()) }()
	s := InRedis(client, "test")
	require.NoError(t, s.Create(t.Context(), glossary.Whole{
		Glossary: glossary.Glossary{ID: "a", Owner: "alice"}, Terms: map[glossary.Pair]string{{From: "en", To: "fr"}: "x\ty\n"},
	}, 1))
	assert.Len(t, server.Keys(), 3)
	require.NoError(t, s.Remove(t.Context(), "a"))
	assert.Empty(t, server.Keys())
}

// An unreachable server is reported soon, by an error of its own.
func TestServerAway(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: porttest.Hold(t), MaxRetries: -1})
	defer func() { assert.NoError(t, client.Close()) }()
	s := glossary.New(glossary.Config{Store: InRedis(client, "test"), Limits: glossary.Limits{Terms: 1, Bytes: 100, PerOwner: 1}})
	var away *fault.Unavailable
	_, err := s.List(t.Context(), "alice")
	assert.ErrorAs(t, err, &away)
	assert.Error(t, away.Err)
	assert.ErrorAs(t, s.Remove(t.Context(), "alice", "a"), &away)
}

// A real server may refuse what miniredis accepts, and a cluster refuses commands over several slots.
func TestRedisServer(t *testing.T) {
	t.Run("alone", func(t *testing.T) {
		address := redistest.Start(t)
		conform(t, func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: address}) })
	})
	t.Run("cluster", func(t *testing.T) {
		address := redistest.StartCluster(t)
		conform(t, func() redis.UniversalClient {
			return redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{address}})
		})
	})
}
