package export

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/onnx"
)

// builder adds the nodes that the operators of both backends have in common: weights, and nodes that differ only in their
// weights. The first error is kept.
type builder struct {
	*onnx.Graph
	w    *weights
	spec model.Spec
	err  error
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

func (b *builder) cast(x string, t onnx.DataType) string {
	return b.Op("Cast", []string{x}, onnx.Int("to", int(t)))
}

// panels adds a matrix in panels as a constant, and returns the number of its rows; see [weights.panels].
func (b *builder) panels(name string, tensors ...string) (panels string, rows int) {
	weight, rows, err := b.w.panels(name, tensors...)
	return b.use(weight, err), rows
}

// matricesOf returns the names of the matrices of one or more linear layers, and the name of the matrix that has them one below
// the other.
func matricesOf(layers []string) (name string, tensors []string) {
	return packedName(layers) + ".weight", suffixed(layers, ".weight")
}

// biases adds the biases of one or more linear layers, in the form that products need: zeros, if the model has no biases.
func (b *builder) biases(layers ...string) string {
	if b.spec.Unbiased {
		_, rows, err := b.w.parts(suffixed(layers, ".weight"))
		if b.err = cmp.Or(b.err, err); err != nil {
			return ""
		}
		return b.zeros(rows)
	}
	name, biases, matrices := layers[0]+".biases", suffixed(layers, ".bias"), suffixed(layers, ".weight")
	if t, err := b.w.ckpt.Tensor(matrices[0]); err != nil || !b.w.static(t) {
		return b.use(b.w.vector(name, biases...))
	}
	var all []float32
	for i := range layers {
		values, err := b.w.shifted(biases[i], matrices[i])
		b.err = cmp.Or(b.err, err)
		all = append(all, values...)
	}
	return b.numbers(name, []int{len(all)}, all, nil)
}

// zeros adds a vector of n zeros.
func (b *builder) zeros(n int) string {
	return b.numbers(fmt.Sprintf("zeros_%d", n), []int{n}, make([]float32, n), nil)
}

// numbers adds values in 32 bits as a constant of the graph. err is the error of reading them.
func (b *builder) numbers(name string, shape []int, values []float32, err error) string {
	return b.use(b.w.add(name, onnx.Float32, shape, func(out io.Writer) error {
		return cmp.Or(err, writeFloats(out, onnx.Float32, values))
	}))
}

// normInputs returns the first inputs of a layer norm of x.
func (b *builder) normInputs(x, norm string) []string {
	last, vector := "model.decoder.layer_norm", func(name string) string { return b.use(b.w.vector(name, name)) }
	if b.spec.PostNorm {
		last = layerName("decoder", b.spec.Decoder.Layers-1) + ".final_layer_norm"
	}
	if b.spec.ScaledHead && norm == last { // the last norm before the head
		vector = func(name string) string { return b.scaled(name, float32(1/math.Sqrt(float64(b.spec.DModel)))) }
	}
	if b.spec.RMSNorm {
		return []string{x, vector(norm + ".weight"), ""}
	}
	return []string{x, vector(norm + ".weight"), vector(norm + ".bias")}
}

// epsilon returns the attribute of norms with another epsilon than the default.
func (b *builder) epsilon() []onnx.Attr {
	if b.spec.Epsilon == 0 {
		return nil
	}
	return []onnx.Attr{onnx.Float("epsilon", b.spec.Epsilon)}
}

// scaled adds a vector multiplied by a number.
func (b *builder) scaled(name string, by float32) string {
	values, err := b.w.read(name)
	for i := range values {
		values[i] *= by
	}
	return b.numbers(name, []int{len(values)}, values, err)
}

// headAttrs returns the attributes of attention in a stack.
func (b *builder) headAttrs(stack model.Stack) []onnx.Attr {
	attrs := []onnx.Attr{onnx.Int("heads", stack.Heads), onnx.Int("head_dim", stack.HeadDim(b.spec.DModel))}
	if b.spec.Unscaled {
		attrs = append(attrs, onnx.Float("scale", 1))
	}
	return attrs
}

// noActivation is the number for no activation function; see [builder.activationAttr].
const noActivation = 0

// activationAttr returns the attribute of the model's activation function, numbered as in the operators' C code.
func (b *builder) activationAttr() onnx.Attr {
	numbers := map[model.Activation]int{model.ReLU: 1, model.Swish: 2, model.GELU: 3, model.GELUTanh: 4}
	return onnx.Int("activation", numbers[b.spec.Activation])
}

// memory adds an input for attention keys and values of all decoder layers, uint8 [layers, rows, capacity, token], with token
// being the bytes of a token's keys, then values, in half or single precision.
func (b *builder) memory(name string) {
	b.Input(name, onnx.Uint8, onnx.Fixed(b.spec.Decoder.Layers),
		onnx.Named(name+"_rows"), onnx.Named(name+"_capacity"), onnx.Named(name+"_token"))
}

// embeddings returns the checkpoint's name of the embedding of a stack.
func embeddings(stack string) string { return "model." + stack + ".embed_tokens.weight" }

// positions adds the table of positions of a stack, [MaxPositions, DModel].
func (b *builder) positions(stack string) string {
	if row, ok := b.spec.FirstPosition(); ok {
		const table = ".embed_positions.weight"
		return b.use(b.w.tail("model."+stack+table, "model.encoder"+table, row))
	}
	const block = 64 // rows in memory at a time
	n, d, first, table := b.spec.MaxPositions, b.spec.DModel, int(b.spec.Pad)+1, sinusoids
	switch b.spec.Positions {
	case model.OriginalPositions:
		first, table = 0, originalSinusoids
	case model.PlainPositions:
		first = 0
	}
	return b.use(b.w.add("positions", onnx.Float32, []int{n, d}, func(out io.Writer) error {
		for row := 0; row < n; row += block {
			if err := writeFloats(out, onnx.Float32, table(min(block, n-row), d, first+row)); err != nil {
				return err
			}
		}
		return nil
	}))
}

// sinusoids returns n positions of width d as computed by Hugging Face, in 32 bits: sines in the first half of a row, cosines in
// the second, frequencies from 1 to 1/10000; an odd last column is zero. Row i is position i + first: M2M100 counts from the
// padding id + 1.
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

// originalSinusoids is sinusoids with the frequencies of "Attention is all you need", as computed by Hugging Face for Marian: in
// 64 bits. If the width is odd, there is one more sine than cosines.
func originalSinusoids(n, d, first int) []float32 {
	table := make([]float32, 0, n*d)
	for i := range n {
		for j := range d {
			angle := func(j int) float64 { return float64(first+i) / math.Pow(10000, float64(2*j)/float64(d)) }
			if sines := (d + 1) / 2; j < sines {
				table = append(table, float32(math.Sin(angle(j))))
			} else {
				table = append(table, float32(math.Cos(angle(j-sines))))
			}
		}
	}
	return table
}

// logitsBias adds the bias of the LM head. If the padding token must have no probability, its bias is a large negative number.
func (b *builder) logitsBias() string {
	const none = -1e30
	values, err := b.w.shifted(checkpoint.LogitsBias, "lm_head.weight")
	if b.spec.NeverPad && b.spec.Renormalize && err == nil {
		values[b.spec.Pad] = none
	}
	return b.numbers(checkpoint.LogitsBias, []int{b.spec.VocabSize}, values, err)
}

// packedName returns the name of a product of the matrices of one or more layers.
func packedName(layers []string) string {
	if len(layers) > 1 {
		return layers[0] + "+packed"
	}
	return layers[0]
}

func suffixed(names []string, suffix string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name + suffix
	}
	return out
}
