package steptest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The test of the same name in testdata/example says what is linear and what is not.
func TestAssertLinear(t *testing.T) {
	t.Chdir("testdata/example")
	assert.False(t, Counts(t))
}

func TestExponent(t *testing.T) {
	sizes := []float64{16, 32, 64, 128}
	for _, want := range []float64{0, 1, 1.5, 2} {
		costs := make([]float64, len(sizes))
		for i, size := range sizes {
			costs[i] = 7 * math.Pow(size, want)
		}
		assert.InDelta(t, want, exponent(sizes, costs), 1e-9)
	}
}
