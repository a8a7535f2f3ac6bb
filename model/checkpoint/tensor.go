package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"

	"github.com/x448/float16"

	"dragoman/model"
)

// ErrNotFinite means that a tensor has a NaN or an infinity.
var ErrNotFinite = errors.New("not a finite number")

// DType is the element type of a stored tensor, by its safetensors name.
type DType string

// The supported element types. A file may have others in tensors that the model does not use.
const (
	F32  DType = "F32"
	F16  DType = "F16"
	BF16 DType = "BF16"
	// I8 numbers have scales, see [Tensor.RowScales].
	I8 DType = "I8"
)

// size returns the number of bytes of an element, or 0 for an unknown type.
func (d DType) size() int {
	switch d {
	case "F64", "I64", "U64", "C64":
		return 8
	case F32, "I32", "U32":
		return 4
	case F16, BF16, "I16", "U16":
		return 2
	case "I8", "U8", "BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0":
		return 1
	}
	return 0
}

// readable reports whether ReadFloat32 converts the type.
func (d DType) readable() bool { return d == F32 || d == F16 || d == BF16 }

// Limits of a tensor. The number of bytes of maxElements does not overflow.
const (
	maxElements = 1 << 48
	maxRank     = 8
)

// readBlock is the number of bytes of a read by ReadFloat32: large enough for cheap system calls, small enough for the L2 cache.
const readBlock = 128 << 10

// Tensor is a tensor of an open checkpoint: the place of its values. Its methods are safe for concurrent use.
type Tensor struct {
	Name  string // Hugging Face's, with the prefix "model."
	Shape []int  // outermost dimension first; must not be changed
	DType DType  // as stored
	// Alpha is the factor with which the layer of an I8 matrix quantizes its input to 8 bits; 0: unknown.
	Alpha float32
	// ProductScale is the factor of the layer's sums of products of 8-bit numbers, if there is an Alpha.
	ProductScale float32

	scales []float32   // of I8: one for all rows, or one for each
	data   io.ReaderAt // the file
	offset int64       // of the first element in data, in bytes
}

// Len returns the number of elements.
func (t Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Raw returns the tensor's part of the file.
func (t Tensor) Raw() *io.SectionReader {
	return io.NewSectionReader(t.data, t.offset, int64(t.Len())*int64(t.DType.size()))
}

// ReadFloat32 reads the elements [offset, offset+len(dst)), in row-major order, as float32. It fails with ErrNotFinite, with the
// names of the tensor and the element, at a NaN or an infinity; dst is filled up to that element.
func (t Tensor) ReadFloat32(dst []float32, offset int) error {
	if n := t.Len(); offset < 0 || offset > n || len(dst) > n-offset {
		return fmt.Errorf("tensor %s has %d elements: cannot read %d from element %d", t.Name, n, len(dst), offset)
	}
	if t.DType == I8 {
		return t.readScaled(dst, offset)
	}
	if !t.DType.readable() {
		return t.unreadable()
	}
	size := t.DType.size()
	block := make([]byte, min(len(dst)*size, readBlock))
	for len(dst) > 0 {
		n := min(len(dst), len(block)/size)
		raw := block[:n*size]
		// ReadAt may return io.EOF with a full block at the end of the file.
		if got, err := t.data.ReadAt(raw, t.offset+int64(offset)*int64(size)); got < len(raw) {
			return fmt.Errorf("tensor %s, element %d of %d: %w", t.Name, offset, t.Len(), model.NoEOF(err))
		}
		if bad := t.DType.decode(dst[:n], raw); bad >= 0 {
			return fmt.Errorf("tensor %s, element %d of %d: %v: %w: the checkpoint is damaged",
				t.Name, offset+bad, t.Len(), dst[bad], ErrNotFinite)
		}
		dst, offset = dst[n:], offset+n
	}
	return nil
}

// readScaled is ReadFloat32 for an I8 tensor.
func (t Tensor) readScaled(dst []float32, offset int) error {
	q := make([]int8, len(dst))
	if err := t.ReadInt8(q, offset); err != nil {
		return err
	}
	row, scales := t.Len()/max(t.Shape[0], 1), t.RowScales()
	for i, v := range q {
		dst[i] = float32(v) * scales[(offset+i)/row]
	}
	return nil
}

// ReadInt8 reads the elements [offset, offset+len(dst)) of an I8 tensor.
func (t Tensor) ReadInt8(dst []int8, offset int) error {
	if n := t.Len(); t.DType != I8 || t.scales == nil || offset < 0 || offset > n || len(dst) > n-offset {
		return fmt.Errorf("tensor %s has %d elements of %s: cannot read %d bytes from element %d", t.Name, t.Len(), t.DType, len(dst), offset)
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst))
	if got, err := t.data.ReadAt(raw, t.offset+int64(offset)); got < len(raw) {
		return fmt.Errorf("tensor %s, element %d of %d: %w", t.Name, offset, t.Len(), model.NoEOF(err))
	}
	return nil
}

// RowScales returns the factors of the rows of an I8 tensor, [Shape[0]].
func (t Tensor) RowScales() []float32 {
	if len(t.scales) == 1 {
		return slices.Repeat(t.scales, t.Shape[0])
	}
	return t.scales
}

// unreadable returns the error for an unsupported element type.
func (t Tensor) unreadable() error {
	return fmt.Errorf("tensor %s has elements of type %s: only F32, F16 and BF16 are supported", t.Name, t.DType)
}

// decode converts raw, which has len(dst) elements, little-endian, and returns the index of the first element that is not finite, or
// -1. It converts no elements after that.
func (d DType) decode(dst []float32, raw []byte) int {
	isF16, isF32 := d == F16, d == F32
	for i := range dst {
		switch {
		case isF32:
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		case isF16:
			dst[i] = float16.Frombits(binary.LittleEndian.Uint16(raw[2*i:])).Float32()
		default: // BF16, the upper half of a float32
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
		}
		if notFinite(dst[i]) {
			return i
		}
	}
	return -1
}

// notFinite reports whether x is a NaN or an infinity: all bits of its exponent are set.
func notFinite(x float32) bool {
	const exponent = 0xff << 23
	return math.Float32bits(x)&exponent == exponent
}

// elements returns the product of a shape's dimensions. It fails for more than maxRank dimensions, for negative ones and for more than
// maxElements.
func elements(shape []int) (int, error) {
	if len(shape) > maxRank {
		return 0, fmt.Errorf("shape has %d dimensions, at most %d are supported", len(shape), maxRank)
	}
	n := 1
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("shape %v has a negative dimension", shape)
		}
		if d > 0 && n > maxElements/d {
			return 0, fmt.Errorf("shape %v has more than %d elements", shape, maxElements)
		}
		n *= d
	}
	return n, nil
}
