package access

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
)

func TestMetrics(t *testing.T) {
	key := NewKey()
	path := writeKeys(t, "", keyLine(t, "alice", key, "rate=1/d", "chars=1/d"))
	registry := prometheus.NewPedanticRegistry()
	g, _ := newGate(t, Config{KeysFile: path, Limits: Limits{Requests: Rate{4, 24 * time.Hour}, Burst: 4}, Metrics: registry})
	h := server(t, g)
	send(h, "/?chars=2", "X-API-Key", key) // too many characters
	for range 2 {
		send(h, "/", "X-API-Key", key) // too many requests
	}
	send(h, "/")
	for range 2 {
		send(h, "/", "X-API-Key", "nonsense")
	}
	for i, line := range []string{keyLine(t, "bob", key), "nonsense"} {
		writeKeys(t, path, line)
		g.keys.look()
		g.keys.look()
		assert.EqualValues(t, i, testutil.ToFloat64(g.metrics.broken))
	}
	assert.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP dragoman_clients Addresses of clients without keys that are remembered for their limits.
# TYPE dragoman_clients gauge
dragoman_clients 1
# HELP dragoman_keys Callers in the keys file that is in use.
# TYPE dragoman_keys gauge
dragoman_keys 1
# HELP dragoman_keys_file_broken 1 where the keys file cannot be used as it is now, so that the keys of before are in use.
# TYPE dragoman_keys_file_broken gauge
dragoman_keys_file_broken 1
# HELP dragoman_keys_refusals_total Requests that were refused because they had no valid key or were over a limit of their caller.
# TYPE dragoman_keys_refusals_total counter
dragoman_keys_refusals_total{reason="characters"} 1
dragoman_keys_refusals_total{reason="no_key"} 1
dragoman_keys_refusals_total{reason="requests"} 2
dragoman_keys_refusals_total{reason="tokens"} 0
dragoman_keys_refusals_total{reason="wrong_key"} 2
# HELP dragoman_keys_reloads_total Times that the keys file had changed, by what became of it.
# TYPE dragoman_keys_reloads_total counter
dragoman_keys_reloads_total{result="done"} 1
dragoman_keys_reloads_total{result="failed"} 1
`)))
}
