package modeltest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/search"
)

// CheckInvariance checks that a sentence's result does not depend on the rest of its batch: it decodes each job alone, and then
// all jobs as many times as rounds says, in random order and in random batches of up to 20 sentences. In every fourth round,
// sentences skip steps at random and are encoded in pieces. Tokens and scores must be equal to the last bit. maxRows is as in
// Decode.
func CheckInvariance(t *testing.T, m model.Model, jobs []Job, maxRows, rounds int) {
	t.Helper()
	alone := make([]search.Result, len(jobs))
	for i := range jobs {
		results, err := Decode(m, jobs[i:i+1], maxRows, func(int) int { return 1 })
		require.NoError(t, err)
		alone[i] = results[0]
	}
	rng := rand.New(rand.NewPCG(3, 4))
	compositions := 0
	for round := range rounds {
		order := rng.Perm(len(jobs))
		shuffled := make([]Job, len(jobs))
		for i, j := range order {
			shuffled[i] = jobs[j]
		}
		divide := rng
		if round%4 != 1 {
			divide = nil
		}
		results, err := decode(m, shuffled, maxRows, func(running int) int {
			compositions++
			return rng.IntN(21) - running
		}, divide)
		require.NoError(t, err)
		for i, r := range results {
			require.Equal(t, alone[order[i]], r, "%q", shuffled[i].Text)
		}
	}
	t.Logf("%d sentences in %d batch compositions", rounds*len(jobs), compositions)
	assert.Greater(t, compositions, rounds*len(jobs)/4)
}
