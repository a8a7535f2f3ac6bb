package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/cpu/cputest"
	"dragoman/model/onnx"
)

// tensor is an argument of an operator.
type tensor struct {
	data  []float32
	shape []int
}

func of(data []float32, shape ...int) tensor { return tensor{data, shape} }

// runOp runs an operator in single or half precision on the CPU. half tells which inputs and outputs are of type T; they are
// converted.
func runOp(t *testing.T, op string, inputs, outputs []tensor, half string) {
	t.Helper()
	cputest.Runtime(t)
	r, err := loaded()
	require.NoError(t, err)
	isHalf := func(i int) bool { return op[len(op)-3:] == "F16" && half[i] == 't' }
	g := onnx.NewGraph("op")
	var in, out []string
	for i, x := range inputs {
		name := g.Input(fmt.Sprintf("in%d", i), onnx.Float32, dims(x)...)
		if isHalf(i) {
			name = g.Op("Cast", []string{name}, onnx.Int("to", int(onnx.Float16)))
		}
		in = append(in, name)
	}
	out = g.Node(onnx.Dragoman, op, in, len(outputs))
	for i, name := range out {
		g.NamedNode("", "Cast", []string{name}, []string{fmt.Sprintf("out%d", i)}, onnx.Int("to", int(onnx.Float32)))
		g.Output(fmt.Sprintf("out%d", i), onnx.Float32, dims(outputs[i])...)
	}
	path := filepath.Join(t.TempDir(), "op.onnx")
	require.NoError(t, os.WriteFile(path, g.Marshal(), 0o644))

	h := onHost(t)
	defer func() { require.NoError(t, h.Close()) }()
	s, err := r.newSession(t.Context(), h.Session(newSetup(path), 0))
	require.NoError(t, err)
	defer s.Close()
	b, err := s.NewBinding()
	require.NoError(t, err)
	defer b.Close()
	bind := func(bind func(string, unsafe.Pointer, onnx.DataType, ...int), name string, x tensor) []float32 {
		p, err := h.Alloc(4 * int64(len(x.data)))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, h.Free(p)) })
		bind(name, p, onnx.Float32, x.shape...)
		return unsafe.Slice((*float32)(p), len(x.data))
	}
	for i, x := range inputs {
		copy(bind(b.Input, fmt.Sprintf("in%d", i), x), x.data)
	}
	var views [][]float32
	for i, x := range outputs {
		views = append(views, bind(b.Output, fmt.Sprintf("out%d", i), x))
	}
	require.NoError(t, b.Run())
	for i, x := range outputs {
		copy(x.data, views[i])
	}
}

func dims(x tensor) []onnx.Dim {
	var d []onnx.Dim
	for _, n := range x.shape {
		d = append(d, onnx.Fixed(int(n)))
	}
	return d
}

func normal(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// TestAddNorm has rows longer than the registers of a warp.
func TestAddNorm(t *testing.T) {
	const rows = 3
	for _, op := range []string{"DeviceAddNormF32", "DeviceAddNormF16"} {
		for _, width := range []int{1, 31, 33, 1023, 1024, 1025, 2500} {
			t.Run(fmt.Sprintf("%s %d", op, width), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, uint64(width)))
				n := rows * width
				x, acc, bias := normal(rng, n), normal(rng, n), normal(rng, width)
				gain, beta := normal(rng, width), normal(rng, width)
				total, y := make([]float32, n), make([]float32, n)
				w := width
				runOp(t, op, []tensor{of(x, rows, w), of(gain, w), of(beta, w), of(acc, rows, w), of(bias, w)},
					[]tensor{of(total, rows, w), of(y, rows, w)}, "ffftf")
				for r := range rows {
					mean, variance := 0.0, 0.0
					sums := make([]float64, width)
					for i := range sums {
						sums[i] = float64(x[r*width+i]) + float64(acc[r*width+i]) + float64(bias[i])
						mean += sums[i] / float64(width)
					}
					for _, v := range sums {
						variance += (v - mean) * (v - mean) / float64(width)
					}
					for i, v := range sums {
						require.InDelta(t, v, total[r*width+i], 5e-3)
						want := (v-mean)/math.Sqrt(variance+1e-5)*float64(gain[i]) + float64(beta[i])
						require.InDelta(t, want, y[r*width+i], 2e-2, "row %d column %d", r, i)
						if op == "DeviceAddNormF32" {
							require.InDelta(t, want, y[r*width+i], 2e-5, "row %d column %d", r, i)
						}
					}
				}
			})
		}
	}
}

// TestOverflowIsClamped: a number too large for half precision is clamped.
func TestOverflowIsClamped(t *testing.T) {
	total, y := make([]float32, 4), make([]float32, 4)
	ones, zeros := []float32{1, 1, 1, 1}, make([]float32, 4)
	inputs := func(acc ...float32) []tensor {
		return []tensor{of(zeros, 1, 4), of(ones, 4), of(zeros, 4), of(acc, 1, 4), of(zeros, 4)}
	}
	outputs := []tensor{of(total, 1, 4), of(y, 1, 4)}
	runOp(t, "DeviceAddNormF16", inputs(1e6, -1e6, 2, 65504), outputs, "ffftf")
	assert.Equal(t, []float32{64504, -64504, 2, 65504}, total)
	runOp(t, "DeviceAddNormF16", inputs(1, float32(math.NaN()), 2, 3), outputs, "ffftf")
	assert.True(t, math.IsNaN(float64(total[1])), "what is no number stays none")
}

func TestBiasRelu(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, op := range []string{"DeviceBiasReluF32", "DeviceBiasReluF16"} {
		for _, width := range []int{1, 255, 257, 1000} {
			acc, bias, y := normal(rng, 2*width), normal(rng, width), make([]float32, 2*width)
			runOp(t, op, []tensor{of(acc, 2, width), of(bias, width)}, []tensor{of(y, 2, width)}, "tf")
			for i, v := range y {
				require.InDelta(t, max(0, acc[i]+bias[i%width]), v, 4e-3, "%s %d of %d", op, i, width)
			}
		}
	}
}

// TestHalfNumbers converts every number in half precision, and numbers between two neighbours.
func TestHalfNumbers(t *testing.T) {
	var x []float32
	for bits := range 0x7c00 { // without infinity
		low, high := halfValue(bits), halfValue(bits+1)
		x = append(x, low, -low, (low*3+high)/4, (low+high*3)/4, (low+high)/2)
	}
	n := len(x)
	zeros, y, want := make([]float32, n), make([]float32, n), make([]float32, n)
	runOp(t, "DeviceBiasReluF32", []tensor{of(x, 1, n), of(zeros, n)}, []tensor{of(want, 1, n)}, "tf")
	// The F16 operator reads and writes half numbers. Only its bias, in single precision, must be rounded.
	runOp(t, "DeviceBiasReluF16", []tensor{of(zeros, 1, n), of(x, n)}, []tensor{of(y, 1, n)}, "tf")
	for i, v := range x {
		if v <= 0 {
			require.Zero(t, y[i])
			continue
		}
		require.Equal(t, nearestHalf(v), y[i], "%g", v)
	}
	runOp(t, "DeviceBiasReluF16", []tensor{of(x, 1, n), of(zeros, n)}, []tensor{of(y, 1, n)}, "tf")
	for i := 0; i < len(x); i += 5 { // these are half numbers themselves
		require.Equal(t, max(0, x[i]), y[i])
	}
}

// halfValue returns the number of some bits; for 0x7c00, the number after the largest one.
func halfValue(bits int) float32 {
	if bits < 0x400 {
		return float32(math.Ldexp(float64(bits), -24))
	}
	return float32(math.Ldexp(float64(0x400+bits&0x3ff), bits>>10-25))
}

// nearestHalf rounds to half precision, ties to even.
func nearestHalf(v float32) float32 {
	exponent := max(math.Ilogb(float64(v)), -14)
	unit := math.Ldexp(1, exponent-10)
	if rounded := float32(math.RoundToEven(float64(v)/unit) * unit); rounded < 65536 {
		return rounded
	}
	return float32(math.Inf(1))
}
