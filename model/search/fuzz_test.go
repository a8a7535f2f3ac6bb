package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// FuzzSearch runs random tables with random options and checks: no panic, valid parents, all rules and the maximum length kept,
// all sentences different and best first, the same result from the k best candidates as from the whole vocabulary, and the same best
// sentences if fewer are wanted.
func FuzzSearch(f *testing.F) {
	f.Add(uint64(1), uint8(5), uint8(200), uint8(0), 1.0, uint8(0), uint8(0), 1.0, uint8(30), uint8(0))
	f.Add(uint64(2), uint8(1), uint8(20), uint8(5), 1.0, uint8(1), uint8(2), 1.2, uint8(8), uint8(3))
	f.Add(uint64(3), uint8(8), uint8(12), uint8(12), -1.0, uint8(2), uint8(3), 2.0, uint8(20), uint8(2))
	f.Add(uint64(4), uint8(3), uint8(40), uint8(0), 0.5, uint8(2), uint8(1), 1.0, uint8(6), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, beams, maxLength, minLength uint8, lengthPenalty float64,
		early, ngram uint8, repetition float64, vocab, levels uint8) {
		stops := []EarlyStopping{StopEarly, StopUnlikely, StopNever}
		opts := Options{
			Beams: int(beams % 9), MaxLength: int(maxLength), MinLength: int(minLength),
			LengthPenalty: lengthPenalty, EarlyStopping: stops[int(early)%len(stops)],
			NoRepeatNgramSize: int(ngram % 5), RepetitionPenalty: repetition,
		}
		opts.Hypotheses = opts.Beams
		size := int(vocab)%40 + 3
		prefix := []int64{testEOS, int64(size - 1)}
		s, err := newStrategy(opts, Constraints{}, prefix, model.Spec{EOS: testEOS, VocabSize: size})
		if err != nil {
			t.Skip(err)
		}
		table := randomTable(seed, size, int(levels))
		check := func(ids []int64) { checkHypothesis(t, opts, prefix, ids) }
		few, err := table.decode(s, prefix, 0, check)
		require.NoError(t, err)
		found := sentencesOf(few)
		assert.LessOrEqual(t, len(found), opts.Beams)
		for i, r := range found {
			assert.LessOrEqual(t, len(prefix)+len(r.Tokens), opts.MaxLength)
			assert.NotContains(t, r.Tokens, int64(testEOS))
			for _, better := range found[:i] {
				assert.GreaterOrEqual(t, better.Score, r.Score, "best first")
				assert.False(t, slices.Equal(better.Tokens, r.Tokens) && better.Truncated == r.Truncated, "the same sentence twice")
			}
		}

		s, err = newStrategy(opts, Constraints{}, prefix, model.Spec{EOS: testEOS, VocabSize: size})
		require.NoError(t, err)
		all, err := table.decode(s, prefix, size, nil)
		require.NoError(t, err)
		assert.Equal(t, all, few, "the k best candidates must do as well as the whole vocabulary")

		for wanted := range opts.Beams {
			opts.Hypotheses = wanted
			s, err = newStrategy(opts, Constraints{}, prefix, model.Spec{EOS: testEOS, VocabSize: size})
			require.NoError(t, err)
			best, err := table.decode(s, prefix, 0, nil)
			require.NoError(t, err)
			assert.Equal(t, found[:min(len(found), max(1, wanted))], sentencesOf(best), "%d wanted", wanted)
		}
	})
}

// sentencesOf returns a result and its others, each by itself.
func sentencesOf(r Result) []Result {
	all := append([]Result{r}, r.Others...)
	all[0].Others = nil
	return all
}

// randomTable has logits of n levels, which causes ties; 0: any numbers.
func randomTable(seed uint64, vocab, levels int) *table {
	rng := rand.New(rand.NewPCG(seed, 0))
	logits := make([]float32, 13*vocab)
	for i := range logits {
		if levels > 0 {
			logits[i] = float32(rng.IntN(levels))
		} else {
			logits[i] = float32(rng.NormFloat64() * 2)
		}
	}
	return newTable(logits, logSoftmax(logits, vocab), vocab)
}

// checkHypothesis fails if the last token of ids breaks a rule.
func checkHypothesis(t *testing.T, opts Options, prefix, ids []int64) {
	t.Helper()
	if ids[len(ids)-1] == testEOS {
		return // a dead row: a live one would have ended
	}
	require.LessOrEqual(t, len(ids), opts.MaxLength)
	require.Equal(t, prefix, ids[:len(prefix)])
	n := opts.NoRepeatNgramSize
	if n == 0 || len(ids) < n {
		return
	}
	last := ids[len(ids)-n:]
	for i := 0; i < len(ids)-n; i++ {
		require.False(t, slices.Equal(ids[i:i+n], last), "%d-gram %v occurs twice in %v", n, last, ids)
	}
}

// The minimum length also holds for the result of a beam that has ended.
func TestMinLengthHolds(t *testing.T) {
	for seed := range uint64(40) {
		opts := testOptions(1 + int(seed%4))
		opts.MinLength = 8
		s := newTest(t, opts)
		got, err := randomTable(seed, testVocab, 0).decode(s, testPrefix(), 0, nil)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, len(testPrefix())+len(got.Tokens), opts.MinLength)
	}
}
