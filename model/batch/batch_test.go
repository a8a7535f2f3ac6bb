package batch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/batch"
)

var spec = model.Spec{VocabSize: 100, MaxPositions: 20}

// memory is a backend that stores its input, as real backends do, and finds every hypothesis by its history.
type memory struct {
	sources   map[int32][]int64 // by slot
	kv        [][]int64         // tokens, by row and position
	histories [][]int32
	fed       [][]int64 // all tokens of each row of the last step, from the first
	encoded   []int     // sources of each call of Encode
	err       error     // errors of the next calls
	idle      int
	closed    int
}

func newMemory(limits model.Limits) *memory {
	m := &memory{sources: map[int32][]int64{}, kv: make([][]int64, limits.Rows), histories: make([][]int32, 2*limits.Rows)}
	for i := range m.kv {
		m.kv[i] = make([]int64, limits.MaxLength)
	}
	for i := range m.histories {
		m.histories[i] = make([]int32, limits.MaxLength)
	}
	return m
}

func (m *memory) Encode(sources [][]int64, slots []int32, tokens int) error {
	for i, source := range sources {
		tokens -= len(source)
		m.sources[slots[i]] = source
	}
	if tokens != 0 {
		return fmt.Errorf("the count of tokens is wrong by %d", tokens)
	}
	m.encoded = append(m.encoded, len(sources))
	return m.err
}

func (m *memory) Step(rows []batch.Row, k int) (model.Candidates, error) {
	for _, r := range rows { // all rows are written before any is read
		m.kv[r.KV][r.Position] = int64(r.Token)
		copy(m.histories[r.To], m.histories[r.From][:r.Position])
		m.histories[r.To][r.Position] = r.KV
	}
	m.fed = m.fed[:0]
	for _, r := range rows {
		if len(m.sources[r.Slot]) != int(r.Length) {
			return model.Candidates{}, fmt.Errorf("the source in slot %d is not %d tokens long", r.Slot, r.Length)
		}
		if r.Wanted {
			fed := []int64{m.sources[r.Slot][0]}
			for position, row := range m.histories[r.To][:r.Position+1] {
				fed = append(fed, m.kv[row][position])
			}
			m.fed = append(m.fed, fed)
		}
	}
	return model.Candidates{K: k}, m.err
}

func (m *memory) Leave(slot int32, length int, rows []int32, fed int) {
	delete(m.sources, slot)
	for _, row := range rows {
		clear(m.kv[row])
	}
}

func (m *memory) Idle() { m.idle++ }

func (m *memory) Close() error {
	m.closed++
	return nil
}

// Begin encodes in three steps.
func (m *memory) Begin(source []int64, slot int32) (func(time.Duration) (bool, error), error) {
	left := 3
	return func(time.Duration) (bool, error) {
		if left--; left > 0 {
			return false, m.err
		}
		return true, m.Encode([][]int64{source}, []int32{slot}, len(source))
	}, nil
}

func newBatch(limits model.Limits) (*batch.Batch, *memory) {
	m := newMemory(limits)
	return batch.New(spec, limits, 8, m), m
}

// TestHypothesesFindTheirTokens adds and removes sentences at random, and forks, swaps and drops their hypotheses. Each
// hypothesis must find its tokens.
func TestHypothesesFindTheirTokens(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	limits := model.Limits{Rows: 12, MaxLength: 20}
	b, m := newBatch(limits)
	var want [][][]int64       // by slot and hypothesis: the source's first token and all tokens fed
	var begun []model.Encoding // and the first tokens of their sources
	var first []int64
	reserved, next := 0, int64(0)
	token := func() int64 { next++; return next % int64(spec.VocabSize) }
	for range 2000 {
		for i := len(want) - 1; i >= 0; i-- {
			if len(want[i]) > 0 && (len(want[i][0]) > 1+limits.MaxLength-4 || rng.IntN(10) == 0) {
				b.Leave(i)
				reserved -= 3
				want[i] = want[len(want)-1]
				want = want[:len(want)-1]
			}
		}
		if reserved+3 <= limits.Rows && rng.IntN(3) == 0 {
			source := []int64{token(), 1, 2}[:1+rng.IntN(3)]
			if rng.IntN(2) == 0 {
				e, err := b.Begin(t.Context(), source)
				require.NoError(t, err)
				begun, first, reserved = append(begun, e), append(first, source[0]), reserved+3
				continue
			}
			require.NoError(t, b.Join(t.Context(), [][]int64{source}))
			want, reserved = append(want, [][]int64{{source[0]}}), reserved+3
		}
		for i := len(begun) - 1; i >= 0; i-- {
			done, err := begun[i].Continue(t.Context(), 1)
			require.NoError(t, err)
			if done {
				want = append(want, [][]int64{{first[i]}})
				begun, first = slices.Delete(begun, i, i+1), slices.Delete(first, i, i+1)
			}
		}
		if len(want) == 0 {
			continue
		}
		resting := rng.IntN(2 * len(want)) // one of the sentences, or none
		if len(want) == 1 {
			resting = 1
		}
		var feeds []model.Feed
		var all [][]int64
		for i, hypotheses := range want {
			var f model.Feed
			if i == resting {
				feeds = append(feeds, f)
				continue
			}
			if len(hypotheses[0]) == 1 { // just joined
				for range 1 + rng.IntN(3) {
					f.Tokens = append(f.Tokens, token())
				}
				want[i] = [][]int64{append(hypotheses[0], f.Tokens...)}
			} else {
				var grown [][]int64
				for range 1 + rng.IntN(3) {
					parent := rng.IntN(len(hypotheses))
					f.Parents, f.Tokens = append(f.Parents, parent), append(f.Tokens, token())
					grown = append(grown, append(slices.Clone(hypotheses[parent]), next%int64(spec.VocabSize)))
				}
				want[i] = grown
			}
			feeds, all = append(feeds, f), append(all, want[i]...)
		}
		_, err := b.Step(t.Context(), feeds, 1)
		require.NoError(t, err)
		require.Equal(t, all, m.fed)
		require.Equal(t, len(want), b.Len())
	}
}

// TestSourcesAreGrouped: this backend encodes 8 tokens at once.
func TestSourcesAreGrouped(t *testing.T) {
	b, m := newBatch(model.Limits{Rows: 10, MaxLength: 4})
	source := func(n int) []int64 { return make([]int64, n) }
	require.NoError(t, b.Join(t.Context(), [][]int64{source(4), source(4), source(1), source(20), source(8), source(2), source(5)}))
	assert.Equal(t, []int{2, 1, 1, 1, 2}, m.encoded)
}

func TestRefusals(t *testing.T) {
	good, prefix := []int64{30, 50, 2}, model.Feed{Tokens: []int64{2, 60}}
	fan := model.Feed{Tokens: []int64{5, 6}, Parents: []int{0, 0}}
	join := func(sources ...[]int64) func(*batch.Batch) error {
		return func(b *batch.Batch) error { return b.Join(t.Context(), sources) }
	}
	steps := func(k int, feeds ...model.Feed) func(*batch.Batch) error {
		return func(b *batch.Batch) error {
			err := b.Join(t.Context(), [][]int64{good})
			for i := 0; err == nil && i < len(feeds); i++ {
				_, err = b.Step(t.Context(), feeds[i:i+1], k)
			}
			return err
		}
	}
	for name, c := range map[string]struct {
		use  func(*batch.Batch) error
		want string
	}{
		"no sources":       {join(), "join of no sentences"},
		"empty source":     {join(good, nil), "source 1 has 0 tokens: 1 to 20 are possible"},
		"long source":      {join(good, make([]int64, 21)), "source 1 has 21 tokens"},
		"id too large":     {join([]int64{100}), "token id 100 is outside of the vocabulary of 100"},
		"negative id":      {join([]int64{-1}), "token id -1"},
		"too many":         {join(good, good, good, good), "join to 4 sentences: there is room for 3"},
		"no candidates":    {steps(0, prefix), "0 candidates wanted: 1 to 100 can be had"},
		"many candidates":  {steps(101, prefix), "101 candidates wanted"},
		"no tokens":        {steps(1, model.Feed{}), "a feed of no tokens"},
		"long prefix":      {steps(1, model.Feed{Tokens: make([]int64, 11)}), "0 tokens and 11 more: there is room for 10"},
		"early parents":    {steps(1, fan), "2 parents in its first feed"},
		"few parents":      {steps(1, prefix, model.Feed{Tokens: []int64{5, 6}, Parents: []int{0}}), "2 tokens and 1 parents"},
		"unknown parent":   {steps(1, prefix, model.Feed{Tokens: []int64{5, 6}, Parents: []int{0, 1}}), "row 1 cannot be a parent: the last step had 1 rows"},
		"former parent":    {steps(1, prefix, fan, model.Feed{Tokens: []int64{5}, Parents: []int{1}}, model.Feed{Tokens: []int64{5}, Parents: []int{1}}), "row 1 cannot be a parent"},
		"negative parent":  {steps(1, prefix, model.Feed{Tokens: []int64{5}, Parents: []int{-1}}), "row -1 cannot be a parent"},
		"bad token":        {steps(1, prefix, model.Feed{Tokens: []int64{1e6}, Parents: []int{0}}), "token id 1000000"},
		"too many rows":    {steps(1, prefix, model.Feed{Tokens: make([]int64, 4), Parents: make([]int, 4)}), "1 more rows are needed than the 3"},
		"other feed count": {func(b *batch.Batch) error { _, err := b.Step(t.Context(), []model.Feed{prefix, prefix}, 1); return err }, "2 feeds for 0 sentences"},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := newBatch(model.Limits{Rows: 3, MaxLength: 10})
			err := c.use(b)
			assert.ErrorContains(t, err, c.want)
			assert.ErrorIs(t, err, model.ErrInput)
			for b.Len() > 0 {
				b.Leave(0)
			}
			assert.NoError(t, steps(2, prefix, fan)(b), "it goes on as if nothing had happened")
		})
	}
	for _, limits := range []model.Limits{{}, {Rows: 1}, {Rows: 1, MaxLength: 21}, {MaxLength: 5}} {
		assert.ErrorIs(t, batch.CheckLimits(spec, limits), model.ErrInput, "%+v", limits)
	}
}

// TestBackendFails: after an error of the input the batch is unchanged; after any other error it is broken.
func TestBackendFails(t *testing.T) {
	prefix := []model.Feed{{Tokens: []int64{2}}}
	b, m := newBatch(model.Limits{Rows: 1, MaxLength: 10})
	m.err = fmt.Errorf("%w: no memory", model.ErrInput)
	assert.ErrorContains(t, b.Join(t.Context(), [][]int64{{3, 2}}), "encoder on 1 sentences of 2 tokens in all: ")
	assert.Zero(t, b.Len())
	m.err = nil
	require.NoError(t, b.Join(t.Context(), [][]int64{{3, 2}}), "its slot is free again")

	m.err = errors.New("no such kernel")
	c, err := b.Step(t.Context(), prefix, 1)
	assert.ErrorContains(t, err, "decoder step of 1 rows: no such kernel")
	assert.Zero(t, c)
	m.err = nil
	_, err = b.Step(t.Context(), prefix, 1)
	assert.ErrorContains(t, err, "the batch is broken: decoder step of 1 rows")

	b, m = newBatch(model.Limits{Rows: 2, MaxLength: 10})
	m.err = errors.New("no such kernel")
	assert.ErrorIs(t, b.Join(t.Context(), [][]int64{{3, 2}}), m.err)
	assert.ErrorContains(t, b.Join(t.Context(), [][]int64{{3, 2}}), "the batch is broken")
}

// TestIdle: the backend is told whenever no sentence is left, also after a failed join.
func TestIdle(t *testing.T) {
	b, m := newBatch(model.Limits{Rows: 3, MaxLength: 4})
	source := []int64{30, 2}
	require.NoError(t, b.Join(t.Context(), [][]int64{source, source}))
	m.err = fmt.Errorf("%w: no memory", model.ErrInput)
	require.Error(t, b.Join(t.Context(), [][]int64{source}))
	b.Leave(0)
	assert.Zero(t, m.idle, "one is left")
	b.Leave(0)
	assert.Equal(t, 1, m.idle)
	require.Error(t, b.Join(t.Context(), [][]int64{source}))
	assert.Equal(t, 2, m.idle)
}

func TestDoneContext(t *testing.T) {
	b, _ := newBatch(model.Limits{Rows: 1, MaxLength: 4})
	done, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, b.Join(done, [][]int64{{30, 50, 2}}), context.Canceled)
	_, err := b.Step(done, nil, 1)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, b.Len())
}

func TestClosed(t *testing.T) {
	b, m := newBatch(model.Limits{Rows: 1, MaxLength: 4})
	require.NoError(t, b.Close())
	assert.ErrorContains(t, b.Join(t.Context(), [][]int64{{2}}), "the batch is closed")
	assert.NoError(t, b.Close(), "closing twice is harmless")
	assert.Equal(t, 1, m.closed)
}
