package checkpoint

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"dragoman/model"
	"dragoman/model/ctranslate2"
)

// computed has the bytes of n numbers in 32 bits, which read computes from the first on, with zeros after the end.
type computed struct {
	n    int
	read func(dst []float32, first int) error
}

// ReadAt implements [io.ReaderAt] for whole elements.
func (c *computed) ReadAt(p []byte, offset int64) (int, error) {
	size := int64(F32.size())
	if offset%size != 0 || int64(len(p))%size != 0 {
		return 0, fmt.Errorf("%d bytes at %d are no whole elements", len(p), offset)
	}
	clear(p)
	first := int(offset / size)
	values := make([]float32, max(0, min(len(p)/int(size), c.n-first)))
	if err := c.read(values, first); err != nil {
		return 0, err
	}
	for i, v := range values {
		binary.LittleEndian.PutUint32(p[4*i:], math.Float32bits(v))
	}
	return len(p), nil
}

// dequantized is a CTranslate2 variable whose values are read in 32 bits. Matrices of 8 bits are [dequantized.matrix] instead.
type dequantized struct {
	ctranslate2.Variable
	data   io.ReaderAt
	row    int       // elements of a row
	scales []float32 // divisors: one for all rows, or one for each; nil: the numbers are floats
}

// read reads the elements [first, first+len(dst)).
func (d *dequantized) read(dst []float32, first int) error {
	if err := readElements(d.data, d.Variable, dst, first); err != nil || len(d.scales) == 0 {
		return err
	}
	for i := range dst {
		divisor := d.scales[0]
		if len(d.scales) > 1 {
			divisor = d.scales[(first+i)/d.row]
		}
		dst[i] /= divisor
	}
	return nil
}

// zeros returns a tensor of zeros.
func zeros(p Parameter) Tensor {
	return Tensor{Name: p.Name, Shape: p.Shape, DType: F32, data: padded{io.NewSectionReader(nil, 0, 0)}}
}

// readElements reads elements of a variable from first on, without scales.
func readElements(data io.ReaderAt, v ctranslate2.Variable, dst []float32, first int) error {
	if len(dst) == 0 {
		return nil
	}
	size := v.DType.Size()
	raw := make([]byte, len(dst)*size)
	if n, err := data.ReadAt(raw, v.Offset+int64(first)*int64(size)); n < len(raw) {
		return model.NoEOF(err)
	}
	floats := map[ctranslate2.DType]DType{ctranslate2.Float32: F32, ctranslate2.Float16: F16, ctranslate2.BFloat16: BF16}
	switch v.DType {
	case ctranslate2.Int8:
		for i := range dst {
			dst[i] = float32(int8(raw[i]))
		}
	case ctranslate2.Int16:
		for i := range dst {
			dst[i] = float32(int16(binary.LittleEndian.Uint16(raw[2*i:])))
		}
	case ctranslate2.Int32:
		for i := range dst {
			dst[i] = float32(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		}
	default:
		floats[v.DType].decode(dst, raw) // the caller detects numbers that are not finite
	}
	return nil
}
