package checkpoint

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/family"
)

// The values of a file that the safetensors library wrote in each type, at the
// edges of the formats: subnormals, the largest, negative zero.
func TestSafetensorsGolden(t *testing.T) {
	raw, err := os.ReadFile("testdata/pickles/edges.safetensors")
	require.NoError(t, err)
	got, err := parseSafetensors(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	compareGolden(t, "edges", got)
}

// compareGolden compares tensors with testdata/expected.json.
func compareGolden(t *testing.T, file string, got map[string]Tensor) {
	t.Helper()
	want := readGoldens(t).Files[file]
	require.NotEmpty(t, want)
	require.Len(t, got, len(want))
	types := map[string]DType{"float32": F32, "float16": F16, "bfloat16": BF16}
	for name, w := range want {
		assert.Equal(t, types[w.DType], got[name].DType, name)
		assert.Equal(t, w.Shape, got[name].Shape, name)
		assert.Equal(t, w.Values, read(t, got[name]), name)
	}
}

func TestParseSafetensors(t *testing.T) {
	valid := map[string][]byte{
		"no tensors": safetensorsOf(`{}`, 0),
		"metadata":   safetensorsOf(`{"__metadata__": {"format": "pt"}}`, 0),
		"scalar":     safetensorsOf(`{"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}`, 4),
		"empty":      safetensorsOf(`{"a": {"dtype": "F32", "shape": [0, 3], "data_offsets": [0, 0]}}`, 0),
		"other type": safetensorsOf(`{"a": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}}`, 8),
		"padded":     safetensorsOf(`{"a": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]}}    `, 4),
		"any order": safetensorsOf(`{"a": {"dtype": "F16", "shape": [2], "data_offsets": [2, 6]},`+
			`"b": {"dtype": "F16", "shape": [1], "data_offsets": [0, 2]}}`, 6),
	}
	for name, raw := range valid {
		t.Run(name, func(t *testing.T) {
			_, err := parseSafetensors(bytes.NewReader(raw), int64(len(raw)))
			assert.NoError(t, err)
		})
	}
}

func TestParseSafetensorsRefuses(t *testing.T) {
	entry := func(fields string) []byte { return safetensorsOf(`{"a": {`+fields+`}}`, 8) }
	long := safetensorsOf(`{}`, 0)
	long[7] = 0x80
	beyond := safetensorsOf(`{}`, 0)
	beyond[0] = 3
	tests := map[string]struct {
		raw  []byte
		want string
	}{
		"empty file":       {nil, "0 bytes are too few"},
		"no header":        {make([]byte, 7), "7 bytes are too few"},
		"huge header":      {long, "safetensors header of 9223372036854775810 bytes, at most 8388608"},
		"header cut":       {beyond, "safetensors header of 3 bytes in a file of 10: the file is truncated"},
		"not JSON":         {safetensorsOf(`hello`, 0), "invalid character"},
		"a list":           {safetensorsOf(`[]`, 0), "expected a JSON object"},
		"JSON cut":         {safetensorsOf(`{"a": `, 0), "unexpected EOF"},
		"binary after":     {safetensorsOf("{}\x00", 0), "something after the JSON object"},
		"entry is a list":  {safetensorsOf(`{"a": []}`, 0), `tensor "a": json: cannot unmarshal array`},
		"entry is null":    {safetensorsOf(`{"a": null}`, 0), `tensor "a": no shape`},
		"no shape":         {entry(`"dtype": "F32", "data_offsets": [0, 8]`), "no shape"},
		"no type":          {entry(`"shape": [2], "data_offsets": [0, 8]`), `unknown type ""`},
		"unknown type":     {entry(`"dtype": "Q4", "shape": [2], "data_offsets": [0, 8]`), `unknown type "Q4"`},
		"no offsets":       {entry(`"dtype": "F32", "shape": [2]`), "0 data_offsets, expected 2"},
		"one offset":       {entry(`"dtype": "F32", "shape": [2], "data_offsets": [0]`), "1 data_offsets, expected 2"},
		"three offsets":    {entry(`"dtype": "F32", "shape": [2], "data_offsets": [0, 8, 8]`), "3 data_offsets, expected 2"},
		"negative offset":  {entry(`"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]`), "are not a range"},
		"reversed":         {entry(`"dtype": "F32", "shape": [2], "data_offsets": [8, 0]`), "are not a range"},
		"huge offset":      {entry(`"dtype": "F32", "shape": [2], "data_offsets": [0, 1e30]`), "cannot unmarshal number"},
		"wrong length":     {entry(`"dtype": "F32", "shape": [3], "data_offsets": [0, 8]`), "span 8 bytes, shape [3] of F32 takes 12"},
		"wrong type size":  {entry(`"dtype": "F16", "shape": [2], "data_offsets": [0, 8]`), "span 8 bytes, shape [2] of F16 takes 4"},
		"negative size":    {entry(`"dtype": "F32", "shape": [-1, -2], "data_offsets": [0, 8]`), "negative dimension"},
		"overflow":         {entry(`"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 8]`), "more than 281474976710656 elements"},
		"rank":             {entry(`"dtype": "F32", "shape": [1,1,1,1,1,1,1,1,2], "data_offsets": [0, 8]`), "shape has 9 dimensions, at most 8"},
		"fraction":         {entry(`"dtype": "F32", "shape": [1.5], "data_offsets": [0, 8]`), "cannot unmarshal number 1.5"},
		"truncated":        {safetensorsOf(`{"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}`, 11), "take 12 bytes, the file has 11 for them: it is truncated"},
		"appended":         {safetensorsOf(`{"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}`, 13), "take 12 bytes, the file has 13 for them: something was appended"},
		"gap at the start": {safetensorsOf(`{"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}`, 8), `bytes 0 to 4 before tensor "a" belong to no tensor`},
		"overlap": {safetensorsOf(`{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},`+
			`"b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}}`, 12), `tensor "b" at bytes 4 to 12 overlaps another that ends at 8`},
		"the same place": {safetensorsOf(`{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},`+
			`"b": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}`, 8), "overlaps"},
		"twice": {safetensorsOf(`{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},`+
			`"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}`, 8), `"a" appears twice`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parseSafetensors(bytes.NewReader(test.raw), int64(len(test.raw)))
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// A tensor of a type that the model cannot use: refused by name when it is one
// of the model's.
func TestOpenUnreadableType(t *testing.T) {
	tensors := map[string]Tensor{"w": {Name: "w", Shape: []int{2}, DType: "I64"}}
	err := checkLayout(new(family.Network), model.Spec{}, []Parameter{{"w", []int{2}}}, tensors)
	assert.EqualError(t, err, "tensor w has elements of type I64: only F32, F16 and BF16 are supported")
}

// FuzzSafetensorsHeader checks that a header that is accepted describes tensors
// that can be read, and that no other does harm.
func FuzzSafetensorsHeader(f *testing.F) {
	for _, s := range []string{`{}`, `{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`,
		`{"a":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[],"data_offsets":[8,10]}}`,
		`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}`, `[`, `{"a":null}`} {
		f.Add([]byte(s), uint16(8))
	}
	f.Fuzz(func(t *testing.T, header []byte, data uint16) {
		raw := safetensorsOf(string(header), int(data))
		tensors, err := parseSafetensors(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		for name, tensor := range tensors {
			if n := tensor.Len(); n > int(data) {
				t.Fatalf("%q has %d elements in %d bytes", name, n, data)
			}
			if tensor.DType.readable() {
				read(t, tensor) // the bytes are zeros
			}
		}
	})
}
