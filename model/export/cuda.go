package export

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"dragoman/model"
	"dragoman/model/onnx"
)

// cuda has the operators of graphs for package model/cuda: the operators of package model/cuda/kernels and ONNX Runtime's matrix
// products. Activations have the stored type of the matrices; the residual stream, biases and norms are in single precision.
//
// Inputs of the encoder, for sentences of N tokens in all: feed int32 [fields, N], the feed of each token, and cross, the
// cross-attention memory (see [builder.memory]).
//
// Inputs of a decoder step of R rows:
//   - feed int32 [fields, R]: the feed of each row;
//   - history int32 [H, C]: the rows of the KV cache with the tokens of hypotheses, by position; it is written in place;
//   - kv, cross: the KV cache, which is written in place, and the cross-attention memory;
//   - pages int32 [P], of which only the size is used: it requests 32·P candidates.
//
// Output of a step: best int32 [R, 64·P+1]: log-probabilities (the bits of float32) and ids of the best candidates, best first,
// and the log-sum-exp of the logits.
type cuda struct {
	*builder
	tracked  string            // orders the nodes that read history after the node that writes it
	matrices map[string]string // matrices made from panels, by the panels
}

func (b *cuda) encoderInputs() {
	b.Input("feed", onnx.Int32, onnx.Named("fields"), onnx.Named("N"))
	b.memory("cross")
}

func (b *cuda) decoderInputs() {
	b.Input("feed", onnx.Int32, onnx.Named("fields"), onnx.Named("R"))
	b.Input("history", onnx.Int32, onnx.Named("H"), onnx.Named("C"))
	b.memory("kv")
	b.memory("cross")
	b.Input("pages", onnx.Int32, onnx.Named("P"))
	b.tracked = b.kernel("Track", []string{"feed", "history"}, 1)[0]
}

// kernel adds an operator of package model/cuda/kernels.
func (b *cuda) kernel(op string, inputs []string, outputs int, attrs ...onnx.Attr) []string {
	return b.Node(onnx.Dragoman, b.kernelName(op), inputs, outputs, attrs...)
}

// kernelName returns the operator's name for the type of activations.
func (b *cuda) kernelName(op string) string {
	if b.w.precision == model.FP16 {
		return "Device" + op + "F16"
	}
	return "Device" + op + "F32"
}

func (b *cuda) embed(stack string) string {
	table := embeddings(stack)
	inputs := []string{"feed", b.matrix(table, table)}
	if b.spec.Positions != model.RelativePositions {
		inputs = append(inputs, b.positions(stack))
	}
	return b.kernel("Embed", inputs, 1, onnx.Float("scale", b.spec.EmbedScale))[0]
}

// headroom returns an attribute, a factor. Operators whose output enters a product for the residual stream divide by the factor,
// and operators that add the product to the stream multiply by it. Models with RMS norms were trained in bfloat16 or single
// precision, and the outputs of their feed-forward blocks exceed half precision's 65504: clamping would falsify them. The stream
// itself is always in single precision; with this attribute, the added products have a range of up to 4 million. A power of two
// adds no rounding. The loss at the other end, digits of activations below 0.004, is small compared with the rounding of a row's
// large numbers. The alternatives are worse: a product in single precision, in which transformers keeps T5's "wo", would take
// time and memory, and a product in bfloat16 would lose digits.
func (b *cuda) headroom() []onnx.Attr {
	if b.spec.RMSNorm && b.w.precision == model.FP16 {
		return []onnx.Attr{onnx.Float("headroom", 64)}
	}
	return nil
}

func (b *cuda) normAttrs() []onnx.Attr { return append(b.epsilon(), b.headroom()...) }

func (b *cuda) addNorm(x string, p product, norm string) (sum string, y activation) {
	inputs := b.normInputs(x, norm)
	if p.acc != "" {
		inputs = append(inputs, p.acc, p.bias)
	}
	out := b.kernel("AddNorm", inputs, 2, b.normAttrs()...)
	return out[0], activation{value: out[1]}
}

func (b *cuda) normSum(x string, p product, norm string) (sum string, y activation) {
	out := b.kernel("NormSum", append(b.normInputs(x, norm), p.acc, p.bias), 2, b.normAttrs()...)
	return out[0], activation{value: out[1]}
}

func (b *cuda) lastNorm(x string, p product, norm string) string {
	_, y := b.addNorm(x, p, norm)
	return y.value
}

// quantize casts a norm's output to the type of activations. If there is no last norm, y is the residual stream itself.
func (b *cuda) quantize(y string) activation {
	if b.spec.PostNorm && b.w.precision == model.FP16 {
		y = b.cast(y, onnx.Float16)
	}
	return activation{value: y}
}

func (b *cuda) multiply(x activation, layers ...string) product {
	name, tensors := matricesOf(layers)
	inputs := []string{x.value, b.matrix(name, tensors...)}
	return product{acc: b.Node(onnx.Microsoft, "FusedMatMul", inputs, 1, onnx.Int("transB", 1))[0]}
}

// matrix adds a matrix in PyTorch's layout, [rows, depth]. ONNX Runtime computes it from the panels when it loads the graph, once
// for all uses.
func (b *cuda) matrix(name string, tensors ...string) string {
	panels, rows := b.panels(name, tensors...)
	if b.matrices == nil {
		b.matrices = map[string]string{}
	}
	if b.matrices[panels] == "" {
		turned := b.Op("Transpose", []string{panels}, onnx.Ints("perm", 0, 2, 1))
		flat := b.Op("Flatten", []string{turned}, onnx.Int("axis", 2))
		first, end := b.Int64s("row_0", 0), b.Int64s(fmt.Sprintf("row_%d", rows), rows)
		b.matrices[panels] = b.Op("Slice", []string{flat, first, end})
	}
	return b.matrices[panels]
}

func (b *cuda) activate(x activation, layers ...string) activation {
	inputs, op := []string{b.multiply(x, layers...).acc, b.biases(layers...)}, "BiasActivation"
	if len(layers) > 1 {
		op = "Gate"
	} else if b.spec.Activation == model.ReLU {
		return activation{value: b.kernel("BiasRelu", inputs, 1, b.headroom()...)[0]}
	}
	return activation{value: b.kernel(op, inputs, 1, append(b.headroom(), b.activationAttr())...)[0]}
}

func (b *cuda) attention(op string, p product, layer int) activation {
	stack, inputs, relative := b.spec.Decoder, []string{p.acc, p.bias, "feed"}, b.spec.Positions == model.RelativePositions
	switch op {
	case "SelfAttention":
		stack = b.spec.Encoder
		if relative {
			inputs = append(inputs, b.distances("encoder"))
		}
	case "CachedAttention":
		inputs = append(inputs, "history", "kv", b.tracked)
		if relative {
			inputs = append(inputs, b.distances("decoder"))
		}
	case "CrossAttention":
		inputs = append(inputs, "cross")
	}
	return activation{value: b.kernel(op, inputs, 1, append(b.attentionAttrs(stack, layer), b.headroom()...)...)[0]}
}

func (b *cuda) shortlist() string { return "" }

// recur is not supported: see [model.Spec.CPUOnly].
func (b *cuda) recur(product, int) product {
	b.err = cmp.Or(b.err, errors.New("GPUs have no recurrent units"))
	return product{}
}

func (b *cuda) storeCross(p product, layer int, after, done string) {
	b.NamedNode(onnx.Dragoman, b.kernelName("StoreCross"), []string{p.acc, p.bias, "feed", "cross", after},
		[]string{done}, b.attentionAttrs(b.spec.Decoder, layer)...)
}

func (b *cuda) attentionAttrs(stack model.Stack, layer int) []onnx.Attr {
	attrs := append(b.headAttrs(stack), onnx.Int("layer", layer))
	if b.spec.Unscaled {
		return attrs
	}
	return append(attrs, onnx.Float("scale", float32(1/math.Sqrt(float64(stack.HeadDim(b.spec.DModel))))))
}

// candidates computes the logits of the best candidates again in single precision where half precision rounded them. Unlike the CPU's
// 8-bit head, it leaves the log-sum-exp as it is: rounding moves a logit by at most 1/2048 of itself, and so log-probabilities by at
// most 1/64 where logits are below 32, while an 8-bit logit may be off by any amount.
func (b *cuda) candidates(y string) {
	x := b.quantize(y)
	var bias []string
	if b.spec.LogitsBias {
		bias = []string{b.logitsBias()}
	}
	logits := []string{b.multiply(x, "lm_head").acc, "pages"}
	best := b.kernel("MergeCandidates", b.kernel("PartialCandidates", append(logits, bias...), 2), 2)
	if b.w.precision == model.FP16 {
		inputs := []string{best[0], x.value, b.matrix("lm_head.weight", "lm_head.weight")}
		best[0] = b.kernel("Rescore", append(inputs, bias...), 1)[0]
	}
	b.NamedNode(onnx.Dragoman, b.kernelName("BestCandidates"), best, []string{"best"})
	b.Output("best", onnx.Int32, onnx.Named("R"), onnx.Named("B"))
}
