package export

import (
	"cmp"
	"fmt"
	"strings"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/onnx"
)

// cpu has the operators of graphs for package model/cpu: the operators of package model/cpu/ops.
//
// Inputs of the encoder, for B sentences of T tokens in all:
//   - ids, pos int64 [T]: the tokens and their positions, from 0 in each sentence;
//   - offsets int32 [B+1]: sentence b is the tokens offsets[b] to offsets[b+1]-1;
//   - slots int32 [B]: the row of each sentence in the memory;
//   - cross: the cross-attention memory, see [builder.memory].
//
// Inputs of a decoder step, for S sentences of R rows in all:
//   - ids, pos int64 [R]: the token fed to each row and its position;
//   - rows int32 [R]: the row of the KV cache to which each token is written;
//   - history int32 [R, C]: the rows of the KV cache with the tokens of each row, by position; entries from pos on are ignored,
//     except for a sentence's own tokens of this step;
//   - groups int32 [S+1]: the rows of sentence s are groups[s] to groups[s+1]-1;
//   - slots, lengths int32 [S]: the place of each sentence's source in the cross-attention memory, and its number of tokens;
//   - kv, cross: the KV cache, which is written in place, and the cross-attention memory;
//   - wanted int64 [Q]: the rows whose candidates are returned;
//   - k int64 [1]: the number of candidates.
//
// Outputs of a step: val float32, idx int64 [Q, k]: log-probabilities and ids of the best candidates, best first; lse float32
// [Q]: log-sum-exp of the logits.
type cpu struct{ *builder }

func (b cpu) encoderInputs() {
	b.Input("ids", onnx.Int64, onnx.Named("T"))
	b.Input("pos", onnx.Int64, onnx.Named("T"))
	b.Input("offsets", onnx.Int32, onnx.Named("B1"))
	b.Input("slots", onnx.Int32, onnx.Named("B"))
	b.memory("cross")
	if b.shortlisted() {
		b.allowed()
	}
}

// allowed adds an input with a bit for each output of the LM head whose token a sentence's translation may have, by the
// sentence's row in the cross-attention memory; no rows: all tokens are allowed. The encoder of a model with a shortlist writes
// this input.
func (b cpu) allowed() {
	b.Input("allowed", onnx.Uint8, onnx.Named("allowed_rows"), onnx.Named("allowed_bytes"))
}

// masked reports whether the decoder has the input allowed.
func (b cpu) masked() bool { return b.shortlisted() || b.w.order != nil }

func (b cpu) shortlisted() bool { return b.spec.Shortlisted(b.w.precision) }

func (b cpu) shortlist() string {
	if !b.shortlisted() {
		return ""
	}
	shared := 0
	if b.spec.SourceVocab == 0 {
		shared = 1
	}
	return b.Node(onnx.Dragoman, "Shortlist", []string{"ids", "offsets", "slots", b.use(b.w.raw(checkpoint.ShortlistStarts, onnx.Int64)),
		b.use(b.w.raw(checkpoint.ShortlistTargets, onnx.Int32)), "allowed"}, 1,
		onnx.Int("first", b.spec.Shortlist.First), onnx.Int("shared", shared), onnx.Int("width", b.spec.VocabSize))[0]
}

func (b cpu) decoderInputs() {
	rows, sentences := onnx.Named("R"), onnx.Named("S")
	b.Input("ids", onnx.Int64, rows)
	b.Input("pos", onnx.Int64, rows)
	b.Input("rows", onnx.Int32, rows)
	b.Input("history", onnx.Int32, rows, onnx.Named("C"))
	b.Input("groups", onnx.Int32, onnx.Named("S1"))
	b.Input("slots", onnx.Int32, sentences)
	b.Input("lengths", onnx.Int32, sentences)
	b.memory("kv")
	b.memory("cross")
	if b.masked() {
		b.allowed()
	}
	b.Input("wanted", onnx.Int64, onnx.Named("Q"))
	b.Input("k", onnx.Int64, onnx.Fixed(1))
}

// embed looks tokens up in a table. An int8 export keeps the table in 16 bits: this costs no time, because only the rows in use
// are ever read, while an 8-bit table alone would change one translation in a hundred.
func (b cpu) embed(stack string) string {
	table := embeddings(stack)
	op, inputs, width, scale, places := "EmbedRows", []string(nil), b.spec.DModel, b.spec.EmbedScale, ""
	if !b.int8() {
		op, inputs = b.stored("Embed"), make([]string, 1)
		inputs[0], width = b.panels(table, table)
	} else if panels, unit := b.int8Table(table); unit > 0 {
		op, inputs, scale, places = "EmbedInt8", panels, unit*scale, b.places(table)
	} else {
		inputs = []string{b.use(b.w.half(table))}
	}
	inputs = append(inputs, "ids")
	if b.spec.Positions != model.RelativePositions {
		inputs = append(inputs, b.positions(stack), "pos")
	}
	if places != "" {
		inputs = append(inputs, make([]string, 5-len(inputs))...) // without positions
		inputs = append(inputs, places)
	}
	return b.Node(onnx.Dragoman, op, inputs, 1, onnx.Int("width", width), onnx.Float("scale", scale))[0]
}

// int8Table returns the panels and scales of a table that the checkpoint itself has in 8 bits, so that nothing is lost, and their
// factor; 0: the checkpoint has no such table. A table that is also the head is stored once, in the head's order.
func (b cpu) int8Table(table string) (inputs []string, unit float32) {
	t, err := b.w.ckpt.Tensor(table)
	if err != nil || t.DType != checkpoint.I8 {
		return nil, 0
	}
	name := strings.TrimSuffix(t.Name, ".weight")
	if b.isHead(table) {
		name = "lm_head"
	}
	q := b.quantized(name)
	if unit = 1; t.Alpha > 0 {
		unit = t.Alpha
	}
	return []string{q[0], q[2]}, unit
}

// isHead reports whether a table is also the LM head.
func (b cpu) isHead(table string) bool {
	t, err := b.w.ckpt.Tensor(table)
	head, noHead := b.w.ckpt.Tensor("lm_head.weight")
	return err == nil && noHead == nil && t.Name == head.Name
}

// places returns the rows of the tokens in a table, or "" if the rows are in the order of the tokens.
func (b cpu) places(table string) string {
	if b.w.order == nil || !b.isHead(table) {
		return ""
	}
	return b.use(b.w.places())
}

// static returns the attribute of operators that quantize by an alpha, if the checkpoint has alphas of its layers, and the alpha.
func (b cpu) static() (attrs []onnx.Attr, alpha *float32) {
	if head, err := b.w.ckpt.Tensor("lm_head.weight"); err != nil || !b.w.static(head) {
		return nil, nil
	}
	alpha = new(float32)
	return activation{alpha: alpha}.attrs(), alpha
}

// attrs returns the attribute of operators that multiply x.
func (x activation) attrs() []onnx.Attr {
	if x.alpha == nil {
		return nil
	}
	return []onnx.Attr{onnx.FloatVar("alpha", x.alpha)}
}

// fix sets the alpha of x to the alpha of the layers.
func (b cpu) fix(x activation, layers []string) {
	if x.alpha == nil {
		return
	}
	for _, name := range layers {
		t, err := b.w.ckpt.Tensor(name + ".weight")
		if err == nil && *x.alpha != 0 && *x.alpha != t.Alpha {
			err = fmt.Errorf("%s has the scale of activations %v, another layer that takes the same %v: they are to be equal", name, t.Alpha, *x.alpha)
		}
		if b.err = cmp.Or(b.err, err); err == nil {
			*x.alpha = t.Alpha
		}
	}
}

// stored returns the name of an operator on panels in their stored type.
func (b cpu) stored(op string) string {
	if b.w.precision == model.FP16 {
		return op + "F16"
	}
	return op + "F32"
}

func (b cpu) addNorm(x string, p product, norm string) (sum string, y activation) {
	inputs := b.normInputs(x, norm)
	if p.acc != "" {
		inputs = append(inputs, p.acc, p.bias, p.scale)
	}
	return b.norm("AddNorm", inputs, 2)
}

func (b cpu) normSum(x string, p product, norm string) (sum string, y activation) {
	return b.norm("NormSum", append(b.normInputs(x, norm), p.acc, p.bias, p.scale), 1)
}

// norm adds an operator with a number of outputs in floats. The last output is for a linear layer; in an int8 export the operator
// quantizes it to 8 bits.
func (b cpu) norm(op string, inputs []string, outputs int) (sum string, y activation) {
	if !b.int8() {
		out := b.Node(onnx.Dragoman, op, inputs, outputs, b.epsilon()...)
		return out[0], activation{value: out[outputs-1]}
	}
	attrs, alpha := b.static()
	out := b.Node(onnx.Dragoman, op+"Quantize", inputs, 3, append(attrs, b.epsilon()...)...)
	return out[0], activation{value: out[1], scale: out[2], alpha: alpha}
}

// lastNorm is in 32 bits in every export.
func (b cpu) lastNorm(x string, p product, norm string) string {
	return b.Node(onnx.Dragoman, "AddNorm", append(b.normInputs(x, norm), p.acc, p.bias, p.scale), 2, b.epsilon()...)[1]
}

func (b cpu) quantize(x string) activation {
	if !b.int8() {
		return activation{value: x}
	}
	attrs, alpha := b.static()
	out := b.Node(onnx.Dragoman, "Quantize", []string{x}, 2, attrs...)
	return activation{value: out[0], scale: out[1], alpha: alpha}
}

func (b cpu) multiply(x activation, layers ...string) product {
	if !b.int8() {
		return product{acc: b.multiplyFloats("Product", x, layers, nil)}
	}
	b.fix(x, layers)
	positive := onnx.Int("positive", 0)
	if x.positive {
		positive = onnx.Int("positive", 1)
	}
	acc := b.Node(onnx.Dragoman, "ProductInt8", append([]string{x.value}, b.quantized(layers...)...), 1, append(x.attrs(), positive)...)[0]
	return product{acc: acc, scale: x.scale}
}

// quantized returns the inputs of an operator for the matrices of layers: panels, sums, scales.
func (b cpu) quantized(layers ...string) []string {
	var order []int32
	if layers[0] == "lm_head" {
		order = b.w.order
	}
	q, err := b.w.quantized(packedName(layers)+".int8", order, suffixed(layers, ".weight")...)
	return []string{b.use(q.panels, err), b.use(q.sums, err), b.use(q.scale, err)}
}

// multiplyFloats adds an operator that multiplies x by the matrices of linear layers.
func (b cpu) multiplyFloats(op string, x activation, layers, more []string, attrs ...onnx.Attr) string {
	name, tensors := matricesOf(layers)
	panels, rows := b.panels(name, tensors...)
	inputs := append([]string{x.value, panels}, more...)
	return b.Node(onnx.Dragoman, b.stored(op), inputs, 1, append([]onnx.Attr{onnx.Int("width", rows)}, attrs...)...)[0]
}

func (b cpu) activate(x activation, layers ...string) activation {
	if len(layers) > 1 {
		return b.gate(x, layers)
	}
	layer := layers[0]
	if b.spec.Activation == model.ReLU {
		return b.relu(x, layer)
	}
	bias, kind := b.biases(layer), b.activationAttr()
	if !b.int8() {
		return activation{value: b.multiplyFloats("ProductActivation", x, []string{layer}, []string{bias}, kind)}
	}
	p := b.multiply(x, layer)
	out := b.Node(onnx.Dragoman, "ActivationQuantize", []string{p.acc, bias, p.scale}, 2, kind)
	return activation{value: out[0], scale: out[1]}
}

// gate multiplies x by the matrices of both layers, side by side, in one product.
func (b cpu) gate(x activation, layers []string) activation {
	p := b.multiply(x, layers...)
	inputs := []string{p.acc, b.biases(layers...), p.scale}
	if !b.int8() {
		return activation{value: b.Node(onnx.Dragoman, "Gate", inputs, 1, b.activationAttr())[0]}
	}
	out := b.Node(onnx.Dragoman, "GateQuantize", inputs, 2, b.activationAttr())
	return activation{value: out[0], scale: out[1]}
}

func (b cpu) relu(x activation, layer string) activation {
	bias := b.biases(layer)
	if !b.int8() {
		return activation{value: b.multiplyFloats("ProductRelu", x, []string{layer}, []string{bias})}
	}
	p := b.multiply(x, layer)
	attrs, alpha := b.static()
	out := b.Node(onnx.Dragoman, "ReluQuantize", []string{p.acc, bias, p.scale}, 2, attrs...)
	return activation{value: out[0], scale: out[1], positive: alpha == nil, alpha: alpha}
}

func (b cpu) attention(op string, p product, layer int) activation {
	attrs, inputs, relative := b.layerAttrs(layer), []string{p.acc, p.bias}, b.spec.Positions == model.RelativePositions
	switch op {
	case "SelfAttention":
		attrs, inputs = b.headAttrs(b.spec.Encoder), append(inputs, "offsets", p.scale)
		if relative {
			inputs = append(inputs, b.distances("encoder"))
		}
	case "CachedAttention":
		inputs = append(inputs, "rows", "pos", "history", "groups", "kv", p.scale)
		if relative {
			inputs = append(inputs, b.distances("decoder"))
		}
	case "CrossAttention":
		inputs = append(inputs, "groups", "slots", "lengths", "cross", p.scale)
	}
	return b.quantize(b.Node(onnx.Dragoman, op, inputs, 1, attrs...)[0])
}

func (b cpu) recur(p product, layer int) product {
	d := b.spec.DModel
	inputs := []string{p.acc, p.bias, "rows", "pos", "history", "groups", "kv", p.scale}
	h := b.Node(onnx.Dragoman, "Ssru", inputs, 1, onnx.Int("layer", layer), onnx.Int("heads", 1), onnx.Int("head_dim", d))[0]
	return product{acc: h, bias: b.zeros(d)}
}

func (b cpu) storeCross(p product, layer int, after, done string) {
	b.NamedNode(onnx.Dragoman, "StoreCross", []string{p.acc, p.bias, "offsets", "slots", "cross", p.scale, after},
		[]string{done}, b.layerAttrs(layer)...)
}

// layerAttrs returns the attributes of attention in a decoder layer.
func (b cpu) layerAttrs(layer int) []onnx.Attr {
	return append(b.headAttrs(b.spec.Decoder), onnx.Int("layer", layer))
}

// spareCandidates is the number of candidates beyond k that an 8-bit head proposes.
const spareCandidates = 8

// candidates computes the logits of an 8-bit head's best candidates again, from the hidden states and the 16-bit embeddings. The
// order of the best, and their differences, are then as precise as the hidden states; only the sum over the vocabulary, in which
// errors cancel out, comes from the 8-bit logits.
func (b cpu) candidates(y string) {
	outputs, spare := []string{"val", "idx", "lse"}, onnx.Int("spare", spareCandidates)
	if b.int8() {
		x := b.Node(onnx.Dragoman, "PickRows", []string{y, "wanted"}, 1)[0]
		q := b.quantize(x)
		b.fix(q, []string{"lm_head"})
		inputs := append([]string{q.value}, b.quantized("lm_head")...)
		inputs = append(inputs, q.scale, "k")
		places := ""
		switch _, unit := b.int8Table("lm_head.weight"); {
		case q.alpha != nil:
			inputs = append(inputs, "", "") // as the network was trained
		case unit > 0:
			inputs, places = append(inputs, x, ""), b.places("lm_head.weight") // no table is more precise than the head
		default:
			inputs = append(inputs, x, b.use(b.w.half("lm_head.weight")))
		}
		if b.spec.LogitsBias {
			inputs = append(inputs, b.logitsBias())
		}
		if b.masked() {
			inputs = append(inputs, make([]string, 9-len(inputs))...) // without a bias
			inputs = append(inputs, "allowed", "groups", "slots", "wanted")
		}
		if b.w.order != nil {
			inputs = append(inputs, b.use(b.w.tokens()))
		}
		if places != "" {
			inputs = append(inputs, places)
		}
		b.NamedNode(onnx.Dragoman, "BestCandidatesInt8", inputs, outputs, append(q.attrs(), spare)...)
	} else {
		x := b.Op("Gather", []string{y, "wanted"}) // not our operator, so that the chain ends here: with the logits in it, it took 7% longer
		b.NamedNode(onnx.Dragoman, "BestCandidates", []string{b.logits(activation{value: x}), "k"}, outputs, spare)
	}
	wanted := onnx.Named("Q")
	b.Output("val", onnx.Float32, wanted, onnx.Named("k"))
	b.Output("idx", onnx.Int64, wanted, onnx.Named("k"))
	b.Output("lse", onnx.Float32, wanted)
}

// logits adds the logits of an export in floats.
func (b cpu) logits(x activation) string {
	head := []string{"lm_head"}
	if !b.spec.LogitsBias {
		return b.multiplyFloats("Product", x, head, nil)
	}
	return b.multiplyFloats("ProductActivation", x, head, []string{b.logitsBias()}, onnx.Int("activation", noActivation))
}

// int8 reports whether linear layers are products of 8-bit numbers.
func (b cpu) int8() bool { return b.w.precision == model.INT8 }
