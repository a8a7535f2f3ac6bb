package modeltest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// CheckRefusals checks that batches of a model of the bundled checkpoint refuse what
// they cannot do, with an error that wraps [model.ErrInput], and go on afterwards.
func CheckRefusals(t *testing.T, m model.Model) {
	t.Helper()
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
		"former parent":    {steps(1, prefix, fan, model.Feed{Tokens: []int64{5}, Parents: []int{1}}, model.Feed{Tokens: []int64{5}, Parents: []int{1}}), "row 1 cannot be a parent"},
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

// CheckDoneContext checks that a batch does nothing for a context that is done.
func CheckDoneContext(t *testing.T, b model.Batch) {
	t.Helper()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, b.Join(done, [][]int64{{8027, 50, 2}}), context.Canceled)
	_, err := b.Step(done, nil, 1)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, b.Len())
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
