package export

import (
	"fmt"
	"io"
	"math"

	"dragoman/model"
	"dragoman/model/onnx"
)

// builder adds the parts that encoder and decoder share to a graph. The first
// error sticks; the graph is finished by done.
//
// Activations are [rows, width]: every token of the encoder, every row of the
// decoder is a row of its own. Matrix products are ONNX Runtime's, all else is done
// by the operators of package model/ort/ops.
type builder struct {
	*onnx.Graph
	w    *weights
	spec model.Spec
	err  error
}

func newBuilder(name string, w *weights, spec model.Spec) *builder {
	return &builder{Graph: onnx.NewGraph(name), w: w, spec: spec}
}

func (b *builder) done() (*onnx.Graph, error) { return b.Graph, b.err }

// activation is what a linear layer takes: numbers, or in an int8 export their
// 8-bit form with a scale for each row, the row's largest magnitude. A row's result
// does not depend on its neighbours, so a translation does not change with the load
// of the server. What comes out of a ReLU uses all 256 levels, anything else 255
// around zero.
type activation struct {
	value    string // float [rows, width], or uint8
	scale    string // float [rows]; empty where value is float
	positive bool   // came out of a ReLU
}

// product is what a matrix product leaves of a linear layer, whose output is
// acc · scale + bias. The operator that comes next finishes it in passing.
type product struct {
	acc   string // float [rows, width]
	bias  string // float [width]; empty: none
	scale string // float [rows]; empty: 1
}

// use makes a weight a constant of the graph and keeps the first error.
func (b *builder) use(weight onnx.Weight, err error) string {
	if b.err == nil {
		b.err = err
	}
	if b.err != nil {
		return ""
	}
	return b.Weight(weight)
}

// float makes a weight a constant that is used in 32 bits, however it is stored.
// ONNX Runtime casts it once, when it loads the graph.
func (b *builder) float(weight onnx.Weight, err error) string {
	name := b.use(weight, err)
	if weight.Type == onnx.Float16 {
		return b.cast(name, onnx.Float32)
	}
	return name
}

// multiply multiplies x by the matrices of one or more linear layers, packed into
// one product whose outputs lie side by side.
func (b *builder) multiply(x activation, layers ...string) product {
	name, tensors := layers[0], suffixed(layers, ".weight")
	if len(layers) > 1 {
		name += "+packed"
	}
	if b.w.precision != model.INT8 {
		matrix := b.float(b.w.matrix(name+".weight", tensors...))
		return product{acc: b.Node(onnx.Microsoft, "FusedMatMul", []string{x.value, matrix}, 1, onnx.Int("transB", 1))[0]}
	}
	unit, zero := b.Floats("unit_127", []float32{1.0 / 127}), b.Uint8Scalar("zero_128", 128)
	if x.positive {
		unit, zero = b.Floats("unit_255", []float32{1.0 / 255}), b.Uint8Scalar("zero_0", 0)
	}
	q, err := b.w.kernel(name+".int8", tensors...)
	kernel, scale := b.use(q.weight, err), b.use(q.scale, err)
	acc := b.Node(onnx.Microsoft, "MatMulIntegerToFloat", []string{x.value, kernel, unit, scale, zero}, 1)[0]
	return product{acc: acc, scale: x.scale}
}

// linear is multiply with the layers' biases.
func (b *builder) linear(x activation, layers ...string) product {
	p := b.multiply(x, layers...)
	p.bias = b.float(b.w.vector(layers[0]+".biases", suffixed(layers, ".bias")...))
	return p
}

// addNorm adds a product, if there is one, to the residual stream x. It returns the
// sum and its layer norm.
func (b *builder) addNorm(x string, p product, norm string) (sum string, y activation) {
	inputs := []string{x,
		b.float(b.w.vector(norm+".weight", norm+".weight")),
		b.float(b.w.vector(norm+".bias", norm+".bias"))}
	if p.acc != "" {
		inputs = append(inputs, p.acc, p.bias, p.scale)
	}
	if b.w.precision != model.INT8 {
		out := b.Node(onnx.Dragoman, "AddNorm", inputs, 2)
		return out[0], activation{value: out[1]}
	}
	out := b.Node(onnx.Dragoman, "AddNormQuantize", inputs, 3)
	return out[0], activation{value: out[1], scale: out[2]}
}

// lastNorm is the layer norm of x + p at the end of a stack, in 32 bits.
func (b *builder) lastNorm(x string, p product, norm string) string {
	return b.Node(onnx.Dragoman, "AddNorm", []string{x,
		b.float(b.w.vector(norm+".weight", norm+".weight")),
		b.float(b.w.vector(norm+".bias", norm+".bias")), p.acc, p.bias, p.scale}, 2)[1]
}

// quantize makes x ready for a linear layer.
func (b *builder) quantize(x string) activation {
	if b.w.precision != model.INT8 {
		return activation{value: x}
	}
	out := b.Node(onnx.Dragoman, "Quantize", []string{x}, 2)
	return activation{value: out[0], scale: out[1]}
}

// relu is max(0, p), ready for a linear layer.
func (b *builder) relu(p product) activation {
	if b.w.precision != model.INT8 {
		return activation{value: b.Op("Relu", []string{b.Op("Add", []string{p.acc, p.bias})})}
	}
	out := b.Node(onnx.Dragoman, "ReluQuantize", []string{p.acc, p.bias, p.scale}, 2)
	return activation{value: out[0], scale: out[1], positive: true}
}

// feedForward is fc2(relu(fc1(x))) of a layer.
func (b *builder) feedForward(x activation, layer string) product {
	return b.linear(b.relu(b.linear(x, layer+".fc1")), layer+".fc2")
}

// attention adds an attention operator over a product, with the inputs that the
// operator wants between the product's bias and scale.
func (b *builder) attention(op string, p product, inputs []string, attrs ...onnx.Attr) activation {
	all := append([]string{p.acc, p.bias}, inputs...)
	return b.quantize(b.Node(onnx.Dragoman, op, append(all, p.scale), 1, attrs...)[0])
}

// headAttrs are the attributes of attention in a stack.
func (b *builder) headAttrs(stack model.Stack) []onnx.Attr {
	return []onnx.Attr{onnx.Int("heads", stack.Heads), onnx.Int("head_dim", stack.HeadDim(b.spec.DModel))}
}

// layerAttrs are the attributes of attention in a decoder layer.
func (b *builder) layerAttrs(layer int) []onnx.Attr {
	return append(b.headAttrs(b.spec.Decoder), onnx.Int("layer", layer))
}

// embed is the sum of the scaled embeddings of ids and of the embeddings of their
// positions, both int64 [rows]: [rows, DModel].
func (b *builder) embed(ids, positions, table string) string {
	// An int8 export keeps the table in 16 bits: only the rows in use are ever read,
	// so it costs no time, and an 8-bit table alone would change one translation in
	// a hundred.
	stored := b.w.matrix
	if b.w.precision == model.INT8 {
		stored = b.w.half
	}
	weight, err := stored(table, table)
	rows := b.Op("Gather", []string{b.use(weight, err), ids})
	if weight.Type == onnx.Float16 {
		rows = b.cast(rows, onnx.Float32)
	}
	scaled := b.Op("Mul", []string{rows, b.Floats("embed_scale", []float32{b.spec.EmbedScale})})
	return b.Op("Add", []string{scaled, b.Op("Gather", []string{b.positions(), positions})})
}

// positions is the table of sinusoidal positions, [MaxPositions, DModel].
func (b *builder) positions() string {
	const block = 64 // rows that are in memory at a time
	n, d, first := b.spec.MaxPositions, b.spec.DModel, int(b.spec.Pad)+1
	return b.use(b.w.add("positions", onnx.Float32, []int{n, d}, func(out io.Writer) error {
		for row := 0; row < n; row += block {
			if err := writeFloats(out, onnx.Float32, sinusoids(min(block, n-row), d, first+row)); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (b *builder) cast(x string, t onnx.DataType) string {
	return b.Op("Cast", []string{x}, onnx.Int("to", int(t)))
}

// sinusoids returns n positions of width d as Hugging Face computes them, in
// 32 bits: sines in the first half of a row, cosines in the second, frequencies
// from 1 to 1/10000; an odd last column is zero. Row i is position i + first:
// M2M100 counts from the padding id + 1.
func sinusoids(n, d, first int) []float32 {
	half := d / 2
	step := float32(math.Log(10000) / float64(half-1))
	table := make([]float32, n*d)
	for i := range n {
		for j := range half {
			frequency := float32(math.Exp(float64(float32(j) * -step)))
			angle := float64(float32(first+i) * frequency)
			table[i*d+j], table[i*d+half+j] = float32(math.Sin(angle)), float32(math.Cos(angle))
		}
	}
	return table
}

func suffixed(names []string, suffix string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name + suffix
	}
	return out
}

// layerName is the checkpoint's name of layer i of a stack, "encoder" or "decoder".
func layerName(stack string, i int) string { return fmt.Sprintf("model.%s.layers.%d", stack, i) }

// projections names the projections of an attention block: queries, keys, values.
func projections(block string) (q, k, v, out string) {
	return block + ".q_proj", block + ".k_proj", block + ".v_proj", block + ".out_proj"
}
