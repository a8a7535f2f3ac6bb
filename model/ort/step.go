package ort

import (
	"fmt"

	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model"
)

// stepShape is everything that the shapes of a decoder step depend on, and the
// versions of the caches that it is bound to.
type stepShape struct {
	sentences, width    int
	capacity, srcLen    int
	k                   int
	kv, cross           *cache
	kvEpoch, crossEpoch int
	crossRow            int // of the first sentence
}

// step is the decoder bound to its inputs and outputs. Binding is done again only
// when a shape changes, so a steady batch decodes without it.
type step struct {
	model *Model
	shape stepShape
	bound *binding

	inputs, outputs buffer
	ids, pos        []int64   // [S, W]
	seqlens         []int32   // [R]
	mask            []int32   // [S, L]
	logProbs        []float32 // [S, W, k]
	best            []int64   // [S, W, k]
	logSumExp       []float32 // [S, W]
}

// prepare binds the step to shape, unless it is bound to it already. The mask is
// all padding after a new binding.
func (s *step) prepare(shape stepShape) (changed bool, err error) {
	shape.kvEpoch, shape.crossEpoch = shape.kv.epoch, shape.cross.epoch
	if s.bound != nil && shape == s.shape {
		return false, nil
	}
	if err := s.close(); err != nil {
		return false, err
	}
	if s.bound, err = newBinding(s.model.decoder); err != nil {
		return false, err
	}
	s.shape = shape
	if err := s.bindTokens(); err != nil {
		return false, err
	}
	s.bindCaches()
	return true, s.bound.err
}

// bindTokens lays out the small inputs and outputs and binds them.
func (s *step) bindTokens() (err error) {
	n, w, k, l := s.shape.sentences, s.shape.width, s.shape.k, s.shape.srcLen
	rows := n * w
	in := newLayout(8*rows, 8*rows, 4*rows, 4, 4*n*l, 8)
	out := newLayout(4*rows*k, 8*rows*k, 4*rows)
	if s.inputs, err = newBuffer(in.size); err != nil {
		return err
	}
	if s.outputs, err = newBuffer(out.size); err != nil {
		return err
	}
	ids, pos, seqlens := in.part(s.inputs, 0), in.part(s.inputs, 1), in.part(s.inputs, 2)
	total, mask, count := in.part(s.inputs, 3), in.part(s.inputs, 4), in.part(s.inputs, 5)
	s.ids, s.pos, s.seqlens = view[int64](ids, rows), view[int64](pos, rows), view[int32](seqlens, rows)
	s.mask = view[int32](mask, n*l)
	view[int32](total, 1)[0] = int32(s.shape.capacity)
	view[int64](count, 1)[0] = int64(k)

	b := s.bound
	b.input("ids", ort.TensorElementDataTypeInt64, ids, n, w)
	b.input("pos", ort.TensorElementDataTypeInt64, pos, n, w)
	b.input("seqlens", ort.TensorElementDataTypeInt32, seqlens, rows)
	b.input("total", ort.TensorElementDataTypeInt32, total, 1)
	b.input("cross_mask", ort.TensorElementDataTypeInt32, mask, n, l)
	b.input("k", ort.TensorElementDataTypeInt64, count, 1)

	val, idx, lse := out.part(s.outputs, 0), out.part(s.outputs, 1), out.part(s.outputs, 2)
	s.logProbs, s.best = view[float32](val, rows*k), view[int64](idx, rows*k)
	s.logSumExp = view[float32](lse, rows)
	b.output("val", ort.TensorElementDataTypeFloat, val, n, w, k)
	b.output("idx", ort.TensorElementDataTypeInt64, idx, n, w, k)
	b.output("lse", ort.TensorElementDataTypeFloat, lse, n, w, 1)
	return nil
}

// bindCaches binds the KV cache, past and present to the same memory, and the
// cross-attention memory.
func (s *step) bindCaches() {
	spec, t := s.model.manifest.Spec, s.model.cacheType()
	heads, dim, cacheDim := spec.Decoder.Heads, spec.Decoder.HeadDim(spec.DModel), spec.CacheHeadDim()
	rows := s.shape.sentences * s.shape.width
	for layer := range spec.Decoder.Layers {
		for n, kv := range []string{"k", "v"} {
			i := 2*layer + n
			memory, shape := s.shape.kv.tail(i, 0), []int{rows, heads, s.shape.capacity, cacheDim}
			s.bound.input(fmt.Sprintf("past_%s_%d", kv, layer), t, memory, shape...)
			s.bound.output(fmt.Sprintf("present_%s_%d", kv, layer), t, memory, shape...)
			s.bound.input(fmt.Sprintf("cross_%s_%d", kv, layer), t, s.shape.cross.tail(i, s.shape.crossRow),
				s.shape.sentences, heads, s.shape.srcLen, dim)
		}
	}
}

// setMask marks the first n source tokens of a sentence.
func (s *step) setMask(sentence, n int) {
	row := s.mask[sentence*s.shape.srcLen:][:s.shape.srcLen]
	for i := range row {
		row[i] = 0
		if i < n {
			row[i] = 1
		}
	}
}

// run runs the step. The candidates hold until the next prepare or run.
func (s *step) run() (model.Candidates, error) {
	if err := s.bound.run(); err != nil {
		return model.Candidates{}, fmt.Errorf("decoder step of %d rows: %w", len(s.ids), err)
	}
	return model.Candidates{
		Sentences: s.shape.sentences, Width: s.shape.width, K: s.shape.k,
		LogProbs: s.logProbs, IDs: s.best, LogSumExp: s.logSumExp,
	}, nil
}

// stale makes the next prepare bind and mask again: sentences have come or gone.
func (s *step) stale() { s.shape = stepShape{} }

// close releases the binding and its memory.
func (s *step) close() error {
	err := s.bound.close()
	s.inputs.free()
	s.outputs.free()
	*s = step{model: s.model}
	return err
}

// layout places parts of given sizes one after the other, each aligned for any
// element type.
type layout struct {
	offsets []int
	size    int
}

func newLayout(sizes ...int) layout {
	const alignment = 64
	var l layout
	for _, n := range sizes {
		l.offsets = append(l.offsets, l.size)
		l.size += (n + alignment - 1) / alignment * alignment
	}
	return l
}

// part is the memory of part i.
func (l layout) part(b buffer, i int) buffer { return b[l.offsets[i]:] }
