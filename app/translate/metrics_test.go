package translate

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m := NewMetrics(registry)
	m.KnowLanguages([]string{"en", "fr"})
	m.Know("a", "1")
	m.Count("é日", Result{Model: "b", Version: "2", Record: Record{Text: "abc"}, From: "en", To: "fr", Decoded: true, Cached: true, SourceTokens: 5, TargetTokens: 6, Flags: Loop | Empty})
	m.Count("", Result{Model: "b", Version: "2", From: "en", To: "tlh", Cached: true})
	m.Count("1", Result{Model: "b", Version: "2", Record: Record{Text: "1"}, To: "fr"})
	assert.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP dragoman_characters_total Unicode code points of the results' sources and translations.
# TYPE dragoman_characters_total counter
dragoman_characters_total{model="a",side="source",version="1"} 0
dragoman_characters_total{model="a",side="target",version="1"} 0
dragoman_characters_total{model="b",side="source",version="2"} 3
dragoman_characters_total{model="b",side="target",version="2"} 4
# HELP dragoman_flags_total Results that may be wrong, by flag.
# TYPE dragoman_flags_total counter
dragoman_flags_total{flag="chatter",model="a",version="1"} 0
dragoman_flags_total{flag="empty",model="a",version="1"} 0
dragoman_flags_total{flag="glossary_missed",model="a",version="1"} 0
dragoman_flags_total{flag="loop",model="a",version="1"} 0
dragoman_flags_total{flag="markup_lost",model="a",version="1"} 0
dragoman_flags_total{flag="other",model="a",version="1"} 0
dragoman_flags_total{flag="refused",model="a",version="1"} 0
dragoman_flags_total{flag="source_echo",model="a",version="1"} 0
dragoman_flags_total{flag="too_short",model="a",version="1"} 0
dragoman_flags_total{flag="truncated",model="a",version="1"} 0
dragoman_flags_total{flag="unsupported_source",model="a",version="1"} 0
dragoman_flags_total{flag="wrong_language",model="a",version="1"} 0
dragoman_flags_total{flag="wrong_script",model="a",version="1"} 0
dragoman_flags_total{flag="chatter",model="b",version="2"} 0
dragoman_flags_total{flag="empty",model="b",version="2"} 1
dragoman_flags_total{flag="glossary_missed",model="b",version="2"} 0
dragoman_flags_total{flag="loop",model="b",version="2"} 1
dragoman_flags_total{flag="markup_lost",model="b",version="2"} 0
dragoman_flags_total{flag="other",model="b",version="2"} 0
dragoman_flags_total{flag="refused",model="b",version="2"} 0
dragoman_flags_total{flag="source_echo",model="b",version="2"} 0
dragoman_flags_total{flag="too_short",model="b",version="2"} 0
dragoman_flags_total{flag="truncated",model="b",version="2"} 0
dragoman_flags_total{flag="unsupported_source",model="b",version="2"} 0
dragoman_flags_total{flag="wrong_language",model="b",version="2"} 0
dragoman_flags_total{flag="wrong_script",model="b",version="2"} 0
# HELP dragoman_record_languages_total Results, by language of the source and of the translation.
# TYPE dragoman_record_languages_total counter
dragoman_record_languages_total{language="en",side="source"} 2
dragoman_record_languages_total{language="en",side="target"} 0
dragoman_record_languages_total{language="fr",side="source"} 0
dragoman_record_languages_total{language="fr",side="target"} 2
dragoman_record_languages_total{language="other",side="source"} 1
dragoman_record_languages_total{language="other",side="target"} 1
# HELP dragoman_records_total Results, one per record and target language, by the origin of their text.
# TYPE dragoman_records_total counter
dragoman_records_total{model="a",outcome="cached",version="1"} 0
dragoman_records_total{model="a",outcome="decoded",version="1"} 0
dragoman_records_total{model="a",outcome="other",version="1"} 0
dragoman_records_total{model="a",outcome="untouched",version="1"} 0
dragoman_records_total{model="b",outcome="cached",version="2"} 1
dragoman_records_total{model="b",outcome="decoded",version="2"} 1
dragoman_records_total{model="b",outcome="other",version="2"} 0
dragoman_records_total{model="b",outcome="untouched",version="2"} 1
# HELP dragoman_tokens_total Tokens of the results' sources and translations.
# TYPE dragoman_tokens_total counter
dragoman_tokens_total{model="a",side="source",version="1"} 0
dragoman_tokens_total{model="a",side="target",version="1"} 0
dragoman_tokens_total{model="b",side="source",version="2"} 5
dragoman_tokens_total{model="b",side="target",version="2"} 6
`), "dragoman_characters_total", "dragoman_flags_total", "dragoman_record_languages_total", "dragoman_records_total", "dragoman_tokens_total"))

	m.Forget("b", "2")
	assert.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP dragoman_characters_total Unicode code points of the results' sources and translations.
# TYPE dragoman_characters_total counter
dragoman_characters_total{model="a",side="source",version="1"} 0
dragoman_characters_total{model="a",side="target",version="1"} 0
`), "dragoman_characters_total"))
}

func TestMetricsOfModels(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m := NewMetrics(registry)
	m.spend([]Statistics{{Model: "a", Version: "1", Succeeded: Total{Count: 2}, Failed: Total{Count: 1}, Queued: time.Second, Decoded: 2 * time.Second}})
	assert.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP dragoman_model_requests_total Requests, by the models that they used and by outcome: done or failed.
# TYPE dragoman_model_requests_total counter
dragoman_model_requests_total{model="a",outcome="done",version="1"} 2
dragoman_model_requests_total{model="a",outcome="failed",version="1"} 1
# HELP dragoman_model_stage_seconds_total Total duration of the stages of translations: of all sentences for queue and decode, of all requests for the others.
# TYPE dragoman_model_stage_seconds_total counter
dragoman_model_stage_seconds_total{model="a",stage="decode",version="1"} 2
dragoman_model_stage_seconds_total{model="a",stage="detokenize",version="1"} 0
dragoman_model_stage_seconds_total{model="a",stage="queue",version="1"} 1
dragoman_model_stage_seconds_total{model="a",stage="tokenize",version="1"} 0
`), "dragoman_model_requests_total", "dragoman_model_stage_seconds_total"))
}
