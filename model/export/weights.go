package export

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/x448/float16"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/onnx"
)

// chunk is the number of elements converted at a time.
const chunk = 1 << 18

// weights writes a checkpoint's tensors into a Data file in the precision of the export. A tensor is written when a graph first
// uses it.
type weights struct {
	ctx       context.Context // of the export: checked before every weight and every chunk of a weight
	ckpt      *checkpoint.Checkpoint
	data      *onnx.Data
	precision model.Precision
	order     []int32 // the tokens of the LM head's outputs, see [orderScripts]; nil: in the order of their ids
}

// float returns the type of weights that are not quantized.
func (w *weights) float() onnx.DataType {
	if w.precision == model.FP16 {
		return onnx.Float16
	}
	return onnx.Float32
}

// vector adds a weight in 32 bits made of whole tensors, one after the other, such as the biases of packed projections.
func (w *weights) vector(name string, tensors ...string) (onnx.Weight, error) {
	return w.concat(name, onnx.Float32, nil, tensors...)
}

// half adds a matrix in 16 bits in PyTorch's layout, under the tensor's name in the checkpoint.
func (w *weights) half(tensor string) (onnx.Weight, error) {
	t, err := w.ckpt.Tensor(tensor)
	if err != nil {
		return onnx.Weight{}, err
	}
	return w.concat(t.Name, onnx.Float16, t.Shape[1:], tensor)
}

// concat joins tensors along their first dimension; rest are the other dimensions.
func (w *weights) concat(name string, t onnx.DataType, rest []int, tensors ...string) (onnx.Weight, error) {
	parts, rows, err := w.parts(tensors)
	if err != nil {
		return onnx.Weight{}, err
	}
	shape := append([]int{rows}, rest...)
	return w.add(name, t, shape, func(out io.Writer) error {
		for _, part := range parts {
			if err := w.stream(part, func(values []float32) error { return writeFloats(out, t, values) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// tail adds a matrix in 32 bits in PyTorch's layout, without its first rows. A matrix that equals the tensor of, and was added so
// before, is not stored again.
func (w *weights) tail(tensor, of string, first int) (onnx.Weight, error) {
	t, err := w.ckpt.Tensor(tensor)
	if err != nil {
		return onnx.Weight{}, err
	}
	if known, ok := w.data.Weight(of); ok {
		other, err := w.ckpt.Tensor(of)
		if err != nil {
			return onnx.Weight{}, err
		}
		if same, err := checkpoint.SameValues(t, other); same || err != nil {
			return known, err
		}
	}
	skip, shape := first*t.Shape[1], []int{t.Shape[0] - first, t.Shape[1]}
	return w.add(tensor, onnx.Float32, shape, func(out io.Writer) error {
		return w.stream(t, func(values []float32) error {
			n := min(skip, len(values))
			skip -= n
			return writeFloats(out, onnx.Float32, values[n:])
		})
	})
}

// raw adds a tensor in its stored form, with numbers of this type.
func (w *weights) raw(tensor string, kind onnx.DataType) (onnx.Weight, error) {
	t, err := w.ckpt.Tensor(tensor)
	if err != nil {
		return onnx.Weight{}, err
	}
	return w.add(tensor, kind, t.Shape, func(out io.Writer) error {
		_, err := io.Copy(out, t.Raw())
		return err
	})
}

// parts returns tensors and their total number of rows, the sizes of their first dimension.
func (w *weights) parts(tensors []string) (parts []checkpoint.Tensor, rows int, err error) {
	for _, name := range tensors {
		part, err := w.ckpt.Tensor(name)
		if err != nil {
			return nil, 0, err
		}
		parts, rows = append(parts, part), rows+part.Shape[0]
	}
	return parts, rows, nil
}

// read reads a whole tensor.
func (w *weights) read(tensor string) ([]float32, error) {
	t, err := w.ckpt.Tensor(tensor)
	if err != nil {
		return nil, err
	}
	values := make([]float32, t.Len())
	return values, t.ReadFloat32(values, 0)
}

// add appends a weight to the data file, unless the file has it already.
func (w *weights) add(name string, t onnx.DataType, shape []int, write func(io.Writer) error) (onnx.Weight, error) {
	if known, ok := w.data.Weight(name); ok {
		return known, nil
	}
	if err := w.ctx.Err(); err != nil {
		return onnx.Weight{}, err
	}
	return w.data.Add(name, t, shape, write)
}

// stream reads a tensor in order, some rows at a time.
func (w *weights) stream(t checkpoint.Tensor, use func(values []float32) error) error {
	row := t.Len() / t.Shape[0]
	buf := make([]float32, max(chunk/row, 1)*row)
	for offset := 0; offset < t.Len(); offset += len(buf) {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		part := buf[:min(len(buf), t.Len()-offset)]
		if err := t.ReadFloat32(part, offset); err != nil {
			return err
		}
		if err := use(part); err != nil {
			return err
		}
	}
	return nil
}

// writeFloats writes values as t, Float32 or Float16, little-endian. A value that overflows 16 bits is an error: the model would
// compute infinities.
func writeFloats(out io.Writer, t onnx.DataType, values []float32) error {
	raw := make([]byte, 0, len(values)*t.Size())
	for i, v := range values {
		if t == onnx.Float32 {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
			continue
		}
		half := float16.Fromfloat32(v)
		if half.IsInf(0) {
			return fmt.Errorf("value %g at %d does not fit into fp16: export as fp32", v, i)
		}
		raw = binary.LittleEndian.AppendUint16(raw, half.Bits())
	}
	_, err := out.Write(raw)
	return err
}
