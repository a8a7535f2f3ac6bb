// Package cache keeps translations that were made, so that the same text is not
// decoded again. A [Cache] is bounded by bytes and evicts what is used least, by
// recency and frequency (W-TinyLFU): a flood of texts that are seen once does not
// push out those that come back.
package cache

import (
	"fmt"
	"math"
	"strings"

	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"
	"github.com/prometheus/client_golang/prometheus"
)

// entryOverhead is what an entry takes beside its text, in bytes: digest, node,
// its share of the hash table and of the frequency sketch, the write in flight.
// Measured at 119 to 139 with otter 2.4.0; TestMemoryStaysBounded holds it to that.
const entryOverhead = 144

// Config is what a [Cache] works with.
type Config struct {
	// Bytes of memory that the entries may take, keys and bookkeeping included.
	// 0 makes a cache that is off.
	Bytes int64
}

// Cache maps keys to translations. It is safe for concurrent use and starts no
// goroutine. A nil *Cache and the zero Cache are off: they hold nothing and count
// nothing.
type Cache struct {
	limit   int64
	entries *otter.Cache[digest, Value] // nil where off
}

// Value is what is kept of a translation.
type Value struct {
	Text string
	// What else is known of it; the cache does not care.
	Score                      float32
	SourceTokens, TargetTokens uint32
	Flags                      uint8
}

// New makes an empty cache. It fails on a negative size.
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
		// Evict in the Put that needs the room: with goroutines, the memory that
		// waits for them is bounded by entries, not by bytes. A microsecond here
		// does not show beside the decoding that a Put follows.
		Executor: func(task func()) { task() },
	})
	if err != nil {
		return nil, fmt.Errorf("cache of %d bytes: %w", cfg.Bytes, err)
	}
	return &Cache{limit: cfg.Bytes, entries: entries}, nil
}

// On says whether the cache holds anything.
func (c *Cache) On() bool { return c != nil && c.entries != nil }

// Get returns the translation that was put under the key.
func (c *Cache) Get(k Key) (Value, bool) {
	if !c.On() {
		return Value{}, false
	}
	return c.entries.GetIfPresent(k.digest())
}

// Put keeps a translation, in place of an older one under the same key, and makes
// room for it. A translation that is larger than the whole cache is not kept.
func (c *Cache) Put(k Key, v Value) {
	if !c.On() || cost(v.Text) > min(c.limit, math.MaxUint32) {
		return
	}
	// A clone takes what its length says: the text may be part of a larger string,
	// or of a buffer with room to spare.
	v.Text = strings.Clone(v.Text)
	c.entries.Set(k.digest(), v)
}

// cost is the memory of an entry in bytes. The allocator's size classes are up to
// an eighth larger than what is asked for.
func cost(text string) int64 { return entryOverhead + int64(len(text)) + int64(len(text)/8) }

// Stats are the numbers of a cache: counters since its start, and its size now.
type Stats struct {
	Hits, Misses uint64 // of Get
	Evictions    uint64 // entries that made room, including those that were not admitted
	Entries      int
	Bytes        int64 // as Config.Bytes counts them
}

// Stats returns the numbers of now. They are read one after the other, so they
// need not fit together exactly while the cache is used.
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
