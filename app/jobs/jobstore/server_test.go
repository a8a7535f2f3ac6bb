package jobstore

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/jobs"
	"dragoman/app/store/redistest"
)

// conform runs the tests of all stores against a Redis server. The clock belongs to the stores, because a server's clock cannot
// be set.
func conform(t *testing.T, client func() redis.UniversalClient) {
	runSuite(t, func(t *testing.T, cfg jobs.StoreConfig) fixture {
		clock := newClock()
		cfg.Now = clock.Now
		again := func() jobs.Store { return open(t, client(), cfg) }
		f := fixture{Store: again(), Advance: clock.Advance, Again: again}
		t.Cleanup(func() {
			c := client()
			assert.NoError(t, c.FlushDB(context.Background()).Err())
			assert.NoError(t, c.Close())
		})
		return f
	})
}

func TestRedisServer(t *testing.T) {
	address := redistest.Start(t)
	conform(t, func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: address}) })
}

func TestRedisCluster(t *testing.T) {
	address := redistest.StartCluster(t)
	conform(t, func() redis.UniversalClient {
		return redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{address}})
	})
}

// A server with full memory makes and changes no jobs, but removes ended ones.
func TestRedisServerFull(t *testing.T) {
	address := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: address})
	s := open(t, client, config)
	ctx := t.Context()
	for _, id := range []string{"done", "running"} {
		_, _, err := s.Create(ctx, draft(id, 10))
		require.NoError(t, err)
		c, err := s.Claim(ctx, jobs.Work, time.Minute)
		require.NoError(t, err)
		if id == "running" {
			fill(t, client)
			_, _, err = s.Create(ctx, draft("new", 10))
			assert.ErrorContains(t, err, "OOM")
			assert.ErrorContains(t, s.Save(ctx, c, 0, []byte("chunk"), jobs.Tally{Results: 1}), "OOM")
			_, err = s.Cancel(ctx, id)
			assert.ErrorContains(t, err, "OOM")
			require.NoError(t, s.Remove(ctx, "done"))
			require.NoError(t, s.Save(ctx, c, 0, []byte("chunk"), jobs.Tally{Results: 1}))
			break
		}
		require.NoError(t, s.Save(ctx, c, 0, make([]byte, 16<<20), jobs.Tally{Results: 1}))
		require.NoError(t, s.End(ctx, c, jobs.Done, nil))
	}
	_, err := s.Get(ctx, "new")
	assert.ErrorIs(t, err, jobs.ErrUnknown)
}

// fill sets a server's memory below its use.
func fill(t *testing.T, client *redis.Client) {
	used := client.InfoMap(t.Context(), "memory").Val()["Memory"]["used_memory"]
	n, err := strconv.Atoi(used)
	require.NoError(t, err)
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", strconv.Itoa(n-4<<20)).Err())
}
