package export

import (
	"encoding/binary"
	"io"
	"math"
	"slices"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/onnx"
)

// quantized is an 8-bit matrix w ≈ int8 · scale: symmetric, with one scale per row of the PyTorch matrix [out, in], that is per
// output of the linear layer. The file has the matrix in the layout of the operators of package model/cpu/ops, which is the same
// for every CPU: in panels of 16 outputs and steps of 4 inputs, padded with zeros.
type quantized struct {
	panels onnx.Weight // int8 [⌈out/16⌉, ⌈in/4⌉, 16, 4]
	sums   onnx.Weight // int32 [out], sums of the numbers of each output
	scale  onnx.Weight // float32 [out]
}

const panel, step = 16, 4

// quantized quantizes the rows of the tensors, [out, in] in total. order has the row of each output; nil: the rows are in order.
func (w *weights) quantized(name string, order []int32, tensors ...string) (quantized, error) {
	if known, ok := w.data.Weight(name); ok {
		sums, _ := w.data.Weight(name + ".sums")
		scale, _ := w.data.Weight(name + ".scale")
		return quantized{known, sums, scale}, nil
	}
	parts, rows, err := w.parts(tensors)
	if err != nil {
		return quantized{}, err
	}
	cols := parts[0].Shape[1]
	q, scales := make([]int8, rows*cols), make([]float32, 0, rows)
	for _, part := range parts {
		if part.DType == checkpoint.I8 { // unchanged
			if err := part.ReadInt8(q[len(scales)*cols:][:part.Len()], 0); err != nil {
				return quantized{}, err
			}
			if part.Alpha > 0 { // a table has no alpha and keeps its scale, see int8Table
				scales = append(scales, slices.Repeat([]float32{part.ProductScale}, part.Shape[0])...)
			} else {
				scales = append(scales, part.RowScales()...)
			}
			continue
		}
		err := w.stream(part, func(values []float32) error {
			scales = quantizeRows(q[len(scales)*cols:], scales, values, cols)
			return nil
		})
		if err != nil {
			return quantized{}, err
		}
	}
	return w.addQuantized(name, q, scales, cols, order)
}

// static reports whether the export multiplies by a matrix with the checkpoint's alpha.
func (w *weights) static(matrix checkpoint.Tensor) bool {
	return matrix.Alpha > 0 && w.precision == model.INT8
}

// shifted returns the bias of a linear layer. If the layer has an alpha, its inputs are raised by 127, and the bias subtracts the
// resulting offset of the outputs. The subtraction is in floats, as in fxtranslate: in a small trained model, the offset is 2 to
// 64 times the remaining bias, so an exact subtraction, of sums of integers, leaves other last digits, and changes one
// translation in 20 to 50.
func (w *weights) shifted(bias, matrix string) ([]float32, error) {
	values, err := w.read(bias)
	if err != nil {
		return nil, err
	}
	t, err := w.ckpt.Tensor(matrix)
	if err != nil || !w.static(t) {
		return values, err
	}
	q, cols := make([]int8, t.Len()), t.Shape[1]
	if err := t.ReadInt8(q, 0); err != nil {
		return nil, err
	}
	for i, sum := range rowSums(func(i int) []int8 { return q[i*cols:][:cols] }, len(values)) {
		values[i] -= float32(127 * t.ProductScale * float32(sum))
	}
	return values, nil
}

// addQuantized adds a matrix q whose rows have cols elements.
func (w *weights) addQuantized(name string, q []int8, scales []float32, cols int, order []int32) (added quantized, err error) {
	rows := len(scales)
	row := func(i int) []int8 { return q[i*cols : (i+1)*cols] }
	if order != nil {
		row = func(i int) []int8 { return q[int(order[i])*cols : (int(order[i])+1)*cols] }
		ordered := make([]float32, rows)
		for i, from := range order {
			ordered[i] = scales[from]
		}
		scales = ordered
	}
	shape := []int{(rows + panel - 1) / panel, (cols + step - 1) / step, panel, step}
	if added.panels, err = w.add(name, onnx.Int8, shape, func(out io.Writer) error {
		return writePanels(out, row, rows, cols)
	}); err != nil {
		return quantized{}, err
	}
	if added.sums, err = w.add(name+".sums", onnx.Int32, []int{rows}, func(out io.Writer) error {
		return binary.Write(out, binary.LittleEndian, rowSums(row, rows))
	}); err != nil {
		return quantized{}, err
	}
	added.scale, err = w.add(name+".scale", onnx.Float32, []int{rows}, func(out io.Writer) error {
		return writeFloats(out, onnx.Float32, scales)
	})
	return added, err
}

// quantizeRows quantizes values, rows of cols elements, into q and appends a scale for each row: the largest magnitude becomes
// 127.
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

// rowSums returns the sums of rows.
func rowSums(row func(int) []int8, rows int) []int32 {
	sums := make([]int32, rows)
	for i := range sums {
		for _, v := range row(i) {
			sums[i] += int32(v)
		}
	}
	return sums
}

// writePanels writes rows of cols elements as panels.
func writePanels(out io.Writer, row func(int) []int8, rows, cols int) error {
	steps := (cols + step - 1) / step
	buf := make([]byte, steps*panel*step)
	for first := 0; first < rows; first += panel {
		clear(buf)
		for r := range min(panel, rows-first) {
			for c, v := range row(first + r) {
				buf[(c/step*panel+r)*step+c%step] = byte(v)
			}
		}
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
