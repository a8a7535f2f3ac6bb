package search

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// Tokens that a model never generates are skipped, and the last token is the end if it is forced.
func TestModelsOwnRules(t *testing.T) {
	const pad = 1
	spec := model.Spec{EOS: testEOS, Pad: pad, VocabSize: testVocab, NeverPad: true, ForcedEnd: true}
	for _, beams := range []int{1, 3} {
		opts := testOptions(beams)
		opts.MaxLength, opts.LengthPenalty = 5, 0
		s, err := newStrategy(opts, Constraints{}, testPrefix(), spec)
		require.NoError(t, err)
		for done := false; !done; {
			rows := make([]model.Row, s.Width())
			for i := range rows {
				rows[i] = row(pad, -0.1, 5, -0.5, 6, -1, 7, -2, 8, -3, 3, -4, 4, -5, testEOS, -6, 0, -7, 9, -8)
			}
			if len(s.Parents()) > 0 && s.Tokens()[0] == 0 { // the first step
				rows = rows[:1]
			}
			done = advance(t, s, rows...)
		}
		r := s.Result()
		assert.Equal(t, []int64{5, 5}, r.Tokens)
		assert.True(t, r.Truncated, "the end was forced")
		assert.InDelta(t, -1, r.Score, 1e-6)
	}
	phrase := Constraints{Phrases: []Phrase{{Forms: [][]int64{{7}}}}}
	opts := testOptions(4)
	opts.MaxLength = 5
	s, err := newStrategy(opts, phrase, testPrefix(), spec)
	require.NoError(t, err)
	for done, rows := false, 1; !done; rows = s.Width() {
		all := make([]model.Row, rows)
		for i := range all {
			all[i] = row(pad, -0.1, 5, -0.5, 6, -1, 7, -2, 8, -3, 3, -4, 4, -5, testEOS, -6, 0, -7, 9, -8)
		}
		done = advance(t, s, all...)
	}
	assert.Contains(t, s.Result().Tokens, int64(7))
	assert.NotContains(t, s.Result().Tokens, int64(pad))
	assert.LessOrEqual(t, len(s.Result().Tokens), 2)
	other := spec
	other.EOS, other.Pad = 3, 3
	assert.EqualValues(t, -1, newRules(opts, other).never, "the end is never banned for good")
}
