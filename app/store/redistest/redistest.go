// Package redistest starts real Redis servers for tests.
package redistest

import (
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"dragoman/app/store/porttest"
)

// patient is the timeout of tests for expected events.
const patient = 30 * time.Second

// Start starts a redis-server, which ends with the test. It skips the test if the machine has none.
func Start(t testing.TB, options ...string) (address string) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("there is no redis-server: apt-get install redis-server")
	}
	address = porttest.Hold(t)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	process := exec.Command("redis-server", append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", t.TempDir(), "--save", ""}, options...)...)
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	client := redis.NewClient(&redis.Options{Addr: address})
	defer func() { _ = client.Close() }()
	require.Eventually(t, func() bool { return client.Ping(t.Context()).Err() == nil }, patient, 5*time.Millisecond)
	return address
}

// StartCluster starts a cluster of one server, which refuses operations across slots like a larger one.
func StartCluster(t testing.TB) (address string) {
	t.Helper()
	_, bus, err := net.SplitHostPort(porttest.Hold(t))
	require.NoError(t, err)
	address = Start(t, "--cluster-enabled", "yes", "--cluster-port", bus)
	client := redis.NewClient(&redis.Options{Addr: address})
	defer func() { _ = client.Close() }()
	require.NoError(t, client.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	require.Eventually(t, func() bool {
		info, err := client.ClusterInfo(t.Context()).Result()
		return err == nil && len(info) > 16 && info[:16] == "cluster_state:ok"
	}, patient, 5*time.Millisecond)
	return address
}
