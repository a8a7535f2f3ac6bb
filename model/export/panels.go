package export

import (
	"io"

	"dragoman/model/onnx"
)

// panelRows is the number of rows of a PyTorch matrix, columns of a product, in a panel.
const panelRows = 32

// panels adds a matrix whose rows are the rows of the tensors, [rows, depth], in the layout of products in model/cpu/ops: in
// panels of 32 rows, transposed, [panels, depth, 32], the last one padded with zeros. A single tensor keeps its name in the
// checkpoint, so that the shared embedding is stored once for all its uses.
func (w *weights) panels(name string, tensors ...string) (weight onnx.Weight, rows int, err error) {
	parts, rows, err := w.parts(tensors)
	if err != nil {
		return onnx.Weight{}, 0, err
	}
	if len(parts) == 1 {
		name = parts[0].Name
	}
	depth := parts[0].Shape[1]
	shape := []int{(rows + panelRows - 1) / panelRows, depth, panelRows}
	weight, err = w.add(name, w.float(), shape, func(out io.Writer) error {
		p := panelWriter{out: out, kind: w.float(), depth: depth, panel: make([]float32, depth*panelRows)}
		for _, part := range parts {
			if err := w.stream(part, p.write); err != nil {
				return err
			}
		}
		return p.close()
	})
	return weight, rows, err
}

// panelWriter writes rows of depth elements as panels.
type panelWriter struct {
	out   io.Writer
	kind  onnx.DataType
	depth int
	panel []float32 // [depth, 32]
	rows  int       // rows of the panel so far
}

// write writes whole rows.
func (p *panelWriter) write(values []float32) error {
	for ; len(values) > 0; values = values[p.depth:] {
		for i, v := range values[:p.depth] {
			p.panel[i*panelRows+p.rows] = v
		}
		if p.rows++; p.rows == panelRows {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *panelWriter) flush() error {
	err := writeFloats(p.out, p.kind, p.panel)
	clear(p.panel)
	p.rows = 0
	return err
}

// close writes the last panel if it is not full.
func (p *panelWriter) close() error {
	if p.rows == 0 {
		return nil
	}
	return p.flush()
}
