package export

import (
	"fmt"
	"math"

	"dragoman/model"
	"dragoman/model/onnx"
)

// encoder builds the encoder's graph.
//
// Inputs: ids int64 [B, L], padded at the end; mask int32 [B, L], 1 for a token
// and 0 for padding.
//
// Outputs: for each decoder layer i, cross_k_i and cross_v_i [B, H, L, headDim]:
// the keys and values of its cross attention. Those of padding are finite and
// mean nothing.
func encoder(w *weights, spec model.Spec) (*onnx.Graph, error) {
	b := newBuilder("encoder", w, spec)
	ids := b.Input("ids", onnx.Int64, onnx.Named("B"), onnx.Named("L"))
	mask := b.Input("mask", onnx.Int32, onnx.Named("B"), onnx.Named("L"))

	x := b.Op("Add", []string{b.embed(ids, "model.encoder.embed_tokens.weight"), b.leadingPositions(ids)})
	for i := range spec.Encoder.Layers {
		x = b.encoderLayer(x, mask, layerName("encoder", i))
	}
	x = b.layerNorm(x, "model.encoder.layer_norm")
	for i := range spec.Decoder.Layers {
		_, k, v, _ := attention(layerName("decoder", i) + ".encoder_attn")
		b.crossHeads(x, k, fmt.Sprintf("cross_k_%d", i))
		b.crossHeads(x, v, fmt.Sprintf("cross_v_%d", i))
	}
	return b.done()
}

// encoderLayer is one pre-LayerNorm layer: self attention, then feed-forward.
func (b *builder) encoderLayer(x, mask, layer string) string {
	q, k, v, out := attention(layer + ".self_attn")
	n := b.layerNorm(x, layer+".self_attn_layer_norm")
	a := b.Node(onnx.Microsoft, "MultiHeadAttention",
		[]string{b.project(n, q), b.project(n, k), b.project(n, v), b.biases(q, k, v), mask}, 1,
		onnx.Int("num_heads", b.spec.Encoder.Heads))[0]
	x = b.Op("Add", []string{x, b.linear(a, out)})
	x = b.feedForward(x, layer)
	if b.w.precision == model.FP16 {
		x = b.clamp(x)
	}
	return x
}

// clamp keeps a 16-bit activation finite, as Hugging Face does after each
// encoder layer in half precision.
func (b *builder) clamp(x string) string {
	const limit = 65504 - 1000
	return b.Op("Clip", []string{x, b.scalar("clamp_low", -limit), b.scalar("clamp_high", limit)})
}

// leadingPositions are the embeddings of positions 0 to L-1, [L, DModel].
func (b *builder) leadingPositions(ids string) string {
	length := b.Op("Gather", []string{b.Op("Shape", []string{ids}), b.Int64s("second", 1)})
	return b.Op("Slice", []string{b.positions(), b.Int64s("from", 0), length, b.Int64s("first_axis", 0)})
}

// crossHeads projects the encoder's output by a decoder layer's key or value
// projection and splits it into heads: the output called name, [B, H, L, headDim].
func (b *builder) crossHeads(x, layer, name string) {
	heads, dim := b.spec.Decoder.Heads, b.spec.Decoder.HeadDim(b.spec.DModel)
	split := b.Op("Reshape", []string{b.linear(x, layer), b.Int64s("cross_heads", 0, 0, int64(heads), int64(dim))})
	b.NamedNode("", "Transpose", []string{split}, []string{name}, onnx.Ints("perm", 0, 2, 1, 3))
	b.Output(name, b.w.float(), onnx.Named("B"), onnx.Fixed(heads), onnx.Named("L"), onnx.Fixed(dim))
}

// attentionScale is what attention scores are multiplied by.
func attentionScale(headDim int) float32 { return float32(1 / math.Sqrt(float64(headDim))) }
