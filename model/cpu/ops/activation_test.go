package ops_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model/onnx"
)

// activations are the functions that an operator's attribute names; ReLU has its own tests.
var activations = []struct {
	name      string
	attribute int
	of        func(x float64) float64
}{
	{"none", 0, func(x float64) float64 { return x }},
	{"swish", 2, func(x float64) float64 { return x / (1 + math.Exp(-x)) }},
	{"gelu", 3, func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }},
	{"gelu_tanh", 4, func(x float64) float64 { return x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) / 2 }},
}

func TestProductActivation(t *testing.T) {
	for _, f := range activations {
		for _, half := range []bool{false, true} {
			for _, width := range []int{1, 15, 33, 100} {
				t.Run(fmt.Sprintf("%s %d half=%v", f.name, width, half), func(t *testing.T) {
					m := newMultiplication(width, 7, 20, width, half, false)
					product, bias := m.run(t), normal(random(width), width, 1)
					run := func(m multiplication) []float32 {
						c := m.call()
						c.op, c.attrs = m.w.op("ProductActivation"), append(c.attrs, onnx.Int("activation", f.attribute))
						c.inputs = append(c.inputs, floats(bias, width))
						return c.run(t)[0].([]float32)
					}
					got := run(m)
					for i, v := range got {
						x := float64(product[i]) + float64(bias[i%width])
						requireNear(t, f.of(x), v, 1e-6*(1+math.Abs(x)), "output", i)
					}
					require.Equal(t, got[3*width:4*width], run(m.slice(3, 4)), "a row depends on the others")
				})
			}
		}
	}
}

func TestActivationQuantize(t *testing.T) {
	for _, f := range activations {
		for _, width := range widths {
			t.Run(fmt.Sprintf("%s %d", f.name, width), func(t *testing.T) {
				p := newProduct(width, 7, width)
				if width > 20 { // far from zero, on both sides
					copy(p.acc, []float32{-1000, -88, -20, 20})
				}
				run := func(p product) []any {
					acc, bias, scales := p.args()
					return call{op: "ActivationQuantize", attrs: []onnx.Attr{onnx.Int("activation", f.attribute)},
						inputs: []arg{acc, bias, scales}, outputs: []onnx.DataType{onnx.Uint8, onnx.Float32}}.run(t)
				}
				out := run(p)
				q, scale := out[0].([]uint8), out[1].([]float32)
				for r := range p.rows {
					want := make([]float64, width)
					for i := range want {
						want[i] = f.of(p.at(r, i))
					}
					requireQuantized(t, want, q[r*width:(r+1)*width], scale[r], 128, 127)
					require.Equal(t, []any{q[r*width : (r+1)*width], scale[r : r+1]}, run(p.row(r)), "row %d depends on the others", r)
				}
				p.acc[width/2] = nan
				require.True(t, math.IsNaN(float64(run(p)[1].([]float32)[0])))
			})
		}
	}
	_, err := call{op: "ActivationQuantize", attrs: []onnx.Attr{onnx.Int("activation", 5)},
		inputs: []arg{floats(nil, 0, 1), floats([]float32{1}, 1), floats(nil, 0)}, outputs: []onnx.DataType{onnx.Uint8, onnx.Float32}}.try(t)
	require.ErrorContains(t, err, "activation 5")
}

// Gate multiplies the activation of one half by the other half; GateQuantize also quantizes the product.
func TestGate(t *testing.T) {
	for _, f := range activations {
		for _, width := range widths {
			t.Run(fmt.Sprintf("%s %d", f.name, width), func(t *testing.T) {
				p := newProduct(width, 7, 2*width)
				call := func(p product, op string, outputs ...onnx.DataType) call {
					acc, bias, scales := p.args()
					return call{op: op, attrs: []onnx.Attr{onnx.Int("activation", f.attribute)}, inputs: []arg{acc, bias, scales}, outputs: outputs}
				}
				y := call(p, "Gate", onnx.Float32).run(t)[0].([]float32)
				for i, v := range y {
					left, right := p.at(i/width, i%width), p.at(i/width, width+i%width)
					requireNear(t, f.of(left)*right, v, 2e-6*(1+math.Abs(left))*(1+math.Abs(right)), "output", i)
				}
				q, scale := quantize(t, y, 7, width)
				require.Equal(t, []any{q, scale}, call(p, "GateQuantize", onnx.Uint8, onnx.Float32).run(t))
				require.Equal(t, y[3*width:4*width], call(p.row(3), "Gate", onnx.Float32).run(t)[0], "a row depends on the others")
				p.acc[width/2] = nan
				require.True(t, math.IsNaN(float64(call(p, "GateQuantize", onnx.Uint8, onnx.Float32).run(t)[1].([]float32)[0])))
			})
		}
	}
	_, err := call{op: "Gate", attrs: []onnx.Attr{onnx.Int("activation", 2)}, inputs: []arg{zeros(2, 3), zeros(3), {}},
		outputs: []onnx.DataType{onnx.Float32}}.try(t)
	require.ErrorContains(t, err, "3 columns are not two halves")
}

// NormSum writes AddNorm's norm in place of the sum.
func TestNormSum(t *testing.T) {
	for _, width := range widths {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			n := newNorm(width, 7, width)
			_, y := n.run(t)
			require.Equal(t, []any{y}, n.call("NormSum", onnx.Float32).run(t))
			q, scale := quantize(t, y, 7, width)
			require.Equal(t, []any{y, q, scale}, n.call("NormSumQuantize", onnx.Float32, onnx.Uint8, onnx.Float32).run(t))
		})
	}
}

// The bias of an 8-bit head affects the candidates and their sum; here it makes the last tokens the best.
func TestBestCandidatesInt8Bias(t *testing.T) {
	for _, rescored := range []bool{false, true} {
		for _, k := range []int{1, 10} {
			p, h := newInt8Head(t, 1, 9, 37, 1000, k)
			h.bias = make([]float32, h.vocab)
			for i := range h.bias {
				h.bias[i] = float32(i) / 5
			}
			h.bias[h.vocab-1] = -1e30
			if !rescored {
				h.x, h.table = nil, nil
			}
			got := p.best(t, h)
			for r := range h.rows {
				want, lse, tolerance := h.reference(r)
				require.InDelta(t, lse, got.lse[r], tolerance+1e-5*math.Abs(lse))
				for i, c := range want {
					require.Equal(t, c.id, got.row(r, k).ids[i])
					requireNear(t, c.logit-lse, got.row(r, k).logProbs[i], 1e-3+tolerance, "log-probability", i)
				}
				alone := p
				alone.rows, alone.x = 1, p.x[r*p.depth:(r+1)*p.depth]
				require.Equal(t, got.row(r, k), alone.best(t, h.row(r)), "row %d depends on the others", r)
			}
		}
	}
}
