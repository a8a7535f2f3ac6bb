package export

import (
	"dragoman/model"
	"dragoman/model/onnx"
)

// decoder builds the graph of one decoder step for S sentences of R rows in all.
//
// Inputs:
//   - ids, pos int64 [R]: the token to feed to each row and its position;
//   - rows int32 [R]: the row of the KV cache that each token is written to;
//   - history int32 [R, C]: the rows of the KV cache in which each row finds its
//     tokens, by position; what stands from pos on is not looked at, but for a
//     sentence's own tokens of this step;
//   - groups int32 [S+1]: the rows of sentence s are groups[s] to groups[s+1]-1;
//   - slots, lengths int32 [S]: where each sentence's source is in the memory of
//     cross attention, and its number of tokens;
//   - kv, cross uint8 [layers, rows, capacity, token]: the KV cache, which is
//     written in place, and the memory of cross attention;
//   - wanted int64 [Q]: the rows whose candidates are wanted;
//   - k int64 [1]: the number of candidates.
//
// Outputs: val float32, idx int64 [Q, k]: log-probabilities and ids of the best
// candidates, best first; lse float32 [Q]: log-sum-exp of the logits. The logits,
// as wide as the vocabulary, stay inside the graph.
func decoder(w *weights, spec model.Spec) (*onnx.Graph, error) {
	b := newBuilder("decoder", w, spec)
	rows, sentences := onnx.Named("R"), onnx.Named("S")
	ids := b.Input("ids", onnx.Int64, rows)
	pos := b.Input("pos", onnx.Int64, rows)
	b.Input("rows", onnx.Int32, rows)
	b.Input("history", onnx.Int32, rows, onnx.Named("C"))
	b.Input("groups", onnx.Int32, onnx.Named("S1"))
	b.Input("slots", onnx.Int32, sentences)
	b.Input("lengths", onnx.Int32, sentences)
	b.memory("kv")
	b.memory("cross")
	b.Input("wanted", onnx.Int64, onnx.Named("Q"))
	b.Input("k", onnx.Int64, onnx.Fixed(1))

	x, p := b.embed(ids, pos, "model.decoder.embed_tokens.weight"), product{}
	for i := range spec.Decoder.Layers {
		x, p = b.decoderLayer(x, p, i)
	}
	last := b.lastNorm(x, p, "model.decoder.layer_norm")
	b.head(b.Op("Gather", []string{last, "wanted"}))
	return b.done()
}

// decoderLayer is one pre-LayerNorm layer: self attention over the cache, cross
// attention over the source, feed-forward. It takes and returns the residual stream
// and the product that is still to be added to it.
func (b *builder) decoderLayer(x string, p product, i int) (string, product) {
	layer := layerName("decoder", i)
	q, k, v, out := projections(layer + ".self_attn")
	x, y := b.addNorm(x, p, layer+".self_attn_layer_norm")
	a := b.attention("CachedAttention", b.linear(y, q, k, v),
		[]string{"rows", "pos", "history", "groups", "kv"}, b.layerAttrs(i)...)
	x, y = b.addNorm(x, b.linear(a, out), layer+".encoder_attn_layer_norm")

	q, _, _, out = projections(layer + ".encoder_attn")
	a = b.attention("CrossAttention", b.linear(y, q), []string{"groups", "slots", "lengths", "cross"}, b.layerAttrs(i)...)
	x, y = b.addNorm(x, b.linear(a, out), layer+".final_layer_norm")
	return x, b.feedForward(y, layer)
}

// spareCandidates is how many candidates beyond k an 8-bit head proposes.
const spareCandidates = 8

// head turns the last hidden states into the candidates.
//
// The logits of an 8-bit head's best candidates are computed again from the hidden
// states and the 16-bit embeddings. What order the best have, and by how much, is
// then as good as the hidden states; only the sum over the vocabulary, where errors
// cancel, comes from the 8-bit logits.
func (b *builder) head(x string) {
	logits := b.multiply(b.quantize(x), "lm_head")
	inputs := []string{logits.acc, "k"}
	if b.w.precision == model.INT8 {
		inputs = append(inputs, logits.scale, x, b.use(b.w.half("lm_head.weight", "lm_head.weight")))
	}
	b.NamedNode(onnx.Dragoman, "BestCandidates", inputs, []string{"val", "idx", "lse"}, onnx.Int("spare", spareCandidates))
	wanted := onnx.Named("Q")
	b.Output("val", onnx.Float32, wanted, onnx.Named("k"))
	b.Output("idx", onnx.Int64, wanted, onnx.Named("k"))
	b.Output("lse", onnx.Float32, wanted)
}
