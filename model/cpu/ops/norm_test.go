package ops_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model/onnx"
)

// norm has the inputs of layer normalization other than a product.
type norm struct {
	x, gain, beta []float32
	p             product // acc may be nil
	rows, width   int
}

func newNorm(seed, rows, width int) norm {
	r := random(seed)
	return norm{normal(r, rows*width, 2), normal(r, width, 1), normal(r, width, 1), newProduct(seed+1, rows, width), rows, width}
}

func (n norm) row(r int) norm {
	one := norm{n.x[r*n.width : (r+1)*n.width], n.gain, n.beta, n.p, 1, n.width}
	if n.p.acc != nil {
		one.p = n.p.row(r)
	}
	return one
}

func (n norm) call(op string, outputs ...onnx.DataType) call {
	acc, bias, scale := n.p.args()
	return call{op: op, outputs: outputs, inputs: []arg{
		floats(n.x, n.rows, n.width), floats(n.gain, n.width), floats(n.beta, n.width), acc, bias, scale}}
}

func (n norm) run(t *testing.T) (total, y []float32) {
	t.Helper()
	out := n.call("AddNorm", onnx.Float32, onnx.Float32).run(t)
	return out[0].([]float32), out[1].([]float32)
}

// require checks a row of the results. The expected norm is computed from the actual total. Its error is the error of the mean,
// which grows with the total.
func (n norm) require(t *testing.T, r int, total, y []float32) {
	t.Helper()
	mean, peak := 0.0, 0.0
	for i, got := range total {
		want, size := float64(n.x[r*n.width+i]), math.Abs(float64(n.x[r*n.width+i]))
		if n.p.acc != nil {
			want += n.p.at(r, i)
			size += math.Abs(n.p.at(r, i)) + 2*math.Abs(float64(n.p.bias[i]))
		}
		requireNear(t, want, got, 3e-7*size, "total", i)
		mean += float64(got) / float64(n.width)
		peak = max(peak, math.Abs(float64(got)))
	}
	variance := 0.0
	for _, v := range total {
		variance += (float64(v) - mean) * (float64(v) - mean) / float64(n.width)
	}
	inverse := 1 / math.Sqrt(variance+1e-5)
	for i, got := range y {
		standard, gain := (float64(total[i])-mean)*inverse, float64(n.gain[i])
		delta := math.Abs(gain) * (1e-6*peak*inverse*(1+math.Abs(standard)) + 2e-6*math.Abs(standard))
		requireNear(t, standard*gain+float64(n.beta[i]), got, delta+1e-6*math.Abs(float64(n.beta[i]))+1e-7, "norm", i)
	}
}

func TestAddNorm(t *testing.T) {
	for _, width := range widths {
		for _, rows := range rowCount {
			for _, variant := range []string{"whole", "no scale", "no product"} {
				t.Run(fmt.Sprintf("%dx%d %s", rows, width, variant), func(t *testing.T) {
					n := newNorm(width+rows, rows, width)
					switch variant {
					case "no scale":
						n.p.scale = nil
					case "no product":
						n.p = product{}
					}
					total, y := n.run(t)
					for r := range rows {
						n.require(t, r, total[r*width:(r+1)*width], y[r*width:(r+1)*width])
						total1, y1 := n.row(r).run(t)
						require.Equal(t, total1, total[r*width:(r+1)*width], "row %d depends on the others", r)
						require.Equal(t, y1, y[r*width:(r+1)*width], "row %d depends on the others", r)
					}
				})
			}
		}
	}
}

// Without beta it is an RMS norm.
func TestAddRMSNorm(t *testing.T) {
	for _, width := range widths {
		for _, rows := range rowCount {
			t.Run(fmt.Sprintf("%dx%d", rows, width), func(t *testing.T) {
				n := newNorm(width+rows, rows, width)
				want, _ := n.run(t)
				run := func(n norm, op string, outputs ...onnx.DataType) []any {
					c := n.call(op, outputs...)
					c.inputs[2] = arg{}
					return c.run(t)
				}
				out := run(n, "AddNorm", onnx.Float32, onnx.Float32)
				total, y := out[0].([]float32), out[1].([]float32)
				require.Equal(t, want, total)
				for r := range rows {
					square := 0.0
					for _, v := range total[r*width : (r+1)*width] {
						square += float64(v) * float64(v) / float64(width)
					}
					for i, v := range total[r*width : (r+1)*width] {
						want := float64(v) / math.Sqrt(square+1e-6) * float64(n.gain[i])
						requireNear(t, want, y[r*width+i], 2e-6*math.Abs(want), "norm", i)
					}
					require.Equal(t, y[r*width:(r+1)*width], run(n.row(r), "AddNorm", onnx.Float32, onnx.Float32)[1], "row %d depends on the others", r)
				}
				q, scale := quantize(t, y, rows, width)
				require.Equal(t, []any{total, q, scale}, run(n, "AddNormQuantize", onnx.Float32, onnx.Uint8, onnx.Float32))
				n.p = product{}
				require.Equal(t, n.x, run(n, "AddNorm", onnx.Float32, onnx.Float32)[0])
				n.x[width/2] = nan
				require.True(t, math.IsNaN(float64(run(n, "AddNormQuantize", onnx.Float32, onnx.Uint8, onnx.Float32)[2].([]float32)[0])))
			})
		}
	}
}

func TestAddNormEdges(t *testing.T) {
	for name, x := range map[string][]float32{
		"zeros":             filled(33, 0),
		"all equal":         filled(33, -7),
		"tiny":              normal(random(1), 33, 1e-30),
		"large":             normal(random(2), 33, 1e15),
		"far from zero":     append(filled(32, 1000), 1001),
		"one outlier":       append(filled(32, 0), 1e6),
		"outlier in a lane": append([]float32{1e6}, filled(32, 0)...),
	} {
		t.Run(name, func(t *testing.T) {
			n := newNorm(3, 1, 33)
			n.x, n.p = x, product{}
			total, y := n.run(t)
			n.require(t, 0, total, y)
		})
	}
	for name, bad := range map[string]float32{"nan": nan, "inf": inf, "overflow of the variance": huge} {
		t.Run(name, func(t *testing.T) {
			n := newNorm(3, 2, 33)
			n.x[20] = bad
			_, y := n.run(t)
			require.Condition(t, func() bool { return bad == huge || math.IsNaN(float64(y[20])) })
			_, alone := n.row(1).run(t)
			require.Equal(t, alone, y[33:], "the other row has no part in it")
		})
	}
}

func TestAddNormQuantize(t *testing.T) {
	for _, width := range widths {
		for _, rows := range rowCount {
			t.Run(fmt.Sprintf("%dx%d", rows, width), func(t *testing.T) {
				n := newNorm(width+rows, rows, width)
				if rows == 2 {
					n.p = product{}
				}
				total, y := n.run(t)
				q, scale := quantize(t, y, rows, width)
				out := n.call("AddNormQuantize", onnx.Float32, onnx.Uint8, onnx.Float32).run(t)
				require.Equal(t, []any{total, q, scale}, out, "it is AddNorm, then Quantize")
			})
		}
	}
}
