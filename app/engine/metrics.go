package engine

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the metrics of an engine, for Prometheus. stats, see [Engine.Stats], is called
// at every scrape, on its goroutine; rows are those of [Engine.Rows].
func Metrics(stats func() []Stats, rows int) prometheus.Collector {
	return &collector{
		stats: stats, limit: rows,
		workers: desc("workers", "Copies of the model that decode side by side."),
		lost:    desc("workers_lost", "Of them, those whose device failed: they decode nothing any more."),
		wait: desc("queue_wait_seconds",
			"How long what waits will take, at the speed of the last seconds; 0 while nothing has ever waited."),
		rows: desc("batch_rows_limit", "Rows that a worker decodes together at most."),
		occupancy: desc("batch_occupancy_ratio",
			"Rows of the current step over the limit; above 1 while a sentence decodes that needs more rows.", "worker"),
		ofWorkers: append(gauges(), counters()...),
	}
}

// collector reads the numbers of all workers once a scrape.
type collector struct {
	stats func() []Stats
	limit int // rows of a worker

	workers, lost, wait, rows, occupancy *prometheus.Desc
	ofWorkers                            []metric
}

// metric is a number of a worker.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	label string // value of the label after the worker's; "" where there is none
	value func(s *Stats) float64
}

// desc describes a metric.
func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("dragoman_"+name, help, labels, nil)
}

// gauges are what a worker has at the moment.
func gauges() []metric {
	gauge := func(name, help string, value func(s *Stats) float64) metric {
		return metric{desc(name, help, "worker"), prometheus.GaugeValue, "", value}
	}
	return []metric{
		gauge("queue_requests", "Requests with a sentence that waits to be decoded.",
			func(s *Stats) float64 { return float64(s.QueuedRequests) }),
		gauge("queue_sentences", "Sentences that wait to be decoded, identical ones counted once.",
			func(s *Stats) float64 { return float64(s.QueuedSentences) }),
		gauge("queue_tokens", "Source tokens that wait to be decoded.",
			func(s *Stats) float64 { return float64(s.QueuedTokens) }),
		gauge("queue_tokens_per_second", "Source tokens that left the queue per second while any waited, recently.",
			func(s *Stats) float64 { return s.SourceTokensPerSecond }),
		gauge("batch_sentences", "Sentences that are decoded.",
			func(s *Stats) float64 { return float64(s.RunningSentences) }),
		gauge("batch_rows", "Rows of the current step.",
			func(s *Stats) float64 { return float64(s.RunningRows) }),
		gauge("batch_reserved_rows", "Rows that the sentences that are decoded may come to.",
			func(s *Stats) float64 { return float64(s.ReservedRows) }),
		gauge("kv_reserved_bytes", "Memory that the decoding state of the sentences that are decoded may come to.",
			func(s *Stats) float64 { return float64(s.ReservedBytes) }),
	}
}

// counters are what a worker has done.
func counters() []metric {
	counter := func(name, help string, value func(s *Stats) float64) metric {
		return metric{desc(name, help, "worker"), prometheus.CounterValue, "", value}
	}
	sentences := desc("sentences_total",
		"Sentences by what became of them; shared ones were decoded for an identical one.", "worker", "outcome")
	seconds := desc("worker_seconds_total",
		"Where the time of a worker goes: waiting for cores that other models use (wait), encoding newcomers (join), "+
			"decoder steps (step) and its scheduler (schedule).",
		"worker", "activity")
	part := func(desc *prometheus.Desc, label string, value func(s *Stats) float64) metric {
		return metric{desc, prometheus.CounterValue, label, value}
	}
	return []metric{
		counter("queue_refusals_total", "Requests that found the queue full.",
			func(s *Stats) float64 { return float64(s.RequestsRefused) }),
		counter("joins_total", "Times that sentences were encoded and joined the batch.",
			func(s *Stats) float64 { return float64(s.Joins) }),
		counter("joined_tokens_total", "Source tokens of sentences that joined the batch.",
			func(s *Stats) float64 { return float64(s.PrefilledTokens) }),
		counter("steps_total", "Decoder steps.",
			func(s *Stats) float64 { return float64(s.Steps) }),
		counter("step_rows_total", "Rows of all decoder steps.",
			func(s *Stats) float64 { return float64(s.SteppedRows) }),
		counter("decoded_tokens_total", "Tokens of translations that were decoded to their end.",
			func(s *Stats) float64 { return float64(s.DecodedTokens) }),
		counter("broken_batches_total", "Batches that the model failed on, with all sentences in them.",
			func(s *Stats) float64 { return float64(s.BrokenBatches) }),
		part(sentences, "done", func(s *Stats) float64 { return float64(s.SentencesDone) }),
		part(sentences, "shared", func(s *Stats) float64 { return float64(s.SentencesShared) }),
		part(sentences, "cancelled", func(s *Stats) float64 { return float64(s.SentencesCancelled) }),
		part(sentences, "failed", func(s *Stats) float64 { return float64(s.SentencesFailed) }),
		part(seconds, "wait", func(s *Stats) float64 { return s.Waiting.Seconds() }),
		part(seconds, "join", func(s *Stats) float64 { return s.Joining.Seconds() }),
		part(seconds, "step", func(s *Stats) float64 { return s.Stepping.Seconds() }),
		part(seconds, "schedule", func(s *Stats) float64 { return max(0, s.Busy-s.Joining-s.Stepping).Seconds() }),
	}
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.workers, c.lost, c.wait, c.rows, c.occupancy} {
		out <- d
	}
	for _, m := range c.ofWorkers {
		out <- m.desc
	}
}

// Collect implements [prometheus.Collector]. The first worker is worker 0.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	stats, lost := c.stats(), 0
	for i := range stats {
		worker := strconv.Itoa(i)
		for _, m := range c.ofWorkers {
			labels := []string{worker}
			if m.label != "" {
				labels = append(labels, m.label)
			}
			out <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(&stats[i]), labels...)
		}
		gauge(c.occupancy, float64(stats[i].RunningRows)/float64(c.limit), worker)
		if stats[i].Lost {
			lost++
		}
	}
	gauge(c.workers, float64(len(stats)))
	gauge(c.lost, float64(lost))
	gauge(c.wait, queueWait(stats))
	gauge(c.rows, float64(c.limit))
}

// queueWait is how many seconds what waits will take on all workers together, at the
// recent speed. A new request goes to the worker with the least to do, so the longest
// queue does not tell.
func queueWait(stats []Stats) float64 {
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
