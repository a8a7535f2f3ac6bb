package cuda

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"dragoman/model"
)

// batch implements model.Batch.
type batch struct {
	model     *Model
	limits    model.Limits
	sentences []*sentence // by slot
	kvRows    pool        // free rows of the KV cache
	slots     pool        // free rows of the memory of cross attention
	rows      []stepRow   // of the step at hand
	encoding  encoding
	step      step
	memory    []unsafe.Pointer // of the device, to be freed
	broken    error            // the first error; the state is undefined after it
}

// NewBatch makes an empty batch and reserves all the memory that it will ever take:
// [Model.StateBytes]. It fails with ErrMemory where there is not as much. Where steps
// are recorded it records them all, which takes some tenths of a second.
func (m *Model) NewBatch(limits model.Limits) (model.Batch, error) {
	b, err := m.newBatch(limits, !m.opts.NoGraphs)
	if err != nil {
		return nil, err // not b: a nil pointer in an interface is not nil
	}
	return b, nil
}

func (m *Model) newBatch(limits model.Limits, graphs bool) (*batch, error) {
	if most := m.manifest.Spec.MaxPositions; limits.Rows < 1 || limits.MaxLength < 1 || limits.MaxLength > most {
		return nil, fmt.Errorf("%w: a batch of %d rows of %d tokens: at least 1 row and 1 to %d tokens are possible",
			model.ErrInput, limits.Rows, limits.MaxLength, most)
	}
	b := &batch{model: m, limits: limits, kvRows: newPool(limits.Rows), slots: newPool(limits.Rows)}
	err := m.do(func() error {
		if err := b.reserve(graphs); err != nil || !graphs {
			return err
		}
		return b.step.warmUp()
	})
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// reserve takes memory on the device, of which the last row of each kind is for rows
// that fill up.
func (b *batch) reserve(graphs bool) error {
	m, spec := b.model, b.model.manifest.Spec
	if free, err := m.machine.available(); err != nil {
		return err
	} else if need := m.StateBytes(b.limits); free >= 0 && free < need {
		return fmt.Errorf("%w: the state of %d rows of %d tokens takes %d MiB, %s has %d MiB left: lower BATCH_SIZE or MAX_LENGTH_LIMIT",
			ErrMemory, b.limits.Rows, b.limits.MaxLength, need>>20, m.machine, free>>20)
	}
	take := func(n int64) (unsafe.Pointer, error) {
		p, err := m.machine.alloc(n)
		if err == nil {
			b.memory = append(b.memory, p)
		}
		return p, err
	}
	layers, rows := int64(spec.Decoder.Layers), int64(b.limits.Rows)+1
	kv, err := take(layers * rows * int64(b.limits.MaxLength) * m.tokenSize())
	if err != nil {
		return fmt.Errorf("KV cache: %w", err)
	}
	cross, err := take(layers * rows * int64(spec.MaxPositions) * m.tokenSize())
	if err != nil {
		return fmt.Errorf("memory of cross attention: %w", err)
	}
	history, err := take(4 * 2 * rows * int64(b.limits.MaxLength))
	if err != nil {
		return fmt.Errorf("histories: %w", err)
	}
	if err := b.encoding.open(m, cross, b.limits); err != nil {
		return err
	}
	return b.step.open(m, state{kv: kv, cross: cross, history: history}, b.limits, graphs)
}

func (b *batch) Len() int { return len(b.sentences) }

func (b *batch) Join(ctx context.Context, sources [][]int64) error {
	if err := b.ready(ctx); err != nil {
		return err
	}
	if err := b.checkSources(sources); err != nil {
		return fmt.Errorf("%w: %w", model.ErrInput, err)
	}
	slots := make([]int32, len(sources))
	for i := range slots {
		slots[i] = b.slots.take()
	}
	err := b.model.do(func() error { return b.model.diagnose(b.encoding.encode(sources, slots)) })
	if err != nil {
		b.slots.give(slots...)
		if errors.Is(err, ErrMemory) { // nothing but free memory was written to
			return fmt.Errorf("%w: %w", model.ErrInput, err)
		}
		b.broken = err
		return err
	}
	for i, source := range sources {
		b.sentences = append(b.sentences, &sentence{slot: slots[i], srcLen: len(source)})
	}
	return nil
}

func (b *batch) Step(ctx context.Context, feeds []model.Feed, k int) (model.Candidates, error) {
	if err := b.ready(ctx); err != nil {
		return model.Candidates{}, err
	}
	if err := b.checkFeeds(feeds, k); err != nil {
		return model.Candidates{}, fmt.Errorf("%w: %w", model.ErrInput, err)
	}
	b.rows = b.rows[:0]
	for i, s := range b.sentences {
		b.rows = s.feed(feeds[i], &b.kvRows, b.rows)
	}
	b.broken = b.model.do(func() error { return b.model.diagnose(b.step.run(b.rows, k)) })
	if b.broken != nil {
		return model.Candidates{}, fmt.Errorf("decoder step of %d rows: %w", len(b.rows), b.broken)
	}
	return b.step.candidates, nil
}

// DeviceTime is how long steps were the device's in all, copies and the start of kernels
// included. What else a step takes is the host's. It is for measurements.
func (b *batch) DeviceTime() time.Duration { return b.step.busy }

// diagnose adds to an error what is wrong with the device, if anything is: ONNX Runtime
// does not say. It waits for what was started, which a caller may not disturb.
func (m *Model) diagnose(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, m.machine.wait())
}

// ready says whether the batch can be used.
func (b *batch) ready(ctx context.Context) error {
	if b.broken != nil {
		return fmt.Errorf("the batch is broken: %w", b.broken)
	}
	return ctx.Err()
}

func (b *batch) checkSources(sources [][]int64) error {
	if n := len(b.sentences) + len(sources); n > b.limits.Rows {
		return fmt.Errorf("join to %d sentences: there is room for %d", n, b.limits.Rows)
	}
	return b.model.manifest.Spec.CheckSources(sources)
}

func (b *batch) checkFeeds(feeds []model.Feed, k int) error {
	spec := b.model.manifest.Spec
	switch {
	case len(feeds) == 0 || len(feeds) != len(b.sentences):
		return fmt.Errorf("%d feeds for %d sentences", len(feeds), len(b.sentences))
	case k < 1 || k > spec.VocabSize:
		return fmt.Errorf("%d candidates wanted: 1 to %d can be had", k, spec.VocabSize)
	}
	taken := 0
	for i, s := range b.sentences {
		if err := s.progress.Check(feeds[i], spec, b.limits.MaxLength); err != nil {
			return fmt.Errorf("sentence %d: %w", i, err)
		}
		taken += s.rowsFor(feeds[i]) - len(s.rows)
	}
	if taken > len(b.kvRows) {
		return fmt.Errorf("%d more rows are needed than the %d that there is room for", taken-len(b.kvRows), b.limits.Rows)
	}
	return nil
}

func (b *batch) Leave(i int) {
	s, last := b.sentences[i], len(b.sentences)-1
	b.slots.give(s.slot)
	b.kvRows.give(s.rows...)
	b.sentences[i], b.sentences[last] = b.sentences[last], nil
	b.sentences = b.sentences[:last]
}

// Close gives the memory back. What was started is waited for: the device may still be
// writing there.
func (b *batch) Close() error {
	m, closed := b.model, errors.New("the batch is closed")
	if b.memory == nil && b.step.program == nil && b.encoding.program == nil {
		*b = batch{model: m, broken: closed}
		return nil
	}
	err := m.do(func() error {
		errs := []error{m.machine.wait(), b.encoding.close(), b.step.close()}
		for _, p := range b.memory {
			errs = append(errs, m.machine.free(p))
		}
		return errors.Join(errs...)
	})
	*b = batch{model: m, broken: closed}
	return err
}
