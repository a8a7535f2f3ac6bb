package redisstore

import (
	"context"
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarytest"
)

// conform runs the tests of all stores on a server.
func conform(t *testing.T, client func() redis.UniversalClient) {
	glossarytest.Run(t, func(t *testing.T) glossarytest.Fixture {
		open := func() glossary.Store {
			c := client()
			s := New(c, "test")
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
		return glossarytest.Fixture{Store: open(), Again: open}
	})
}

func TestStore(t *testing.T) {
	server := miniredis.RunT(t)
	conform(t, func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: server.Addr()}) })
}

// What a glossary was in is gone with it.
func TestRemoveLeavesNothing(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer func() { assert.NoError(t, client.Close()) }()
	s := New(client, "test")
	require.NoError(t, s.Create(t.Context(), glossary.Whole{
		Glossary: glossary.Glossary{ID: "a", Owner: "alice"}, Terms: map[glossary.Pair]string{{From: "en", To: "fr"}: "x\ty\n"},
	}, 1))
	assert.Len(t, server.Keys(), 3)
	require.NoError(t, s.Remove(t.Context(), "a"))
	assert.Empty(t, server.Keys())
}

// A server that is away is an error of its own, soon.
func TestServerAway(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	defer func() { assert.NoError(t, client.Close()) }()
	s := glossary.New(glossary.Config{Store: New(client, "test"), Limits: glossary.Limits{Terms: 1, Bytes: 100, PerOwner: 1}})
	server.Close()
	var away *glossary.UnavailableError
	_, err := s.List(t.Context(), "alice")
	assert.ErrorAs(t, err, &away)
	assert.Error(t, away.Err)
	assert.ErrorAs(t, s.Remove(t.Context(), "alice", "a"), &away)
}

// A server refuses what miniredis may not, and a cluster of one what is not one slot's.
func TestRedisServer(t *testing.T) {
	for name, options := range map[string][]string{"alone": nil, "cluster": {"--cluster-enabled", "yes", "--cluster-port", free(t)}} {
		t.Run(name, func(t *testing.T) {
			address := startServer(t, options...)
			conform(t, func() redis.UniversalClient {
				if options == nil {
					return redis.NewClient(&redis.Options{Addr: address})
				}
				return redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{address}})
			})
		})
	}
}

// startServer starts a redis-server, which ends with the test.
func startServer(t *testing.T, options ...string) (address string) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("there is no redis-server: apt-get install redis-server")
	}
	port := free(t)
	address = net.JoinHostPort("127.0.0.1", port)
	cmd := exec.Command("redis-server", append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", t.TempDir(), "--save", ""}, options...)...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	client := redis.NewClient(&redis.Options{Addr: address})
	defer func() { assert.NoError(t, client.Close()) }()
	require.Eventually(t, func() bool { return client.Ping(t.Context()).Err() == nil }, 30*time.Second, 10*time.Millisecond)
	if options != nil {
		require.NoError(t, client.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
		require.Eventually(t, func() bool {
			info := client.ClusterInfo(t.Context()).Val()
			return len(info) > 0 && info[:len("cluster_state:ok")] == "cluster_state:ok"
		}, 30*time.Second, 10*time.Millisecond)
	}
	return address
}

// free is a port that nobody has.
func free(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, l.Close()) }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}
