package cuda_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/cuda"
	"dragoman/model/modeltest"
)

// TestBatchInvariance decodes sentences alone, and then in random batches: mixed greedy and beam searches, 1 to 20 sentences at
// a time. Tokens and scores must be equal to the last bit.
func TestBatchInvariance(t *testing.T) {
	m := open(t, cputest.Bundled(), model.FP32)
	modeltest.CheckInvariance(t, m, modeltest.MixedJobs(m, modeltest.Sample(3, modeltest.Bundled(t).Cases[:24]), 40), maxRows, 2)
	for _, precision := range []model.Precision{model.FP32, model.FP16} {
		t5 := modeltest.Families(t)["t5-trained"]
		m := open(t, t5.Dir, precision)
		modeltest.CheckInvariance(t, m, modeltest.MixedJobs(m, t5.Cases, 40), maxRows, 4)
	}
}

// TestRunsOfAStep feeds more rows than fit into one run, including prefixes. The results equal those of a larger run.
func TestRunsOfAStep(t *testing.T) {
	m := open(t, cputest.Bundled(), model.FP32)
	sources := [][]int64{{8027, 50, 2}, {8027, 60, 70, 2}, {8027, 2}}
	long := make([]int64, 40)
	for i := range long {
		long[i] = int64(100 + i)
	}
	feeds := []model.Feed{{Tokens: long[:13]}, {Tokens: long}, {Tokens: long[5:7]}}
	answer := func(rows int) []model.Row {
		b, err := m.NewBatch(model.Limits{Rows: rows, MaxLength: 50})
		require.NoError(t, err)
		defer b.Close()
		require.NoError(t, b.Join(t.Context(), sources))
		_, err = b.Step(t.Context(), feeds, 3)
		require.NoError(t, err)
		next := make([]model.Feed, 3)
		for i := range next {
			next[i] = model.Feed{Tokens: []int64{7}, Parents: []int{0}}
		}
		c, err := b.Step(t.Context(), next, 3)
		require.NoError(t, err)
		return []model.Row{c.Row(0), c.Row(1), c.Row(2)}
	}
	assert.Equal(t, answer(100), answer(3))
}

// TestManyCandidates asks for more than a page of candidates, up to the whole vocabulary.
func TestManyCandidates(t *testing.T) {
	for _, precision := range []model.Precision{model.FP32, model.FP16} {
		t.Run(string(precision), func(t *testing.T) {
			m := open(t, cputest.Bundled(), precision)
			vocab := m.Spec().VocabSize
			rows := map[int]model.Row{}
			for _, k := range []int{32, 33, 100, vocab} {
				b, err := m.NewBatch(model.Limits{Rows: 1, MaxLength: 4})
				require.NoError(t, err)
				require.NoError(t, b.Join(t.Context(), [][]int64{{8027, 50, 2}}))
				c, err := b.Step(t.Context(), []model.Feed{{Tokens: []int64{2, 8057}}}, k)
				require.NoError(t, err)
				rows[k] = c.Row(0)
				require.NoError(t, b.Close())
			}
			seen := map[int64]bool{}
			sum := 0.0
			for i, id := range rows[vocab].IDs {
				require.False(t, seen[id], "id %d comes twice", id)
				seen[id] = true
				sum += math.Exp(float64(rows[vocab].LogProbs[i]))
				if i > 0 {
					require.GreaterOrEqual(t, rows[vocab].LogProbs[i-1], rows[vocab].LogProbs[i])
				}
			}
			assert.Len(t, seen, vocab)
			assert.InDelta(t, 1, sum, 1e-3)
			assert.Equal(t, rows[vocab].IDs[:100], rows[100].IDs)
			assert.Equal(t, rows[vocab].IDs[:33], rows[33].IDs)
			assert.InDelta(t, rows[33].LogSumExp, rows[32].LogSumExp, 1e-6)
			if precision == model.FP32 {
				assert.Equal(t, rows[33].IDs[:32], rows[32].IDs)
			}
		})
	}
}

// TestLongest has a source and a target up to the model's last position.
func TestLongest(t *testing.T) {
	m := openWith(t, modeltest.Odd(t)["one-layer"].Dir, model.FP32, cuda.Options{NoGraphs: true})
	limit := m.Spec().MaxPositions
	_, err := m.NewBatch(model.Limits{Rows: 1, MaxLength: limit + 1})
	assert.ErrorIs(t, err, model.ErrInput)
	b, err := m.NewBatch(model.Limits{Rows: 1, MaxLength: limit})
	require.NoError(t, err)
	defer b.Close()
	source := make([]int64, limit)
	for i := range source {
		source[i] = int64(4 + i%100)
	}
	require.NoError(t, b.Join(t.Context(), [][]int64{source}))
	_, err = b.Step(t.Context(), []model.Feed{{Tokens: source[:limit-2]}}, 1)
	require.NoError(t, err)
	next := []model.Feed{{Tokens: []int64{50}, Parents: []int{0}}}
	for range 2 {
		_, err = b.Step(t.Context(), next, 1)
		require.NoError(t, err)
	}
	_, err = b.Step(t.Context(), next, 1)
	assert.ErrorContains(t, err, fmt.Sprintf("%d tokens and 1 more: there is room for %d", limit, limit))
}
