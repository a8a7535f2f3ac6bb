package engine

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Source is an engine as its metrics see it, and the model that it decodes with.
type Source struct {
	Model, Version string
	Stats          []Stats // of its workers, see [Engine.Stats]
	Rows           int     // see [Engine.Rows]
}

// Metrics are the metrics of all engines, for Prometheus. engines is called at every scrape, on
// its goroutine.
func Metrics(engines func() []Source) prometheus.Collector {
	return &collector{
		engines: engines,
		workers: desc("workers", "Copies of the model that decode side by side.", ofModel...),
		lost:    desc("workers_lost", "Of them, those whose device failed: they decode nothing any more.", ofModel...),
		wait: desc("queue_wait_seconds",
			"How long what waits will take, for all models together, at the speed of the last seconds; 0 while nothing has ever waited."),
		rows: desc("batch_rows_limit", "Rows that a worker decodes together at most.", ofModel...),
		occupancy: desc("batch_occupancy_ratio",
			"Rows of the current step over the limit; above 1 while a sentence decodes that needs more rows.", ofWorker()...),
		ofWorkers: append(gauges(), counters()...),
	}
}

// ofModel are the labels of a model's metrics.
var ofModel = []string{"model", "version"}

// ofWorker are the labels of a worker's metrics, and more.
func ofWorker(more ...string) []string { return append(append(ofModel[:2:2], "worker"), more...) }

// collector reads the numbers of all workers once a scrape.
type collector struct {
	engines func() []Source

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
		return metric{desc(name, help, ofWorker()...), prometheus.GaugeValue, "", value}
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
		return metric{desc(name, help, ofWorker()...), prometheus.CounterValue, "", value}
	}
	sentences := desc("sentences_total",
		"Sentences by what became of them; shared ones were decoded for an identical one.", ofWorker("outcome")...)
	seconds := desc("worker_seconds_total",
		"Where the time of a worker goes: waiting for cores that other models use (wait), encoding newcomers (join), "+
			"decoder steps (step) and its scheduler (schedule).",
		ofWorker("activity")...)
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

// Collect implements [prometheus.Collector]. The first worker of a model is worker 0.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	engines := c.engines()
	for i := range engines {
		c.collect(out, &engines[i])
	}
	out <- gauge(c.wait, queueWait(engines))
}

func gauge(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

// collect is Collect for one engine.
func (c *collector) collect(out chan<- prometheus.Metric, e *Source) {
	lost := 0
	for i := range e.Stats {
		s := &e.Stats[i]
		worker := []string{e.Model, e.Version, strconv.Itoa(i)}
		for _, m := range c.ofWorkers {
			labels := worker
			if m.label != "" {
				labels = append(worker[:3:3], m.label)
			}
			out <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(s), labels...)
		}
		out <- gauge(c.occupancy, float64(s.RunningRows)/float64(e.Rows), worker...)
		if s.Lost {
			lost++
		}
	}
	out <- gauge(c.workers, float64(len(e.Stats)), e.Model, e.Version)
	out <- gauge(c.lost, float64(lost), e.Model, e.Version)
	out <- gauge(c.rows, float64(e.Rows), e.Model, e.Version)
}

// queueWait is how many seconds it takes until nothing waits any more, at the recent speeds, in
// which the models' sharing of the cores shows. A new request goes to the worker with the least to
// do, so the longest queue of a worker does not tell.
func queueWait(engines []Source) (seconds float64) {
	for _, e := range engines {
		tokens, rate := 0, 0.0
		for i := range e.Stats {
			tokens += e.Stats[i].QueuedTokens
			rate += e.Stats[i].SourceTokensPerSecond
		}
		if rate > 0 {
			seconds = max(seconds, float64(tokens)/rate)
		}
	}
	return seconds
}
