package translate

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m := NewMetrics(registry)
	m.know([]string{"en", "fr"})
	m.Count("é日", Result{Record: Record{Text: "abc"}, From: "en", To: "fr", Decoded: true, Cached: true, SourceTokens: 5, TargetTokens: 6, Flags: Loop | Empty})
	m.Count("", Result{From: "en", To: "tlh", Cached: true})
	m.Count("1", Result{Record: Record{Text: "1"}, To: "fr"})
	assert.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP dragoman_characters_total Unicode code points of the results' sources and translations.
# TYPE dragoman_characters_total counter
dragoman_characters_total{side="source"} 3
dragoman_characters_total{side="target"} 4
# HELP dragoman_flags_total Results that may not be right, by what was noticed.
# TYPE dragoman_flags_total counter
dragoman_flags_total{flag="empty"} 1
dragoman_flags_total{flag="loop"} 1
dragoman_flags_total{flag="markup_lost"} 0
dragoman_flags_total{flag="other"} 0
dragoman_flags_total{flag="source_echo"} 0
dragoman_flags_total{flag="truncated"} 0
dragoman_flags_total{flag="wrong_script"} 0
# HELP dragoman_record_languages_total Results by the language of the source and by that of the translation.
# TYPE dragoman_record_languages_total counter
dragoman_record_languages_total{language="en",side="source"} 2
dragoman_record_languages_total{language="en",side="target"} 0
dragoman_record_languages_total{language="fr",side="source"} 0
dragoman_record_languages_total{language="fr",side="target"} 2
dragoman_record_languages_total{language="other",side="source"} 1
dragoman_record_languages_total{language="other",side="target"} 1
# HELP dragoman_records_total Results, one for each record and target language, by where their text comes from.
# TYPE dragoman_records_total counter
dragoman_records_total{outcome="cached"} 1
dragoman_records_total{outcome="decoded"} 1
dragoman_records_total{outcome="other"} 0
dragoman_records_total{outcome="untouched"} 1
# HELP dragoman_tokens_total Tokens of the results' sources and translations.
# TYPE dragoman_tokens_total counter
dragoman_tokens_total{side="source"} 5
dragoman_tokens_total{side="target"} 6
`), "dragoman_characters_total", "dragoman_flags_total", "dragoman_record_languages_total", "dragoman_records_total", "dragoman_tokens_total"))
}
