package export

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQuantizeRows(t *testing.T) {
	values := []float32{
		1, -2, 0.5, // the largest magnitude, negative here, becomes 127
		0, 0, 0, // no division by zero
		1e-30, -1e-30, 0, // negligible numbers
	}
	q := make([]int8, len(values))
	scales := quantizeRows(q, nil, values, 3)
	require.Len(t, scales, 3)
	assert.Equal(t, []int8{64, -127, 32}, q[:3])
	assert.InDelta(t, 2.0/127, scales[0], 1e-9)
	assert.Equal(t, []int8{0, 0, 0}, q[3:6])
	for _, s := range scales {
		assert.Positive(t, s)
		assert.False(t, math.IsInf(float64(s), 0))
	}
}

// TestQuantizeRowsIsNearest checks that no error exceeds half a step.
func TestQuantizeRowsIsNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, cols = 20, 37
	values := make([]float32, rows*cols)
	for i := range values {
		values[i] = float32(rng.NormFloat64() * math.Pow(10, float64(i/cols)-10))
	}
	q := make([]int8, len(values))
	scales := quantizeRows(q, nil, values, cols)
	for i, v := range values {
		s := scales[i/cols]
		assert.InDelta(t, v, float32(q[i])*s, float64(s)*0.50001)
	}
}

func TestWritePanels(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {2, 3}, {16, 4}, {5, 64}, {17, 65}, {100, 130}} {
		rows, cols := size[0], size[1]
		q := make([]int8, rows*cols)
		for i := range q {
			q[i] = int8(i*7 | 1)
		}
		var out bytes.Buffer
		require.NoError(t, writePanels(&out, func(i int) []int8 { return q[i*cols : (i+1)*cols] }, rows, cols))
		steps := (cols + 3) / 4
		require.Equal(t, (rows+15)/16*steps*64, out.Len())
		sums := make([]int32, rows)
		for i, v := range out.Bytes() {
			r, c := i/(steps*64)*16+i/4%16, i/64%steps*4+i%4
			if r >= rows || c >= cols {
				require.Zero(t, v, "%v: row %d column %d", size, r, c)
				continue
			}
			require.Equal(t, q[r*cols+c], int8(v), "%v: row %d column %d", size, r, c)
			sums[r] += int32(int8(v))
		}
		require.Equal(t, sums, rowSums(func(i int) []int8 { return q[i*cols : (i+1)*cols] }, rows))
	}
}

func TestWriteFloatsRefusesWhatFP16CannotHold(t *testing.T) {
	err := writeFloats(&bytes.Buffer{}, 10, []float32{1, 70000})
	assert.EqualError(t, err, "value 70000 at 1 does not fit into fp16: export as fp32")
}

// TestSinusoids compares with the formula of transformers'
// M2M100SinusoidalPositionalEmbedding. The goldens compare whole models.
func TestSinusoids(t *testing.T) {
	table := sinusoids(3, 5, 2) // positions 2, 3, 4; half is 2: frequencies 1 and 1/10000
	want := []float64{
		math.Sin(2), math.Sin(2e-4), math.Cos(2), math.Cos(2e-4), 0,
		math.Sin(3), math.Sin(3e-4), math.Cos(3), math.Cos(3e-4), 0,
		math.Sin(4), math.Sin(4e-4), math.Cos(4), math.Cos(4e-4), 0,
	}
	for i, v := range want {
		assert.InDelta(t, v, table[i], 1e-7, "element %d", i)
	}
}
