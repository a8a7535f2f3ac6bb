package export

import (
	"fmt"

	"dragoman/model/onnx"
)

// network describes an M2M100 model, layer by layer, over the operators of a backend.
//
// Activations are [rows, width]: every token of the encoder, every hypothesis of the
// decoder is a row of its own. The residual stream x is passed on together with the
// product p that is still to be added to it, which the next layer norm does in passing.
type network struct {
	*builder
	operators
}

// operators are what the layers of a network are made of on one backend, matrix products
// included. They know what a run is fed: see the inputs of each implementation.
type operators interface {
	encoderInputs()
	decoderInputs()

	// embed is the sum of the scaled embeddings of the tokens that are fed and of the
	// embeddings of their positions.
	embed(table string) string
	// addNorm adds a product, if there is one, to the residual stream. It returns the
	// sum and its layer norm.
	addNorm(x string, p product, norm string) (sum string, y activation)
	// lastNorm is the layer norm of x + p at the end of a stack.
	lastNorm(x string, p product, norm string) string
	// quantize makes what lastNorm returns ready for a linear layer.
	quantize(y string) activation
	// multiply multiplies x by the matrices of one or more linear layers, packed into
	// one product whose outputs lie side by side.
	multiply(x activation, layers ...string) product
	// relu is max(0, y), ready for a linear layer, where y is what a linear layer makes of x.
	relu(x activation, layer string) activation

	// attention is an operator of attention in a layer. "SelfAttention" is the encoder's,
	// over a product of queries, keys and values. "CachedAttention" is the decoder's, to
	// what it has decoded: it also writes keys and values to the KV cache.
	// "CrossAttention" is the decoder's to the source, over a product of queries.
	attention(op string, p product, layer int) activation
	// storeCross writes a product of keys and values to the memory of cross attention in
	// a decoder layer. The values called after and done mean nothing: they order the nodes.
	storeCross(p product, layer int, after, done string)

	// candidates turns the last hidden states into the candidates and declares the
	// graph's outputs. The logits, as wide as the vocabulary, stay inside the graph.
	candidates(y string)
}

// activation is what a linear layer takes: numbers, or in an int8 export their
// 8-bit form with a scale for each row, the row's largest magnitude. A row's result
// does not depend on its neighbours, so a translation does not change with the load
// of the server. What comes out of a ReLU uses all 256 levels, anything else 255
// around zero.
type activation struct {
	value    string // [rows, width], floats or uint8
	scale    string // float [rows]; empty where value is floats
	positive bool   // came out of a ReLU
}

// product is what a matrix product leaves of a linear layer, whose output is
// acc · scale + bias. The operator that comes next finishes it in passing.
type product struct {
	acc   string // [rows, width]
	bias  string // float [width]; empty: none
	scale string // float [rows]; empty: 1
}

// encoder builds the encoder for sentences one after the other, without padding. Its
// output is the memory of the decoder's cross attention, which is an input that it
// writes to in place; "stored" int32 [1] means nothing.
func (n network) encoder() {
	n.encoderInputs()
	x, p := n.embed("model.encoder.embed_tokens.weight"), product{}
	for i := range n.spec.Encoder.Layers {
		x, p = n.encoderLayer(x, p, i)
	}
	y, after := n.quantize(n.lastNorm(x, p, "model.encoder.layer_norm")), ""
	for i := range n.spec.Decoder.Layers {
		_, k, v, _ := projections(layerName("decoder", i) + ".encoder_attn")
		done := "stored"
		if i < n.spec.Decoder.Layers-1 {
			done = layerName("stored", i)
		}
		n.storeCross(n.linear(y, k, v), i, after, done)
		after = done
	}
	n.Output("stored", onnx.Int32, onnx.Fixed(1))
}

// encoderLayer is one pre-LayerNorm layer: self attention, feed-forward.
func (n network) encoderLayer(x string, p product, i int) (string, product) {
	layer := layerName("encoder", i)
	q, k, v, out := projections(layer + ".self_attn")
	x, y := n.addNorm(x, p, layer+".self_attn_layer_norm")
	a := n.attention("SelfAttention", n.linear(y, q, k, v), i)
	x, y = n.addNorm(x, n.linear(a, out), layer+".final_layer_norm")
	return x, n.feedForward(y, layer)
}

// decoder builds one decoder step.
func (n network) decoder() {
	n.decoderInputs()
	x, p := n.embed("model.decoder.embed_tokens.weight"), product{}
	for i := range n.spec.Decoder.Layers {
		x, p = n.decoderLayer(x, p, i)
	}
	n.candidates(n.lastNorm(x, p, "model.decoder.layer_norm"))
}

// decoderLayer is one pre-LayerNorm layer: self attention over the cache, cross
// attention over the source, feed-forward.
func (n network) decoderLayer(x string, p product, i int) (string, product) {
	layer := layerName("decoder", i)
	q, k, v, out := projections(layer + ".self_attn")
	x, y := n.addNorm(x, p, layer+".self_attn_layer_norm")
	a := n.attention("CachedAttention", n.linear(y, q, k, v), i)
	x, y = n.addNorm(x, n.linear(a, out), layer+".encoder_attn_layer_norm")

	q, _, _, out = projections(layer + ".encoder_attn")
	a = n.attention("CrossAttention", n.linear(y, q), i)
	x, y = n.addNorm(x, n.linear(a, out), layer+".final_layer_norm")
	return x, n.feedForward(y, layer)
}

// feedForward is fc2(relu(fc1(y))) of a layer.
func (n network) feedForward(y activation, layer string) product {
	return n.linear(n.relu(y, layer+".fc1"), layer+".fc2")
}

// linear is multiply with the layers' biases.
func (n network) linear(x activation, layers ...string) product {
	p := n.multiply(x, layers...)
	p.bias = n.biases(layers...)
	return p
}

// layerName is the checkpoint's name of layer i of a stack, "encoder" or "decoder".
func layerName(stack string, i int) string { return fmt.Sprintf("model.%s.layers.%d", stack, i) }

// projections names the projections of an attention block: queries, keys, values.
func projections(block string) (q, k, v, out string) {
	return block + ".q_proj", block + ".k_proj", block + ".v_proj", block + ".out_proj"
}
