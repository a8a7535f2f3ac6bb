// Package steptest is for tests of functions whose work must be linear in the length of a
// text, because anybody may send one. It counts steps instead of time, so that a test says
// the same on every machine:
//
//	func TestWorkIsLinear(t *testing.T) {
//		if !steptest.Counts(t) {
//			return
//		}
//		steptest.AssertLinear(t, "f", strings.Repeat("a", 1<<13), strings.Repeat("a", 1<<16), f)
//	}
package steptest

import (
	"math"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/steps"
)

// counting is the environment variable that tells a test that its package counts steps.
const counting = "DRAGOMAN_COUNT_STEPS"

// Counts says whether the package under test counts steps. Where it does not, Counts
// builds a copy of it that does, with all modules that it uses, runs the calling test, a
// function at the top level, in that copy, and fails if it fails there. That takes a while: with -short
// the test is skipped. Of all packages those alone count whose paths begin as one of only, where there are some.
func Counts(t *testing.T, only ...string) bool {
	t.Helper()
	if os.Getenv(counting) != "" {
		return true
	}
	if testing.Short() {
		t.Skip("a copy has to be built: `make check` runs this test")
	}
	build, err := instrument(".", t.TempDir(), only...)
	require.NoError(t, err)
	arguments := append([]string{"test", "-run", "^" + t.Name() + "$", "-vet=off", "-v"}, build...)
	test := exec.CommandContext(t.Context(), "go", append(arguments, ".")...)
	test.Env = append(os.Environ(), counting+"=1")
	out, err := test.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return false
}

// steepest is the exponent of the work that still passes for linear. Of what is quadratic
// it is 2, of n log n about 1.1 here. It is not 1, for what is looked at again and again is
// bounded by some size, and may be longer than the shorter text.
const steepest = 1.2

// AssertLinear fails a test if the steps of work grow faster than the text. part is a text
// of the same kind as whole, best of an eighth of its length, and longer than any limit of
// what is looked at.
func AssertLinear(t assert.TestingT, what, part, whole string, work func(text string)) {
	short, long := count(part, work), count(whole, work)
	if short == 0 {
		t.Errorf("%s: no steps are counted", what)
		return
	}
	slope := exponent([]float64{float64(len(part)), float64(len(whole))}, []float64{float64(short), float64(long)})
	if slope > steepest {
		t.Errorf("%s: %d bytes take %d steps, %d bytes %d: the exponent is %.2f, and may be %.1f",
			what, len(part), short, len(whole), long, slope, steepest)
	}
}

func count(text string, work func(text string)) int {
	start := steps.Count
	work(text)
	return steps.Count - start
}

// ReportExponent is a benchmark of work with texts of four sizes, which text makes. It
// reports how time grows with the size: 1 is linear.
func ReportExponent(b *testing.B, text func(size int) string, work func(text string)) {
	sizes := []float64{1 << 14, 1 << 15, 1 << 16, 1 << 17}
	times := make([]float64, len(sizes))
	for b.Loop() {
		for i, size := range sizes {
			text := text(int(size))
			start := time.Now()
			work(text)
			times[i] += time.Since(start).Seconds()
		}
	}
	b.ReportMetric(exponent(sizes, times), "exponent")
}

// exponent returns the k that fits cost = c·sizeᵏ best, by least squares of the logarithms.
func exponent(sizes, costs []float64) float64 {
	var meanX, meanY float64
	n := float64(len(sizes))
	for i := range sizes {
		meanX += math.Log(sizes[i]) / n
		meanY += math.Log(costs[i]) / n
	}
	var xy, xx float64
	for i := range sizes {
		x := math.Log(sizes[i]) - meanX
		xy += x * (math.Log(costs[i]) - meanY)
		xx += x * x
	}
	return xy / xx
}
