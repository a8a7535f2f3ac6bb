//go:build linux && (amd64 || arm64)

package main

import "dragoman/model"

// source is the length of every source, in tokens.
const source = 32

// work is what a step or the encoder cannot do without.
type work struct {
	Bytes     float64 `json:"bytes"`     // read at least once: weights, keys and values
	Products  float64 `json:"products"`  // multiply-adds with weights
	Attention float64 `json:"attention"` // multiply-adds with keys and values, in 32 bits
}

// limit is the least time that work takes on a machine with these peaks, in seconds, and
// says whether memory sets it.
func (w work) limit(precision model.Precision, p peaks) (seconds float64, memory bool) {
	products := p.Floats
	if precision == model.INT8 {
		products = p.Octets
	}
	read, compute := w.Bytes/p.Memory, w.Products/products+w.Attention/p.Floats
	return max(read, compute), read > compute
}

// shape is what the work depends on.
type shape struct {
	model.Spec
	model.Footprint
	weight int // bytes of one
}

func newShape(m model.Model, precision model.Precision) shape {
	s := shape{m.Spec(), m.Footprint(), 4}
	if precision == model.INT8 {
		s.weight = 1
	}
	return s
}

// step is the work of a decoder step of rows of some sentences, each with past tokens.
// Each weight is read once, and so are keys and values, those of the beams of a sentence
// as if all of their past were shared.
func (s shape) step(sentences, rows int, past float64) work {
	d, n, c := float64(s.DModel), float64(s.Decoder.Layers), float64(sentences)
	weights := n*(6*d*d+2*d*float64(s.Decoder.FFN)) + d*float64(s.VocabSize)
	return work{
		Bytes:     weights*float64(s.weight) + c*(past*float64(s.RowToken)+source*float64(s.SourceToken)),
		Products:  weights * float64(rows),
		Attention: float64(rows) * (past + source) * 2 * d * n,
	}
}

// encode is the work of the encoder, and of the keys and values that it leaves for cross
// attention.
func (s shape) encode(sentences int) work {
	d, n, tokens := float64(s.DModel), float64(s.Encoder.Layers), float64(sentences*source)
	weights := n*(4*d*d+2*d*float64(s.Encoder.FFN)) + float64(s.Decoder.Layers)*2*d*d
	return work{
		Bytes:     weights*float64(s.weight) + tokens*float64(s.SourceToken),
		Products:  weights * tokens,
		Attention: tokens * source * 2 * d * n,
	}
}
