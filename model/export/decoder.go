package export

import (
	"fmt"

	"dragoman/model"
	"dragoman/model/onnx"
)

// decoder builds the graph of one decoder step for S sentences of W rows each,
// R = S·W rows in all.
//
// Inputs:
//   - ids, pos int64 [S, W]: the token to feed to each row and its position;
//   - seqlens int32 [R]: the number of tokens that each row has in its cache;
//   - total int32 [1]: the capacity C of the cache. A smaller value corrupts it;
//   - cross_mask int32 [S, L]: 1 for a source token, 0 for padding;
//   - k int64 [1]: the number of candidates wanted;
//   - per layer i: past_k_i, past_v_i [R, H, C, cacheHeadDim], the KV cache;
//     cross_k_i, cross_v_i [S, H, L, headDim], from the encoder.
//
// Outputs:
//   - val float32, idx int64 [S, W, k]: log-probabilities and ids of the best
//     candidates of each row, best first;
//   - lse float32 [S, W, 1]: log-sum-exp of the row's logits;
//   - per layer i: present_k_i, present_v_i, to be bound to the memory of
//     past_k_i and past_v_i, so that the cache is written in place.
func decoder(w *weights, spec model.Spec) (*onnx.Graph, error) {
	b := newBuilder("decoder", w, spec)
	s, width, rows := onnx.Named("S"), onnx.Named("W"), onnx.Named("R")
	ids := b.Input("ids", onnx.Int64, s, width)
	pos := b.Input("pos", onnx.Int64, s, width)
	b.Input("seqlens", onnx.Int32, rows)
	b.Input("total", onnx.Int32, onnx.Fixed(1))
	b.Input("cross_mask", onnx.Int32, s, onnx.Named("L"))
	b.Input("k", onnx.Int64, onnx.Fixed(1))

	x := b.Op("Add", []string{
		b.embed(ids, "model.decoder.embed_tokens.weight"),
		b.Op("Gather", []string{b.positions(), pos}),
	})
	shape := b.Op("Shape", []string{x})
	for i := range spec.Decoder.Layers {
		x = b.decoderLayer(x, shape, i)
	}
	b.head(b.layerNorm(x, "model.decoder.layer_norm"))
	return b.done()
}

// decoderLayer is one pre-LayerNorm layer: self attention over the cache, cross
// attention over the source, feed-forward. shape is that of x, [S, W, DModel].
func (b *builder) decoderLayer(x, shape string, i int) string {
	layer := layerName("decoder", i)
	_, _, _, selfOut := attention(layer + ".self_attn")
	a := b.selfAttention(b.layerNorm(x, layer+".self_attn_layer_norm"), shape, i)
	x = b.Op("Add", []string{x, b.linear(a, selfOut)})

	_, _, _, crossOut := attention(layer + ".encoder_attn")
	a = b.crossAttention(b.layerNorm(x, layer+".encoder_attn_layer_norm"), i)
	x = b.Op("Add", []string{x, b.linear(a, crossOut)})
	return b.feedForward(x, layer)
}

// selfAttention attends from each row's new token to the row's own cache, to
// which it adds the token's key and value. Returns a value of the given shape,
// [S, W, DModel].
func (b *builder) selfAttention(x, shape string, i int) string {
	heads, dim, cacheDim := b.spec.Decoder.Heads, b.spec.Decoder.HeadDim(b.spec.DModel), b.spec.CacheHeadDim()
	dims := []onnx.Dim{onnx.Named("R"), onnx.Fixed(heads), onnx.Named("C"), onnx.Fixed(cacheDim)}
	past, present := make([]string, 2), make([]string, 2)
	for n, kv := range []string{"k", "v"} {
		past[n] = b.Input(fmt.Sprintf("past_%s_%d", kv, i), b.w.float(), dims...)
		present[n] = fmt.Sprintf("present_%s_%d", kv, i)
		b.Output(present[n], b.w.float(), dims...)
	}
	q, k, v, _ := attention(layerName("decoder", i) + ".self_attn")
	packed := b.linear(x, q, k, v)
	if cacheDim != dim {
		packed = b.padHeads(packed, 3*heads, dim, cacheDim)
	}
	packed = b.Op("Reshape", []string{packed, b.Int64s("packed_rows", -1, 1, int64(3*heads*cacheDim))})
	out := fmt.Sprintf("self_attention_%d", i)
	b.NamedNode(onnx.Microsoft, "GroupQueryAttention",
		[]string{packed, "", "", past[0], past[1], "seqlens", "total"}, []string{out, present[0], present[1]},
		onnx.Int("num_heads", heads), onnx.Int("kv_num_heads", heads), onnx.Float("scale", attentionScale(dim)))
	if cacheDim != dim {
		out = b.cutHeads(out, heads, dim, cacheDim)
	}
	return b.Op("Reshape", []string{out, shape})
}

// padHeads widens each head of x, [S, W, heads·dim], with zeros: the result is
// [S·W, heads, wide]. Zeros change neither scores nor the values that are kept.
func (b *builder) padHeads(x string, heads, dim, wide int) string {
	split := b.Op("Reshape", []string{x, b.Int64s("packed_heads", -1, int64(heads), int64(dim))})
	return b.Op("Pad", []string{split, b.Int64s("head_padding", 0, 0, 0, 0, 0, int64(wide-dim))})
}

// cutHeads takes the padding off again: x is [R, 1, heads·wide], the result
// [R, heads, dim].
func (b *builder) cutHeads(x string, heads, dim, wide int) string {
	split := b.Op("Reshape", []string{x, b.Int64s("padded_heads", -1, int64(heads), int64(wide))})
	return b.Op("Slice", []string{split, b.Int64s("from", 0), b.Int64s("head_dim", int64(dim)), b.Int64s("last_axis", -1)})
}

// crossAttention attends to the source. The rows of a sentence are the queries
// of one attention, so its keys and values are held once, not once per beam.
func (b *builder) crossAttention(x string, i int) string {
	heads, dim := b.spec.Decoder.Heads, b.spec.Decoder.HeadDim(b.spec.DModel)
	q, _, _, _ := attention(layerName("decoder", i) + ".encoder_attn")
	cross := make([]string, 2)
	for n, kv := range []string{"k", "v"} {
		cross[n] = b.Input(fmt.Sprintf("cross_%s_%d", kv, i), b.w.float(),
			onnx.Named("S"), onnx.Fixed(heads), onnx.Named("L"), onnx.Fixed(dim))
	}
	return b.Node(onnx.Microsoft, "MultiHeadAttention",
		[]string{b.linear(x, q), cross[0], cross[1], "", "cross_mask"}, 1,
		onnx.Int("num_heads", heads), onnx.Float("scale", attentionScale(dim)))[0]
}

// head turns the last hidden states into the candidates. The logits, as wide as
// the vocabulary, stay inside the graph.
func (b *builder) head(x string) {
	logits := b.project(x, "lm_head")
	if b.w.precision == model.FP16 {
		logits = b.cast(logits, onnx.Float32)
	}
	logProbs := b.Op("LogSoftmax", []string{logits}, onnx.Int("axis", -1))
	// One column is enough to tell what LogSoftmax took off, and ReduceLogSumExp
	// over all of them is ten times as slow.
	column := func(of string) string {
		return b.Op("Slice", []string{of, b.Int64s("from", 0), b.Int64s("to", 1), b.Int64s("last_axis", -1)})
	}
	b.NamedNode("", "Sub", []string{column(logits), column(logProbs)}, []string{"lse"})
	if b.w.precision == model.INT8 {
		b.rescore(x, logProbs)
	} else {
		b.NamedNode("", "TopK", []string{logProbs, "k"}, []string{"val", "idx"}, onnx.Int("axis", -1))
	}

	s, width := onnx.Named("S"), onnx.Named("W")
	b.Output("val", onnx.Float32, s, width, onnx.Named("k"))
	b.Output("idx", onnx.Int64, s, width, onnx.Named("k"))
	b.Output("lse", onnx.Float32, s, width, onnx.Fixed(1))
}

// spareCandidates is how many candidates beyond k the 8-bit head proposes.
const spareCandidates = 8

// rescore computes the logits of the best candidates of an 8-bit head again, from
// the hidden states x and the 16-bit embeddings, and sorts them anew. What order
// the best have, and by how much, is then as good as the hidden states; only the
// sum over the vocabulary, where errors cancel, comes from the 8-bit logits.
func (b *builder) rescore(x, logProbs string) {
	proposed := b.Op("Min", []string{
		b.Op("Add", []string{"k", b.Int64s("spare_candidates", spareCandidates)}),
		b.Int64s("vocab_size", int64(b.spec.VocabSize)),
	})
	best := b.Node("", "TopK", []string{logProbs, proposed}, 2, onnx.Int("axis", -1))
	rows := b.lookup(best[1], "lm_head.weight") // [S, W, k+spare, DModel]
	products := b.Op("Mul", []string{rows, b.Op("Unsqueeze", []string{x, b.Int64s("row_axis", -2)})})
	logits := b.Op("ReduceSum", []string{products, b.Int64s("last_axis", -1)}, onnx.Int("keepdims", 0))
	exact := b.Op("Sub", []string{logits, "lse"})
	b.NamedNode("", "TopK", []string{exact, "k"}, []string{"val", "order"}, onnx.Int("axis", -1))
	b.NamedNode("", "GatherElements", []string{best[1], "order"}, []string{"idx"}, onnx.Int("axis", -1))
}
