package translate

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// newCollector exposes [Metrics.Statistics].
func newCollector(statistics func() []Statistics) prometheus.Collector {
	desc := func(name, help, label string) *prometheus.Desc {
		return prometheus.NewDesc("dragoman_model_"+name, help, []string{"model", "version", label}, nil)
	}
	requests := desc("requests_total", "Requests by the models that they used, and by whether they succeeded (done) or not (failed).", "outcome")
	ofStages := desc("stage_seconds_total", "Time of the stages of translations, added up: of each sentence in queue and decode, of all texts of a request in the others.",
		"stage")
	return prometheus.CollectorFunc(func(out chan<- prometheus.Metric) {
		for _, s := range statistics() {
			counter := func(desc *prometheus.Desc, label string, value float64) {
				out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value, s.Model, s.Version, label)
			}
			counter(requests, "done", float64(s.Succeeded.Count))
			counter(requests, "failed", float64(s.Failed.Count))
			for stage, took := range map[string]time.Duration{
				stageTokenize: s.Tokenized, stageQueue: s.Queued, stageDecode: s.Decoded, stageDetokenize: s.Detokenized,
			} {
				counter(ofStages, stage, took.Seconds())
			}
		}
	})
}
