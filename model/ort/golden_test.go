package ort_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/modeltest"
	"dragoman/model/ort/orttest"
	"dragoman/model/search"
)

func TestGoldensOfBundledCheckpoint(t *testing.T) { checkGoldens(t, modeltest.Bundled(t)) }

func TestGoldensOfOddCheckpoints(t *testing.T) {
	for name, g := range modeltest.Odd(t) {
		t.Run(name, func(t *testing.T) { checkGoldens(t, g) })
	}
}

// checkGoldens compares an fp32 export with Hugging Face: the candidates of every
// step of a trace, and every output token for token.
func checkGoldens(t *testing.T, g *modeltest.Goldens) {
	m := orttest.Open(t, g.Dir, model.FP32)
	for _, trace := range g.Traces {
		checkTrace(t, m, g.Cases[trace.Case], trace)
	}
	for setting, generation := range g.Settings {
		if generation.RepetitionPenalty != 0 && generation.RepetitionPenalty < 1 {
			continue // refused: see package search
		}
		var cases []modeltest.Case
		for _, c := range g.Cases {
			if _, ok := c.Outputs[setting]; ok {
				cases = append(cases, c)
			}
		}
		results := decode(t, m, search.DefaultOptions(generation), cases)
		for i, c := range cases {
			modeltest.CheckOutput(t, setting, c, results[i], c.Outputs[setting], m.Spec().EOS)
		}
	}
}

// checkTrace feeds the tokens of a trace one by one, as a prefix that is one
// longer each time would be, and compares what the model answers.
func checkTrace(t *testing.T, m model.Model, c modeltest.Case, trace modeltest.Trace) {
	t.Helper()
	ids := c.Outputs[trace.Setting].IDs
	b, err := m.NewBatch(model.Limits{Rows: 1, MaxLength: m.Spec().MaxPositions})
	require.NoError(t, err)
	defer b.Close()
	require.NoError(t, b.Join(t.Context(), [][]int64{c.Source}))
	got, err := b.Step(t.Context(), []model.Feed{{Tokens: ids[:1]}}, len(trace.Steps[0].IDs))
	for i, want := range trace.Steps {
		require.NoError(t, err)
		row := got.Row(0)
		assert.InDeltaSlice(t, want.LogProbs, float64s(row.LogProbs), 2e-4, "case %d step %d", trace.Case, i)
		assert.InDelta(t, want.LogSumExp, row.LogSumExp, 2e-4, "case %d step %d", trace.Case, i)
		for j := range want.IDs {
			if j+1 < len(want.IDs) && want.LogProbs[j]-want.LogProbs[j+1] < modeltest.TieTolerance ||
				j > 0 && want.LogProbs[j-1]-want.LogProbs[j] < modeltest.TieTolerance {
				continue
			}
			if j+1 < len(want.IDs) { // the last may tie with what is not listed
				assert.Equal(t, want.IDs[j], row.IDs[j], "case %d step %d candidate %d", trace.Case, i, j)
			}
		}
		if i+1 < len(trace.Steps) {
			got, err = b.Step(t.Context(), []model.Feed{{Tokens: ids[i+1 : i+2], Parents: []int{0}}}, len(trace.Steps[i+1].IDs))
		}
	}
}

// decode translates cases in one batch that holds up to 16 sentences: others join
// as some leave, so rows of all lengths decode together.
func decode(t testing.TB, m model.Model, opts search.Options, cases []modeltest.Case) []search.Result {
	t.Helper()
	jobs := make([]modeltest.Job, len(cases))
	for i, c := range cases {
		jobs[i] = modeltest.Job{Case: c, Search: opts}
	}
	return decodeMixed(t, m, jobs, func(running int) int { return 16 - running })
}

// decodeMixed is modeltest.Decode with room for all jobs.
func decodeMixed(t testing.TB, m model.Model, jobs []modeltest.Job, room func(running int) int) []search.Result {
	t.Helper()
	results, err := modeltest.Decode(m, jobs, 0, room)
	require.NoError(t, err)
	return results
}

func float64s(values []float32) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}
