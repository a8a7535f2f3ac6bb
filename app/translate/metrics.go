package translate

import (
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"dragoman/app/telemetry"
)

// The stages of a translation, in their order.
const (
	stageDetect     = "detect"     // find out a text's language
	stageSegment    = "segment"    // split texts, protect markup
	stageTokenize   = "tokenize"   // segments to tokens
	stageQueue      = "queue"      // a sentence waits to join the batch
	stageDecode     = "decode"     // a sentence is encoded and decoded, beside others
	stageDetokenize = "detokenize" // tokens to text, markup restored, what looks wrong
)

// Metrics count what a [Service] translates. They are safe for concurrent use.
type Metrics struct {
	Stages telemetry.Stages

	records, flags, retries telemetry.Counters
	characters, tokens      sides
	languages               *prometheus.CounterVec
	sources, targets        telemetry.Counters // by language
}

// sides are the counters of the sources and of the translations.
type sides struct{ source, target prometheus.Counter }

func (s sides) add(source, target int) {
	s.source.Add(float64(source))
	s.target.Add(float64(target))
}

// NewMetrics makes the metrics of translations. A nil registry has none.
func NewMetrics(r prometheus.Registerer) *Metrics {
	factory := promauto.With(r)
	bySide := func(name, help string, more ...string) *prometheus.CounterVec {
		return factory.NewCounterVec(prometheus.CounterOpts{Namespace: "dragoman", Name: name, Help: help}, append([]string{"side"}, more...))
	}
	newSides := func(name, help string) sides {
		vec := bySide(name, help)
		return sides{vec.WithLabelValues("source"), vec.WithLabelValues("target")}
	}
	m := &Metrics{
		Stages: telemetry.NewStages(r, "stage_duration_seconds",
			"Time of the stages of translations: of each sentence in queue and decode, of all texts of a request in the others.",
			stageDetect, stageSegment, stageTokenize, stageQueue, stageDecode, stageDetokenize),
		records: telemetry.NewCounters(r, "records_total", "Results, one for each record and target language, by where their text comes from.",
			"outcome", []string{"decoded", "cached", "untouched"}),
		flags:      telemetry.NewCounters(r, "flags_total", "Results that may not be right, by what was noticed.", "flag", FlagNames()),
		retries:    telemetry.NewCounters(r, "retries_total", "Sentences that were decoded again in another way, by what was noticed.", "flag", FlagNames()),
		characters: newSides("characters_total", "Unicode code points of the results' sources and translations."),
		tokens:     newSides("tokens_total", "Tokens of the results' sources and translations."),
		languages:  bySide("record_languages_total", "Results by the language of the source and by that of the translation.", "language"),
	}
	m.know(nil)
	return m
}

// know makes the counters of a model's languages, before anything is counted.
func (m *Metrics) know(languages []string) {
	m.sources = telemetry.CountersOf(m.languages, languages, "source")
	m.targets = telemetry.CountersOf(m.languages, languages, "target")
}

// Count counts a result and the text that it is the translation of.
func (m *Metrics) Count(source string, r Result) {
	outcome := "untouched" // there was nothing to translate
	switch {
	case r.Decoded: // in part at least
		outcome = "decoded"
	case r.Cached:
		outcome = "cached"
	}
	m.records.Inc(outcome)
	m.characters.add(utf8.RuneCountInString(source), utf8.RuneCountInString(r.Text))
	m.tokens.add(r.SourceTokens, r.TargetTokens)
	for _, flag := range r.Flags.Names() {
		m.flags.Inc(flag)
	}
	m.sources.Inc(r.From)
	m.targets.Inc(r.To)
}
