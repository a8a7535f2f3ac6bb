package cpu_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/modeltest"
	"dragoman/model/search"
)

func TestGoldensOfBundledCheckpoint(t *testing.T) {
	g := modeltest.Bundled(t)
	checkGoldens(t, g, modeltest.Sample(3, g.Cases))
}

func TestGoldensOfOddCheckpoints(t *testing.T) {
	for name, g := range modeltest.Odd(t) {
		t.Run(name, func(t *testing.T) { checkGoldens(t, g, g.Cases) })
	}
}

func TestGoldensOfFamilies(t *testing.T) {
	for name, g := range modeltest.Families(t) {
		t.Run(name, func(t *testing.T) { checkGoldens(t, g, g.Cases) })
	}
}

// A checkpoint with an adapter beside it gives the translations of the model that peft makes of both.
func TestGoldensOfAdapters(t *testing.T) {
	for name, g := range modeltest.Adapters(t) {
		t.Run(name, func(t *testing.T) { checkGoldens(t, g, g.Cases) })
	}
}

// Models in CTranslate2's form give CTranslate2's translations in 32 bits.
func TestGoldensOfConvertedModels(t *testing.T) {
	for name, g := range modeltest.Converted(t) {
		t.Run(name, func(t *testing.T) {
			delete(g.Settings, "greedy-int8") // another arithmetic
			checkGoldens(t, g, g.Cases)
		})
	}
}

// In 8 bits the first token equals that in single precision, except in networks that are too small for 8 bits.
func TestInt8OfOtherNetworks(t *testing.T) {
	for _, name := range []string{"marian", "marian-two-vocabularies", "marian-untied", "mbart", "mbart-bin", "mbart-untied", "t5", "t5-tied", "t5-silu"} {
		g, same := modeltest.Odd(t)[name], 0
		m := cputest.Open(t, g.Dir, model.INT8)
		for i, r := range decode(t, m, search.DefaultOptions(g.Settings["greedy"]), g.Cases) {
			ids := modeltest.Tokens(g.Cases[i], r, m.Spec().EOS)
			if ids[1] == g.Cases[i].Outputs["greedy"].IDs[1] {
				same++
			}
		}
		require.GreaterOrEqual(t, same, len(g.Cases)-2, name)
	}
}

// With the same 8-bit weights, most translations equal CTranslate2's in 8 bits. Two things differ: this backend recomputes the
// logits of the best candidates from 16-bit numbers, and a ReLU's output has 256 levels instead of 128.
func TestInt8OfConvertedModels(t *testing.T) {
	same, all := 0, 0
	for name, g := range modeltest.Converted(t) {
		if _, ok := g.Settings["greedy-int8"]; !ok {
			continue
		}
		m, equal := cputest.Open(t, g.Dir, model.INT8), 0
		for i, r := range decode(t, m, search.DefaultOptions(g.Settings["greedy-int8"]), g.Cases) {
			if slices.Equal(modeltest.Tokens(g.Cases[i], r, m.Spec().EOS), g.Cases[i].Outputs["greedy-int8"].IDs) {
				equal++
			}
		}
		t.Logf("%s: %d of %d translations are CTranslate2's", name, equal, len(g.Cases))
		same, all = same+equal, all+len(g.Cases)
	}
	require.Greater(t, same, all/4, "of %d", all)
}

// checkGoldens compares an fp32 export with Hugging Face.
func checkGoldens(t *testing.T, g *modeltest.Goldens, compared []modeltest.Case) {
	g.Check(t, cputest.Open(t, g.Dir, model.FP32), compared, 0)
}

// decode translates cases in a batch of up to 16 sentences: new ones join as others leave, so rows of all lengths decode
// together.
func decode(t testing.TB, m model.Model, opts search.Options, cases []modeltest.Case) []search.Result {
	t.Helper()
	jobs := make([]modeltest.Job, len(cases))
	for i, c := range cases {
		jobs[i] = modeltest.Job{Case: c, Search: opts}
	}
	return decodeMixed(t, m, jobs, func(running int) int { return 16 - running })
}

// decodeMixed is modeltest.Decode with room for all jobs.
func decodeMixed(t testing.TB, m model.Model, jobs []modeltest.Job, room func(running int) int) []search.Result {
	t.Helper()
	results, err := modeltest.Decode(m, jobs, 0, room)
	require.NoError(t, err)
	return results
}
