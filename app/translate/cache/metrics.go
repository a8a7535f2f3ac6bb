package cache

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the metrics of a cache, for Prometheus. stats, see [Cache.Stats], is called at
// every scrape, on its goroutine; limit is that of [Config.Bytes].
func Metrics(stats func() Stats, limit int64) []prometheus.Collector {
	const namespace, requests, ofRequests = "dragoman", "cache_requests_total", "Look-ups in the cache of translations."
	counter := func(name, help, result string, value func(Stats) uint64) prometheus.Collector {
		var labels prometheus.Labels
		if result != "" {
			labels = prometheus.Labels{"result": result}
		}
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: labels},
			func() float64 { return float64(value(stats())) })
	}
	gauge := func(name, help string, value func(Stats) int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help},
			func() float64 { return float64(value(stats())) })
	}
	return []prometheus.Collector{
		counter(requests, ofRequests, "hit", func(s Stats) uint64 { return s.Hits }),
		counter(requests, ofRequests, "miss", func(s Stats) uint64 { return s.Misses }),
		counter("cache_evictions_total", "Entries that made room in the cache, or were not admitted.", "",
			func(s Stats) uint64 { return s.Evictions }),
		gauge("cache_entries", "Translations in the cache.", func(s Stats) int64 { return int64(s.Entries) }),
		gauge("cache_bytes", "Memory that the cache's entries take.", func(s Stats) int64 { return s.Bytes }),
		gauge("cache_limit_bytes", "Memory that the cache's entries may take; 0 where it is off.", func(Stats) int64 { return limit }),
	}
}
