package export

import (
	"fmt"
	"math"

	"dragoman/model"
	"dragoman/model/onnx"
)

// builder adds the parts that encoder and decoder share to a graph. The first
// error sticks; the graph is finished by done.
type builder struct {
	*onnx.Graph
	w    *weights
	spec model.Spec
	err  error
	// rows caches the quantized form of an activation, which several products
	// may read.
	rows map[string]quantizedRows
	// positive holds the activations that are never negative.
	positive map[string]bool
}

// quantizedRows is an activation in 8 bits: x ≈ scale · unit · (q − zero).
type quantizedRows struct{ q, scale, unit, zero string }

func newBuilder(name string, w *weights, spec model.Spec) *builder {
	return &builder{Graph: onnx.NewGraph(name), w: w, spec: spec, rows: map[string]quantizedRows{}, positive: map[string]bool{}}
}

func (b *builder) done() (*onnx.Graph, error) { return b.Graph, b.err }

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

// project multiplies x by the matrices of one or more linear layers, packed into
// one product whose outputs lie side by side. It adds no bias.
func (b *builder) project(x string, layers ...string) string {
	name, tensors := layers[0], suffixed(layers, ".weight")
	if len(layers) > 1 {
		name += "+packed"
	}
	if b.w.precision != model.INT8 {
		matrix := b.use(b.w.matrix(name+".weight", tensors...))
		return b.Node(onnx.Microsoft, "FusedMatMul", []string{x, matrix}, 1, onnx.Int("transB", 1))[0]
	}
	q, err := b.w.kernel(name+".int8", tensors...)
	kernel, scale := b.use(q.weight, err), b.use(q.scale, err)
	rows := b.quantizeRows(x)
	y := b.Node(onnx.Microsoft, "MatMulIntegerToFloat",
		[]string{rows.q, kernel, rows.unit, scale, rows.zero}, 1)[0]
	return b.Op("Mul", []string{y, rows.scale})
}

// linear is project followed by the layers' biases.
func (b *builder) linear(x string, layers ...string) string {
	return b.Op("Add", []string{b.project(x, layers...), b.biases(layers...)})
}

// biases are the biases of layers, side by side.
func (b *builder) biases(layers ...string) string {
	return b.use(b.w.vector(layers[0]+".biases", suffixed(layers, ".bias")...))
}

// quantizeRows quantizes every row of x to 8 bits with a scale of its own, the
// row's largest magnitude. A row's result does not depend on its neighbours, so a
// translation does not change with the load of the server. Activations that are
// never negative use all 256 levels, others 255 around zero.
func (b *builder) quantizeRows(x string) quantizedRows {
	if known, ok := b.rows[x]; ok {
		return known
	}
	var r quantizedRows
	magnitude := x
	if b.positive[x] {
		r.unit, r.zero = b.Floats("unit_255", []float32{1.0 / 255}), b.Uint8Scalar("zero_0", 0)
	} else {
		r.unit, r.zero = b.Floats("unit_127", []float32{1.0 / 127}), b.Uint8Scalar("zero_128", 128)
		magnitude = b.Op("Abs", []string{x})
	}
	peak := b.Op("ReduceMax", []string{magnitude}, onnx.Ints("axes", -1), onnx.Int("keepdims", 1))
	r.scale = b.Op("Max", []string{peak, b.Floats("least_scale", []float32{1e-6})})
	r.q = b.Op("QuantizeLinear", []string{b.Op("Div", []string{x, r.scale}), r.unit, r.zero})
	b.rows[x] = r
	return r
}

// layerNorm normalizes x over its last dimension; its statistics are computed in
// 32 bits whatever the type of x.
func (b *builder) layerNorm(x, layer string) string {
	gain := b.use(b.w.vector(layer+".weight", layer+".weight"))
	bias := b.use(b.w.vector(layer+".bias", layer+".bias"))
	return b.Op("LayerNormalization", []string{x, gain, bias}, onnx.Int("axis", -1), onnx.Float("epsilon", 1e-5))
}

// feedForward is the residual block x + fc2(relu(fc1(norm(x)))) of a layer.
func (b *builder) feedForward(x, layer string) string {
	inner := b.Op("Relu", []string{b.linear(b.layerNorm(x, layer+".final_layer_norm"), layer+".fc1")})
	b.positive[inner] = true
	return b.Op("Add", []string{x, b.linear(inner, layer+".fc2")})
}

// embed looks up the scaled embeddings of ids, [..., DModel].
func (b *builder) embed(ids, table string) string {
	return b.Op("Mul", []string{b.lookup(ids, table), b.scalar("embed_scale", b.spec.EmbedScale)})
}

// lookup gathers rows of a checkpoint's embedding table. An int8 export keeps the
// table in 16 bits: only the rows in use are ever read, so it costs no time, and
// an 8-bit table alone would change one translation in a hundred.
func (b *builder) lookup(ids, table string) string {
	if b.w.precision != model.INT8 {
		return b.Op("Gather", []string{b.use(b.w.matrix(table, table)), ids})
	}
	return b.cast(b.Op("Gather", []string{b.use(b.w.half(table)), ids}), onnx.Float32)
}

// positions is the table of sinusoidal positions, [MaxPositions, DModel].
func (b *builder) positions() string {
	n, d := b.spec.MaxPositions, b.spec.DModel
	return b.use(b.w.values("positions", []int{n, d}, sinusoids(n, d, int(b.spec.Pad)+1)))
}

// scalar is a constant in the type of the activations.
func (b *builder) scalar(name string, v float32) string {
	c := b.Floats(name, []float32{v})
	if b.w.float() != onnx.Float32 {
		return b.cast(c, b.w.float())
	}
	return c
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

// attention names the projections of an attention block, queries, keys, values.
func attention(block string) (q, k, v, out string) {
	return block + ".q_proj", block + ".k_proj", block + ".v_proj", block + ".out_proj"
}
