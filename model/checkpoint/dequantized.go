package checkpoint

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"dragoman/model"
	"dragoman/model/ctranslate2"
)

// dequantized has the bytes of a CTranslate2 variable's values in 32 bits, which are computed by each read, with zeros after the
// end. Matrices of 8 bits are [dequantized.matrix] instead.
type dequantized struct {
	ctranslate2.Variable
	data   io.ReaderAt
	row    int       // elements of a row
	scales []float32 // divisors: one for all rows, or one for each; nil: the numbers are floats
}

// zeros returns a tensor of zeros.
func zeros(p Parameter) Tensor {
	return Tensor{Name: p.Name, Shape: p.Shape, DType: F32, data: padded{io.NewSectionReader(nil, 0, 0)}}
}

// ReadAt implements [io.ReaderAt] for whole elements.
func (d *dequantized) ReadAt(p []byte, offset int64) (int, error) {
	size := int64(F32.size())
	if offset%size != 0 || int64(len(p))%size != 0 {
		return 0, fmt.Errorf("%d bytes at %d are no whole elements", len(p), offset)
	}
	clear(p)
	first := int(offset / size)
	n := max(0, min(len(p)/int(size), d.Len()-first))
	values := make([]float32, n)
	if err := readElements(d.data, d.Variable, values, first); err != nil {
		return 0, err
	}
	for i, v := range values {
		switch len(d.scales) {
		case 0:
		case 1:
			v /= d.scales[0]
		default:
			v /= d.scales[(first+i)/d.row]
		}
		binary.LittleEndian.PutUint32(p[4*i:], math.Float32bits(v))
	}
	return len(p), nil
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
