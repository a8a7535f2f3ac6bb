package checkpoint

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// tensorOf is a vector of elements given by their bits.
func tensorOf(dtype DType, bits ...uint32) Tensor {
	var raw []byte
	for _, b := range bits {
		if dtype == F32 {
			raw = binary.LittleEndian.AppendUint32(raw, b)
		} else {
			raw = binary.LittleEndian.AppendUint16(raw, uint16(b))
		}
	}
	return Tensor{Name: "w", Shape: []int{len(bits)}, DType: dtype, data: bytes.NewReader(raw)}
}

func TestReadFloat32NotFinite(t *testing.T) {
	tests := map[string]struct {
		dtype  DType
		one, x uint32
		want   string
	}{
		"F32 NaN":           {F32, 0x3f800000, math.Float32bits(float32(math.NaN())), "NaN"},
		"F32 signaling NaN": {F32, 0x3f800000, 0x7f800001, "NaN"},
		"F32 +Inf":          {F32, 0x3f800000, 0x7f800000, "+Inf"},
		"F32 -Inf":          {F32, 0x3f800000, 0xff800000, "-Inf"},
		"F16 NaN":           {F16, 0x3c00, 0x7e00, "NaN"},
		"F16 +Inf":          {F16, 0x3c00, 0x7c00, "+Inf"},
		"F16 -Inf":          {F16, 0x3c00, 0xfc00, "-Inf"},
		"BF16 NaN":          {BF16, 0x3f80, 0x7fc0, "NaN"},
		"BF16 +Inf":         {BF16, 0x3f80, 0x7f80, "+Inf"},
		"BF16 -Inf":         {BF16, 0x3f80, 0xff80, "-Inf"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bits := bytes.Repeat([]byte{1}, readBlock) // longer than a block
			elements := make([]uint32, len(bits))
			for i := range elements {
				elements[i] = test.one
			}
			bad := len(elements) - 3
			elements[bad] = test.x
			tensor := tensorOf(test.dtype, elements...)

			before := make([]float32, bad)
			require.NoError(t, tensor.ReadFloat32(before, 0))
			assert.EqualValues(t, 1, before[bad-1])
			err := tensor.ReadFloat32(make([]float32, 5), bad-2)
			require.ErrorIs(t, err, ErrNotFinite)
			assert.EqualError(t, err, fmt.Sprintf(
				"tensor w, element %d of %d: %s: not a finite number: the checkpoint is damaged", bad, len(elements), test.want))
		})
	}
}

func TestReadFloat32Range(t *testing.T) {
	tensor := tensorOf(F32, 0, math.Float32bits(1), math.Float32bits(2))
	two := make([]float32, 2)
	require.NoError(t, tensor.ReadFloat32(two, 1))
	assert.Equal(t, []float32{1, 2}, two)
	require.NoError(t, tensor.ReadFloat32(nil, 3))
	for _, offset := range []int{-1, 2, 3, 4, math.MaxInt, math.MinInt} {
		err := tensor.ReadFloat32(two, offset)
		assert.EqualError(t, err, fmt.Sprintf("tensor w has 3 elements: cannot read 2 from element %d", offset))
	}
}

func TestReadFloat32Unreadable(t *testing.T) {
	tensor := tensorOf(F32, 0)
	tensor.DType = "F64"
	assert.EqualError(t, tensor.ReadFloat32(make([]float32, 1), 0),
		"tensor w has elements of type F64: only F32, F16 and BF16 are supported")
}

// A file that is cut after it was opened.
func TestReadFloat32Truncated(t *testing.T) {
	dir := folderOf(t, settings(t, nil), "safetensors/*")
	c := open(t, dir)
	require.NoError(t, os.Truncate(filepath.Join(dir, model.SafetensorsFile), 4096))
	tensor, err := c.Tensor(SharedEmbedding)
	require.NoError(t, err)
	err = tensor.ReadFloat32(make([]float32, tensor.Len()), 0)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.ErrorContains(t, err, "tensor model.shared.weight, element 0 of 96")
}

func TestReadAfterClose(t *testing.T) {
	c, err := Open(folderOf(t, settings(t, nil), "torch/*"))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	tensor, err := c.Tensor(SharedEmbedding)
	require.NoError(t, err)
	assert.ErrorIs(t, tensor.ReadFloat32(make([]float32, 1), 0), os.ErrClosed)
	assert.NoError(t, c.Close(), "a second time")
}

// The bundled checkpoint, all tensors at once: no NaN, and no race.
func TestReadBundled(t *testing.T) {
	c := open(t, "../bundled")
	assert.Len(t, c.tensors, 211)
	var wg sync.WaitGroup
	for name := range c.tensors {
		wg.Go(func() {
			tensor, err := c.Tensor(name)
			assert.NoError(t, err)
			assert.Equal(t, F16, tensor.DType, name)
			assert.NoError(t, tensor.ReadFloat32(make([]float32, tensor.Len()), 0))
		})
	}
	wg.Wait()
}

// benchElements is the size of the tensor that benchmarks read, larger than the
// caches.
const benchElements = 4 << 20

func BenchmarkReadFloat32(b *testing.B) {
	for _, dtype := range []DType{F32, F16, BF16} {
		b.Run(string(dtype), func(b *testing.B) {
			raw := make([]byte, benchElements*dtype.size())
			for i := range raw {
				raw[i] = byte(i*7) & 0x3f // finite in every format
			}
			path := filepath.Join(b.TempDir(), "data")
			require.NoError(b, os.WriteFile(path, raw, 0o644))
			f, err := os.Open(path)
			require.NoError(b, err)
			defer f.Close()
			tensor := Tensor{Name: "w", Shape: []int{benchElements}, DType: dtype, data: f}
			dst := make([]float32, 1<<18)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				for offset := 0; offset < benchElements; offset += len(dst) {
					if err := tensor.ReadFloat32(dst, offset); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(benchElements)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Melements/s")
		})
	}
}
