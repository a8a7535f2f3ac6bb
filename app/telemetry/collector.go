package telemetry

import (
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/cache"
	"dragoman/app/engine"
)

// Engines have numbers of their own for each worker, as [engine.Engine] does. It is safe
// for concurrent use.
type Engines interface {
	Stats() []engine.Stats
}

// Cache has numbers of its own, as [cache.Cache] does. It is safe for concurrent use.
type Cache interface {
	Stats() cache.Stats
}

// Sources are what the metrics are read from at every scrape, on its goroutine.
type Sources struct {
	Engines Engines
	// Rows are how many a worker decodes together at most, a sentence that takes more
	// left out.
	Rows int

	Cache      Cache // nil where there is none
	CacheBytes int64 // that the cache may take

	Keys Keys // nil where there is none

	// Ready says whether new requests are welcome; nil is never.
	Ready func() bool

	Model ModelInfo
	// Languages are the codes of the model's languages.
	Languages []string
}

// ModelInfo says what translates, as labels of dragoman_model_info.
type ModelInfo struct {
	Source    string // of the weights; credentials in a URL are left out
	Revision  string
	Precision string
	Version   string // of the program
	Device    string
}

// collector reads the sources at every scrape.
type collector struct {
	watched *atomic.Pointer[watched]

	ready, model, workers, lost, wait, rows, occupancy *prometheus.Desc
	ofWorkers                                          []workerMetric

	cacheRequests, cacheEvictions, cacheEntries, cacheBytes, cacheLimit *prometheus.Desc

	keys keysMetrics
}

// workerMetric is a number of a worker.
type workerMetric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	label string // value of the label after the worker's; "" where there is none
	value func(s *engine.Stats) float64
}

// newDesc describes a metric.
func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

func newCollector(w *atomic.Pointer[watched]) *collector {
	return &collector{
		watched: w,

		ready:   newDesc("ready", "1 where new requests are welcome, 0 while the service loads or ends."),
		model:   newDesc("model_info", "What translates; always 1.", "source", "revision", "precision", "version", "device"),
		workers: newDesc("workers", "Copies of the model that decode side by side."),
		lost:    newDesc("workers_lost", "Of them, those whose device failed: they decode nothing any more."),
		wait: newDesc("queue_wait_seconds",
			"How long what waits will take, at the speed of the last seconds; 0 while nothing has ever waited."),
		rows: newDesc("batch_rows_limit", "Rows that a worker decodes together at most."),
		occupancy: newDesc("batch_occupancy_ratio",
			"Rows of the step at hand over the limit; above 1 while a sentence decodes that takes more.", "worker"),
		ofWorkers: append(workerGauges(), workerCounters()...),

		cacheRequests:  newDesc("cache_requests_total", "Look-ups in the cache of translations.", "result"),
		cacheEvictions: newDesc("cache_evictions_total", "Entries that made room in the cache, or were not let in."),
		cacheEntries:   newDesc("cache_entries", "Translations in the cache."),
		cacheBytes:     newDesc("cache_bytes", "Memory that the cache's entries take."),
		cacheLimit:     newDesc("cache_limit_bytes", "Memory that the cache's entries may take; 0 where it is off."),

		keys: newKeysMetrics(),
	}
}

// workerGauges are what a worker has at the moment.
func workerGauges() []workerMetric {
	gauge := func(name, help string, value func(s *engine.Stats) float64) workerMetric {
		return workerMetric{newDesc(name, help, "worker"), prometheus.GaugeValue, "", value}
	}
	return []workerMetric{
		gauge("queue_requests", "Requests with a sentence that waits to be decoded.",
			func(s *engine.Stats) float64 { return float64(s.QueuedRequests) }),
		gauge("queue_sentences", "Sentences that wait to be decoded, identical ones counted once.",
			func(s *engine.Stats) float64 { return float64(s.QueuedSentences) }),
		gauge("queue_tokens", "Source tokens that wait to be decoded.",
			func(s *engine.Stats) float64 { return float64(s.QueuedTokens) }),
		gauge("queue_tokens_per_second", "Source tokens that left the queue per second while any waited, of late.",
			func(s *engine.Stats) float64 { return s.SourceTokensPerSecond }),
		gauge("batch_sentences", "Sentences that are decoded.",
			func(s *engine.Stats) float64 { return float64(s.RunningSentences) }),
		gauge("batch_rows", "Rows of the step at hand.",
			func(s *engine.Stats) float64 { return float64(s.RunningRows) }),
		gauge("batch_reserved_rows", "Rows that the sentences that are decoded may come to.",
			func(s *engine.Stats) float64 { return float64(s.ReservedRows) }),
		gauge("kv_reserved_bytes", "Memory that the decoding state of the sentences that are decoded may come to.",
			func(s *engine.Stats) float64 { return float64(s.ReservedBytes) }),
	}
}

// workerCounters are what a worker has done.
func workerCounters() []workerMetric {
	counter := func(name, help string, value func(s *engine.Stats) float64) workerMetric {
		return workerMetric{newDesc(name, help, "worker"), prometheus.CounterValue, "", value}
	}
	sentences := newDesc("sentences_total",
		"Sentences by what became of them; shared ones were decoded for an identical one.", "worker", "outcome")
	seconds := newDesc("worker_seconds_total",
		"Where the time of a worker goes: encoding newcomers (join), decoder steps (step) and its scheduler (schedule).",
		"worker", "activity")
	part := func(desc *prometheus.Desc, label string, value func(s *engine.Stats) float64) workerMetric {
		return workerMetric{desc, prometheus.CounterValue, label, value}
	}
	return []workerMetric{
		counter("queue_refusals_total", "Requests that found the queue full.",
			func(s *engine.Stats) float64 { return float64(s.RequestsRefused) }),
		counter("joins_total", "Times that sentences were encoded and joined the batch.",
			func(s *engine.Stats) float64 { return float64(s.Joins) }),
		counter("joined_tokens_total", "Source tokens of sentences that joined the batch.",
			func(s *engine.Stats) float64 { return float64(s.PrefilledTokens) }),
		counter("steps_total", "Decoder steps.",
			func(s *engine.Stats) float64 { return float64(s.Steps) }),
		counter("step_rows_total", "Rows of all decoder steps.",
			func(s *engine.Stats) float64 { return float64(s.SteppedRows) }),
		counter("decoded_tokens_total", "Tokens of translations that were decoded to their end.",
			func(s *engine.Stats) float64 { return float64(s.DecodedTokens) }),
		counter("broken_batches_total", "Batches that the model failed on, with all sentences in them.",
			func(s *engine.Stats) float64 { return float64(s.BrokenBatches) }),
		part(sentences, "done", func(s *engine.Stats) float64 { return float64(s.SentencesDone) }),
		part(sentences, "shared", func(s *engine.Stats) float64 { return float64(s.SentencesShared) }),
		part(sentences, "cancelled", func(s *engine.Stats) float64 { return float64(s.SentencesCancelled) }),
		part(sentences, "failed", func(s *engine.Stats) float64 { return float64(s.SentencesFailed) }),
		part(seconds, "join", func(s *engine.Stats) float64 { return s.Joining.Seconds() }),
		part(seconds, "step", func(s *engine.Stats) float64 { return s.Stepping.Seconds() }),
		part(seconds, "schedule", func(s *engine.Stats) float64 { return max(0, s.Busy-s.Joining-s.Stepping).Seconds() }),
	}
}

// Describe sends what Collect can send.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range append([]*prometheus.Desc{
		c.ready, c.model, c.workers, c.lost, c.wait, c.rows, c.occupancy,
		c.cacheRequests, c.cacheEvictions, c.cacheEntries, c.cacheBytes, c.cacheLimit,
	}, c.keys.all()...) {
		out <- desc
	}
	for _, metric := range c.ofWorkers {
		out <- metric.desc
	}
}

// Collect reads every source once.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	w := c.watched.Load()
	if w == nil {
		gauge(c.ready, 0)
		return
	}
	s := w.sources
	ready := 0.0
	if s.Ready != nil && s.Ready() {
		ready = 1
	}
	gauge(c.ready, ready)
	gauge(c.model, 1, s.Model.labels()...)
	gauge(c.rows, float64(s.Rows))
	if s.Engines != nil {
		stats := s.Engines.Stats()
		gauge(c.workers, float64(len(stats)))
		gauge(c.lost, float64(countLost(stats)))
		gauge(c.wait, queueWait(stats))
		c.collectWorkers(out, stats, s.Rows)
	}
	if s.Cache != nil {
		c.collectCache(out, s.Cache.Stats(), s.CacheBytes)
	}
	if s.Keys != nil {
		c.keys.collect(out, s.Keys.Stats())
	}
}

// collectWorkers sends the numbers of each worker, the first is worker 0.
func (c *collector) collectWorkers(out chan<- prometheus.Metric, stats []engine.Stats, rows int) {
	for i := range stats {
		worker := strconv.Itoa(i)
		for _, metric := range c.ofWorkers {
			labels := []string{worker}
			if metric.label != "" {
				labels = append(labels, metric.label)
			}
			out <- prometheus.MustNewConstMetric(metric.desc, metric.kind, metric.value(&stats[i]), labels...)
		}
		if rows > 0 {
			out <- prometheus.MustNewConstMetric(c.occupancy, prometheus.GaugeValue,
				float64(stats[i].RunningRows)/float64(rows), worker)
		}
	}
}

// collectCache sends the numbers of the cache.
func (c *collector) collectCache(out chan<- prometheus.Metric, s cache.Stats, limit int64) {
	for _, metric := range []struct {
		desc   *prometheus.Desc
		kind   prometheus.ValueType
		value  float64
		labels []string
	}{
		{c.cacheRequests, prometheus.CounterValue, float64(s.Hits), []string{"hit"}},
		{c.cacheRequests, prometheus.CounterValue, float64(s.Misses), []string{"miss"}},
		{c.cacheEvictions, prometheus.CounterValue, float64(s.Evictions), nil},
		{c.cacheEntries, prometheus.GaugeValue, float64(s.Entries), nil},
		{c.cacheBytes, prometheus.GaugeValue, float64(s.Bytes), nil},
		{c.cacheLimit, prometheus.GaugeValue, float64(limit), nil},
	} {
		out <- prometheus.MustNewConstMetric(metric.desc, metric.kind, metric.value, metric.labels...)
	}
}

// countLost is how many workers are lost.
func countLost(stats []engine.Stats) (n int) {
	for i := range stats {
		if stats[i].Lost {
			n++
		}
	}
	return n
}

// queueWait is how many seconds what waits will take on all workers together, at the
// speed of late. A new request goes to the worker with the least to do, so the longest
// queue does not tell.
func queueWait(stats []engine.Stats) float64 {
	tokens, rate := 0, 0.0
	for i := range stats {
		tokens += stats[i].QueuedTokens
		rate += stats[i].SourceTokensPerSecond
	}
	if rate <= 0 {
		return 0
	}
	return float64(tokens) / rate
}

// labels are the values of the labels of model_info.
func (m ModelInfo) labels() []string {
	values := []string{withoutSecrets(m.Source), m.Revision, m.Precision, m.Version, m.Device}
	for i, value := range values {
		values[i] = strings.ToValidUTF8(value, "?") // a folder's name need not be
	}
	return values
}

// withoutSecrets is a source without what a URL may have of credentials: user,
// password and query.
func withoutSecrets(source string) string {
	u, err := url.Parse(source)
	if err != nil || u.Host == "" {
		return source
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
