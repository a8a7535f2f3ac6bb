package ort

import (
	"context"
	"errors"
	"fmt"

	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model"
)

// capacityStep is the multiple in which the capacity of KV caches grows, in
// tokens; at least half as much again is added at a time.
const capacityStep = 32

// batch implements model.Batch. Sentence i owns the rows i·width to
// (i+1)·width-1 of kv and row i of cross.
type batch struct {
	model     *Model
	width     int
	sentences []sentence
	kv        *cache // a row per beam
	cross     *cache // a row per sentence
	spare     *cache // rows that a permutation would overwrite
	encoded   *cache // cross-attention memory of newcomers shorter than the batch
	prefixes  *cache // KV cache of newcomers, one row each
	step      step   // of the whole batch
	prefill   step   // of newcomers, one row each
	broken    error  // the first error; the state is undefined after it
}

// sentence is the state of a slot.
type sentence struct {
	srcLen int  // tokens of the source
	fed    int  // tokens in the KV cache of its rows
	fanned bool // its rows have states of their own; before, only the first has
}

// NewBatch makes an empty batch of the given width.
func (m *Model) NewBatch(width int) (model.Batch, error) {
	if width < 1 {
		return nil, fmt.Errorf("a batch of %d rows per sentence: at least 1 is needed", width)
	}
	return &batch{
		model: m, width: width,
		kv: m.newKVCache(), spare: m.newKVCache(), prefixes: m.newKVCache(),
		cross: m.newCrossCache(), encoded: m.newCrossCache(),
		step: step{model: m}, prefill: step{model: m},
	}, nil
}

// newKVCache makes an empty cache for the decoder's self attention.
func (m *Model) newKVCache() *cache { return m.newCache(m.manifest.Spec.CacheHeadDim()) }

// newCrossCache makes an empty cache for the decoder's attention to the source.
func (m *Model) newCrossCache() *cache {
	return m.newCache(m.manifest.Spec.Decoder.HeadDim(m.manifest.Spec.DModel))
}

func (m *Model) newCache(headDim int) *cache {
	d := m.manifest.Spec.Decoder
	return newCache(d.Layers, d.Heads, headDim, elemSize(m.cacheType()))
}

// cacheType is the element type of attention keys and values.
func (m *Model) cacheType() ort.TensorElementDataType {
	if m.manifest.Precision == model.FP16 {
		return ort.TensorElementDataTypeFloat16
	}
	return ort.TensorElementDataTypeFloat
}

func (b *batch) Len() int   { return len(b.sentences) }
func (b *batch) Width() int { return b.width }

func (b *batch) Join(ctx context.Context, sources []model.Source, k int) (model.Candidates, error) {
	c, err := b.join(ctx, sources, k)
	return c, b.guard(err)
}

func (b *batch) Step(ctx context.Context, tokens []int64, parents []int, k int) (model.Candidates, error) {
	c, err := b.advance(ctx, tokens, parents, k)
	return c, b.guard(err)
}

// guard remembers the first error.
func (b *batch) guard(err error) error {
	if b.broken == nil {
		b.broken = err
	}
	return err
}

func (b *batch) join(ctx context.Context, sources []model.Source, k int) (model.Candidates, error) {
	if err := b.ready(ctx, k); err != nil {
		return model.Candidates{}, err
	}
	if err := b.checkSources(sources); err != nil {
		return model.Candidates{}, err
	}
	if err := b.encode(sources); err != nil {
		return model.Candidates{}, err
	}
	return b.feedPrefixes(ctx, sources, k)
}

// ready checks what Join and Step have in common.
func (b *batch) ready(ctx context.Context, k int) error {
	if b.broken != nil {
		return fmt.Errorf("the batch is broken: %w", b.broken)
	}
	if k < 1 || k > b.model.manifest.Spec.VocabSize {
		return fmt.Errorf("%d candidates wanted: 1 to %d can be had", k, b.model.manifest.Spec.VocabSize)
	}
	return ctx.Err()
}

func (b *batch) checkSources(sources []model.Source) error {
	if len(sources) == 0 {
		return errors.New("join of no sentences")
	}
	spec := b.model.manifest.Spec
	for i, s := range sources {
		if n := len(s.IDs); n == 0 || n > spec.MaxPositions {
			return fmt.Errorf("source %d has %d tokens: 1 to %d are possible", i, n, spec.MaxPositions)
		}
		if len(s.Prefix) == 0 || len(s.Prefix) != len(sources[0].Prefix) {
			return fmt.Errorf("source %d has a prefix of %d tokens: it must be as long as the first, %d, and not empty",
				i, len(s.Prefix), len(sources[0].Prefix))
		}
		for _, ids := range [][]int64{s.IDs, s.Prefix} {
			if err := checkIDs(ids, spec.VocabSize); err != nil {
				return fmt.Errorf("source %d: %w", i, err)
			}
		}
	}
	return nil
}

func checkIDs(ids []int64, vocabSize int) error {
	for _, id := range ids {
		if id < 0 || id >= int64(vocabSize) {
			return fmt.Errorf("token id %d is outside of the vocabulary of %d", id, vocabSize)
		}
	}
	return nil
}

// feedPrefixes decodes the forced tokens of newcomers, whose cross-attention
// memory is in place, with one row each in a cache of their own, and then adds the
// newcomers to the batch.
func (b *batch) feedPrefixes(ctx context.Context, sources []model.Source, k int) (c model.Candidates, err error) {
	first, n, length := len(b.sentences), len(sources), len(sources[0].Prefix)
	if err := b.prefixes.resize(n, length, nil); err != nil {
		return c, err
	}
	_, err = b.prefill.prepare(stepShape{
		sentences: n, width: 1, capacity: length, srcLen: b.cross.capacity, k: k,
		kv: b.prefixes, cross: b.cross, crossRow: first,
	})
	if err != nil {
		return c, err
	}
	for i, s := range sources {
		b.prefill.setMask(i, len(s.IDs))
	}
	for t := range length {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		for i, s := range sources {
			b.prefill.ids[i], b.prefill.pos[i], b.prefill.seqlens[i] = s.Prefix[t], int64(t), int32(t)
		}
		if c, err = b.prefill.run(); err != nil {
			return c, err
		}
	}
	return c, b.admit(sources)
}

// admit adds newcomers, whose prefixes are in the cache for them, to the batch.
func (b *batch) admit(sources []model.Source) error {
	first, fed := len(b.sentences), len(sources[0].Prefix)
	for _, s := range sources {
		b.sentences = append(b.sentences, sentence{srcLen: len(s.IDs), fed: fed})
	}
	if err := b.reserve(fed + 1); err != nil {
		return err
	}
	for i := range sources {
		b.kv.copyRow((first+i)*b.width, b.prefixes, i, fed)
	}
	b.step.stale()
	return nil
}

// reserve gives the KV cache room for all rows of the batch and for positions
// tokens in each.
func (b *batch) reserve(positions int) error {
	rows, capacity := len(b.sentences)*b.width, b.kv.capacity
	if positions > capacity {
		capacity = roundUp(max(positions, capacity*3/2), capacityStep)
	}
	if rows > b.kv.rows {
		rows = max(rows, b.kv.rows*3/2)
	}
	used := make([]int, min(b.kv.rows, len(b.sentences)*b.width))
	for row := range used {
		used[row] = min(b.sentences[row/b.width].fed, b.kv.capacity)
	}
	return b.kv.resize(rows, capacity, used)
}

func (b *batch) advance(ctx context.Context, tokens []int64, parents []int, k int) (c model.Candidates, err error) {
	if err := b.ready(ctx, k); err != nil {
		return c, err
	}
	if err := b.checkStep(tokens, parents); err != nil {
		return c, err
	}
	longest := 0
	for i := range b.sentences {
		if err := b.takeOver(i, parents[i*b.width:][:b.width]); err != nil {
			return c, err
		}
		longest = max(longest, b.sentences[i].fed)
	}
	if err := b.reserve(longest + 1); err != nil {
		return c, err
	}
	if err := b.prepare(k); err != nil {
		return c, err
	}
	copy(b.step.ids, tokens)
	for i := range b.sentences {
		for row := i * b.width; row < (i+1)*b.width; row++ {
			b.step.pos[row], b.step.seqlens[row] = int64(b.sentences[i].fed), int32(b.sentences[i].fed)
		}
		b.sentences[i].fed++
	}
	return b.step.run()
}

func (b *batch) checkStep(tokens []int64, parents []int) error {
	rows := len(b.sentences) * b.width
	if rows == 0 || len(tokens) != rows || len(parents) != rows {
		return fmt.Errorf("step with %d tokens and %d parents for %d sentences of %d rows",
			len(tokens), len(parents), len(b.sentences), b.width)
	}
	spec := b.model.manifest.Spec
	for i, s := range b.sentences {
		if s.fed >= spec.MaxPositions {
			return fmt.Errorf("sentence %d has %d tokens: the model has no more positions", i, s.fed)
		}
		for _, parent := range parents[i*b.width:][:b.width] {
			if parent < 0 || parent >= b.width || !s.fanned && parent > 0 {
				return fmt.Errorf("sentence %d: row %d cannot be a parent", i, parent)
			}
		}
	}
	return checkIDs(tokens, spec.VocabSize)
}

// takeOver gives every row of a sentence the state of its parent.
func (b *batch) takeOver(i int, parents []int) error {
	s := &b.sentences[i]
	s.fanned = true
	if b.width == 1 {
		return nil
	}
	if err := b.spare.resize(b.width, b.kv.capacity, nil); err != nil {
		return err
	}
	b.kv.permute(i*b.width, parents, s.fed, b.spare)
	return nil
}

// prepare binds the step to the batch as it is now.
func (b *batch) prepare(k int) error {
	changed, err := b.step.prepare(stepShape{
		sentences: len(b.sentences), width: b.width,
		capacity: b.kv.capacity, srcLen: b.cross.capacity, k: k,
		kv: b.kv, cross: b.cross,
	})
	if changed {
		for i, s := range b.sentences {
			b.step.setMask(i, s.srcLen)
		}
	}
	return err
}

func (b *batch) Leave(i int) {
	last := len(b.sentences) - 1
	if i != last {
		moved := b.sentences[last]
		rows := b.width
		if !moved.fanned {
			rows = 1
		}
		for w := range rows {
			b.kv.copyRow(i*b.width+w, b.kv, last*b.width+w, moved.fed)
		}
		b.cross.copyRow(i, b.cross, last, moved.srcLen)
		b.sentences[i] = moved
	}
	b.sentences = b.sentences[:last]
	b.step.stale()
}

func (b *batch) Close() error {
	err := errors.Join(b.step.close(), b.prefill.close())
	for _, c := range []*cache{b.kv, b.cross, b.spare, b.encoded, b.prefixes} {
		c.free()
	}
	b.sentences, b.broken = nil, errors.New("the batch is closed")
	return err
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
