package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Values of the label side.
const (
	sourceSide = "source"
	targetSide = "target"
)

// Outcome says where the text of a result comes from.
type Outcome string

// The outcomes.
const (
	Decoded   Outcome = "decoded"   // the model made it, in part at least
	Cached    Outcome = "cached"    // it was in the cache
	Untouched Outcome = "untouched" // it is the source: there was nothing to translate
)

// Translation is a result as it is counted.
type Translation struct {
	// From and To are codes of the model's languages.
	From, To string
	Outcome  Outcome
	// SourceCharacters and TargetCharacters are Unicode code points.
	SourceCharacters, TargetCharacters int
	SourceTokens, TargetTokens         int
}

// textMetrics count what is translated.
type textMetrics struct {
	records                            counters
	flags, retries                     counters
	sourceCharacters, targetCharacters prometheus.Counter
	sourceTokens, targetTokens         prometheus.Counter
}

func newTextMetrics(factory promauto.Factory, flags []string) textMetrics {
	bySide := func(name, help string) (source, target prometheus.Counter) {
		vec := factory.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, []string{"side"})
		return vec.WithLabelValues(sourceSide), vec.WithLabelValues(targetSide)
	}
	var t textMetrics
	t.sourceCharacters, t.targetCharacters = bySide("characters_total", "Unicode code points of the results' sources and translations.")
	t.sourceTokens, t.targetTokens = bySide("tokens_total", "Tokens of the results' sources and translations.")
	t.records = newByLabel(factory, "records_total", "Results, one for each record and target language, by where their text comes from.",
		"outcome", names(Decoded, Cached, Untouched))
	t.flags = newByLabel(factory, "flags_total", "Results that may not be right, by what was noticed.", "flag", flags)
	t.retries = newByLabel(factory, "retries_total", "Sentences that were decoded again in another way, by what was noticed.", "flag", flags)
	return t
}

// Translated counts a result.
func (m *Metrics) Translated(t Translation) {
	if m == nil {
		return
	}
	m.texts.records.get(string(t.Outcome)).Inc()
	m.texts.sourceCharacters.Add(float64(t.SourceCharacters))
	m.texts.targetCharacters.Add(float64(t.TargetCharacters))
	m.texts.sourceTokens.Add(float64(t.SourceTokens))
	m.texts.targetTokens.Add(float64(t.TargetTokens))
	if w := m.watched.Load(); w != nil {
		w.source.get(t.From).Inc()
		w.target.get(t.To).Inc()
	}
}

// Flagged counts a flag of a result.
func (m *Metrics) Flagged(flag string) {
	if m != nil {
		m.texts.flags.get(flag).Inc()
	}
}

// Retried counts a sentence that is decoded again because of a flag.
func (m *Metrics) Retried(flag string) {
	if m != nil {
		m.texts.retries.get(flag).Inc()
	}
}

// Reason says why a request was refused before anything was done for it.
type Reason string

// The reasons.
const (
	QueueFull    Reason = "queue_full"    // too much waits already, or would for too long
	Deadline     Reason = "deadline"      // it cannot be done in the time that the client gives
	RateLimit    Reason = "rate_limit"    // its key has had its share
	Unauthorized Reason = "unauthorized"  // its key is missing or unknown
	TooLarge     Reason = "too_large"     // its body, or the number of its records
	NotReady     Reason = "not_ready"     // the model is loading
	ShuttingDown Reason = "shutting_down" // the service is about to end
)

// Cause says why a request ended before its answer was complete.
type Cause string

// The causes.
const (
	ClientGone  Cause = "client_gone" // the client did not wait
	TimedOut    Cause = "timeout"     // it took longer than a request may
	Interrupted Cause = "shutdown"    // it was cut off when the service ended
)

// faultMetrics count what does not go well.
type faultMetrics struct {
	errors        counters
	refusals      counters
	cancellations counters
}

func newFaultMetrics(factory promauto.Factory, codes []string) faultMetrics {
	return faultMetrics{
		errors: newByLabel(factory, "errors_total", "Errors that requests were answered with, within a stream too, by code.",
			"code", codes),
		refusals: newByLabel(factory, "refusals_total", "Requests that were refused before anything was done for them, by reason.",
			"reason", names(QueueFull, Deadline, RateLimit, Unauthorized, TooLarge, NotReady, ShuttingDown)),
		cancellations: newByLabel(factory, "cancellations_total", "Requests that ended before their answer was complete, by cause.",
			"cause", names(ClientGone, TimedOut, Interrupted)),
	}
}

// names are the label values of constants.
func names[T ~string](constants ...T) []string {
	list := make([]string, len(constants))
	for i, constant := range constants {
		list[i] = string(constant)
	}
	return list
}

// Failed counts an error that a request was answered with, refusals included.
func (m *Metrics) Failed(code string) {
	if m != nil {
		m.faults.errors.get(code).Inc()
	}
}

// Refused counts a request that nothing was done for.
func (m *Metrics) Refused(r Reason) {
	if m != nil {
		m.faults.refusals.get(string(r)).Inc()
	}
}

// Cancelled counts a request that ended before its answer was complete.
func (m *Metrics) Cancelled(c Cause) {
	if m != nil {
		m.faults.cancellations.get(string(c)).Inc()
	}
}
