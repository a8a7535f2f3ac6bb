package cpu_test

import (
	"strconv"
	"testing"

	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/modeltest"
)

// TestBatchInvariance decodes sentences alone, and then in random batches: mixed greedy and beam searches, 1 to 20 sentences at
// a time, at every position. Tokens and scores must be equal to the last bit.
func TestBatchInvariance(t *testing.T) {
	rounds, every := 8, 4
	if testing.Short() {
		rounds, every = 2, 8
	}
	for _, precision := range []model.Precision{model.FP32, model.INT8} {
		t.Run(string(precision), func(t *testing.T) {
			m := cputest.Open(t, cputest.Bundled(), precision)
			modeltest.CheckInvariance(t, m, modeltest.MixedJobs(m, modeltest.Sample(every, modeltest.Bundled(t).Cases), 60), 0, rounds)
			for _, name := range []string{"marian", "mbart", "t5", "t5-tied"} {
				odd := modeltest.Odd(t)[name]
				m := cputest.Open(t, odd.Dir, precision)
				modeltest.CheckInvariance(t, m, modeltest.MixedJobs(m, odd.Cases, 30), 0, rounds)
			}
		})
	}
}

// TestBatchesAtOnce runs two batches of a model concurrently, as workers that share it do.
func TestBatchesAtOnce(t *testing.T) {
	m := cputest.Open(t, cputest.Bundled(), model.FP32)
	jobs := modeltest.MixedJobs(m, modeltest.Sample(16, modeltest.Bundled(t).Cases), 16)
	for i := range 2 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			modeltest.CheckInvariance(t, m, jobs, 0, 1+i)
		})
	}
}
