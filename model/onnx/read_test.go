package onnx

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

func TestConstantRoundTrip(t *testing.T) {
	var proto message
	proto.string(tensorName, "w")
	want := Constant{
		Name: "w", proto: proto, Location: "data.bin", At: Span{4096, 8},
		Packed: []Packed{{"MatMul+1", []Span{{8192, 16}, {12288, 4}}}, {"Gemm+2", []Span{{16384, 1}}}},
	}
	got, err := readConstant(want.encode())
	require.NoError(t, err)
	assert.Equal(t, &want, got)

	inside := Constant{Name: "w", proto: want.proto}
	got, err = readConstant(inside.encode())
	require.NoError(t, err)
	assert.Equal(t, &inside, got)
}

func TestReadRefuses(t *testing.T) {
	withEntry := func(key, value string) []byte {
		var tensor, graph, model message
		tensor.string(tensorName, "w")
		tensor.entry(key, value)
		graph.bytes(graphInitializer, tensor)
		model.bytes(modelGraph, graph)
		return model
	}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"no protobuf":         {[]byte{0xff}, "truncated protobuf"},
		"cut field":           {protowire.AppendTag(nil, modelGraph, protowire.BytesType), "truncated protobuf"},
		"offset is no number": {withEntry("offset", "x"), `constant w: strconv.ParseInt: parsing "x"`},
		"length is no number": {withEntry("length", ""), "constant w: strconv.ParseInt"},
		"two numbers":         {withEntry("prepacked_0", "key|1;2"), "offset;length;checksum expected"},
		"packed at no number": {withEntry("prepacked_0", "key|1;x;0"), "packed matrix"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "graph.onnx")
			require.NoError(t, os.WriteFile(path, c.raw, 0o644))
			_, _, err := Read(path)
			assert.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, path)
		})
	}
}
