package export

import (
	"io"
	"math"
	"unsafe"

	"dragoman/model/onnx"
)

// quantized is an 8-bit matrix w ≈ int8 · scale: symmetric, one scale per row of
// the PyTorch matrix [out, in], that is per output of the linear layer.
type quantized struct {
	weight onnx.Weight // int8
	scale  onnx.Weight // float32 [out]
}

// kernel quantizes the rows of the tensors, [out, in] in total, into the layout
// of ONNX matrix products, [in, out].
func (w *weights) kernel(name string, tensors ...string) (quantized, error) {
	if known, ok := w.data.Weight(name); ok {
		scale, _ := w.data.Weight(name + ".scale")
		return quantized{known, scale}, nil
	}
	parts, rows, err := w.parts(tensors)
	if err != nil {
		return quantized{}, err
	}
	cols := parts[0].Shape[1]
	q, scales := make([]int8, rows*cols), make([]float32, 0, rows)
	for _, part := range parts {
		err := w.stream(part, func(values []float32) error {
			scales = quantizeRows(q[len(scales)*cols:], scales, values, cols)
			return nil
		})
		if err != nil {
			return quantized{}, err
		}
	}
	weight, err := w.add(name, onnx.Int8, []int{cols, rows}, func(out io.Writer) error {
		return writeTransposed(out, q, rows, cols)
	})
	if err != nil {
		return quantized{}, err
	}
	scale, err := w.add(name+".scale", onnx.Float32, []int{rows}, func(out io.Writer) error {
		return writeFloats(out, onnx.Float32, scales)
	})
	return quantized{weight, scale}, err
}

// quantizeRows quantizes values, rows of cols elements, into q and appends a
// scale for each: the largest magnitude becomes 127.
func quantizeRows(q []int8, scales, values []float32, cols int) []float32 {
	for ; len(values) > 0; values, q = values[cols:], q[cols:] {
		row := values[:cols]
		var peak float32
		for _, v := range row {
			peak = max(peak, float32(math.Abs(float64(v))))
		}
		scale := max(peak/127, math.SmallestNonzeroFloat32*(1<<24))
		for i, v := range row {
			q[i] = int8(math.RoundToEven(float64(v / scale)))
		}
		scales = append(scales, scale)
	}
	return scales
}

// writeTransposed writes q, [rows, cols], as [cols, rows]. It gathers a block of
// columns at a time so that each cache line of q is read once.
func writeTransposed(out io.Writer, q []int8, rows, cols int) error {
	const block = 64
	buf := make([]int8, block*rows)
	for start := 0; start < cols; start += block {
		n := min(block, cols-start)
		for r := range rows {
			for c, v := range q[r*cols+start : r*cols+start+n] {
				buf[c*rows+r] = v
			}
		}
		if err := writeInt8(out, buf[:n*rows]); err != nil {
			return err
		}
	}
	return nil
}

func writeInt8(out io.Writer, q []int8) error {
	_, err := out.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(q))), len(q)))
	return err
}
