package ort_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/modeltest"
	"dragoman/model/ort/orttest"
	"dragoman/model/search"
)

// tieTolerance is the difference of two scores below which two sound
// implementations may decide differently. It is far above the rounding of 32-bit
// floats (some 1e-6 here) and far below what a mistake would cause.
const tieTolerance = 1e-4

func TestGoldensOfBundledCheckpoint(t *testing.T) { checkGoldens(t, modeltest.Bundled(t)) }

func TestGoldensOfOddCheckpoints(t *testing.T) {
	for name, g := range modeltest.Odd(t) {
		t.Run(name, func(t *testing.T) { checkGoldens(t, g) })
	}
}

// checkGoldens compares an fp32 export with Hugging Face: the candidates of every
// step of a trace, and every output token for token.
func checkGoldens(t *testing.T, g *modeltest.Goldens) {
	m := orttest.Open(t, g.Dir, model.FP32)
	for _, trace := range g.Traces {
		checkTrace(t, m, g.Cases[trace.Case], trace)
	}
	for setting, generation := range g.Settings {
		if generation.RepetitionPenalty != 0 && generation.RepetitionPenalty < 1 {
			continue // refused: see package search
		}
		var cases []modeltest.Case
		for _, c := range g.Cases {
			if _, ok := c.Outputs[setting]; ok {
				cases = append(cases, c)
			}
		}
		results := decode(t, m, search.DefaultOptions(generation), cases)
		for i, c := range cases {
			checkOutput(t, setting, c, results[i], c.Outputs[setting], m.Spec().EOS)
		}
	}
}

// checkTrace feeds the tokens of a trace one by one, as a prefix that is one
// longer each time would be, and compares what the model answers.
func checkTrace(t *testing.T, m model.Model, c modeltest.Case, trace modeltest.Trace) {
	t.Helper()
	ids := c.Outputs[trace.Setting].IDs
	b, err := m.NewBatch(1)
	require.NoError(t, err)
	defer b.Close()
	got, err := b.Join(t.Context(), []model.Source{{IDs: c.Source, Prefix: ids[:1]}}, len(trace.Steps[0].IDs))
	for i, want := range trace.Steps {
		require.NoError(t, err)
		row := got.Row(0, 0)
		assert.InDeltaSlice(t, want.LogProbs, float64s(row.LogProbs), 2e-4, "case %d step %d", trace.Case, i)
		assert.InDelta(t, want.LogSumExp, row.LogSumExp, 2e-4, "case %d step %d", trace.Case, i)
		for j := range want.IDs {
			if j+1 < len(want.IDs) && want.LogProbs[j]-want.LogProbs[j+1] < tieTolerance ||
				j > 0 && want.LogProbs[j-1]-want.LogProbs[j] < tieTolerance {
				continue
			}
			if j+1 < len(want.IDs) { // the last may tie with what is not listed
				assert.Equal(t, want.IDs[j], row.IDs[j], "case %d step %d candidate %d", trace.Case, i, j)
			}
		}
		if i+1 < len(trace.Steps) {
			got, err = b.Step(t.Context(), ids[i+1:i+2], []int{0}, len(trace.Steps[i+1].IDs))
		}
	}
}

func checkOutput(t *testing.T, setting string, c modeltest.Case, got search.Result, want modeltest.Output, eos int64) {
	t.Helper()
	ids := slices.Concat(c.Prefix, got.Tokens)
	if !got.Truncated {
		ids = append(ids, eos)
	}
	if !slices.Equal(want.IDs, ids) && want.NearTie(tieTolerance) {
		t.Logf("%s: %q differs where scores tie within %g: %v, reference %v", setting, c.Text, *want.Margin, ids, want.IDs)
		return
	}
	assert.Equal(t, want.IDs, ids, "%s %q %v", setting, c.Text, c.Source)
	assert.Equal(t, want.Truncated, got.Truncated, "%s %q", setting, c.Text)
	if want.Score != 0 {
		assert.InDelta(t, want.Score, got.Score, 1e-3, "%s %q", setting, c.Text)
	}
}

// decode translates cases in one batch that holds up to 16 sentences: others join
// as some leave, so rows of all lengths decode together.
func decode(t testing.TB, m model.Model, opts search.Options, cases []modeltest.Case) []search.Result {
	t.Helper()
	const room = 16
	d := &decoder{t: t, opts: opts, cases: cases, results: make([]search.Result, len(cases)), vocab: m.Spec().VocabSize, eos: m.Spec().EOS}
	b, err := m.NewBatch(opts.Beams)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	for next := 0; next < len(cases) || b.Len() > 0; {
		if n := min(room-b.Len(), len(cases)-next); n > 0 {
			d.join(b, next, n)
			next += n
		} else {
			d.step(b)
		}
	}
	return d.results
}

// decoder is the state of decode: the searches and cases of the batch's slots.
type decoder struct {
	t       testing.TB
	opts    search.Options
	cases   []modeltest.Case
	results []search.Result
	vocab   int
	eos     int64

	searches []search.Search
	slots    []int // index into cases
}

func (d *decoder) join(b model.Batch, first, n int) {
	var sources []model.Source
	k := 0
	for i := first; i < first+n; i++ {
		s, err := search.New(d.opts, d.cases[i].Prefix, d.eos, d.vocab)
		require.NoError(d.t, err)
		d.searches, d.slots = append(d.searches, s), append(d.slots, i)
		sources = append(sources, model.Source{IDs: d.cases[i].Source, Prefix: d.cases[i].Prefix})
		k = max(k, s.Candidates())
	}
	c, err := b.Join(context.Background(), sources, k)
	require.NoError(d.t, err)
	d.advance(b, c, b.Len()-n)
}

func (d *decoder) step(b model.Batch) {
	var tokens []int64
	var parents []int
	k := 0
	for _, s := range d.searches {
		tokens, parents, k = append(tokens, s.Tokens()...), append(parents, s.Parents()...), max(k, s.Candidates())
	}
	c, err := b.Step(context.Background(), tokens, parents, k)
	require.NoError(d.t, err)
	d.advance(b, c, 0)
}

// advance hands candidates to the searches from slot first on and removes those
// that are done.
func (d *decoder) advance(b model.Batch, c model.Candidates, first int) {
	for i := len(d.searches) - 1; i >= first; i-- {
		var rows []model.Row
		for w := range c.Width {
			rows = append(rows, c.Row(i-first, w))
		}
		done, err := d.searches[i].Advance(rows)
		require.NoError(d.t, err)
		if !done {
			continue
		}
		d.results[d.slots[i]] = d.searches[i].Result()
		last := len(d.searches) - 1
		d.searches[i], d.slots[i] = d.searches[last], d.slots[last]
		d.searches, d.slots = d.searches[:last], d.slots[:last]
		b.Leave(i)
	}
}

func float64s(values []float32) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}
