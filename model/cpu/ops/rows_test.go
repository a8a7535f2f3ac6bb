package ops_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/onnx"
)

const (
	huge = float32(1e30)
	tiny = float32(1e-30)
)

var (
	nan      = float32(math.NaN())
	inf      = float32(math.Inf(1))
	zero     = float32(0)
	minus    = float32(math.Copysign(0, -1))
	widths   = []int{1, 3, 15, 16, 17, 33, 64, 1000, 1024}
	rowCount = []int{1, 2, 7, 40} // 40 rows of 1024 run in parallel, the others do not
)

// product has acc [rows, width], bias [width] and scale [rows] of a linear layer.
type product struct {
	acc, bias, scale []float32
	rows, width      int
}

// at returns the output of the layer in double precision.
func (p product) at(r, i int) float64 {
	scale := 1.0
	if p.scale != nil {
		scale = float64(p.scale[r])
	}
	return float64(p.acc[r*p.width+i])*scale + float64(p.bias[i])
}

// row returns the product of only row r.
func (p product) row(r int) product {
	one := product{p.acc[r*p.width : (r+1)*p.width], p.bias, p.scale, 1, p.width}
	if p.scale != nil {
		one.scale = p.scale[r : r+1]
	}
	return one
}

// args returns the product's inputs; a product without acc has none.
func (p product) args() (acc, bias, scale arg) {
	if p.acc == nil {
		return arg{}, arg{}, arg{}
	}
	if p.scale != nil {
		scale = floats(p.scale, p.rows)
	}
	return floats(p.acc, p.rows, p.width), floats(p.bias, p.width), scale
}

func newProduct(seed, rows, width int) product {
	r := random(seed)
	return product{normal(r, rows*width, 1), normal(r, width, 1), positive(r, rows), rows, width}
}

func quantize(t *testing.T, x []float32, rows, width int) (q []uint8, scale []float32) {
	t.Helper()
	out := call{op: "Quantize", inputs: []arg{floats(x, rows, width)}, outputs: []onnx.DataType{onnx.Uint8, onnx.Float32}}.run(t)
	return out[0].([]uint8), out[1].([]float32)
}

func reluQuantize(t *testing.T, p product) (q []uint8, scale []float32) {
	t.Helper()
	acc, bias, scales := p.args()
	out := call{op: "ReluQuantize", inputs: []arg{acc, bias, scales}, outputs: []onnx.DataType{onnx.Uint8, onnx.Float32}}.run(t)
	return out[0].([]uint8), out[1].([]float32)
}

// requireQuantized checks a row of q: it must be the nearest of `levels` steps from zero to the largest magnitude.
func requireQuantized(t *testing.T, x []float64, q []uint8, scale float32, zero, levels float64) {
	t.Helper()
	peak := 0.0
	for _, v := range x {
		peak = max(peak, math.Abs(v))
	}
	// After cancellation a sum is as exact as its terms, which are about 1.
	require.InDelta(t, max(peak, 1e-6), float64(scale), 1e-6*max(peak, 1), "scale")
	for i, v := range x {
		requireNear(t, v*levels/float64(scale), float32(q[i])-float32(zero), 0.5+1e-3, "element", i)
	}
}

func TestQuantize(t *testing.T) {
	for _, width := range widths {
		for _, rows := range rowCount {
			t.Run(fmt.Sprintf("%dx%d", rows, width), func(t *testing.T) {
				x := normal(random(width+rows), rows*width, 3)
				q, scale := quantize(t, x, rows, width)
				for r := range rows {
					row := x[r*width : (r+1)*width]
					requireQuantized(t, doubles(row), q[r*width:(r+1)*width], scale[r], 128, 127)
					q1, scale1 := quantize(t, row, 1, width)
					require.Equal(t, q1, q[r*width:(r+1)*width], "row %d depends on the others", r)
					require.Equal(t, scale1, scale[r:r+1], "row %d depends on the others", r)
				}
			})
		}
	}
}

func TestQuantizeEdges(t *testing.T) {
	for name, test := range map[string]struct {
		x     []float32
		scale float32
		q     []uint8
	}{
		"zeros":           {[]float32{0, 0, 0}, 1e-6, []uint8{128, 128, 128}},
		"signed zeros":    {[]float32{zero, minus, 1}, 1, []uint8{128, 128, 255}},
		"largest":         {[]float32{-2, 2, 0}, 2, []uint8{1, 255, 128}},
		"all equal":       {[]float32{-5, -5, -5}, 5, []uint8{1, 1, 1}},
		"ties to even":    {[]float32{127, 0.5, 1.5, -0.5, -1.5, 2.5}, 127, []uint8{255, 128, 130, 128, 126, 130}},
		"huge":            {[]float32{huge, -huge, huge / 4}, huge, []uint8{255, 1, 160}},
		"largest float":   {[]float32{math.MaxFloat32, -math.MaxFloat32}, math.MaxFloat32, []uint8{255, 1}},
		"tiny":            {[]float32{tiny, -tiny, 0}, 1e-6, []uint8{128, 128, 128}},
		"below the least": {[]float32{3e-7, -3e-7}, 1e-6, []uint8{166, 90}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, padding := range []int{0, 16, 31} { // inside of the vectors and in the remainder
				x := append(slices.Repeat([]float32{0}, padding), test.x...)
				q, scale := quantize(t, x, 1, len(x))
				assert.Equal(t, test.scale, scale[0])
				assert.Equal(t, test.q, q[padding:])
			}
		})
	}
}

func TestReluQuantize(t *testing.T) {
	for _, width := range widths {
		for _, rows := range rowCount {
			t.Run(fmt.Sprintf("%dx%d", rows, width), func(t *testing.T) {
				p := newProduct(width+rows, rows, width)
				if rows > 2 { // a row without numbers above zero
					for i := range width {
						p.acc[2*width+i] = -100
					}
				}
				q, scale := reluQuantize(t, p)
				for r := range rows {
					want := make([]float64, width)
					for i := range want {
						want[i] = max(0, p.at(r, i))
					}
					requireQuantized(t, want, q[r*width:(r+1)*width], scale[r], 0, 255)
					q1, scale1 := reluQuantize(t, p.row(r))
					require.Equal(t, q1, q[r*width:(r+1)*width], "row %d depends on the others", r)
					require.Equal(t, scale1, scale[r:r+1], "row %d depends on the others", r)
				}
			})
		}
	}
}

// A NaN anywhere in a row gives a NaN scale, so that all products of the row are invalid.
func TestNoNumbers(t *testing.T) {
	for _, width := range []int{1, 15, 16, 17, 40, 64} {
		for at := range width {
			x := normal(random(width), width, 1)
			x[at] = nan
			_, scale := quantize(t, x, 1, width)
			require.True(t, math.IsNaN(float64(scale[0])), "Quantize, %d of %d", at, width)
			_, scale = reluQuantize(t, product{x, filled(width, 0), filled(1, 1), 1, width})
			require.True(t, math.IsNaN(float64(scale[0])), "ReluQuantize, %d of %d", at, width)

			x[at] = inf
			_, scale = quantize(t, x, 1, width)
			require.True(t, math.IsNaN(float64(scale[0])), "Quantize, %d of %d", at, width)
		}
	}
}

func doubles(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func TestPickRows(t *testing.T) {
	x := []float32{1, 2, 3, 4, 5, 6}
	for _, test := range []struct {
		wanted []int64
		want   []float32
	}{{[]int64{2, 0, 2}, []float32{5, 6, 1, 2, 5, 6}}, {[]int64{1}, []float32{3, 4}}, {nil, []float32{}}} {
		got := call{op: "PickRows", inputs: []arg{floats(x, 3, 2), int64s(test.wanted...)}, outputs: []onnx.DataType{onnx.Float32}}.run(t)[0]
		assert.Equal(t, test.want, got)
	}
}
