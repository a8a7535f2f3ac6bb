package access

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMetrics(t *testing.T) {
	stats := Stats{
		WithoutKey: 1, BadKey: 2, OverRequests: 3, OverCharacters: 4, Clients: 5, Callers: 6, Reloads: 7, FailedReloads: 8, KeysBroken: true,
	}
	registry := prometheus.NewPedanticRegistry()
	for _, collector := range Metrics(func() Stats { return stats }) {
		require.NoError(t, registry.Register(collector))
	}
	assert.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP dragoman_clients Addresses of clients without keys that are remembered for their limits.
# TYPE dragoman_clients gauge
dragoman_clients 5
# HELP dragoman_keys Callers in the keys file that is in use.
# TYPE dragoman_keys gauge
dragoman_keys 6
# HELP dragoman_keys_file_broken 1 where the keys file cannot be used as it is now, so that the keys of before are in use.
# TYPE dragoman_keys_file_broken gauge
dragoman_keys_file_broken 1
# HELP dragoman_keys_refusals_total Requests that were refused for want of a valid key, or were over a limit of their caller.
# TYPE dragoman_keys_refusals_total counter
dragoman_keys_refusals_total{reason="characters"} 4
dragoman_keys_refusals_total{reason="no_key"} 1
dragoman_keys_refusals_total{reason="requests"} 3
dragoman_keys_refusals_total{reason="wrong_key"} 2
# HELP dragoman_keys_reloads_total Times that the keys file had changed, by what became of it.
# TYPE dragoman_keys_reloads_total counter
dragoman_keys_reloads_total{result="done"} 7
dragoman_keys_reloads_total{result="failed"} 8
`)))
}
