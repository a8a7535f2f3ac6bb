package cpu_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/modeltest"
	"dragoman/model/search"
)

// TestPrecisions reports the share of greedy translations that equal those in fp32. It fails far below the measured shares (see
// docs/benchmarks.md).
func TestPrecisions(t *testing.T) {
	cases := modeltest.Sample(2, modeltest.Bundled(t).Cases)
	for precision, floor := range map[model.Precision]float64{model.INT8: 0.92, model.FP16: 0.99} {
		t.Run(string(precision), func(t *testing.T) {
			same := identical(t, precision, cases)
			t.Logf("%s: %.1f%% of %d greedy translations are those of Hugging Face in fp32", precision, 100*same, len(cases))
			assert.GreaterOrEqual(t, same, floor)
		})
	}
}

// identical returns the share of greedy translations that equal the reference.
func identical(t testing.TB, precision model.Precision, cases []modeltest.Case) float64 {
	m := cputest.Open(t, cputest.Bundled(), precision)
	opts := search.Options{Beams: 1, MaxLength: 200, LengthPenalty: 1, EarlyStopping: search.StopEarly, RepetitionPenalty: 1}
	same := 0
	for i, r := range decode(t, m, opts, cases) {
		want := cases[i].Outputs["greedy"]
		ids := want.IDs[len(cases[i].Prefix):]
		if !want.Truncated {
			ids = ids[:len(ids)-1]
		}
		if slices.Equal(ids, r.Tokens) {
			same++
		}
	}
	return float64(same) / float64(len(cases))
}

// TestLongestTarget decodes up to the model's last position, but not further.
func TestLongestTarget(t *testing.T) {
	m := cputest.Open(t, cputest.Bundled(), model.INT8)
	limit := m.Spec().MaxPositions
	_, err := m.NewBatch(model.Limits{Rows: 1, MaxLength: limit + 1})
	assert.ErrorIs(t, err, model.ErrInput)
	b, err := m.NewBatch(model.Limits{Rows: 1, MaxLength: limit})
	require.NoError(t, err)
	defer b.Close()
	require.NoError(t, b.Join(t.Context(), [][]int64{{8027, 50, 2}}))
	_, err = b.Step(t.Context(), []model.Feed{{Tokens: []int64{2, 8057}}}, 1)
	require.NoError(t, err)
	next := []model.Feed{{Tokens: []int64{50}, Parents: []int{0}}}
	for fed := 2; fed < limit; fed++ {
		_, err = b.Step(t.Context(), next, 1)
		require.NoError(t, err)
	}
	_, err = b.Step(t.Context(), next, 1)
	assert.ErrorContains(t, err, "1024 tokens and 1 more: there is room for 1024")
}

// The encoder processes a long source in several calls, with decoder steps of another sentence between them. A batch can be
// closed in between.
func TestEncoderRests(t *testing.T) {
	m := cputest.Open(t, cputest.Bundled(), model.INT8)
	b, err := m.NewBatch(model.Limits{Rows: 3, MaxLength: 300})
	require.NoError(t, err)
	defer b.Close()
	source := slices.Repeat([]int64{50}, 300)
	e, err := b.Begin(t.Context(), source)
	require.NoError(t, err)
	require.NoError(t, b.Join(t.Context(), [][]int64{{8027, 50, 2}}))
	pieces, feed := 0, model.Feed{Tokens: []int64{2, 8057}}
	for done := false; !done; pieces++ {
		done, err = e.Continue(t.Context(), 0)
		require.NoError(t, err)
		if feeds := []model.Feed{feed}; !done {
			_, err = b.Step(t.Context(), feeds, 1)
			require.NoError(t, err)
			feed = model.Feed{Tokens: []int64{50}, Parents: []int{0}}
		}
	}
	assert.Greater(t, pieces, 20)
	assert.Equal(t, 2, b.Len())

	e, err = b.Begin(t.Context(), source)
	require.NoError(t, err)
	done, err := e.Continue(t.Context(), 0)
	require.NoError(t, err)
	assert.False(t, done)
	require.NoError(t, b.Close())
}
