package ops_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/onnx"
)

// chain is a graph whose nodes can also run one by one.
type chain struct {
	g      *onnx.Graph
	inputs []string
	args   []arg
	values []value
}

// value is the output of a node that ran alone.
type value struct {
	name string
	kind onnx.DataType
	dims int
	got  any
}

// node adds a call. Its inputs with a name are values of the graph.
func (c *chain) node(t testing.TB, call call, names map[int]string) []string {
	inputs := make([]string, len(call.inputs))
	for i, in := range call.inputs {
		if inputs[i] = names[i]; inputs[i] != "" || in.kind == 0 {
			continue
		}
		inputs[i] = fmt.Sprintf("input%d", len(c.inputs))
		c.inputs, c.args = append(c.inputs, inputs[i]), append(c.args, in)
		c.g.Input(inputs[i], in.kind, anyDims(inputs[i], len(in.shape))...)
	}
	outputs := c.g.Node(onnx.Dragoman, call.op, inputs, len(call.outputs), call.attrs...)
	for i, got := range call.run(t) {
		dims := 2
		if i > 0 && call.outputs[i-1] == onnx.Uint8 {
			dims = 1
		}
		c.values = append(c.values, value{outputs[i], call.outputs[i], dims, got})
	}
	return outputs
}

// got returns the value of a name.
func (c *chain) got(name string) any {
	i := slices.IndexFunc(c.values, func(v value) bool { return v.name == name })
	return c.values[i].got
}

// newChain returns a random chain like layers of a network, by a seed, for n rows. The graph does not contain the number of
// rows.
func newChain(t testing.TB, seed, rows int) *chain {
	c, r, widths := &chain{g: onnx.NewGraph("chain")}, random(seed), []int{16, 24, 40}
	width := widths[r.IntN(3)]
	quantized := []onnx.DataType{onnx.Uint8, onnx.Float32}
	x := newNorm(seed, rows, width).x
	q := c.node(t, call{op: "Quantize", inputs: []arg{floats(x, rows, width)}, outputs: quantized}, nil)
	sum, positive := "input0", false // the name of the sum so far; whether quantized numbers count from 0
	for layer := range 2 + r.IntN(5) {
		inner := widths[r.IntN(3)]
		product := newInt8Product(seed+layer, rows, width, inner, positive)
		product.x = c.got(q[0]).([]uint8)
		acc := c.node(t, product.call(), map[int]string{0: q[0]})[0]
		p := newProduct(seed+layer, rows, inner)
		p.acc, p.scale = c.got(acc).([]float32), c.got(q[1]).([]float32)
		if positive = inner != width || r.IntN(2) == 0; positive {
			a, bias, scale := p.args()
			q = c.node(t, call{op: "ReluQuantize", inputs: []arg{a, bias, scale}, outputs: quantized}, map[int]string{0: acc, 2: q[1]})
			sum, x, width = acc, p.acc, inner
			continue
		}
		n := newNorm(seed+layer, rows, width)
		n.x, n.p = x, p
		out := c.node(t, n.call("AddNormQuantize", onnx.Float32, onnx.Uint8, onnx.Float32), map[int]string{0: sum, 3: acc, 5: q[1]})
		sum, x, q = out[0], c.got(out[0]).([]float32), out[1:]
	}
	return c
}

// TestChain runs graphs whose nodes are fused, from several goroutines. All values equal those of the single nodes to the last
// bit, whichever of them are outputs.
func TestChain(t *testing.T) {
	for seed := range 12 {
		first := newChain(t, seed, 1)
		var outputs []string
		r := random(seed)
		for i, v := range first.values {
			if i == len(first.values)-1 || r.IntN(3) == 0 {
				outputs = append(outputs, v.name)
				first.g.Output(v.name, v.kind, anyDims(v.name, v.dims)...)
			}
		}
		session, err := sessionOf(t, first.g.Marshal(), first.inputs, outputs)
		require.NoError(t, err)
		var all sync.WaitGroup
		for _, rows := range []int{1, 7, 0, 33, 2} {
			c := newChain(t, seed, rows)
			all.Go(func() {
				got, err := runSession(t, session, c.args, len(outputs))
				if !assert.NoError(t, err) {
					return
				}
				for i, name := range outputs {
					assert.Equal(t, c.got(name), got[i], "seed %d, %d rows, %s", seed, rows, name)
				}
			})
		}
		all.Wait()
	}
}

func TestChainRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		operator string
		inputs   []string
		outputs  int
		want     string
	}{
		"no such operator":  {"Quantise", []string{"q"}, 2, "there is no operator Quantise"},
		"another type":      {"Quantize", []string{"q"}, 2, "a value is of another type than is wanted"},
		"too many inputs":   {"Quantize", []string{"x", "x"}, 2, "Quantize takes 1 inputs and has 2 outputs"},
		"too few outputs":   {"Quantize", []string{"x"}, 1, "Quantize takes 1 inputs and has 2 outputs"},
		"an input left out": {"ReluQuantize", []string{"", "scale", "scale"}, 2, "input 0 of ReluQuantize is missing"},
		"not enough inputs": {"ReluQuantize", []string{"x", "scale"}, 2, "input 2 of ReluQuantize is missing"},
		"out of range":      {"GateQuantize", []string{"x", "scale"}, 2, "attributes out of range"},
		"another shape":     {"ReluQuantize", []string{"x", "scale", "scale"}, 2, "dimension 0 of input 1 is 2: 16 is wanted"},
	} {
		t.Run(name, func(t *testing.T) {
			g := onnx.NewGraph("refused")
			g.Input("x", onnx.Float32, anyDims("x", 2)...)
			g.NamedNode(onnx.Dragoman, "Quantize", []string{"x"}, []string{"q", "scale"})
			out := g.Node(onnx.Dragoman, test.operator, test.inputs, test.outputs, onnx.Int("activation", -1))
			g.Output(out[0], onnx.Uint8, anyDims("y", 2)...)
			session, err := sessionOf(t, g.Marshal(), []string{"x"}, out[:1])
			if err == nil {
				_, err = runSession(t, session, []arg{floats(make([]float32, 32), 2, 16)}, 1)
			}
			assert.ErrorContains(t, err, test.want)
		})
	}
}
