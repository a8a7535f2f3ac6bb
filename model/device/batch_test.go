package device_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/device"
	"dragoman/model/modeltest"
	"dragoman/model/ort/orttest"
	"dragoman/model/search"
)

// TestBatchInvariance decodes sentences alone, and then in company that comes and goes
// at random: greedy and beam searches mixed, 1 to 20 sentences at a time. Tokens and
// scores must be the same to the last bit.
func TestBatchInvariance(t *testing.T) {
	m := open(t, orttest.Bundled(), model.FP32)
	var jobs []modeltest.Job
	for i, c := range modeltest.Bundled(t).Cases[:24] {
		j := modeltest.Job{Case: c, Search: search.DefaultOptions(m.Spec().Generation)}
		j.Search.Beams, j.Search.MaxLength = []int{1, 5, 2}[i%3], 40
		jobs = append(jobs, j)
	}
	alone := make([]search.Result, len(jobs))
	for i := range jobs {
		alone[i] = decode(t, m, jobs[i:i+1], func(int) int { return 1 })[0]
	}
	rng := rand.New(rand.NewPCG(3, 4))
	compositions := 0
	for range 2 {
		order := rng.Perm(len(jobs))
		shuffled := make([]modeltest.Job, len(jobs))
		for i, j := range order {
			shuffled[i] = jobs[j]
		}
		results := decode(t, m, shuffled, func(running int) int {
			compositions++
			return rng.IntN(21) - running
		})
		for i, r := range results {
			require.Equal(t, alone[order[i]], r, "%q", shuffled[i].Text)
		}
	}
	assert.Greater(t, compositions, 40)
}

// TestRunsOfAStep feeds more rows than one run has, prefixes among them: the answer is
// that of runs that hold them all.
func TestRunsOfAStep(t *testing.T) {
	m := open(t, orttest.Bundled(), model.FP32)
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

// TestManyCandidates asks for more than a page of them, up to the whole vocabulary.
func TestManyCandidates(t *testing.T) {
	for _, precision := range []model.Precision{model.FP32, model.FP16} {
		t.Run(string(precision), func(t *testing.T) {
			m := open(t, orttest.Bundled(), precision)
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

func TestBatchRefuses(t *testing.T) {
	m := openWith(t, orttest.Bundled(), model.FP32, device.Options{NoGraphs: true})
	good, prefix := []int64{8027, 50, 2}, model.Feed{Tokens: []int64{2, 8057}}
	long := make([]int64, m.Spec().MaxPositions+1)
	fan := model.Feed{Tokens: []int64{5, 6}, Parents: []int{0, 0}}
	for name, c := range map[string]struct {
		use  func(b model.Batch) error
		want string
	}{
		"no sources":       {join(), "join of no sentences"},
		"empty source":     {join(good, nil), "source 1 has 0 tokens: 1 to 1024 are possible"},
		"long source":      {join(good, long), "source 1 has 1025 tokens"},
		"id too large":     {join([]int64{8109}), "token id 8109 is outside of the vocabulary of 8109"},
		"negative id":      {join([]int64{-1}), "token id -1"},
		"too many":         {join(good, good, good, good), "join to 4 sentences: there is room for 3"},
		"no candidates":    {steps(0, prefix), "0 candidates wanted: 1 to 8109 can be had"},
		"many candidates":  {steps(8110, prefix), "8110 candidates wanted"},
		"no tokens":        {steps(1, model.Feed{}), "a feed of no tokens"},
		"long prefix":      {steps(1, model.Feed{Tokens: make([]int64, 11)}), "0 tokens and 11 more: there is room for 10"},
		"early parents":    {steps(1, fan), "2 parents in its first feed"},
		"few parents":      {steps(1, prefix, model.Feed{Tokens: []int64{5, 6}, Parents: []int{0}}), "2 tokens and 1 parents"},
		"unknown parent":   {steps(1, prefix, model.Feed{Tokens: []int64{5, 6}, Parents: []int{0, 1}}), "row 1 cannot be a parent: the last step had 1 rows"},
		"negative parent":  {steps(1, prefix, model.Feed{Tokens: []int64{5}, Parents: []int{-1}}), "row -1 cannot be a parent"},
		"bad token":        {steps(1, prefix, model.Feed{Tokens: []int64{9999}, Parents: []int{0}}), "token id 9999"},
		"too many rows":    {steps(1, prefix, model.Feed{Tokens: make([]int64, 4), Parents: make([]int, 4)}), "1 more rows are needed than the 3"},
		"other feed count": {func(b model.Batch) error { _, err := b.Step(t.Context(), []model.Feed{prefix, prefix}, 1); return err }, "2 feeds for 0 sentences"},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := m.NewBatch(model.Limits{Rows: 3, MaxLength: 10})
			require.NoError(t, err)
			defer func() { assert.NoError(t, b.Close()) }()
			err = c.use(b)
			assert.ErrorContains(t, err, c.want)
			assert.ErrorIs(t, err, model.ErrInput)
			for b.Len() > 0 {
				b.Leave(0)
			}
			assert.NoError(t, steps(2, prefix, fan)(b), "it goes on as if nothing had happened")
		})
	}
	for _, limits := range []model.Limits{{}, {Rows: 1}, {Rows: 1, MaxLength: 1025}, {MaxLength: 5}} {
		_, err := m.NewBatch(limits)
		assert.ErrorIs(t, err, model.ErrInput, "%+v", limits)
	}
}

func TestBatchWithDoneContext(t *testing.T) {
	m := open(t, orttest.Bundled(), model.FP32)
	b, err := m.NewBatch(model.Limits{Rows: 1, MaxLength: 4})
	require.NoError(t, err)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, b.Join(done, [][]int64{{8027, 50, 2}}), context.Canceled)
	_, err = b.Step(done, nil, 1)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, b.Len())

	require.NoError(t, b.Close())
	assert.ErrorContains(t, b.Join(t.Context(), [][]int64{{2}}), "the batch is closed")
	assert.NoError(t, b.Close(), "closing twice is harmless")
}

// TestLongest has a source and a target that go up to the model's last position.
func TestLongest(t *testing.T) {
	m := openWith(t, modeltest.Odd(t)["one-layer"].Dir, model.FP32, device.Options{NoGraphs: true})
	limit := m.Spec().MaxPositions
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

// join returns a call of Join.
func join(sources ...[]int64) func(model.Batch) error {
	return func(b model.Batch) error { return b.Join(context.Background(), sources) }
}

// steps returns a call that lets one sentence join and feeds it.
func steps(k int, feeds ...model.Feed) func(model.Batch) error {
	return func(b model.Batch) error {
		if err := b.Join(context.Background(), [][]int64{{8027, 50, 2}}); err != nil {
			return err
		}
		for _, f := range feeds {
			if _, err := b.Step(context.Background(), []model.Feed{f}, k); err != nil {
				return err
			}
		}
		return nil
	}
}
