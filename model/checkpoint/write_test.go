package checkpoint

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"

	"dragoman/model/checkpoint/safetensorstest"
)

// What is written is read back: F32 exactly, F16 to the nearest.
func TestWriteSafetensors(t *testing.T) {
	want := open(t, folderOf(t, settings(t, nil), "safetensors/*"))
	for _, dtype := range []DType{F32, F16} {
		t.Run(string(dtype), func(t *testing.T) {
			dir := folderOf(t, settings(t, nil))
			writeModel(t, dir, model.SafetensorsFile, sources(want, dtype))
			got := open(t, dir)
			for name, tensor := range got.tensors {
				assert.Equal(t, dtype, tensor.DType)
				w := read(t, want.tensors[name])
				if dtype == F32 {
					assert.Equal(t, w, read(t, tensor), name)
				} else {
					assert.InDeltaSlice(t, w, read(t, tensor), 1e-3, name)
				}
			}
		})
	}
	t.Run("aligned", func(t *testing.T) {
		var b bytes.Buffer
		require.NoError(t, safetensorstest.Write(&b, []Source{constant("é\"\\", 1, 1)}))
		tensors, err := parseSafetensors(bytes.NewReader(b.Bytes()), int64(b.Len()))
		require.NoError(t, err)
		assert.Zero(t, tensors["é\"\\"].offset%8)
	})
}

// A tensor of several blocks is asked for in order, without a gap.
func TestWriteSafetensorsBlocks(t *testing.T) {
	var blocks [][2]int
	s := Source{Name: "w", Shape: []int{safetensorstest.BlockElements + 5}, DType: safetensorstest.F16, Values: func(dst []float32, offset int) error {
		blocks = append(blocks, [2]int{offset, len(dst)})
		clear(dst)
		return nil
	}}
	require.NoError(t, safetensorstest.Write(io.Discard, []Source{s}))
	assert.Equal(t, [][2]int{{0, safetensorstest.BlockElements}, {safetensorstest.BlockElements, 5}}, blocks)
}

// full fails every write.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteSafetensorsRefuses(t *testing.T) {
	half := func(x float32) Source {
		s := constant("w", x, 3)
		s.DType = safetensorstest.F16
		return s
	}
	other := constant("w", 1, 1)
	other.DType = "BF16"
	broken := errors.New("no values")
	failing := Source{Name: "w", Shape: []int{1}, DType: safetensorstest.F32, Values: func([]float32, int) error { return broken }}
	tests := map[string]struct {
		tensors []Source
		want    string
	}{
		"twice":      {[]Source{constant("w", 1, 1), constant("w", 1, 1)}, `tensor "w" cannot be written twice`},
		"metadata":   {[]Source{constant("__metadata__", 1, 1)}, `tensor "__metadata__" cannot be written`},
		"type":       {[]Source{other}, `tensor w cannot be written as "BF16": use F32 or F16`},
		"shape":      {[]Source{constant("w", 1, 2, -1)}, "tensor w: shape [2 -1] has a negative dimension"},
		"NaN":        {[]Source{constant("w", float32(math.NaN()), 1)}, "tensor w, element 0: NaN in F32: not a finite number"},
		"infinity":   {[]Source{half(float32(math.Inf(1)))}, "tensor w, element 0: +Inf in F16"},
		"beyond F16": {[]Source{half(65520)}, "tensor w, element 0: 65520 in F16: not a finite number"},
		"no values":  {[]Source{failing}, "tensor w: no values"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.ErrorContains(t, safetensorstest.Write(io.Discard, test.tensors), test.want)
		})
	}
	assert.ErrorIs(t, safetensorstest.Write(full{}, []Source{constant("w", 1, 1)}), io.ErrShortWrite)
	assert.ErrorIs(t, safetensorstest.Write(io.Discard, []Source{failing}), broken)
	assert.NoError(t, safetensorstest.Write(io.Discard, []Source{half(65504)}))
}
