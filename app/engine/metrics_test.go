package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMetrics(t *testing.T) {
	stats := []Stats{{
		QueuedRequests: 1, QueuedSentences: 2, QueuedTokens: 300, RunningSentences: 4, RunningRows: 20, ReservedRows: 25,
		ReservedBytes: 6, SourceTokensPerSecond: 100, SentencesDone: 7, SentencesShared: 8, SentencesCancelled: 9,
		SentencesFailed: 10, RequestsRefused: 11, Joins: 12, PrefilledTokens: 13, Steps: 14, SteppedRows: 15,
		DecodedTokens: 16, BrokenBatches: 17, Waiting: 5 * time.Second, Busy: 10 * time.Second, Joining: 2 * time.Second, Stepping: 7 * time.Second,
	}, {QueuedTokens: 100, SourceTokensPerSecond: 60, RunningRows: 80, Lost: true}}
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(Metrics(func() []Source { return []Source{{Model: "m", Version: "1", Stats: stats, Rows: 80}} })))
	families, err := registry.Gather()
	require.NoError(t, err)
	var all, got strings.Builder
	for _, family := range families {
		_, err := expfmt.MetricFamilyToText(&all, family)
		require.NoError(t, err)
	}
	for line := range strings.Lines(all.String()) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, `worker="1"`) {
			got.WriteString(line)
		}
	}
	assert.Equal(t, `dragoman_batch_occupancy_ratio{model="m",version="1",worker="0"} 0.25
dragoman_batch_reserved_rows{model="m",version="1",worker="0"} 25
dragoman_batch_rows{model="m",version="1",worker="0"} 20
dragoman_batch_rows_limit{model="m",version="1"} 80
dragoman_batch_sentences{model="m",version="1",worker="0"} 4
dragoman_broken_batches_total{model="m",version="1",worker="0"} 17
dragoman_decoded_tokens_total{model="m",version="1",worker="0"} 16
dragoman_joined_tokens_total{model="m",version="1",worker="0"} 13
dragoman_joins_total{model="m",version="1",worker="0"} 12
dragoman_kv_reserved_bytes{model="m",version="1",worker="0"} 6
dragoman_queue_refusals_total{model="m",version="1",worker="0"} 11
dragoman_queue_requests{model="m",version="1",worker="0"} 1
dragoman_queue_sentences{model="m",version="1",worker="0"} 2
dragoman_queue_tokens{model="m",version="1",worker="0"} 300
dragoman_queue_tokens_per_second{model="m",version="1",worker="0"} 100
dragoman_queue_wait_seconds 2.5
dragoman_sentences_total{model="m",outcome="cancelled",version="1",worker="0"} 9
dragoman_sentences_total{model="m",outcome="done",version="1",worker="0"} 7
dragoman_sentences_total{model="m",outcome="failed",version="1",worker="0"} 10
dragoman_sentences_total{model="m",outcome="shared",version="1",worker="0"} 8
dragoman_step_rows_total{model="m",version="1",worker="0"} 15
dragoman_steps_total{model="m",version="1",worker="0"} 14
dragoman_worker_seconds_total{activity="join",model="m",version="1",worker="0"} 2
dragoman_worker_seconds_total{activity="schedule",model="m",version="1",worker="0"} 1
dragoman_worker_seconds_total{activity="step",model="m",version="1",worker="0"} 7
dragoman_worker_seconds_total{activity="wait",model="m",version="1",worker="0"} 5
dragoman_workers{model="m",version="1"} 2
dragoman_workers_lost{model="m",version="1"} 1
`, got.String())
	assert.Contains(t, all.String(), `dragoman_batch_occupancy_ratio{model="m",version="1",worker="1"} 1`)
}

func TestQueueWaitOfWorkers(t *testing.T) {
	for _, test := range []struct {
		name  string
		stats []Stats
		want  float64
	}{
		{"no workers", nil, 0},
		{"nothing has ever waited", []Stats{{}}, 0},
		{"something waits for the first time", []Stats{{QueuedTokens: 100}}, 0},
		{"nothing waits", []Stats{{SourceTokensPerSecond: 10}}, 0},
		{"one worker", []Stats{{QueuedTokens: 100, SourceTokensPerSecond: 10}}, 10},
		{"workers share", []Stats{{QueuedTokens: 100, SourceTokensPerSecond: 10}, {SourceTokensPerSecond: 10}}, 5},
	} {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, queueWait([]Source{{Stats: test.stats}})) })
	}
}
