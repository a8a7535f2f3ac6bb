// Package cache caches translations, so that the same text is not decoded again. A [Cache] is limited in bytes and evicts the
// least used entries, by recency and frequency (W-TinyLFU): a flood of texts that occur once does not evict texts that recur.
package cache

import (
	"fmt"
	"math"
	"strings"

	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"
	"github.com/prometheus/client_golang/prometheus"
)

// entryOverhead is the memory of an entry beside its text, in bytes: digest, node, its share of the hash table and of the
// frequency sketch, the write in flight. Measured at 119 to 139 with otter 2.4.0; TestMemoryStaysBounded verifies it.
const entryOverhead = 144

// Config is the configuration of a [Cache].
type Config struct {
	// Bytes is the maximum memory of the entries, including keys and bookkeeping. 0 disables the cache.
	Bytes int64
}

// Cache maps keys to translations. It is safe for concurrent use and starts no goroutine. A nil *Cache and the zero Cache are
// disabled: they hold nothing and count nothing.
type Cache struct {
	limit   int64
	entries *otter.Cache[digest, Value] // nil if disabled
}

// Value is a cached translation.
type Value struct {
	Text string
	// Further properties, which the cache does not interpret.
	Score                      float32
	SourceTokens, TargetTokens uint32
	Flags                      uint16
}

// New returns an empty cache. It fails on a negative size.
func New(cfg Config) (*Cache, error) {
	if cfg.Bytes < 0 {
		return nil, fmt.Errorf("cache of %d bytes: use 0 for off, or more", cfg.Bytes)
	}
	if cfg.Bytes == 0 {
		return &Cache{}, nil
	}
	entries, err := otter.New(&otter.Options[digest, Value]{
		MaximumWeight: uint64(cfg.Bytes),
		Weigher:       func(_ digest, v Value) uint32 { return uint32(cost(v.Text)) },
		StatsRecorder: stats.NewCounter(),
		// Evict in the Put that needs the room: with goroutines, the memory that waits for them would be limited by entries, not
		// by bytes. A microsecond here is negligible beside the decoding that precedes a Put.
		Executor: func(task func()) { task() },
	})
	if err != nil {
		return nil, fmt.Errorf("cache of %d bytes: %w", cfg.Bytes, err)
	}
	return &Cache{limit: cfg.Bytes, entries: entries}, nil
}

// On reports whether the cache is enabled.
func (c *Cache) On() bool { return c != nil && c.entries != nil }

// Get returns the translation stored under the key.
func (c *Cache) Get(k Key) (Value, bool) {
	if !c.On() {
		return Value{}, false
	}
	return c.entries.GetIfPresent(k.digest())
}

// Put stores a translation, replaces an older one under the same key, and evicts other entries to make room. A translation larger
// than the whole cache is not stored.
func (c *Cache) Put(k Key, v Value) {
	if !c.On() || cost(v.Text) > min(c.limit, math.MaxUint32) {
		return
	}
	// A clone has exactly the memory of its length: the text may be part of a larger string, or of a buffer with spare room.
	v.Text = strings.Clone(v.Text)
	c.entries.Set(k.digest(), v)
}

// cost returns the memory of an entry in bytes. The allocator's size classes exceed the requested size by up to an eighth.
func cost(text string) int64 { return entryOverhead + int64(len(text)) + int64(len(text)/8) }

// Stats are the figures of a cache: counters since its start, and its present size.
type Stats struct {
	Hits, Misses uint64 // outcomes of Get
	Evictions    uint64 // evicted entries, including entries that were not admitted
	Entries      int
	Bytes        int64 // as counted by Config.Bytes
}

// Stats returns the present figures. The figures are read one after the other, so they may be slightly inconsistent while the
// cache is used.
func (c *Cache) Stats() Stats {
	if !c.On() {
		return Stats{}
	}
	counts := c.entries.Stats()
	return Stats{
		Hits: counts.Hits, Misses: counts.Misses, Evictions: counts.Evictions,
		Entries: c.entries.EstimatedSize(), Bytes: int64(c.entries.WeightedSize()),
	}
}

// Metrics returns the metrics of a cache, for Prometheus. stats, see [Cache.Stats], is called at every scrape, on its goroutine;
// limit is [Config.Bytes].
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
		counter("cache_evictions_total", "Entries that were evicted from the cache, or not admitted to it.", "",
			func(s Stats) uint64 { return s.Evictions }),
		gauge("cache_entries", "Translations in the cache.", func(s Stats) int64 { return int64(s.Entries) }),
		gauge("cache_bytes", "Memory of the cache's entries.", func(s Stats) int64 { return s.Bytes }),
		gauge("cache_limit_bytes", "Maximum memory of the cache's entries; 0 without a cache.", func(Stats) int64 { return limit }),
	}
}
