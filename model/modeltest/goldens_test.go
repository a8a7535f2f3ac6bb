package modeltest

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

func TestBundled(t *testing.T) {
	g := Bundled(t)
	checkGoldens(t, g)

	directions := map[string]int{}
	references := 0
	for i, c := range g.Cases {
		directions[c.From+" "+c.To]++
		if c.Reference != "" {
			references++
		}
		assert.NotEmpty(t, c.Text, "case %d", i)
		if c.Set != "odd" {
			assert.NotEmpty(t, c.Outputs["greedy"].Text, "case %d", i)
			assert.NotEmpty(t, c.Outputs["beam5"].Text, "case %d", i)
		}
	}
	require.Len(t, directions, 20, "each of five languages into each")
	for direction, n := range directions {
		assert.GreaterOrEqual(t, n, 10, direction)
	}
	assert.GreaterOrEqual(t, len(g.Cases), 350)
	assert.GreaterOrEqual(t, references, 250)
	assert.GreaterOrEqual(t, len(g.Traces), 20)
	opened := slices.DeleteFunc(slices.Clone(g.Traces), func(tr Trace) bool { return tr.Encoder == nil })
	assert.GreaterOrEqual(t, len(opened), 4)
}

func TestOdd(t *testing.T) {
	odd := Odd(t)
	require.GreaterOrEqual(t, len(odd), 12)
	for name, g := range odd {
		t.Run(name, func(t *testing.T) {
			checkGoldens(t, g)
			assert.Equal(t, "model/testdata/odd/"+name, g.Checkpoint)
			assert.GreaterOrEqual(t, len(g.Cases), 12)
			checkSize(t, g)
			checkPadded(t, g)

			different := map[string]bool{}
			for _, c := range g.Cases {
				raw, err := json.Marshal(c.Outputs["greedy"].IDs)
				require.NoError(t, err)
				different[string(raw)] = true
			}
			assert.GreaterOrEqual(t, len(different), 9, "too many sources have the same output to tell models apart")
		})
	}
}

// checkGoldens checks the common properties of goldens of all checkpoints.
func checkGoldens(t *testing.T, g *Goldens) {
	t.Helper()
	assert.NotEmpty(t, g.MadeWith.Transformers)
	assert.NotEmpty(t, g.MadeWith.Torch)
	require.NotEmpty(t, g.Files)
	for name, want := range g.Files {
		got, err := model.HashFile(t.Context(), filepath.Join(g.Dir, name))
		require.NoError(t, err)
		assert.Equal(t, want, got.SHA256, "%s changed: run scripts/goldens/models.py again", name)
	}
	for _, name := range []string{"greedy", "beam5", "defaults"} {
		require.Contains(t, g.Settings, name)
	}
	size, end := vocabSizeAndEnd(t, g)
	for i, c := range g.Cases {
		require.Contains(t, []int{1, 2}, len(c.Prefix))
		checkIDs(t, c.Source, size)
		require.Contains(t, c.Outputs, "greedy", "case %d", i)
		require.Contains(t, c.Outputs, "beam5", "case %d", i)
		for name, o := range c.Outputs {
			require.Contains(t, g.Settings, name)
			checkOutput(t, c, o, g.Settings[name], size)
		}
	}
	require.NotEmpty(t, g.Traces)
	for _, trace := range g.Traces {
		checkTrace(t, g, trace, end)
	}
}

func checkOutput(t *testing.T, c Case, o Output, settings model.Generation, size int64) {
	t.Helper()
	require.Greater(t, len(o.IDs), len(c.Prefix))
	assert.Equal(t, c.Prefix, o.IDs[:len(c.Prefix)])
	assert.LessOrEqual(t, len(o.IDs), settings.MaxLength)
	checkIDs(t, o.IDs, size)
	if o.Truncated {
		assert.Len(t, o.IDs, settings.MaxLength)
	}
	if settings.Beams > 1 {
		assert.Less(t, o.Score, 0.0)
	} else {
		assert.Zero(t, o.Score)
	}
	if o.Margin != nil {
		assert.GreaterOrEqual(t, *o.Margin, 0.0)
	}
}

// checkTrace checks a greedy trace against the resulting output.
func checkTrace(t *testing.T, g *Goldens, trace Trace, end int64) {
	t.Helper()
	require.Equal(t, "greedy", trace.Setting)
	c := g.Cases[trace.Case]
	o := c.Outputs[trace.Setting]
	require.Len(t, trace.Steps, len(o.IDs)-1)
	margin := math.Inf(1)
	for i, step := range trace.Steps {
		require.Len(t, step.IDs, 10)
		require.Len(t, step.LogProbs, 10)
		assert.True(t, slices.IsSortedFunc(step.LogProbs, func(a, b float64) int { return int(math.Copysign(1, b-a)) }))
		forced := i < len(c.Prefix)-1 || o.Truncated && o.IDs[len(o.IDs)-1] == end && i == len(trace.Steps)-1
		if best := 0; !forced { // the language token, or the end
			if len(c.Prefix) == 1 && step.IDs[0] == c.Prefix[0] && o.IDs[i+1] != step.IDs[0] { // Opus-MT's padding, which is never generated
				best = 1
			}
			assert.Equal(t, o.IDs[i+1], step.IDs[best])
			margin = min(margin, step.LogProbs[best]-step.LogProbs[best+1])
		}
	}
	require.NotNil(t, o.Margin)
	assert.InDelta(t, margin, *o.Margin, 1e-4)
	if trace.Encoder != nil {
		assert.Len(t, trace.Encoder.Norms, len(c.Source))
		assert.Len(t, trace.Encoder.Heads, len(c.Source))
		require.NotEmpty(t, trace.Cross)
		for _, cross := range trace.Cross {
			require.Len(t, cross.Keys.Heads, len(cross.Values.MeanAbs))
			assert.Len(t, cross.Keys.Heads[0], len(c.Source))
		}
	}
}

// checkPadded checks that padding changed nothing.
func checkPadded(t *testing.T, g *Goldens) {
	t.Helper()
	require.Contains(t, g.Padded, "greedy")
	for name, outputs := range g.Padded {
		require.Len(t, outputs, len(g.Cases))
		for i, o := range outputs {
			alone := g.Cases[i].Outputs[name]
			assert.Equal(t, alone.IDs, o.IDs, "%s of case %d", name, i)
			assert.InDelta(t, alone.Score, o.Score, 1e-5)
		}
	}
}

func checkSize(t *testing.T, g *Goldens) {
	t.Helper()
	var total int64
	for name := range g.Files {
		file, err := os.Stat(filepath.Join(g.Dir, name))
		require.NoError(t, err)
		total += file.Size()
	}
	assert.Less(t, total, int64(400_000), "the repository carries these files")
}

func checkIDs(t *testing.T, ids []int64, size int64) {
	t.Helper()
	require.NotEmpty(t, ids)
	assert.GreaterOrEqual(t, slices.Min(ids), int64(0))
	assert.Less(t, slices.Max(ids), size)
}

func vocabSizeAndEnd(t *testing.T, g *Goldens) (size, end int64) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(g.Dir, "config.json"))
	require.NoError(t, err)
	var config struct {
		VocabSize int64 `json:"vocab_size"`
		End       int64 `json:"eos_token_id"`
	}
	require.NoError(t, json.Unmarshal(raw, &config))
	require.Positive(t, config.VocabSize)
	return config.VocabSize, config.End
}

func TestNearTie(t *testing.T) {
	margin := 1e-5
	assert.True(t, Output{Margin: &margin}.NearTie(1e-4))
	assert.False(t, Output{Margin: &margin}.NearTie(1e-5))
	assert.False(t, Output{}.NearTie(1), "no margin is no tie")
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	compressed := func(name, text string) string {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		require.NoError(t, err)
		z := gzip.NewWriter(f)
		_, err = z.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		require.NoError(t, f.Close())
		return path
	}
	plain := filepath.Join(dir, "plain.json")
	require.NoError(t, os.WriteFile(plain, []byte("{}"), 0o600))

	tests := []struct{ name, path, want string }{
		{"missing file", filepath.Join(dir, "none.json.gz"), "scripts/goldens/models.py"},
		{"not compressed", plain, "plain.json"},
		{"not JSON", compressed("text.gz", "goldens"), "invalid character"},
		{"cut off", compressed("cut.gz", `{"cases":[`), "EOF"},
		{"unknown field", compressed("field.gz", `{"case":[]}`), `unknown field "case"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(tt.path)
			require.ErrorContains(t, err, tt.want)
		})
	}
}
