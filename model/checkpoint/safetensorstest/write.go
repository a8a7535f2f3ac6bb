// Package safetensorstest writes safetensors files, for tests and for programs that make
// checkpoints to test with.
package safetensorstest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/x448/float16"
)

// How a tensor's elements may be stored.
const (
	F32 = "F32"
	F16 = "F16"
)

// ErrNotFinite means that a tensor has a value that cannot be stored.
var ErrNotFinite = errors.New("not a finite number")

// Tensor is a tensor to write.
type Tensor struct {
	Name  string
	Shape []int
	DType string // F32 or F16
	// Values fills dst with the elements from offset on, in row-major order. It
	// is called for blocks of BlockElements, in order.
	Values func(dst []float32, offset int) error
}

// BlockElements is the number of elements that Write asks a Tensor for at a time, except for a tensor's last block: enough to
// divide the work among the cores.
const BlockElements = 1 << 20

// Write writes a safetensors file of these tensors, in this order, to w. Write holds a block of a few megabytes in memory,
// whatever the tensors' size. Values beyond float16's range are refused in F16 tensors, NaN and infinities in all.
func Write(w io.Writer, tensors []Tensor) error {
	header, err := buildHeader(tensors)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	values := make([]float32, BlockElements)
	raw := make([]byte, 0, 4*BlockElements)
	for _, t := range tensors {
		n, err := elements(t.Shape)
		if err != nil {
			return err
		}
		for offset := 0; offset < n; offset += BlockElements {
			block := values[:min(BlockElements, n-offset)]
			if err := t.Values(block, offset); err != nil {
				return fmt.Errorf("tensor %s: %w", t.Name, err)
			}
			var bad int
			if raw, bad = encode(t.DType, raw[:0], block); bad >= 0 {
				return fmt.Errorf("tensor %s, element %d: %v in %s: %w", t.Name, offset+bad, block[bad], t.DType, ErrNotFinite)
			}
			if _, err := w.Write(raw); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	lengthSize  = 8 // bytes of the header's length
	metadataKey = "__metadata__"
)

// size is the number of bytes of an element.
var size = map[string]int64{F32: 4, F16: 2}

// headerEntry is a tensor's entry in the header.
type headerEntry struct {
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// elements multiplies a shape's dimensions.
func elements(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("shape %v has a negative dimension", shape)
		}
		n *= d
	}
	return n, nil
}

// buildHeader builds the length and the JSON header, padded with spaces so that
// the first tensor is aligned to 8 bytes.
func buildHeader(tensors []Tensor) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, lengthSize))
	b.WriteString(`{"` + metadataKey + `":{"format":"pt"}`)
	seen := make(map[string]bool)
	end := int64(0)
	for _, t := range tensors {
		if seen[t.Name] || t.Name == metadataKey {
			return nil, fmt.Errorf("tensor %q cannot be written twice", t.Name)
		}
		seen[t.Name] = true
		if t.DType != F32 && t.DType != F16 {
			return nil, fmt.Errorf("tensor %s cannot be written as %q: use F32 or F16", t.Name, t.DType)
		}
		n, err := elements(t.Shape)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
		}
		begin := end
		end += int64(n) * size[t.DType]
		entry := headerEntry{t.DType, append([]int{}, t.Shape...), []int64{begin, end}}
		if err := writeField(&b, t.Name, entry); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	header := b.Bytes()
	binary.LittleEndian.PutUint64(header, uint64(len(header)-lengthSize))
	return header, nil
}

// writeField appends a field to a JSON object that has one already.
func writeField(b *bytes.Buffer, name string, value any) error {
	key, err := json.Marshal(name)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	b.WriteByte(',')
	b.Write(key)
	b.WriteByte(':')
	b.Write(raw)
	return nil
}

// encode appends values to raw, little-endian, and returns the index of the
// first that the type cannot hold, or -1.
func encode(dtype string, raw []byte, values []float32) ([]byte, int) {
	for i, x := range values {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return raw, i
		}
		if dtype == F32 {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
			continue
		}
		half := float16.Fromfloat32(x) // to nearest, ties to even
		if half.IsInf(0) {
			return raw, i
		}
		raw = binary.LittleEndian.AppendUint16(raw, half.Bits())
	}
	return raw, -1
}
