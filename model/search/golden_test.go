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
)

// golden is what scripts/goldens/search.py wrote.
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
	Sequence          []int64 `json:"sequence"` // the prefix and, where there is one, the end token included
	Score             float64 `json:"score"`
	// StockSequence is set where torch.topk broke a tie otherwise than by the
	// lower index; Sequence is what generate() finds with a stable topk.
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

// Every sequence must be generate()'s, token for token, with no more candidates
// than Candidates() asks for.
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
	ties := 0
	for i, c := range g.Cases {
		s, err := newStrategy(c.options(), g.Prefix, g.EOS, g.Vocab)
		require.NoError(t, err, "case %d: %+v", i, c)
		got, err := tables[c.Table].decode(s, g.Prefix, 0, nil)
		require.NoError(t, err, "case %d: %+v", i, c)

		want := c.Sequence[len(g.Prefix):]
		ended := want[len(want)-1] == g.EOS
		if ended {
			want = want[:len(want)-1]
		}
		assert.Equal(t, want, got.Tokens, "case %d: %+v", i, c)
		assert.Equal(t, !ended, got.Truncated, "case %d: %+v", i, c)
		assert.InDelta(t, c.Score, got.Score, 1e-5*max(1, math.Abs(c.Score)), "case %d: %+v", i, c)
		if c.StockSequence != nil {
			ties++
			assert.Contains(t, []string{"ties", "ties with the end"}, c.Table, "only made-up ties may differ")
		}
	}
	t.Logf("%d cases of transformers %s, %d with ties that torch.topk breaks otherwise",
		len(g.Cases), g.MadeWith["transformers"], ties)
}
