package translate

import (
	"sync"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"dragoman/app/measure"
)

// The stages of a translation, in order.
const (
	stageDetect     = "detect"     // detection of a text's language
	stageSegment    = "segment"    // segmentation, protection of markup
	stageTokenize   = "tokenize"   // from sentences to tokens
	stageQueue      = "queue"      // a sentence waits to join the batch
	stageDecode     = "decode"     // a sentence is encoded and decoded, beside others
	stageDetokenize = "detokenize" // from tokens to text, restoring of markup, detection of faults
)

// Metrics measure the translations of a [Service]. They are safe for concurrent use.
type Metrics struct {
	Stages measure.Stages

	vecs      metricVecs
	languages *prometheus.CounterVec

	mu               sync.Mutex // guards the fields below
	models           map[modelName]*modelMetrics
	sources, targets measure.Counters // by language
}

// metricVecs are the metrics of each model or pipeline.
type metricVecs struct{ records, flags, retries, characters, tokens *prometheus.CounterVec }

// modelName names a version of a model or pipeline.
type modelName struct{ model, version string }

// modelMetrics are the metrics of one model or pipeline.
type modelMetrics struct {
	records, flags, retries measure.Counters
	characters, tokens      sides
	spent                   Statistics // statistics without the name
}

// sides are the counters of sources and of translations.
type sides struct{ source, target prometheus.Counter }

func (s sides) add(source, target int) {
	s.source.Add(float64(source))
	s.target.Add(float64(target))
}

// The values of the label side.
const sideSource, sideTarget = "source", "target"

// NewMetrics returns the metrics of translations. With a nil registry, none are exported.
func NewMetrics(r prometheus.Registerer) *Metrics {
	factory := promauto.With(r)
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return factory.NewCounterVec(prometheus.CounterOpts{Namespace: "dragoman", Name: name, Help: help}, labels)
	}
	m := &Metrics{
		Stages: measure.NewStages(r, "stage_duration_seconds",
			"Duration of the stages of translations: per sentence for queue and decode, per request for the others.",
			stageDetect, stageSegment, stageTokenize, stageQueue, stageDecode, stageDetokenize),
		vecs: metricVecs{
			records: counters("records_total", "Results, one per record and target language, by the origin of their text.",
				"model", "version", "outcome"),
			flags:      counters("flags_total", "Results that may be wrong, by flag.", "model", "version", "flag"),
			retries:    counters("retries_total", "Sentences that were decoded again with another strategy, by flag.", "model", "version", "flag"),
			characters: counters("characters_total", "Unicode code points of the results' sources and translations.", "model", "version", "side"),
			tokens:     counters("tokens_total", "Tokens of the results' sources and translations.", "model", "version", "side"),
		},
		languages: counters("record_languages_total", "Results, by language of the source and of the translation.", "side", "language"),
		models:    make(map[modelName]*modelMetrics),
	}
	m.KnowLanguages(nil)
	if r != nil {
		r.MustRegister(newCollector(m.Statistics))
	}
	return m
}

// KnowLanguages creates the counters of the offered languages. Other languages are counted together.
func (m *Metrics) KnowLanguages(languages []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sources = measure.CountersOf(m.languages, languages, sideSource)
	m.targets = measure.CountersOf(m.languages, languages, sideTarget)
}

// Know creates the counters of a version of a model or pipeline at zero.
func (m *Metrics) Know(model, version string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(modelName{model, version})
}

// Forget removes the counters of a version that is no longer served.
func (m *Metrics) Forget(model, version string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.models, modelName{model, version})
	labels := prometheus.Labels{"model": model, "version": version}
	for _, vec := range []*prometheus.CounterVec{m.vecs.records, m.vecs.flags, m.vecs.retries, m.vecs.characters, m.vecs.tokens} {
		vec.DeletePartialMatch(labels)
	}
}

// of returns the counters of a model. The caller must hold mu.
func (m *Metrics) of(name modelName) *modelMetrics {
	known := m.models[name]
	if known == nil {
		by := []string{name.model, name.version}
		bySide := func(vec *prometheus.CounterVec) sides {
			return sides{vec.WithLabelValues(name.model, name.version, sideSource), vec.WithLabelValues(name.model, name.version, sideTarget)}
		}
		known = &modelMetrics{
			records:    measure.CountersOf(m.vecs.records, []string{"decoded", "cached", "untouched"}, by...),
			flags:      measure.CountersOf(m.vecs.flags, FlagNames(), by...),
			retries:    measure.CountersOf(m.vecs.retries, FlagNames(), by...),
			characters: bySide(m.vecs.characters),
			tokens:     bySide(m.vecs.tokens),
		}
		m.models[name] = known
	}
	return known
}

// retry counts a retry of a sentence.
func (m *Metrics) retry(by *Model, flag string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(modelName{by.Name, by.Version}).retries.Inc(flag)
}

// Count counts a result and its source text.
func (m *Metrics) Count(source string, r Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.of(modelName{r.Model, r.Version})
	outcome := "untouched" // nothing was translated
	switch {
	case r.Decoded: // at least in part
		outcome = "decoded"
	case r.Cached:
		outcome = "cached"
	}
	of.records.Inc(outcome)
	of.characters.add(utf8.RuneCountInString(source), utf8.RuneCountInString(r.Text))
	of.tokens.add(r.SourceTokens, r.TargetTokens)
	for _, flag := range r.Flags.Names() {
		of.flags.Inc(flag)
	}
	m.sources.Inc(r.From)
	m.targets.Inc(r.To)
}

// newCollector exports [Metrics.Statistics].
func newCollector(statistics func() []Statistics) prometheus.Collector {
	desc := func(name, help, label string) *prometheus.Desc {
		return prometheus.NewDesc("dragoman_model_"+name, help, []string{"model", "version", label}, nil)
	}
	requests := desc("requests_total", "Requests, by the models that they used and by outcome: done or failed.", "outcome")
	ofStages := desc("stage_seconds_total", "Total duration of the stages of translations: of all sentences for queue and decode, of all requests for the others.",
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
