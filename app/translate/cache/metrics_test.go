package cache

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	for _, collector := range Metrics(func() Stats { return Stats{Hits: 1, Misses: 2, Evictions: 3, Entries: 4, Bytes: 5} }, 6) {
		require.NoError(t, registry.Register(collector))
	}
	assert.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP dragoman_cache_bytes Memory of the cache's entries.
# TYPE dragoman_cache_bytes gauge
dragoman_cache_bytes 5
# HELP dragoman_cache_entries Translations in the cache.
# TYPE dragoman_cache_entries gauge
dragoman_cache_entries 4
# HELP dragoman_cache_evictions_total Entries that were evicted from the cache, or not admitted to it.
# TYPE dragoman_cache_evictions_total counter
dragoman_cache_evictions_total 3
# HELP dragoman_cache_limit_bytes Maximum memory of the cache's entries; 0 without a cache.
# TYPE dragoman_cache_limit_bytes gauge
dragoman_cache_limit_bytes 6
# HELP dragoman_cache_requests_total Look-ups in the cache of translations.
# TYPE dragoman_cache_requests_total counter
dragoman_cache_requests_total{result="hit"} 1
dragoman_cache_requests_total{result="miss"} 2
`)))
}
