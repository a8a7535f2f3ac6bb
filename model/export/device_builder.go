package export

import (
	"math"

	"dragoman/model"
	"dragoman/model/onnx"
)

// deviceBuilder builds the graphs for package model/device. They are the same networks
// as the others, with other operators: activations have the type in which the matrices
// are stored, the stream of residuals, biases and norms are in single precision, and
// what was fed comes as one input. See package model/device/kernels for the operators.
type deviceBuilder struct{ *builder }

func newDeviceBuilder(name string, w *weights, spec model.Spec) deviceBuilder {
	return deviceBuilder{newBuilder(name, w, spec)}
}

// device adds an operator of package model/device/kernels.
func (b deviceBuilder) device(op string, inputs []string, outputs int, attrs ...onnx.Attr) []string {
	return b.Node(onnx.Dragoman, b.deviceOp(op), inputs, outputs, attrs...)
}

// deviceOp is the operator's name for the type of activations.
func (b deviceBuilder) deviceOp(op string) string {
	if b.w.precision == model.FP16 {
		return "Device" + op + "F16"
	}
	return "Device" + op + "F32"
}

// fields is the input with what each of n rows is fed.
func (b deviceBuilder) fields(n string) string {
	return b.Input("feed", onnx.Int32, onnx.Named("fields"), onnx.Named(n))
}

// embedFed is the sum of the scaled embeddings of what was fed and of their positions.
func (b deviceBuilder) embedFed(feed, table string) string {
	rows := b.use(b.w.matrix(table, table))
	return b.device("Embed", []string{feed, rows, b.positions()}, 1, onnx.Float("scale", b.spec.EmbedScale))[0]
}

// deviceProduct is what a matrix product leaves of a linear layer: acc + bias.
type deviceProduct struct{ acc, bias string }

// times multiplies x by the matrices of one or more linear layers, packed into one
// product whose outputs lie side by side.
func (b deviceBuilder) times(x string, layers ...string) string {
	name := layers[0]
	if len(layers) > 1 {
		name += "+packed"
	}
	matrix := b.use(b.w.matrix(name+".weight", suffixed(layers, ".weight")...))
	return b.Node(onnx.Microsoft, "FusedMatMul", []string{x, matrix}, 1, onnx.Int("transB", 1))[0]
}

// apply is times with the layers' biases.
func (b deviceBuilder) apply(x string, layers ...string) deviceProduct {
	acc := b.times(x, layers...)
	return deviceProduct{acc, b.float(b.w.vector(layers[0]+".biases", suffixed(layers, ".bias")...))}
}

// norm adds a product, if there is one, to the stream of residuals x. It returns the sum
// and its layer norm.
func (b deviceBuilder) norm(x string, p deviceProduct, norm string) (sum, y string) {
	inputs := []string{x,
		b.float(b.w.vector(norm+".weight", norm+".weight")),
		b.float(b.w.vector(norm+".bias", norm+".bias"))}
	if p.acc != "" {
		inputs = append(inputs, p.acc, p.bias)
	}
	out := b.device("AddNorm", inputs, 2)
	return out[0], out[1]
}

// feedForward is fc2(relu(fc1(x))) of a layer.
func (b deviceBuilder) feedForward(x, layer string) deviceProduct {
	p := b.apply(x, layer+".fc1")
	return b.apply(b.device("BiasRelu", []string{p.acc, p.bias}, 1)[0], layer+".fc2")
}

// attend adds an attention operator over a product.
func (b deviceBuilder) attend(op string, p deviceProduct, inputs []string, attrs []onnx.Attr) string {
	return b.device(op, append([]string{p.acc, p.bias}, inputs...), 1, attrs...)[0]
}

// attentionAttrs are the attributes of attention in layer i of a stack.
func (b deviceBuilder) attentionAttrs(stack model.Stack, i int) []onnx.Attr {
	scale := float32(1 / math.Sqrt(float64(stack.HeadDim(b.spec.DModel))))
	return append(b.headAttrs(stack), onnx.Int("layer", i), onnx.Float("scale", scale))
}
