package onnx_test

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"dragoman/model/onnx"
)

func TestWeights(t *testing.T) {
	data, err := onnx.CreateData(filepath.Join(t.TempDir(), "weights.bin"))
	require.NoError(t, err)
	defer data.Close()
	add := func(name string, typ onnx.DataType, shape ...int) onnx.Weight {
		w, err := data.Add(name, typ, shape, func(out io.Writer) error {
			_, err := out.Write(make([]byte, typ.Size()*shape[0]*shape[1]))
			return err
		})
		require.NoError(t, err)
		return w
	}
	a, b := add("a", onnx.Int8, 3, 5), add("b", onnx.Float32, 2, 1)
	unused := add("unused", onnx.Int8, 1, 1)
	g := onnx.NewGraph("graph")
	y := g.Op("Add", []string{g.Weight(b), g.Floats("inside", []float32{1})})
	g.Output(g.Op("Add", []string{y, g.Weight(a)}), onnx.Float32)

	got, err := onnx.Weights(g.Marshal())
	require.NoError(t, err)
	assert.Equal(t, []onnx.Weight{b, a}, got)
	assert.NotContains(t, got, unused)
	assert.EqualValues(t, onnx.Alignment, b.Offset)
}

func TestOperators(t *testing.T) {
	g := onnx.NewGraph("graph")
	x := g.Input("x", onnx.Float32)
	for _, op := range []string{"Gate", "AddNorm", "Gate"} {
		x = g.Node(onnx.Dragoman, op, []string{x}, 1)[0]
	}
	g.Output(g.Op("Identity", []string{x}), onnx.Float32)
	got, err := onnx.Operators(g.Marshal(), onnx.Dragoman)
	require.NoError(t, err)
	assert.Equal(t, []string{"AddNorm", "Gate"}, got)
	_, err = onnx.Operators([]byte{0x3a, 2, 0x0a, 0xff}, onnx.Dragoman)
	assert.ErrorContains(t, err, "no protobuf message")
}

func TestWeightsRefused(t *testing.T) {
	field := func(outer protowire.Number, inner []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, outer, protowire.BytesType), inner)
	}
	const graph, initializer, externalData = 7, 5, 13
	entry := func(key, value string) []byte {
		pair := append(field(1, []byte(key)), field(2, []byte(value))...)
		return field(graph, field(initializer, append(field(8, []byte("w")), field(externalData, pair)...)))
	}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"no protobuf":         {[]byte{0xff}, "no protobuf message"},
		"cut":                 {protowire.AppendTag(nil, graph, protowire.BytesType), "no protobuf message"},
		"cut tensor":          {field(graph, field(initializer, []byte{0xff})), "no protobuf message"},
		"cut entry":           {field(graph, field(initializer, field(externalData, []byte{0xff}))), "no protobuf message"},
		"offset is no number": {entry("offset", "x"), `constant "w": strconv.ParseInt: parsing "x"`},
		"length is no number": {entry("length", ""), `constant "w": strconv.ParseInt`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := onnx.Weights(c.raw)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func FuzzWeights(f *testing.F) {
	g := onnx.NewGraph("graph")
	g.Output(g.Weight(onnx.Weight{Name: "w", Type: onnx.Int8, Shape: []int{4}, File: "weights.bin", Size: 4}), onnx.Int8)
	f.Add(g.Marshal())
	f.Fuzz(func(_ *testing.T, raw []byte) { _, _ = onnx.Weights(raw) })
}
