package export

import (
	"dragoman/model"
	"dragoman/model/onnx"
)

// deviceEncoder builds the encoder for devices, for sentences of N tokens in all, one
// after the other: there is no padding.
//
// Inputs: feed int32 [fields, N] and the memory of the decoder's cross attention, to
// which the sentences' keys and values are written in place, uint8 [layers, rows,
// capacity, token]. Output: stored int32 [1], which means nothing.
func deviceEncoder(w *weights, spec model.Spec) (*onnx.Graph, error) {
	b := newDeviceBuilder("encoder", w, spec)
	feed := b.fields("N")
	b.memory("cross")

	x, p, y := b.embedFed(feed, "model.encoder.embed_tokens.weight"), deviceProduct{}, ""
	for i := range spec.Encoder.Layers {
		layer := layerName("encoder", i)
		q, k, v, out := projections(layer + ".self_attn")
		x, y = b.norm(x, p, layer+".self_attn_layer_norm")
		a := b.attend("SelfAttention", b.apply(y, q, k, v), []string{feed}, b.attentionAttrs(spec.Encoder, i))
		x, y = b.norm(x, b.apply(a, out), layer+".final_layer_norm")
		p = b.feedForward(y, layer)
	}
	_, y = b.norm(x, p, "model.encoder.layer_norm")
	b.keep(y, feed)
	return b.done()
}

// keep projects the encoder's output y to the keys and values of every decoder layer's
// cross attention, which go to the memory.
func (b deviceBuilder) keep(y, feed string) {
	after := ""
	for i := range b.spec.Decoder.Layers {
		_, k, v, _ := projections(layerName("decoder", i) + ".encoder_attn")
		p := b.apply(y, k, v)
		out := "stored"
		if i < b.spec.Decoder.Layers-1 {
			out = layerName("stored", i)
		}
		b.NamedNode(onnx.Dragoman, b.deviceOp("StoreCross"), []string{p.acc, p.bias, feed, "cross", after},
			[]string{out}, b.attentionAttrs(b.spec.Decoder, i)...)
		after = out
	}
	b.Output("stored", onnx.Int32, onnx.Fixed(1))
}

// deviceDecoder builds one decoder step for R rows.
//
// Inputs:
//   - feed int32 [fields, R];
//   - history int32 [H, C]: the rows of the KV cache in which the tokens of hypotheses
//     lie, by position; it is written in place;
//   - kv, cross uint8 [layers, rows, capacity, token]: the KV cache, which is written
//     in place, and the memory of cross attention;
//   - pages int32 [P], of which only the size counts: 32·P candidates are wanted.
//
// Output: best int32 [R, 64·P+1]: log-probabilities (the bits of float32) and ids of
// the best candidates, best first, and the log-sum-exp of the logits.
func deviceDecoder(w *weights, spec model.Spec) (*onnx.Graph, error) {
	b := newDeviceBuilder("decoder", w, spec)
	feed := b.fields("R")
	b.Input("history", onnx.Int32, onnx.Named("H"), onnx.Named("C"))
	b.memory("kv")
	b.memory("cross")
	b.Input("pages", onnx.Int32, onnx.Named("P"))

	tracked := b.device("Track", []string{feed, "history"}, 1)[0]
	x, p := b.embedFed(feed, "model.decoder.embed_tokens.weight"), deviceProduct{}
	for i := range spec.Decoder.Layers {
		x, p = b.stepLayer(x, p, i, feed, tracked)
	}
	_, y := b.norm(x, p, "model.decoder.layer_norm")
	b.candidates(y)
	return b.done()
}

// stepLayer is one layer: self attention over the cache, cross attention over the
// source, feed-forward. It takes and returns the stream of residuals and the product
// that is still to be added to it.
func (b deviceBuilder) stepLayer(x string, p deviceProduct, i int, feed, tracked string) (string, deviceProduct) {
	layer, attrs := layerName("decoder", i), b.attentionAttrs(b.spec.Decoder, i)
	q, k, v, out := projections(layer + ".self_attn")
	x, y := b.norm(x, p, layer+".self_attn_layer_norm")
	a := b.attend("CachedAttention", b.apply(y, q, k, v), []string{feed, "history", "kv", tracked}, attrs)
	x, y = b.norm(x, b.apply(a, out), layer+".encoder_attn_layer_norm")

	q, _, _, out = projections(layer + ".encoder_attn")
	a = b.attend("CrossAttention", b.apply(y, q), []string{feed, "cross"}, attrs)
	x, y = b.norm(x, b.apply(a, out), layer+".final_layer_norm")
	return x, b.feedForward(y, layer)
}

// candidates turns the last hidden states into the candidates. The logits, as wide as
// the vocabulary, stay inside the graph.
func (b deviceBuilder) candidates(y string) {
	parts := b.device("PartialCandidates", []string{b.times(y, "lm_head"), "pages"}, 2)
	best := b.device("MergeCandidates", parts, 2)
	if b.w.precision == model.FP16 {
		table := b.use(b.w.matrix("lm_head.weight", "lm_head.weight"))
		best[0] = b.device("Rescore", []string{best[0], y, table}, 1)[0]
	}
	b.NamedNode(onnx.Dragoman, b.deviceOp("BestCandidates"), best, []string{"best"})
	b.Output("best", onnx.Int32, onnx.Named("R"), onnx.Named("B"))
}
