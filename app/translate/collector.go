package translate

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collector exposes [Metrics.Statistics]. It implements [prometheus.Collector].
type collector struct {
	statistics         func() []Statistics
	requests, ofStages *prometheus.Desc
}

func newCollector(statistics func() []Statistics) *collector {
	desc := func(name, help, label string) *prometheus.Desc {
		return prometheus.NewDesc("dragoman_model_"+name, help, []string{"model", "version", label}, nil)
	}
	return &collector{
		statistics: statistics,
		requests:   desc("requests_total", "Requests by the models that they used, and by whether they succeeded (done) or not (failed).", "outcome"),
		ofStages: desc("stage_seconds_total", "Time of the stages of translations, added up: of each sentence in queue and decode, of all texts of a request in the others.",
			"stage"),
	}
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(out chan<- *prometheus.Desc) { out <- c.requests; out <- c.ofStages }

// Collect implements [prometheus.Collector].
func (c *collector) Collect(out chan<- prometheus.Metric) {
	for _, s := range c.statistics() {
		counter := func(desc *prometheus.Desc, label string, value float64) {
			out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value, s.Model, s.Version, label)
		}
		counter(c.requests, "done", float64(s.Succeeded.Count))
		counter(c.requests, "failed", float64(s.Failed.Count))
		for stage, took := range map[string]time.Duration{
			stageTokenize: s.Tokenized, stageQueue: s.Queued, stageDecode: s.Decoded, stageDetokenize: s.Detokenized,
		} {
			counter(c.ofStages, stage, took.Seconds())
		}
	}
}
