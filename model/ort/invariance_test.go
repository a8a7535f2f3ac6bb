package ort_test

import (
	"testing"

	"dragoman/model"
	"dragoman/model/modeltest"
	"dragoman/model/ort/orttest"
	"dragoman/model/search"
)

// TestBatchInvariance decodes sentences alone, and then in company that comes and
// goes at random: greedy and beam searches mixed, 1 to 20 sentences at a time, at
// every position. Tokens and scores must be the same to the last bit.
func TestBatchInvariance(t *testing.T) {
	for _, precision := range []model.Precision{model.FP32, model.INT8} {
		t.Run(string(precision), func(t *testing.T) {
			m := orttest.Open(t, orttest.Bundled(), precision)
			modeltest.CheckInvariance(t, m, mixedJobs(m, modeltest.Bundled(t).Cases), 0, 8)
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
