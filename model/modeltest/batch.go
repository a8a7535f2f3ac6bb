package modeltest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/search"
)

// CheckRefusals checks that batches of a model of the bundled checkpoint refuse what
// they cannot do, with an error that wraps [model.ErrInput], and go on afterwards.
func CheckRefusals(t *testing.T, m model.Model) {
	t.Helper()
	good, prefix := []int64{30, 50, 2}, model.Feed{Tokens: []int64{2, 60}}
	longest, vocab := m.Spec().MaxPositions, m.Spec().VocabSize
	long := make([]int64, longest+1)
	fan := model.Feed{Tokens: []int64{5, 6}, Parents: []int{0, 0}}
	for name, c := range map[string]struct {
		use  func(b model.Batch) error
		want string
	}{
		"no sources":       {join(), "join of no sentences"},
		"empty source":     {join(good, nil), fmt.Sprintf("source 1 has 0 tokens: 1 to %d are possible", longest)},
		"long source":      {join(good, long), fmt.Sprintf("source 1 has %d tokens", longest+1)},
		"id too large":     {join([]int64{int64(vocab)}), fmt.Sprintf("token id %d is outside of the vocabulary of %d", vocab, vocab)},
		"negative id":      {join([]int64{-1}), "token id -1"},
		"too many":         {join(good, good, good, good), "join to 4 sentences: there is room for 3"},
		"no candidates":    {steps(0, prefix), fmt.Sprintf("0 candidates wanted: 1 to %d can be had", vocab)},
		"many candidates":  {steps(vocab+1, prefix), fmt.Sprintf("%d candidates wanted", vocab+1)},
		"no tokens":        {steps(1, model.Feed{}), "a feed of no tokens"},
		"long prefix":      {steps(1, model.Feed{Tokens: make([]int64, 11)}), "0 tokens and 11 more: there is room for 10"},
		"early parents":    {steps(1, fan), "2 parents in its first feed"},
		"few parents":      {steps(1, prefix, model.Feed{Tokens: []int64{5, 6}, Parents: []int{0}}), "2 tokens and 1 parents"},
		"unknown parent":   {steps(1, prefix, model.Feed{Tokens: []int64{5, 6}, Parents: []int{0, 1}}), "row 1 cannot be a parent: the last step had 1 rows"},
		"former parent":    {steps(1, prefix, fan, model.Feed{Tokens: []int64{5}, Parents: []int{1}}, model.Feed{Tokens: []int64{5}, Parents: []int{1}}), "row 1 cannot be a parent"},
		"negative parent":  {steps(1, prefix, model.Feed{Tokens: []int64{5}, Parents: []int{-1}}), "row -1 cannot be a parent"},
		"bad token":        {steps(1, prefix, model.Feed{Tokens: []int64{1e6}, Parents: []int{0}}), "token id 1000000"},
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
	for _, limits := range []model.Limits{{}, {Rows: 1}, {Rows: 1, MaxLength: longest + 1}, {MaxLength: 5}} {
		_, err := m.NewBatch(limits)
		assert.ErrorIs(t, err, model.ErrInput, "%+v", limits)
	}
}

// CheckDoneContext checks that a batch does nothing for a context that is done.
func CheckDoneContext(t *testing.T, b model.Batch) {
	t.Helper()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, b.Join(done, [][]int64{{30, 50, 2}}), context.Canceled)
	_, err := b.Step(done, nil, 1)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, b.Len())
}

// CheckInvariance checks that it does not matter in what company a sentence is: it decodes
// jobs alone, and rounds times in an order and in batches that are random, of up to 20
// sentences. Tokens and scores must be the same to the last bit. maxRows is Decode's.
func CheckInvariance(t *testing.T, m model.Model, jobs []Job, maxRows, rounds int) {
	t.Helper()
	alone := make([]search.Result, len(jobs))
	for i := range jobs {
		results, err := Decode(m, jobs[i:i+1], maxRows, func(int) int { return 1 })
		require.NoError(t, err)
		alone[i] = results[0]
	}
	rng := rand.New(rand.NewPCG(3, 4))
	compositions := 0
	for range rounds {
		order := rng.Perm(len(jobs))
		shuffled := make([]Job, len(jobs))
		for i, j := range order {
			shuffled[i] = jobs[j]
		}
		results, err := Decode(m, shuffled, maxRows, func(running int) int {
			compositions++
			return rng.IntN(21) - running
		})
		require.NoError(t, err)
		for i, r := range results {
			require.Equal(t, alone[order[i]], r, "%q", shuffled[i].Text)
		}
	}
	t.Logf("%d sentences in %d batch compositions", rounds*len(jobs), compositions)
	assert.Greater(t, compositions, rounds*len(jobs)/2)
}

// join returns a call of Join.
func join(sources ...[]int64) func(model.Batch) error {
	return func(b model.Batch) error { return b.Join(context.Background(), sources) }
}

// steps returns a call that lets one sentence join and feeds it.
func steps(k int, feeds ...model.Feed) func(model.Batch) error {
	return func(b model.Batch) error {
		if err := b.Join(context.Background(), [][]int64{{30, 50, 2}}); err != nil {
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
