package ort_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/modeltest"
	"dragoman/model/ort/orttest"
	"dragoman/model/search"
)

// TestBatchInvariance decodes sentences alone and in company that comes and goes
// at random: tokens must be the same. So must scores, but for rounding: padding
// changes the order in which attention adds up, and in int8 a last bit of that can
// tip an activation to the next of its 255 levels.
func TestBatchInvariance(t *testing.T) {
	cases := modeltest.Bundled(t).Cases[:120]
	for precision, rounding := range map[model.Precision]float64{model.FP32: 1e-5, model.INT8: 5e-3} {
		for _, beams := range []int{1, 3} {
			t.Run(string(precision), func(t *testing.T) {
				m := orttest.Open(t, orttest.Bundled(), precision)
				opts := search.DefaultOptions(m.Spec().Generation)
				opts.Beams, opts.MaxLength = beams, 60
				var alone []search.Result
				for _, c := range cases {
					alone = append(alone, decode(t, m, opts, []modeltest.Case{c})...)
				}
				order := rand.New(rand.NewPCG(3, uint64(beams))).Perm(len(cases))
				shuffled := make([]modeltest.Case, len(cases))
				for i, j := range order {
					shuffled[i] = cases[j]
				}
				for i, r := range decode(t, m, opts, shuffled) {
					want := alone[order[i]]
					assert.Equal(t, want.Tokens, r.Tokens, "%q", shuffled[i].Text)
					assert.InDelta(t, want.Score, r.Score, rounding, "%q", shuffled[i].Text)
				}
			})
		}
	}
}

// TestPrecisions reports how many greedy translations of the goldens are the same
// as in fp32 and fails far below what was measured (see docs/benchmarks.md).
func TestPrecisions(t *testing.T) {
	cases := modeltest.Bundled(t).Cases
	for precision, floor := range map[model.Precision]float64{model.INT8: 0.92, model.FP16: 0.99} {
		t.Run(string(precision), func(t *testing.T) {
			same := identical(t, precision, cases)
			t.Logf("%s: %.1f%% of %d greedy translations are those of Hugging Face in fp32", precision, 100*same, len(cases))
			assert.GreaterOrEqual(t, same, floor)
		})
	}
}

// identical is the share of greedy translations that are those of the reference.
func identical(t testing.TB, precision model.Precision, cases []modeltest.Case) float64 {
	m := orttest.Open(t, orttest.Bundled(), precision)
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

func TestBatchRefuses(t *testing.T) {
	m := orttest.Open(t, orttest.Bundled(), model.INT8)
	good := model.Source{IDs: []int64{8027, 50, 2}, Prefix: []int64{2, 8057}}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	long := make([]int64, m.Spec().MaxPositions+1)
	for name, c := range map[string]struct {
		use  func(b model.Batch) error
		want string
	}{
		"no sources":         {join(t.Context(), 2), "join of no sentences"},
		"empty source":       {join(t.Context(), 2, model.Source{Prefix: good.Prefix}), "source 0 has 0 tokens: 1 to 1024 are possible"},
		"long source":        {join(t.Context(), 2, good, model.Source{IDs: long, Prefix: good.Prefix}), "source 1 has 1025 tokens"},
		"empty prefix":       {join(t.Context(), 2, model.Source{IDs: good.IDs}), "prefix of 0 tokens"},
		"different prefixes": {join(t.Context(), 2, good, model.Source{IDs: good.IDs, Prefix: []int64{2}}), "source 1 has a prefix of 1 tokens"},
		"id too large":       {join(t.Context(), 2, model.Source{IDs: []int64{8109}, Prefix: good.Prefix}), "token id 8109 is outside of the vocabulary of 8109"},
		"negative id":        {join(t.Context(), 2, model.Source{IDs: good.IDs, Prefix: []int64{-1}}), "token id -1"},
		"no candidates":      {join(t.Context(), 0, good), "0 candidates wanted: 1 to 8109 can be had"},
		"too many":           {join(t.Context(), 8110, good), "8110 candidates wanted"},
		"cancelled":          {join(cancelled, 2, good), "context canceled"},
		"empty step":         {step(t.Context(), nil, nil), "step with 0 tokens and 0 parents for 0 sentences of 2 rows"},
		"few tokens":         {afterJoin(good, step(t.Context(), []int64{5}, []int{0})), "step with 1 tokens and 1 parents for 1 sentences of 2 rows"},
		"unfanned parent":    {afterJoin(good, step(t.Context(), []int64{5, 6}, []int{0, 1})), "sentence 0: row 1 cannot be a parent"},
		"negative parent":    {afterJoin(good, step(t.Context(), []int64{5, 6}, []int{0, -1})), "row -1 cannot be a parent"},
		"bad token":          {afterJoin(good, step(t.Context(), []int64{5, 9999}, []int{0, 0})), "token id 9999"},
		"cancelled step":     {afterJoin(good, step(cancelled, []int64{5, 6}, []int{0, 0})), "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := m.NewBatch(2)
			require.NoError(t, err)
			defer func() { assert.NoError(t, b.Close()) }()
			assert.ErrorContains(t, c.use(b), c.want)
			_, err = b.Join(t.Context(), []model.Source{good}, 2)
			assert.ErrorContains(t, err, "the batch is broken")
		})
	}
	_, err := m.NewBatch(0)
	assert.ErrorContains(t, err, "a batch of 0 rows per sentence")
}

func TestClosedBatch(t *testing.T) {
	m := orttest.Open(t, orttest.Bundled(), model.INT8)
	b, err := m.NewBatch(1)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	_, err = b.Join(t.Context(), []model.Source{{IDs: []int64{2}, Prefix: []int64{2}}}, 1)
	assert.ErrorContains(t, err, "the batch is closed")
	assert.NoError(t, b.Close(), "closing twice is harmless")
}

// TestLongestTarget decodes up to the model's last position and not beyond.
func TestLongestTarget(t *testing.T) {
	m := orttest.Open(t, orttest.Bundled(), model.INT8)
	b, err := m.NewBatch(1)
	require.NoError(t, err)
	defer b.Close()
	_, err = b.Join(t.Context(), []model.Source{{IDs: []int64{8027, 50, 2}, Prefix: []int64{2, 8057}}}, 1)
	require.NoError(t, err)
	for fed := 2; fed < m.Spec().MaxPositions; fed++ {
		_, err = b.Step(t.Context(), []int64{50}, []int{0}, 1)
		require.NoError(t, err)
	}
	_, err = b.Step(t.Context(), []int64{50}, []int{0}, 1)
	assert.ErrorContains(t, err, "sentence 0 has 1024 tokens: the model has no more positions")
}

func join(ctx context.Context, k int, sources ...model.Source) func(model.Batch) error {
	return func(b model.Batch) error {
		_, err := b.Join(ctx, sources, k)
		return err
	}
}

func step(ctx context.Context, tokens []int64, parents []int) func(model.Batch) error {
	return func(b model.Batch) error {
		_, err := b.Step(ctx, tokens, parents, 4)
		return err
	}
}

func afterJoin(s model.Source, then func(model.Batch) error) func(model.Batch) error {
	return func(b model.Batch) error {
		if _, err := b.Join(context.Background(), []model.Source{s}, 4); err != nil {
			return err
		}
		return then(b)
	}
}
