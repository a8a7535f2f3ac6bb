package engine

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Source is an engine as its metrics see it, with the name of its model.
type Source struct {
	Model, Version string
	Stats          []Stats // by worker, see [Engine.Stats]
	Rows           int     // see [Engine.Rows]
}

// Metrics returns the Prometheus metrics of all engines. engines is called at every scrape, on its goroutine.
func Metrics(engines func() []Source) prometheus.Collector {
	c := &collector{
		engines: engines,
		workers: desc("workers", "Copies of the model that decode side by side.", ofModel...),
		lost:    desc("workers_lost", "Of them, those whose device failed: they decode nothing any more.", ofModel...),
		wait: desc("queue_wait_seconds",
			"How long what waits will take, for all models together, at the speed of the last seconds; 0 while nothing has ever waited."),
		rows: desc("batch_rows_limit", "Rows that a worker decodes together at most.", ofModel...),
		occupancy: desc("batch_occupancy_ratio",
			"Rows of the current step over the limit; above 1 while a sentence decodes that needs more rows.", ofWorker()...),
	}
	for _, n := range numbers {
		labels := ofWorker()
		if n.label != "" {
			labels = ofWorker(n.label)
		}
		c.numbers = append(c.numbers, desc(n.name, n.help, labels...))
	}
	return c
}

// ofModel are the labels of the metrics of a model.
var ofModel = []string{"model", "version"}

// ofWorker returns the labels of the metrics of a worker, with more.
func ofWorker(more ...string) []string { return append(append(ofModel[:2:2], "worker"), more...) }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("dragoman_"+name, help, labels, nil)
}

// collector reads the statistics of all workers once per scrape.
type collector struct {
	engines func() []Source

	workers, lost, wait, rows, occupancy *prometheus.Desc
	numbers                              []*prometheus.Desc // in the order of the table
}

const (
	sentencesHelp = "Sentences by what became of them; shared ones were decoded for an identical one."
	secondsHelp   = "Where the time of a worker goes: waiting for cores that other models use (wait), encoding newcomers (join), " +
		"decoder steps (step) and its scheduler (schedule)."
)

// numbers are the metrics of a worker: gauges of its current state, and totals.
var numbers = []struct {
	name, help  string
	label, part string // a label besides the worker's, and its value; "" if the metric has one value
	value       func(s *Stats) float64
}{
	{"queue_requests", "Requests with a sentence that waits to be decoded.", "", "", func(s *Stats) float64 { return float64(s.QueuedRequests) }},
	{"queue_sentences", "Sentences that wait to be decoded, identical ones counted once.", "", "", func(s *Stats) float64 { return float64(s.QueuedSentences) }},
	{"queue_tokens", "Source tokens that wait to be decoded.", "", "", func(s *Stats) float64 { return float64(s.QueuedTokens) }},
	{"queue_tokens_per_second", "Source tokens that left the queue per second while any waited, recently.", "", "", func(s *Stats) float64 { return s.SourceTokensPerSecond }},
	{"batch_sentences", "Sentences that are decoded.", "", "", func(s *Stats) float64 { return float64(s.RunningSentences) }},
	{"batch_rows", "Rows of the current step.", "", "", func(s *Stats) float64 { return float64(s.RunningRows) }},
	{"batch_reserved_rows", "Rows that the sentences that are decoded may come to.", "", "", func(s *Stats) float64 { return float64(s.ReservedRows) }},
	{"kv_reserved_bytes", "Memory that the decoding state of the sentences that are decoded may come to.", "", "", func(s *Stats) float64 { return float64(s.ReservedBytes) }},

	{"queue_refusals_total", "Requests that found the queue full.", "", "", func(s *Stats) float64 { return float64(s.RequestsRefused) }},
	{"joins_total", "Times that sentences were encoded and joined the batch.", "", "", func(s *Stats) float64 { return float64(s.Joins) }},
	{"joined_tokens_total", "Source tokens of sentences that joined the batch.", "", "", func(s *Stats) float64 { return float64(s.PrefilledTokens) }},
	{"steps_total", "Decoder steps.", "", "", func(s *Stats) float64 { return float64(s.Steps) }},
	{"step_rows_total", "Rows of all decoder steps.", "", "", func(s *Stats) float64 { return float64(s.SteppedRows) }},
	{"decoded_tokens_total", "Tokens of translations that were decoded to their end.", "", "", func(s *Stats) float64 { return float64(s.DecodedTokens) }},
	{"broken_batches_total", "Batches that the model failed on, with all sentences in them.", "", "", func(s *Stats) float64 { return float64(s.BrokenBatches) }},
	{"sentences_total", sentencesHelp, "outcome", "done", func(s *Stats) float64 { return float64(s.SentencesDone) }},
	{"sentences_total", sentencesHelp, "outcome", "shared", func(s *Stats) float64 { return float64(s.SentencesShared) }},
	{"sentences_total", sentencesHelp, "outcome", "cancelled", func(s *Stats) float64 { return float64(s.SentencesCancelled) }},
	{"sentences_total", sentencesHelp, "outcome", "failed", func(s *Stats) float64 { return float64(s.SentencesFailed) }},
	{"worker_seconds_total", secondsHelp, "activity", "wait", func(s *Stats) float64 { return s.Waiting.Seconds() }},
	{"worker_seconds_total", secondsHelp, "activity", "join", func(s *Stats) float64 { return s.Joining.Seconds() }},
	{"worker_seconds_total", secondsHelp, "activity", "step", func(s *Stats) float64 { return s.Stepping.Seconds() }},
	{"worker_seconds_total", secondsHelp, "activity", "schedule", func(s *Stats) float64 { return max(0, s.Busy-s.Joining-s.Stepping).Seconds() }},
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range append([]*prometheus.Desc{c.workers, c.lost, c.wait, c.rows, c.occupancy}, c.numbers...) {
		out <- d
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

func (c *collector) collect(out chan<- prometheus.Metric, e *Source) {
	lost := 0
	for i := range e.Stats {
		s := &e.Stats[i]
		worker := []string{e.Model, e.Version, strconv.Itoa(i)}
		for n, number := range numbers {
			kind, labels := prometheus.GaugeValue, worker
			if strings.HasSuffix(number.name, "_total") {
				kind = prometheus.CounterValue
			}
			if number.label != "" {
				labels = append(worker[:3:3], number.part)
			}
			out <- prometheus.MustNewConstMetric(c.numbers[n], kind, number.value(s), labels...)
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

// queueWait returns the seconds until all queues are empty, at the recent speeds, which include the sharing of cores between
// models. A new request goes to the worker with the smallest load, so the longest queue of a worker is no estimate.
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
