package cpu

import (
	"context"
	"errors"
	"fmt"

	"dragoman/model"
)

// batch implements model.Batch.
type batch struct {
	model     *Model
	limits    model.Limits
	sentences []*sentence // by slot
	kv        *store      // a row per hypothesis, capacity in decoder tokens
	cross     *store      // a row per sentence, capacity in source tokens
	encoding  encoding
	step      step
	broken    error // the first error; the state is undefined after it
}

// NewBatch makes an empty batch.
func (m *Model) NewBatch(limits model.Limits) (model.Batch, error) {
	spec := m.manifest.Spec
	if limits.Rows < 1 || limits.MaxLength < 1 || limits.MaxLength > spec.MaxPositions {
		return nil, fmt.Errorf("%w: a batch of %d rows of %d tokens: at least 1 row and 1 to %d tokens are possible",
			model.ErrInput, limits.Rows, limits.MaxLength, spec.MaxPositions)
	}
	b := &batch{model: m, limits: limits}
	var err error
	if b.kv, err = newStore(spec.Decoder.Layers, limits.Rows, limits.MaxLength, m.tokenSize()); err != nil {
		return nil, fmt.Errorf("KV cache: %w", err)
	}
	if b.cross, err = newStore(spec.Decoder.Layers, limits.Rows, spec.MaxPositions, m.tokenSize()); err != nil {
		return nil, errors.Join(fmt.Errorf("memory of cross attention: %w", err), b.Close())
	}
	return b, nil
}

// Footprint is what a batch takes of memory. Reserved rows that were in use keep
// the memory of their first tokens.
func (m *Model) Footprint() model.Footprint {
	token := int64(m.manifest.Spec.Decoder.Layers * m.tokenSize())
	return model.Footprint{RowToken: token, SourceToken: token}
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
	for i, source := range sources {
		slots[i] = b.cross.take()
		b.sentences = append(b.sentences, &sentence{slot: slots[i], srcLen: len(source)})
	}
	b.broken = b.encoding.encode(b.model, sources, slots, b.cross)
	return b.broken
}

func (b *batch) Step(ctx context.Context, feeds []model.Feed, k int) (model.Candidates, error) {
	if err := b.ready(ctx); err != nil {
		return model.Candidates{}, err
	}
	rows, wanted, err := b.checkFeeds(feeds, k)
	if err != nil {
		return model.Candidates{}, fmt.Errorf("%w: %w", model.ErrInput, err)
	}
	c, err := b.advance(feeds, rows, wanted, k)
	b.broken = err
	return c, err
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

// checkFeeds also counts the rows of the step and those whose candidates it returns.
func (b *batch) checkFeeds(feeds []model.Feed, k int) (rows, wanted int, err error) {
	spec := b.model.manifest.Spec
	switch {
	case len(feeds) == 0 || len(feeds) != len(b.sentences):
		return 0, 0, fmt.Errorf("%d feeds for %d sentences", len(feeds), len(b.sentences))
	case k < 1 || k > spec.VocabSize:
		return 0, 0, fmt.Errorf("%d candidates wanted: 1 to %d can be had", k, spec.VocabSize)
	}
	taken := 0
	for i, s := range b.sentences {
		if err := s.progress.Check(feeds[i], spec, b.limits.MaxLength); err != nil {
			return 0, 0, fmt.Errorf("sentence %d: %w", i, err)
		}
		taken += s.rowsFor(feeds[i]) - len(s.rows)
		rows += len(feeds[i].Tokens)
		wanted += s.progress.Rows(feeds[i])
	}
	if taken > len(b.kv.free) {
		return 0, 0, fmt.Errorf("%d more rows are needed than the %d that there is room for", taken-len(b.kv.free), b.limits.Rows)
	}
	return rows, wanted, nil
}

func (b *batch) advance(feeds []model.Feed, rows, wanted, k int) (model.Candidates, error) {
	if err := b.step.begin(b.model, b.kv, b.cross, rows, len(feeds), wanted, k); err != nil {
		return model.Candidates{}, err
	}
	for i, s := range b.sentences {
		s.feed(feeds[i], b.kv, &b.step)
	}
	return b.step.run()
}

func (b *batch) Leave(i int) {
	s, last := b.sentences[i], len(b.sentences)-1
	b.cross.give(s.slot, s.srcLen)
	for _, row := range s.rows {
		b.kv.give(row, s.progress.Fed)
	}
	b.sentences[i], b.sentences[last] = b.sentences[last], nil
	b.sentences = b.sentences[:last]
}

func (b *batch) Close() error {
	err := errors.Join(b.encoding.close(), b.step.close())
	b.kv.close()
	b.cross.close()
	*b = batch{model: b.model, broken: errors.New("the batch is closed")}
	return err
}
