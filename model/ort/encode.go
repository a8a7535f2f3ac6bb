package ort

import (
	"fmt"

	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model"
)

// encode runs the encoder on newcomers and appends their cross-attention memory
// to the batch's, as the rows after the last sentence's.
//
// Where the newcomers are at least as long as what is there, the encoder writes
// straight to its place; else, into memory of its own, to be copied row by row.
func (b *batch) encode(sources []model.Source) error {
	first, n, length := len(b.sentences), len(sources), 0
	for _, s := range sources {
		length = max(length, len(s.IDs))
	}
	capacity := length
	if first > 0 {
		capacity = max(length, b.cross.capacity)
	}
	used := make([]int, first)
	for i, s := range b.sentences {
		used[i] = s.srcLen
	}
	if err := b.cross.resize(max(first+n, b.cross.rows), capacity, used); err != nil {
		return err
	}
	if length == capacity {
		return b.model.encode(sources, length, b.cross, first)
	}
	if err := b.encoded.resize(n, length, nil); err != nil {
		return err
	}
	if err := b.model.encode(sources, length, b.encoded, 0); err != nil {
		return err
	}
	for i, s := range sources {
		b.cross.copyRow(first+i, b.encoded, i, len(s.IDs))
	}
	return nil
}

// encode writes the cross-attention keys and values of sources, padded to
// length, which is the capacity of to, into its rows from first on.
func (m *Model) encode(sources []model.Source, length int, to *cache, first int) error {
	n := len(sources)
	in := newLayout(8*n*length, 4*n*length)
	memory, err := newBuffer(in.size)
	if err != nil {
		return err
	}
	defer memory.free()
	ids, mask := view[int64](in.part(memory, 0), n*length), view[int32](in.part(memory, 1), n*length)
	for i := range ids {
		ids[i] = m.manifest.Spec.Pad
	}
	for i, s := range sources {
		copy(ids[i*length:], s.IDs)
		for j := range s.IDs {
			mask[i*length+j] = 1
		}
	}

	bound, err := newBinding(m.encoder)
	if err != nil {
		return err
	}
	defer bound.close()
	bound.input("ids", ort.TensorElementDataTypeInt64, in.part(memory, 0), n, length)
	bound.input("mask", ort.TensorElementDataTypeInt32, in.part(memory, 1), n, length)
	spec := m.manifest.Spec
	for layer := range spec.Decoder.Layers {
		for j, kv := range []string{"k", "v"} {
			bound.output(fmt.Sprintf("cross_%s_%d", kv, layer), m.cacheType(), to.tail(2*layer+j, first),
				n, spec.Decoder.Heads, length, spec.Decoder.HeadDim(spec.DModel))
		}
	}
	if err := bound.run(); err != nil {
		return fmt.Errorf("encoder on %d sentences of up to %d tokens: %w", n, length, err)
	}
	return nil
}
