package export

import (
	"fmt"

	"dragoman/model/onnx"
)

// network describes a model, layer by layer, over the operators of a backend. Its [model.Spec] selects the parts.
//
// Activations are [rows, width]: every token of the encoder and every hypothesis of the decoder is a row of its own.
type network struct {
	*builder
	operators
}

// stream is the state between the blocks of a stack: the residual stream x, and
//   - with norms before the blocks, the product p that is still to be added to it, which the next norm adds in the same pass;
//   - with norms after them, y, which is x in the form of a linear layer's input.
type stream struct {
	x string
	p product
	y activation
}

// operators are the operators of a network's layers on one backend, including matrix products. Each implementation describes the
// inputs of a run.
type operators interface {
	encoderInputs()
	decoderInputs()

	// embed returns the sum of the scaled embeddings of a stack's tokens and of the embeddings of their positions.
	embed(stack string) string
	// addNorm adds a product, if there is one, to the residual stream. It returns the sum and its layer norm.
	addNorm(x string, p product, norm string) (sum string, y activation)
	// normSum returns the layer norm of x + p, or of x alone, in numbers and as a linear layer's input.
	normSum(x string, p product, norm string) (sum string, y activation)
	// lastNorm returns the layer norm of x + p at the end of a stack.
	lastNorm(x string, p product, norm string) string
	// quantize converts numbers to a linear layer's input.
	quantize(y string) activation
	// multiply multiplies x by the matrices of one or more linear layers, packed into one product with adjacent outputs.
	multiply(x activation, layers ...string) product
	// activate returns the activation function of the linear layer's output for x, as a linear layer's input; with two layers,
	// multiplied by the output of the second one.
	activate(x activation, layers ...string) activation

	// attention adds an attention operator of a layer. "SelfAttention" is the encoder's, over a product of queries, keys and
	// values. "CachedAttention" is the decoder's self-attention: it also writes keys and values to the KV cache. "CrossAttention"
	// is the decoder's attention to the source, over a product of queries.
	attention(op string, p product, layer int) activation
	// shortlist writes the tokens that the translations of the sentences may have, if the model has a shortlist. The returned
	// value has no meaning: see storeCross.
	shortlist() string
	// recur adds a recurrent unit of a decoder layer, over a product of candidates and gates; its states take the place of the KV
	// cache.
	recur(p product, layer int) product
	// storeCross writes a product of keys and values to the cross-attention memory of a decoder layer. The values after and done
	// have no meaning except to order the nodes.
	storeCross(p product, layer int, after, done string)

	// candidates converts the last hidden states, the result of lastNorm or the residual stream, to the candidates and declares
	// the graph's outputs. The logits, as wide as the vocabulary, stay inside the graph.
	candidates(y string)
}

// activation is the input of a linear layer: numbers, or in an int8 export their 8-bit form with a scale for each row, from the
// row's largest magnitude. A row's result does not depend on its neighbours, so a translation does not change with the load of
// the server. The output of a ReLU uses all 256 levels, all other values 255 around zero.
type activation struct {
	value    string // [rows, width], floats or uint8
	scale    string // float [rows]; empty if value is floats
	positive bool   // output of a ReLU
	// alpha is the factor of a static quantization, set by the linear layers that use the activation; nil: each row is quantized
	// by its largest magnitude.
	alpha *float32
}

// product is the output of a linear layer before it is completed to acc · scale + bias. The next operator completes it in its own
// pass.
type product struct {
	acc   string // [rows, width]
	bias  string // float [width]; empty: none
	scale string // float [rows]; empty: 1
}

// encoder builds the encoder for consecutive sentences without padding. The encoder writes to the decoder's cross-attention
// memory, an input that it changes in place; its output "stored" int32 [1] has no meaning.
func (n network) encoder() {
	n.encoderInputs()
	s := n.begin("encoder")
	for i := range n.spec.Encoder.Layers {
		s = n.encoderLayer(s, i)
	}
	y, after := s.y, n.shortlist()
	if !n.spec.PostNorm {
		y = n.quantize(n.lastNorm(s.x, s.p, "model.encoder.layer_norm"))
	}
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

// begin returns the input of the first block of a stack, "encoder" or "decoder".
func (n network) begin(stack string) stream {
	s := stream{x: n.embed(stack)}
	if n.spec.EmbeddingNorm {
		s.x, s.y = n.normSum(s.x, product{}, "model."+stack+".layernorm_embedding")
	} else if n.spec.PostNorm {
		s.y = n.quantize(s.x)
	}
	return s
}

// block adds the result of compute to the stream. The block's norm comes before compute or after the sum.
func (n network) block(s stream, norm string, compute func(y activation) product) stream {
	if n.spec.PostNorm {
		s.x, s.y = n.normSum(s.x, compute(s.y), norm)
		return s
	}
	x, y := n.addNorm(s.x, s.p, norm)
	return stream{x: x, p: compute(y)}
}

// encoderLayer is self-attention and feed-forward.
func (n network) encoderLayer(s stream, i int) stream {
	layer := layerName("encoder", i)
	q, k, v, out := projections(layer + ".self_attn")
	s = n.block(s, layer+".self_attn_layer_norm", func(y activation) product {
		return n.linear(n.attention("SelfAttention", n.linear(y, q, k, v), i), out)
	})
	return n.feedForward(s, layer)
}

// decoder builds a decoder step.
func (n network) decoder() {
	n.decoderInputs()
	s := n.begin("decoder")
	for i := range n.spec.Decoder.Layers {
		s = n.decoderLayer(s, i)
	}
	y := s.x
	if !n.spec.PostNorm {
		y = n.lastNorm(s.x, s.p, "model.decoder.layer_norm")
	}
	n.candidates(y)
}

// decoderLayer is self-attention over the cache, or a recurrent unit, then cross-attention over the source and feed-forward.
func (n network) decoderLayer(s stream, i int) stream {
	layer := layerName("decoder", i)
	q, k, v, out := projections(layer + ".self_attn")
	s = n.block(s, layer+".self_attn_layer_norm", func(y activation) product {
		if n.spec.Recurrent {
			return n.recur(n.linear(y, layer+".ssru.candidate", layer+".ssru.gate"), i)
		}
		return n.linear(n.attention("CachedAttention", n.linear(y, q, k, v), i), out)
	})
	crossQ, _, _, crossOut := projections(layer + ".encoder_attn")
	s = n.block(s, layer+".encoder_attn_layer_norm", func(y activation) product {
		return n.linear(n.attention("CrossAttention", n.linear(y, crossQ), i), crossOut)
	})
	return n.feedForward(s, layer)
}

// feedForward is fc2(activation(fc1(y))) of a layer, or fc2(activation(gate(y)) · fc1(y)).
func (n network) feedForward(s stream, layer string) stream {
	first := []string{layer + ".fc1"}
	if n.spec.Gated {
		first = []string{layer + ".gate", layer + ".fc1"}
	}
	return n.block(s, layer+".final_layer_norm", func(y activation) product {
		return n.linear(n.activate(y, first...), layer+".fc2")
	})
}

// linear is multiply with the layers' biases.
func (n network) linear(x activation, layers ...string) product {
	p := n.multiply(x, layers...)
	p.bias = n.biases(layers...)
	return p
}

// layerName returns the checkpoint's name of layer i of a stack, "encoder" or "decoder".
func layerName(stack string, i int) string { return fmt.Sprintf("model.%s.layers.%d", stack, i) }

// projections returns the names of the projections of an attention block: queries, keys, values, output.
func projections(block string) (q, k, v, out string) {
	return block + ".q_proj", block + ".k_proj", block + ".v_proj", block + ".out_proj"
}
