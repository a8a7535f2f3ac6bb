package ort_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/modeltest"
	"dragoman/model/ort/orttest"
	"dragoman/model/search"
)

// TestBatchInvariance decodes sentences alone, and then in company that comes and
// goes at random: greedy and beam searches mixed, 1 to 20 sentences at a time, at
// every position. Tokens and scores must be the same to the last bit.
func TestBatchInvariance(t *testing.T) {
	const rounds = 8
	for _, precision := range []model.Precision{model.FP32, model.INT8} {
		t.Run(string(precision), func(t *testing.T) {
			m := orttest.Open(t, orttest.Bundled(), precision)
			jobs := mixedJobs(m, modeltest.Bundled(t).Cases)
			alone := make([]search.Result, len(jobs))
			for i := range jobs {
				alone[i] = decodeMixed(t, m, jobs[i:i+1], func(running int) int { return 1 })[0]
			}
			rng := rand.New(rand.NewPCG(3, 4))
			compositions := 0
			for range rounds {
				order := rng.Perm(len(jobs))
				shuffled := make([]modeltest.Job, len(jobs))
				for i, j := range order {
					shuffled[i] = jobs[j]
				}
				results := decodeMixed(t, m, shuffled, func(running int) int {
					compositions++
					return rng.IntN(21) - running
				})
				for i, r := range results {
					require.Equal(t, alone[order[i]], r, "%q", shuffled[i].Text)
				}
			}
			t.Logf("%d sentences in %d batch compositions", rounds*len(jobs), compositions)
			assert.Greater(t, compositions, 2000)
		})
	}
}

// mixedJobs are the cases with searches that take turns.
func mixedJobs(m model.Model, cases []modeltest.Case) []modeltest.Job {
	jobs := make([]modeltest.Job, len(cases))
	for i, c := range cases {
		jobs[i] = modeltest.Job{Case: c, Search: search.DefaultOptions(m.Spec().Generation)}
		jobs[i].Search.Beams, jobs[i].Search.MaxLength = []int{1, 5, 2}[i%3], 60
	}
	return jobs
}
