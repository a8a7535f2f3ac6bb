package export

import (
	"dragoman/model"
	"dragoman/model/onnx"
)

// encoder builds the encoder's graph for B sentences of T tokens in all, one after
// the other: there is no padding.
//
// Inputs:
//   - ids, pos int64 [T]: the tokens and their positions, from 0 in each sentence;
//   - offsets int32 [B+1]: sentence b is the tokens offsets[b] to offsets[b+1]-1;
//   - slots int32 [B]: the row of the memory that belongs to each sentence;
//   - cross uint8 [layers, rows, capacity, token]: the memory of the decoder's cross
//     attention, to which the sentences' keys and values are written in place.
//
// Output: stored int32 [1], which means nothing.
func encoder(w *weights, spec model.Spec) (*onnx.Graph, error) {
	b := newBuilder("encoder", w, spec)
	ids := b.Input("ids", onnx.Int64, onnx.Named("T"))
	pos := b.Input("pos", onnx.Int64, onnx.Named("T"))
	b.Input("offsets", onnx.Int32, onnx.Named("B1"))
	b.Input("slots", onnx.Int32, onnx.Named("B"))
	b.memory("cross")

	x, p := b.embed(ids, pos, "model.encoder.embed_tokens.weight"), product{}
	for i := range spec.Encoder.Layers {
		layer := layerName("encoder", i)
		q, k, v, out := projections(layer + ".self_attn")
		var y activation
		x, y = b.addNorm(x, p, layer+".self_attn_layer_norm")
		a := b.attention("SelfAttention", b.linear(y, q, k, v), []string{"offsets"}, b.headAttrs(spec.Encoder)...)
		x, y = b.addNorm(x, b.linear(a, out), layer+".final_layer_norm")
		p = b.feedForward(y, layer)
	}
	b.storeCross(b.quantize(b.lastNorm(x, p, "model.encoder.layer_norm")))
	return b.done()
}

// storeCross projects the encoder's output y to the keys and values of every
// decoder layer's cross attention, which go to the memory.
func (b *builder) storeCross(y activation) {
	after := ""
	for i := range b.spec.Decoder.Layers {
		_, k, v, _ := projections(layerName("decoder", i) + ".encoder_attn")
		p := b.linear(y, k, v)
		out := []string{"stored"}
		if i < b.spec.Decoder.Layers-1 {
			out[0] = layerName("stored", i)
		}
		b.NamedNode(onnx.Dragoman, "StoreCross", []string{p.acc, p.bias, "offsets", "slots", "cross", p.scale, after},
			out, b.layerAttrs(i)...)
		after = out[0]
	}
	b.Output("stored", onnx.Int32, onnx.Fixed(1))
}

// memory is an input that holds attention keys and values of all decoder layers,
// [layers, rows, capacity, token], token being the bytes of a token's keys, then
// values, in half or single precision.
func (b *builder) memory(name string) {
	b.Input(name, onnx.Uint8, onnx.Fixed(b.spec.Decoder.Layers),
		onnx.Named(name+"_rows"), onnx.Named(name+"_capacity"), onnx.Named(name+"_token"))
}
