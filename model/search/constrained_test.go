package search

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// words is a model of the numbers 0 to vocab-1. The next token depends only on the last: the next number is likely, and the end
// comes at the seventh token.
type words struct{ vocab int }

const endOfWords = 0

// rows returns the k best candidates of each row, and extra ones.
func (m words) rows(feed model.Feed, length, k int) []model.Row {
	rows := make([]model.Row, 0, len(feed.Tokens))
	for _, token := range feed.Tokens {
		logits := make([]float64, m.vocab)
		sum := 0.0
		for id := range logits {
			random := rand.New(rand.NewPCG(uint64(token), uint64(id)))
			logits[id] = random.Float64()
			if id == int(token+1)%m.vocab {
				logits[id] += 5
			}
			if id == endOfWords {
				logits[id] = -8 + float64(2*length)
			}
			sum += math.Exp(logits[id])
		}
		ids := make([]int64, m.vocab)
		for i := range ids {
			ids[i] = int64(i)
		}
		slices.SortStableFunc(ids, func(a, b int64) int {
			if logits[a] > logits[b] {
				return -1
			}
			return 1
		})
		row := model.Row{LogSumExp: float32(math.Log(sum))}
		for _, id := range ids[:k] {
			row.IDs = append(row.IDs, id)
			row.LogProbs = append(row.LogProbs, float32(logits[id]-math.Log(sum)))
		}
		rows = append(rows, row)
	}
	return rows
}

// decodeWords runs a search over words; each step has extra candidates beyond what is needed.
func decodeWords(t testing.TB, opts Options, c Constraints, extra int) Result {
	const vocab = 60
	s, err := NewSequence(opts, c, []int64{10}, model.Spec{EOS: endOfWords, VocabSize: vocab})
	require.NoError(t, err)
	for length := 1; ; length++ {
		require.LessOrEqual(t, length, opts.MaxLength)
		rows := words{vocab}.rows(s.Feed(), length, min(vocab, s.Candidates()+extra))
		candidates := model.Candidates{K: len(rows[0].IDs)}
		for _, row := range rows {
			candidates.IDs = append(candidates.IDs, row.IDs...)
			candidates.LogProbs = append(candidates.LogProbs, row.LogProbs...)
			candidates.LogSumExp = append(candidates.LogSumExp, row.LogSumExp)
		}
		done, err := s.Advance(candidates, 0)
		require.NoError(t, err)
		if done {
			return s.Result()
		}
	}
}

func constrainedOptions(beams int) Options {
	return Options{Beams: beams, MaxLength: 30, LengthPenalty: 1, EarlyStopping: StopUnlikely, RepetitionPenalty: 1}
}

func phraseOf(forms ...[]int64) Phrase { return Phrase{Forms: forms} }

// count returns the places of a run of tokens.
func countRuns(tokens, run []int64) (n int) {
	for i := 0; i+len(run) <= len(tokens); i++ {
		if slices.Equal(tokens[i:i+len(run)], run) {
			n++
		}
	}
	return n
}

func TestConstrainedHasPhrases(t *testing.T) {
	plain := decodeWords(t, constrainedOptions(8), Constraints{}, 0)
	require.NotContains(t, plain.Tokens, int64(44))
	for name, c := range map[string]struct {
		phrases []Phrase
		want    [][]int64 // runs, each once
	}{
		"a token":                  {[]Phrase{phraseOf([]int64{44})}, [][]int64{{44}}},
		"a run":                    {[]Phrase{phraseOf([]int64{44, 3, 29, 51})}, [][]int64{{44, 3, 29, 51}}},
		"what is there anyway":     {[]Phrase{phraseOf(plain.Tokens[1:3])}, [][]int64{plain.Tokens[1:3]}},
		"two":                      {[]Phrase{phraseOf([]int64{44, 3}), phraseOf([]int64{29})}, [][]int64{{44, 3}, {29}}},
		"one in another":           {[]Phrase{phraseOf([]int64{44, 3, 29}), phraseOf([]int64{3})}, [][]int64{{44, 3, 29}}},
		"a run with itself in it":  {[]Phrase{phraseOf([]int64{44, 44, 3})}, [][]int64{{44, 44, 3}}},
		"one with equal beginning": {[]Phrase{phraseOf([]int64{44, 3, 29}), phraseOf([]int64{44, 5})}, [][]int64{{44, 3, 29}, {44, 5}}},
	} {
		for _, beams := range []int{1, 2, 4, 8} {
			t.Run(fmt.Sprintf("%s, %d beams", name, beams), func(t *testing.T) {
				got := decodeWords(t, constrainedOptions(beams), Constraints{Phrases: c.phrases}, 0)
				assert.False(t, got.Truncated)
				for _, run := range c.want {
					assert.GreaterOrEqual(t, countRuns(got.Tokens, run), 1, got.Tokens)
				}
			})
		}
	}
	twice := decodeWords(t, constrainedOptions(8), Constraints{Phrases: []Phrase{phraseOf([]int64{44, 3}), phraseOf([]int64{44, 3})}}, 0)
	assert.Equal(t, 2, countRuns(twice.Tokens, []int64{44, 3}), twice.Tokens)
	either := decodeWords(t, constrainedOptions(8), Constraints{Phrases: []Phrase{phraseOf([]int64{44, 3}, plain.Tokens[2:4])}}, 0)
	assert.Equal(t, plain.Tokens, either.Tokens, "a form that is there anyway")
}

// If the plain search's result has the phrases, the constrained search finds it, too.
func TestConstrainedFirstForms(t *testing.T) {
	only := Phrase{Forms: [][]int64{{44, 3}}, First: [][]int64{{11, 12}}}
	got := decodeWords(t, constrainedOptions(8), Constraints{Phrases: []Phrase{only}}, 0)
	assert.Equal(t, []int64{11, 12}, got.Tokens[:2])
	assert.Zero(t, countRuns(got.Tokens, []int64{44, 3}))

	late := Phrase{Forms: [][]int64{{44, 3}}, First: [][]int64{{13, 14}}}
	got = decodeWords(t, constrainedOptions(8), Constraints{Phrases: []Phrase{late}}, 0)
	if !slices.Equal(got.Tokens[:2], []int64{13, 14}) {
		assert.Equal(t, 1, countRuns(got.Tokens, []int64{44, 3}), "13, 14 elsewhere does not count: %v", got.Tokens)
	}
}

// A phrase must not be a part of a longer word.
func TestConstrainedWords(t *testing.T) {
	joints := make(Joints, 60)
	joints[44], joints[45] = Open, GoesOn|Open // 45 is the most likely token after 44
	with := decodeWords(t, constrainedOptions(8), Constraints{Phrases: []Phrase{phraseOf([]int64{44})}, Joints: joints}, 0)
	without := decodeWords(t, constrainedOptions(8), Constraints{Phrases: []Phrase{phraseOf([]int64{44})}}, 0)
	require.Equal(t, 1, countRuns(without.Tokens, []int64{44, 45}), without.Tokens)
	assert.Equal(t, 1, countRuns(with.Tokens, []int64{44}), with.Tokens)
	assert.Zero(t, countRuns(with.Tokens, []int64{44, 45}), with.Tokens)

	joints = make(Joints, 60)
	joints[12], joints[13] = Open, GoesOn
	got := decodeWords(t, constrainedOptions(8), Constraints{Phrases: []Phrase{phraseOf([]int64{13})}, Joints: joints}, 0)
	assert.Greater(t, countRuns(got.Tokens, []int64{13}), countRuns(got.Tokens, []int64{12, 13}), "not only in the word: %v", got.Tokens)
}

// The result depends neither on the number of candidates nor on the rest of the batch.
func TestConstrainedIsInvariant(t *testing.T) {
	for _, beams := range []int{1, 3, 8} {
		c := Constraints{Phrases: []Phrase{phraseOf([]int64{44, 3, 29}), phraseOf([]int64{51})}}
		want := decodeWords(t, constrainedOptions(beams), c, 0)
		for _, extra := range []int{1, 7, 60} {
			assert.Equal(t, want, decodeWords(t, constrainedOptions(beams), c, extra))
		}
	}
}

// A sentence that cannot have its phrases ends all the same, and reports that.
func TestConstrainedDeadEnd(t *testing.T) {
	opts := constrainedOptions(4)
	opts.NoRepeatNgramSize = 1 // 44 must not occur twice
	got := decodeWords(t, opts, Constraints{Phrases: []Phrase{phraseOf([]int64{44, 44})}}, 0)
	assert.True(t, got.Truncated)
}

func TestConstraintsAreRefused(t *testing.T) {
	for want, c := range map[string]Constraints{
		"17 phrases, at most 16 are allowed":                  {Phrases: slices.Repeat([]Phrase{phraseOf([]int64{1})}, 17)},
		"phrase 0 has no form":                                {Phrases: []Phrase{{}}},
		"phrase 1 has an empty form":                          {Phrases: []Phrase{phraseOf([]int64{1}), phraseOf([]int64{1}, nil)}},
		"token 60 of a phrase is outside the vocabulary":      {Phrases: []Phrase{phraseOf([]int64{60})}},
		"token -1 of a phrase is outside the vocabulary":      {Phrases: []Phrase{phraseOf([]int64{-1})}},
		"the phrases take 31 tokens with prefix and end, but": {Phrases: []Phrase{phraseOf(make([]int64, 29))}},
	} {
		_, err := NewSequence(constrainedOptions(4), c, []int64{10}, model.Spec{EOS: endOfWords, VocabSize: 60})
		assert.ErrorContains(t, err, want)
	}
}

// For any phrases, a finished sentence has them, and every search ends.
func FuzzConstrained(f *testing.F) {
	f.Add([]byte{44, 3, 0, 29}, uint8(8), uint8(0))
	f.Add([]byte{11, 12, 0, 11, 12, 0, 12}, uint8(3), uint8(1))
	f.Add([]byte{1, 1, 1, 1, 0, 1, 1, 2}, uint8(4), uint8(3))
	f.Fuzz(func(t *testing.T, raw []byte, beams, ngram uint8) {
		const vocab = 60
		var c Constraints
		for run := range bytes.SplitSeq(raw, []byte{0}) {
			var form []int64
			for _, id := range run {
				form = append(form, 1+int64(id)%(vocab-1))
			}
			if len(form) > 0 && len(c.Phrases) < MaxPhrases {
				c.Phrases = append(c.Phrases, phraseOf(form))
			}
		}
		for id := range vocab {
			c.Joints = append(c.Joints, Joint(id*int(ngram)%8))
		}
		opts := constrainedOptions(1 + int(beams)%9)
		opts.NoRepeatNgramSize = int(ngram) % 4
		if len(c.Phrases) == 0 || c.Validate(1, opts.MaxLength, vocab) != nil {
			return
		}
		got := decodeWords(t, opts, c, 0)
		for _, phrase := range c.Phrases {
			if !got.Truncated {
				require.Positive(t, countRuns(got.Tokens, phrase.Forms[0]), "%v in %v", phrase, got.Tokens)
			}
		}
	})
}
