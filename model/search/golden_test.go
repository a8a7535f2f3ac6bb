package search

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// golden is an entry of the file that scripts/goldens/search.py writes.
type golden struct {
	MadeWith map[string]string `json:"made_with"`
	Vocab    int               `json:"vocab"`
	Prefix   []int64           `json:"prefix"`
	EOS      int64             `json:"eos"`
	Tables   map[string]struct {
		Logits   string `json:"logits"`
		LogProbs string `json:"log_probs"`
	} `json:"tables"`
	Cases []goldenCase `json:"cases"`
}

type goldenCase struct {
	Table             string  `json:"table"`
	Beams             int     `json:"beams"`
	EarlyStopping     string  `json:"early_stopping"`
	LengthPenalty     float64 `json:"length_penalty"`
	MinLength         int     `json:"min_length"`
	MaxLength         int     `json:"max_length"`
	NoRepeatNgramSize int     `json:"no_repeat_ngram_size"`
	RepetitionPenalty float64 `json:"repetition_penalty"`
	Sequence          []int64 `json:"sequence"` // including the prefix and the end token, if any
	Score             float64 `json:"score"`
	// Others are the next best sentences, up to the limit of num_return_sequences.
	Others []struct {
		Sequence []int64 `json:"sequence"`
		Score    float64 `json:"score"`
	} `json:"others"`
	// StockSequence is set if torch.topk broke a tie other than by the lower index; Sequence is generate()'s result with a
	// stable topk.
	StockSequence []int64 `json:"stock_sequence"`
}

func (c goldenCase) options() Options {
	return Options{
		Beams: c.Beams, MaxLength: c.MaxLength, MinLength: c.MinLength,
		LengthPenalty: c.LengthPenalty, EarlyStopping: EarlyStopping(c.EarlyStopping),
		NoRepeatNgramSize: c.NoRepeatNgramSize, RepetitionPenalty: c.RepetitionPenalty,
	}
}

func readGolden(t *testing.T) golden {
	t.Helper()
	f, err := os.Open("testdata/generate.json.gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var g golden
	require.NoError(t, json.NewDecoder(z).Decode(&g))
	return g
}

func readFloats(t *testing.T, s string) []float32 {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(s)
	require.NoError(t, err)
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out
}

// assertSentence fails if got is not generate()'s sequence, with its score.
func assertSentence(t *testing.T, g golden, sequence []int64, score float64, got Result) {
	t.Helper()
	want := sequence[len(g.Prefix):]
	ended := want[len(want)-1] == g.EOS
	if ended {
		want = want[:len(want)-1]
	}
	assert.Equal(t, want, got.Tokens)
	assert.Equal(t, !ended, got.Truncated)
	assert.InDelta(t, score, got.Score, 1e-5*max(1, math.Abs(score)))
}

// Every sequence must equal generate()'s, token for token, with only the candidates that Candidates() asks for.
func TestGenerateGoldens(t *testing.T) {
	g := readGolden(t)
	require.NotEmpty(t, g.MadeWith["transformers"])
	require.Greater(t, len(g.Cases), 900)
	tables := map[string]*table{}
	for name, raw := range g.Tables {
		logits, logProbs := readFloats(t, raw.Logits), readFloats(t, raw.LogProbs)
		for i, want := range logSoftmax(logits, g.Vocab) {
			require.InDelta(t, want, logProbs[i], 1e-5)
		}
		tables[name] = newTable(logits, logProbs, g.Vocab)
	}
	ties, others := 0, 0
	for i, c := range g.Cases {
		decode := func(hypotheses int) Result {
			opts := c.options()
			opts.Hypotheses = hypotheses
			s, err := newStrategy(opts, Constraints{}, g.Prefix, model.Spec{EOS: g.EOS, VocabSize: g.Vocab})
			require.NoError(t, err, "case %d: %+v", i, c)
			got, err := tables[c.Table].decode(s, g.Prefix, 0, nil)
			require.NoError(t, err, "case %d: %+v", i, c)
			return got
		}
		got := decode(c.Beams)
		assertSentence(t, g, c.Sequence, c.Score, got)
		require.Len(t, got.Others, len(c.Others), "case %d: %+v", i, c)
		for j, other := range c.Others {
			assertSentence(t, g, other.Sequence, other.Score, got.Others[j])
			assert.Nil(t, got.Others[j].Others)
		}
		others += len(c.Others)
		// The number of requested sentences does not affect the best one.
		two := got
		two.Others = got.Others[:min(1, len(got.Others))]
		if c.Beams > 1 {
			assert.Equal(t, two, decode(2), "case %d: %+v", i, c)
		}
		one := got
		one.Others = nil
		assert.Equal(t, one, decode(1), "case %d: %+v", i, c)
		assert.Equal(t, one, decode(0), "case %d: %+v", i, c)
		require.False(t, t.Failed(), "case %d: %+v", i, c)
		if c.StockSequence != nil {
			ties++
			assert.Contains(t, []string{"ties", "ties with the end"}, c.Table, "only made-up ties may differ")
		}
	}
	require.Greater(t, others, 2000)
	t.Logf("%d cases of transformers %s, %d with ties that torch.topk breaks otherwise",
		len(g.Cases), g.MadeWith["transformers"], ties)
}
