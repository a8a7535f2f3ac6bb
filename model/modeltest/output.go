package modeltest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/search"
)

// TieTolerance is the difference of two scores below which two correct implementations may decide differently. The tolerance is
// far above the rounding of 32-bit floats (some 1e-6 here) and far below the effect of a mistake.
const TieTolerance = 1e-4

// CheckOutput compares a result with the reference's. The two may differ only if scores tie.
func CheckOutput(t *testing.T, setting string, c Case, got search.Result, want Output, eos int64) {
	t.Helper()
	ids := Tokens(c, got, eos)
	if got.Truncated && want.Truncated && want.IDs[len(want.IDs)-1] == eos {
		ids = append(ids, eos) // a forced end
	}
	if !slices.Equal(want.IDs, ids) && want.NearTie(TieTolerance) {
		t.Logf("%s: %q differs where scores tie within %g: %v, reference %v", setting, c.Text, *want.Margin, ids, want.IDs)
		return
	}
	assert.Equal(t, want.IDs, ids, "%s %q %v", setting, c.Text, c.Source)
	assert.Equal(t, want.Truncated, got.Truncated, "%s %q", setting, c.Text)
	if want.Score != 0 {
		assert.InDelta(t, want.Score, got.Score, 1e-3, "%s %q", setting, c.Text)
	}
}

// Check compares a model in single precision with the reference: the candidates of every step of the goldens' traces, and the
// outputs of the cases, up to 16 of them at once, token for token. A batch has at most maxRows rows; 0 means enough for all
// cases.
func (g *Goldens) Check(t *testing.T, m model.Model, cases []Case, maxRows int) {
	t.Helper()
	for _, trace := range g.Traces {
		CheckTrace(t, m, g.Cases[trace.Case], trace)
	}
	for setting, generation := range g.Settings {
		if generation.RepetitionPenalty != 0 && generation.RepetitionPenalty < 1 {
			continue // refused: see package search
		}
		var jobs []Job
		for _, c := range cases {
			if _, ok := c.Outputs[setting]; ok {
				jobs = append(jobs, Job{Case: c, Search: search.DefaultOptions(generation)})
			}
		}
		results, err := Decode(m, jobs, maxRows, func(running int) int { return 16 - running })
		require.NoError(t, err)
		for i, r := range results {
			CheckOutput(t, setting, jobs[i].Case, r, jobs[i].Outputs[setting], m.Spec().EOS)
		}
	}
}

// traceTolerance is the maximum difference of log-probabilities from the reference's.
const traceTolerance = 2e-4

// CheckTrace feeds the tokens of a trace one by one, as a prefix that grows by one token each time, and compares the model's
// candidates: their order only if their scores do not tie.
func CheckTrace(t *testing.T, m model.Model, c Case, trace Trace) {
	t.Helper()
	ids := c.Outputs[trace.Setting].IDs
	b, err := m.NewBatch(model.Limits{Rows: 1, MaxLength: m.Spec().MaxPositions})
	require.NoError(t, err)
	defer func() { assert.NoError(t, b.Close()) }()
	require.NoError(t, b.Join(t.Context(), [][]int64{c.Source}))
	feed := model.Feed{Tokens: ids[:1]}
	for i, want := range trace.Steps {
		got, err := b.Step(t.Context(), []model.Feed{feed}, len(want.IDs))
		require.NoError(t, err)
		checkStep(t, want, got.Row(0), fmt.Sprintf("case %d step %d", trace.Case, i))
		feed = model.Feed{Tokens: ids[i+1 : i+2], Parents: []int{0}}
	}
}

func checkStep(t *testing.T, want Step, got model.Row, name string) {
	t.Helper()
	assert.InDelta(t, want.LogSumExp, got.LogSumExp, traceTolerance, name)
	last := len(want.IDs) - 1 // the last listed token may tie with an unlisted one
	for j, id := range want.IDs {
		assert.InDelta(t, want.LogProbs[j], got.LogProbs[j], traceTolerance, "%s candidate %d", name, j)
		ties := j == last || want.LogProbs[j]-want.LogProbs[j+1] < TieTolerance || j > 0 && want.LogProbs[j-1]-want.LogProbs[j] < TieTolerance
		if !ties {
			assert.Equal(t, id, got.IDs[j], "%s candidate %d", name, j)
		}
	}
}

// Tokens returns a result in the form of the goldens.
func Tokens(c Case, r search.Result, eos int64) []int64 {
	ids := slices.Concat(c.Prefix, r.Tokens)
	if !r.Truncated {
		ids = append(ids, eos)
	}
	return ids
}
