package gpucheck

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/cpu/cputest"
	"dragoman/model/cuda"
	"dragoman/model/family"
	"dragoman/model/modeltest"
	"dragoman/model/search"
	"dragoman/tokenizer"
)

// goldens returns Hugging Face's translations by the bundled checkpoint, or a part of them.
func goldens(t *testing.T) *modeltest.Goldens {
	t.Helper()
	g := modeltest.Bundled(t)
	var cases []modeltest.Case
	for i := 0; i < len(g.Cases); i += *every {
		cases = append(cases, g.Cases[i])
	}
	g.Cases = cases
	return g
}

// TestBundled checks the bundled model in both precisions.
func TestBundled(t *testing.T) { check(t, goldens(t), "", exported) }

// TestT5 checks a trained model of MADLAD-400's form, and one with numbers as large as in real models, which would overflow in
// half precision without scaling.
func TestT5(t *testing.T) {
	g := modeltest.Families(t)["t5-trained"]
	check(t, g, "t5", cputest.Export)
	t.Run("louder", func(t *testing.T) { check(t, modeltest.Louder(t, g, 1<<13), "t5", cputest.Export) })
}

// check checks a model of a family in both precisions.
func check(t *testing.T, g *modeltest.Goldens, name string, export func(testing.TB, string, model.Precision) string) {
	for _, precision := range []model.Precision{model.FP32, model.FP16} {
		t.Run(string(precision), func(t *testing.T) {
			m := open(t, export(t, g.Dir, precision))
			tok, err := family.OpenTokenizer(g.Dir, name, nil)
			require.NoError(t, err)
			for _, setting := range []string{"greedy", "beam5"} {
				t.Run(setting, func(t *testing.T) { agreement(t, m, tok, g, setting) })
			}
			t.Run("company", func(t *testing.T) { company(t, m, g) })
			t.Run("leaving", func(t *testing.T) { leaving(t, m, g) })
			t.Run("memory", func(t *testing.T) { memory(t, m, g) })
		})
	}
}

// TestShapes checks random models of odd shapes and of other families in single precision.
func TestShapes(t *testing.T) {
	for folder, all := range map[string]map[string]*modeltest.Goldens{"odd": modeltest.Odd(t), "families": modeltest.Families(t)} {
		for name, g := range all {
			t.Run(folder+"/"+name, func(t *testing.T) {
				if spec, err := checkpoint.ReadSpec(g.Dir); err != nil || spec.CPUOnly() {
					t.Skipf("a network for CPUs, or not a checkpoint: %v", err)
				}
				g.Check(t, open(t, cputest.Export(t, g.Dir, model.FP32)), g.Cases, 128)
			})
		}
	}
}

func jobs(g *modeltest.Goldens, setting string) []modeltest.Job {
	var all []modeltest.Job
	for _, c := range g.Cases {
		all = append(all, modeltest.Job{Case: c, Search: search.DefaultOptions(g.Settings[setting])})
	}
	return all
}

// decode translates jobs in one batch. most returns the maximum number of jobs before each step.
func decode(t *testing.T, m model.Model, all []modeltest.Job, most func() int) []search.Result {
	t.Helper()
	results, err := modeltest.Decode(m, all, 512, func(running int) int { return most() - running })
	require.NoError(t, err)
	return results
}

// agreement compares with Hugging Face in single precision. Single precision must agree token for token, except for ties.
func agreement(t *testing.T, m *cuda.Model, tok *tokenizer.Tokenizer, g *modeltest.Goldens, setting string) {
	all, same := jobs(g, setting), 0
	var ours, theirs []string
	for i, result := range decode(t, m, all, func() int { return 64 }) {
		want := all[i].Outputs[setting]
		if slices.Equal(modeltest.Tokens(all[i].Case, result, m.Spec().EOS), want.IDs) {
			same++
		} else if m.Precision() == model.FP32 && !want.NearTie(modeltest.TieTolerance) {
			t.Errorf("%q: the tokens are %v, not %v, and no scores tie", all[i].Text, result.Tokens, want.IDs)
		}
		ours, theirs = append(ours, tok.Decode(result.Tokens)), append(theirs, want.Text)
	}
	t.Logf("%d of %d are identical, chrF %.2f", same, len(all), chrF(ours, theirs))
	assert.GreaterOrEqual(t, same, len(all)*95/100)
}

// company decodes sentences alone and in pairs, and then in random batches. Matrix products of other sizes may round
// differently, so half precision may differ a little.
func company(t *testing.T, m *cuda.Model, g *modeltest.Goldens) {
	half := min(100, len(g.Cases)/2)
	all := append(jobs(g, "greedy")[:half], jobs(g, "beam5")[half:2*half]...)
	alone := decode(t, m, all, func() int { return 2 })
	rng := rand.New(rand.NewPCG(1, 2))
	const rounds = 3
	same := 0
	for range rounds {
		order := rng.Perm(len(all))
		shuffled := make([]modeltest.Job, len(all))
		for i, j := range order {
			shuffled[i] = all[j]
		}
		results := decode(t, m, shuffled, func() int { return rng.IntN(60) + 1 })
		for i, j := range order {
			if slices.Equal(results[i].Tokens, alone[j].Tokens) {
				same++
			}
		}
	}
	t.Logf("%d of %d are the same alone and in company", same, rounds*len(all))
	assert.GreaterOrEqual(t, same, rounds*len(all)*98/100)
}

// leaving removes half of the sentences during decoding, as cancelled requests do. The other sentences must have the same
// results.
func leaving(t *testing.T, m *cuda.Model, g *modeltest.Goldens) {
	all := jobs(g, "beam5")[:min(24, len(g.Cases))]
	want := decode(t, m, all, func() int { return len(all) })
	b, err := m.NewBatch(model.Limits{Rows: 5 * len(all), MaxLength: 200})
	require.NoError(t, err)
	defer func() { assert.NoError(t, b.Close()) }()
	r := modeltest.NewRunner(b, m.Spec(), len(all))
	require.NoError(t, r.Join(all, 0))
	for step := 0; b.Len() > 0; step++ {
		for i := len(r.Jobs) - 1; i >= 0 && step == 3; i-- {
			if r.Jobs[i]%2 == 1 {
				r.Leave(i)
			}
		}
		require.NoError(t, r.Step())
	}
	different := 0
	for i := 0; i < len(all); i += 2 {
		if !slices.Equal(r.Results[i].Tokens, want[i].Tokens) {
			different++
		}
	}
	assert.LessOrEqual(t, different, 1, "of %d sentences: one may round otherwise with fewer rows", len(all)/2)
}

// memory asks for more memory than available, checks that the device still works, and logs the actual and the announced memory
// of a batch.
func memory(t *testing.T, m *cuda.Model, g *modeltest.Goldens) {
	before, err := m.Available()
	require.NoError(t, err)
	if before < 0 {
		t.Skip("the memory of this device is not known")
	}
	f, longest := m.Footprint(), m.Spec().MaxPositions
	per := int64(longest) * (f.RowToken + f.SourceToken)
	_, err = m.NewBatch(model.Limits{Rows: int(before/per) + 1000, MaxLength: longest})
	require.ErrorIs(t, err, cuda.ErrMemory)
	limits := model.Limits{Rows: 128, MaxLength: longest}
	b, err := m.NewBatch(limits)
	require.NoError(t, err)
	after, err := m.Available()
	assert.NoError(t, err)
	require.NoError(t, b.Close())
	t.Logf("a batch takes %d bytes, %d were said", before-after, m.StateBytes(limits))
	decode(t, m, jobs(g, "greedy")[:min(8, len(g.Cases))], func() int { return 8 })
}
