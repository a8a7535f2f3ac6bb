package cuda_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/model"
	"dragoman/model/cuda"
	"dragoman/model/modeltest"
	"dragoman/model/search"
)

func TestGoldensOfBundledCheckpoint(t *testing.T) {
	g := modeltest.Bundled(t)
	checkGoldens(t, g, every(15, g.Cases), cuda.Options{})
}

func TestGoldensOfOddCheckpoints(t *testing.T) {
	for name, g := range modeltest.Odd(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkGoldens(t, g, every(2, g.Cases), cuda.Options{NoGraphs: true})
		})
	}
}

// every selects each n-th case, because the kernels are slow on a CPU.
func every(n int, all []modeltest.Case) (some []modeltest.Case) {
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// checkGoldens compares single precision with Hugging Face, for some cases with traces.
func checkGoldens(t *testing.T, g *modeltest.Goldens, cases []modeltest.Case, opts cuda.Options) {
	if len(g.Traces) > 12 {
		var some []modeltest.Trace
		for i := 0; i < len(g.Traces); i += 3 {
			some = append(some, g.Traces[i])
		}
		g.Traces = some
	}
	g.Check(t, openWith(t, g.Dir, model.FP32, opts), cases, maxRows)
}

// TestHalfPrecision compares greedy translations in half precision with Hugging Face's
// in single precision.
func TestHalfPrecision(t *testing.T) {
	for _, name := range []string{"marian", "marian-two-vocabularies", "marian-untied", "mbart", "mbart-bin", "mbart-untied"} {
		g := modeltest.Odd(t)[name]
		checkHalf(t, g, g.Cases, 0.7)
	}
	for _, name := range []string{"t5", "t5-trained"} {
		g := modeltest.Families(t)[name]
		checkHalf(t, g, g.Cases, 0.9)
	}
	g := modeltest.Louder(t, modeltest.Families(t)["t5-trained"], 1<<13)
	checkHalf(t, g, g.Cases, 0.9)
	g = modeltest.Bundled(t)
	checkHalf(t, g, every(9, g.Cases), 0.97)
}

func checkHalf(t *testing.T, g *modeltest.Goldens, cases []modeltest.Case, least float64) {
	m := open(t, g.Dir, model.FP16)
	var jobs []modeltest.Job
	for _, c := range cases {
		jobs = append(jobs, modeltest.Job{Case: c, Search: search.DefaultOptions(g.Settings["greedy"])})
	}
	same := 0
	for i, r := range decode(t, m, jobs, func(running int) int { return 16 - running }) {
		want := jobs[i].Outputs["greedy"]
		if ids := modeltest.Tokens(jobs[i].Case, r, m.Spec().EOS); slices.Equal(want.IDs[:min(len(ids), len(want.IDs))], ids) {
			same++
		}
	}
	t.Logf("%s: %d of %d greedy translations are those of single precision", g.Checkpoint, same, len(jobs))
	assert.GreaterOrEqual(t, float64(same), least*float64(len(jobs)))
}
