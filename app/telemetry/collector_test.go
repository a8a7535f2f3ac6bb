package telemetry

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"

	"dragoman/app/engine"
)

// collectorOf reads sources; nil is none yet.
func collectorOf(s *Sources) *collector {
	var w atomic.Pointer[watched]
	if s != nil {
		w.Store(&watched{sources: *s})
	}
	return newCollector(&w)
}

func TestSourcesAreRead(t *testing.T) {
	s := testSources()
	const want = `
# HELP dragoman_batch_occupancy_ratio Rows of the step at hand over the limit; above 1 while a sentence decodes that takes more.
# TYPE dragoman_batch_occupancy_ratio gauge
dragoman_batch_occupancy_ratio{worker="0"} 0.25
dragoman_batch_occupancy_ratio{worker="1"} 1
# HELP dragoman_cache_requests_total Look-ups in the cache of translations.
# TYPE dragoman_cache_requests_total counter
dragoman_cache_requests_total{result="hit"} 1
dragoman_cache_requests_total{result="miss"} 2
# HELP dragoman_model_info What translates; always 1.
# TYPE dragoman_model_info gauge
dragoman_model_info{device="cpu",precision="int8",revision="main",source="owner/name",version="v1"} 1
# HELP dragoman_queue_tokens Source tokens that wait to be decoded.
# TYPE dragoman_queue_tokens gauge
dragoman_queue_tokens{worker="0"} 300
dragoman_queue_tokens{worker="1"} 100
# HELP dragoman_worker_seconds_total Where the time of a worker goes: encoding newcomers (join), decoder steps (step) and its scheduler (schedule).
# TYPE dragoman_worker_seconds_total counter
dragoman_worker_seconds_total{activity="join",worker="0"} 2
dragoman_worker_seconds_total{activity="schedule",worker="0"} 1
dragoman_worker_seconds_total{activity="step",worker="0"} 7
dragoman_worker_seconds_total{activity="join",worker="1"} 0
dragoman_worker_seconds_total{activity="schedule",worker="1"} 0
dragoman_worker_seconds_total{activity="step",worker="1"} 0
`
	assert.NoError(t, testutil.CollectAndCompare(collectorOf(&s), strings.NewReader(want),
		"dragoman_batch_occupancy_ratio", "dragoman_cache_requests_total", "dragoman_model_info", "dragoman_queue_tokens",
		"dragoman_worker_seconds_total"))
}

func TestNoNumberIsLeftOut(t *testing.T) {
	s := testSources()
	got := families(t, newPedantic(t, collectorOf(&s)))
	for name, want := range map[string]float64{
		"queue_requests": 1, "queue_sentences": 2, "queue_tokens": 300, "queue_tokens_per_second": 100,
		"batch_sentences": 4, "batch_rows": 20, "batch_reserved_rows": 25, "kv_reserved_bytes": 6,
		"queue_refusals_total": 11, "joins_total": 12, "joined_tokens_total": 13, "steps_total": 14, "step_rows_total": 15,
		"decoded_tokens_total": 16, "broken_batches_total": 17,
	} {
		assert.Equal(t, want, got["dragoman_"+name]["worker=0"], name)
	}
	for outcome, want := range map[string]float64{"done": 7, "shared": 8, "cancelled": 9, "failed": 10} {
		assert.Equal(t, want, got["dragoman_sentences_total"]["outcome="+outcome+" worker=0"], outcome)
	}
	for name, want := range map[string]float64{
		"workers": 2, "batch_rows_limit": 80, "queue_wait_seconds": 2.5,
		"cache_evictions_total": 3, "cache_entries": 4, "cache_bytes": 5, "cache_limit_bytes": 6,
		"clients": 5, "keys": 6, "keys_file_broken": 1,
	} {
		assert.Equal(t, want, got["dragoman_"+name][""], name)
	}
	assert.Equal(t, map[string]float64{"result=done": 7, "result=failed": 8}, got["dragoman_keys_reloads_total"])
	assert.Equal(t, map[string]float64{"reason=no_key": 1, "reason=wrong_key": 2, "reason=requests": 3, "reason=characters": 4},
		got["dragoman_keys_refusals_total"])
}

func TestReadiness(t *testing.T) {
	for _, test := range []struct {
		name    string
		sources *Sources
		want    float64
	}{
		{"nothing is loaded", nil, 0},
		{"nobody can tell", &Sources{}, 0},
		{"not ready", &Sources{Ready: func() bool { return false }}, 0},
		{"ready", &Sources{Ready: func() bool { return true }}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := families(t, newPedantic(t, collectorOf(test.sources)))
			assert.Equal(t, map[string]float64{"": test.want}, got["dragoman_ready"])
		})
	}
}

func TestQueueWait(t *testing.T) {
	for _, test := range []struct {
		name  string
		stats []engine.Stats
		want  float64
	}{
		{"no workers", nil, 0},
		{"nothing has ever waited", []engine.Stats{{}}, 0},
		{"something waits for the first time", []engine.Stats{{QueuedTokens: 100}}, 0},
		{"nothing waits", []engine.Stats{{SourceTokensPerSecond: 10}}, 0},
		{"one worker", []engine.Stats{{QueuedTokens: 100, SourceTokensPerSecond: 10}}, 10},
		{"workers share", []engine.Stats{{QueuedTokens: 100, SourceTokensPerSecond: 10}, {SourceTokensPerSecond: 10}}, 5},
	} {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, queueWait(test.stats)) })
	}
}

func TestModelInfoHasNoSecrets(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"facebook/m2m100_418M", "facebook/m2m100_418M"},
		{"/models/small", "/models/small"},
		{"", ""},
		{"https://user:password@example.org/m.tar?token=secret#part", "https://example.org/m.tar"},
		{"/models/\xff", "/models/?"}, // no label could have it
	} {
		assert.Equal(t, test.want, ModelInfo{Source: test.source}.labels()[0])
	}
}
