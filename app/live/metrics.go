package live

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"dragoman/app/measure"
)

// Kinds of translated sentences.
const (
	draftSentences = "draft" // being written
	finalSentences = "final"
)

type metrics struct {
	open                         prometheus.Gauge
	edits, characters, cancelled prometheus.Counter
	latency                      prometheus.Histogram
	translated, ended            measure.Counters
}

func newMetrics(r prometheus.Registerer) *metrics {
	with := promauto.With(r)
	counter := func(name, help string) prometheus.Counter {
		return with.NewCounter(prometheus.CounterOpts{Namespace: "dragoman", Name: name, Help: help})
	}
	return &metrics{
		open:       with.NewGauge(prometheus.GaugeOpts{Namespace: "dragoman", Name: "live_sessions", Help: "Live sessions that are open here."}),
		edits:      counter("live_edits_total", "Edits of live texts that were applied."),
		characters: counter("live_characters_total", "Characters that edits added to live texts."),
		cancelled:  counter("live_cancelled_total", "Translations of live text that were cancelled because an edit had made them useless."),
		latency: with.NewHistogram(prometheus.HistogramOpts{
			Namespace: "dragoman", Name: "live_update_seconds", Help: "Time from an edit of a live text to the translation of what it changed.",
			Buckets: []float64{.02, .05, .1, .15, .2, .3, .5, 1, 2, 5, 10},
		}),
		translated: measure.NewCounters(r, "live_sentences_total", "Sentences of live texts that were translated, by whether they were being written.",
			"kind", []string{draftSentences, finalSentences}),
		ended: measure.NewCounters(r, "live_ended_total", "Live sessions that ended, by why.",
			"reason", []string{string(ReasonDeleted), string(ReasonDone), string(ReasonIdle), string(ReasonShutdown)}),
	}
}
