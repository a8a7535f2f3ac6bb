package onnx_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/onnx"
)

// graphNode is a node in dragoman's domain, or Add.
type graphNode struct {
	operator        string
	inputs, outputs []string
}

func graphOf(outputs []string, nodes ...graphNode) []byte {
	g := onnx.NewGraph("graph")
	for _, name := range []string{"x", "z"} {
		g.Input(name, onnx.Float32)
	}
	g.Floats("c", []float32{1})
	for i, n := range nodes {
		domain := onnx.Dragoman
		if n.operator == "Add" {
			domain = ""
		}
		g.NamedNode(domain, n.operator, n.inputs, n.outputs, onnx.Int("layer", i), onnx.Float("scale", 0.5))
	}
	for _, name := range outputs {
		g.Output(name, onnx.Float32)
	}
	return g.Marshal()
}

func TestFuse(t *testing.T) {
	for name, c := range map[string]struct {
		nodes   []graphNode
		outputs []string
		want    onnx.Chain
		left    []string // operators of the domain in the result
	}{
		"all": {
			nodes:   []graphNode{{"A", []string{"x", "c"}, []string{"a"}}, {"B", []string{"a", "", "x"}, []string{"b", "y"}}},
			outputs: []string{"y"},
			want:    onnx.Chain{Operators: []string{"A", "B"}, Values: []int32{2, 1, 0, 1, 3, 3, 2, 3, -1, 0, 4, 2}, Inputs: 2, Outputs: 1, Total: 5},
			left:    []string{"Chain"}},
		"what lies between is used by others and is an output": {
			nodes: []graphNode{{"A", []string{"x"}, []string{"a"}}, {"B", []string{"a"}, []string{"b"}}, {"C", []string{"b"}, []string{"d"}},
				{"Add", []string{"a", "d"}, []string{"y"}}},
			outputs: []string{"b", "y"},
			want:    onnx.Chain{Operators: []string{"A", "B", "C"}, Values: []int32{1, 1, 0, 1, 1, 1, 1, 2, 1, 1, 2, 3}, Inputs: 1, Outputs: 3, Total: 4},
			left:    []string{"Chain"}},
		"the longest run": {
			nodes: []graphNode{{"A", []string{"x"}, []string{"a"}}, {"Add", []string{"a", "z"}, []string{"b"}}, {"B", []string{"b"}, []string{"d"}},
				{"C", []string{"d"}, []string{"y"}}},
			outputs: []string{"y"},
			want:    onnx.Chain{Operators: []string{"B", "C"}, Values: []int32{1, 1, 0, 2, 1, 1, 2, 1}, Inputs: 1, Outputs: 1, Total: 3},
			left:    []string{"A", "Chain"}},
		"one node": {nodes: []graphNode{{"A", []string{"x"}, []string{"a"}}, {"Add", []string{"a", "z"}, []string{"y"}}}, outputs: []string{"y"}, left: []string{"A"}},
		"none":     {nodes: []graphNode{{"Add", []string{"x", "z"}, []string{"y"}}}, outputs: []string{"y"}},
		"a value twice": {
			nodes: []graphNode{{"A", []string{"x"}, []string{"y"}}, {"B", []string{"x"}, []string{"y"}}}, outputs: []string{"y"}, left: []string{"A", "B"}},
		"used before it is made": {
			nodes: []graphNode{{"A", []string{"y"}, []string{"a"}}, {"B", []string{"a"}, []string{"y"}}}, outputs: []string{"y"}, left: []string{"A", "B"}},
		"an output without a name": {
			nodes: []graphNode{{"A", []string{"x"}, []string{"a", ""}}, {"B", []string{"a"}, []string{"y"}}}, outputs: []string{"y"}, left: []string{"A", "B"}},
	} {
		t.Run(name, func(t *testing.T) {
			model := graphOf(c.outputs, c.nodes...)
			fused, chain, err := onnx.Fuse(model, onnx.Dragoman)
			require.NoError(t, err)
			assert.Equal(t, c.want, chain)
			left, err := onnx.Operators(fused, onnx.Dragoman)
			require.NoError(t, err)
			assert.Equal(t, c.left, left)
			if chain.Total == 0 {
				assert.Equal(t, model, fused)
			}
		})
	}
	for _, damaged := range [][]byte{{0xff}, {0x3a, 2, 0x0a, 0xff}, {0x3a, 4, 0x0a, 2, 0x0a, 0xff}} {
		_, _, err := onnx.Fuse(damaged, onnx.Dragoman)
		assert.ErrorContains(t, err, "no protobuf message")
	}
}

func FuzzFuse(f *testing.F) {
	f.Add(graphOf([]string{"y"}, graphNode{"A", []string{"x"}, []string{"a"}}, graphNode{"B", []string{"a", "c"}, []string{"y"}}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		fused, chain, err := onnx.Fuse(raw, onnx.Dragoman)
		if err != nil {
			return
		}
		again, rest, err := onnx.Fuse(fused, onnx.Dragoman)
		require.NoError(t, err)
		if chain.Total == 0 {
			require.Equal(t, raw, again)
		}
		for _, v := range append(chain.Values, rest.Values...) {
			require.GreaterOrEqual(t, v, int32(-1))
		}
	})
}
