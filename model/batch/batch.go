// Package batch is the bookkeeping of a [model.Batch] on any backend: its sentences, their rows of memory, and the feeds that are
// allowed. A [Backend] computes.
package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dragoman/model"
)

// Backend computes for a batch, which makes one call at a time. The backend has memory for all sentences and hypotheses of the
// batch.
type Backend interface {
	// Encode writes the cross-attention keys and values of the sources, which have tokens tokens in all, to the rows of the
	// memory in slots. The batch stays usable after an error that wraps [model.ErrInput].
	Encode(sources [][]int64, slots []int32, tokens int) error
	// Step feeds rows, and returns the k best candidates of each row with Wanted set. The result is valid until the next call.
	Step(rows []Row, k int) (model.Candidates, error)
	// Leave releases the rows of a sentence: length tokens of its source in slot, fed tokens in rows of the KV cache.
	Leave(slot int32, length int, rows []int32, fed int)
	// Idle tells the backend that no sentence is left, so that it can free memory until the next one.
	Idle()
	// Close releases the memory.
	Close() error
}

// Beginner is a [Backend] that can encode between steps.
type Beginner interface {
	// Begin begins to encode a source into a row of the memory. resume is called until the encoding is done or fails, at any time
	// between other calls; Close ends the encoding.
	Begin(source []int64, slot int32) (resume func(most time.Duration) (done bool, err error), err error)
}

// Row is a row of a step: a token of a hypothesis, or of a forced prefix. The rows of a sentence are consecutive, and no other
// sentence has their slot.
type Row struct {
	Token, Position int32
	KV              int32 // row of the KV cache to which the token is written
	From, To        int32 // histories: read from From, extended in To
	Slot, Length    int32 // row of the source in the cross-attention memory, and the source's number of tokens
	Wanted          bool  // whether the row's candidates are returned
}

// Batch implements [model.Batch].
type Batch struct {
	spec      model.Spec
	limits    model.Limits
	tokens    int // maximum tokens that the backend encodes at once
	backend   Backend
	sentences []*sentence // by slot of the batch
	begun     int         // sources being encoded between steps
	kv, slots pool        // free rows of the KV cache and of the cross-attention memory
	rows      []Row       // rows of the last step
	broken    error       // the first error, after which the state is undefined
}

// New returns an empty batch on a backend, which the batch owns and closes. limits must have passed [CheckLimits]. A backend
// encodes sources of up to tokens tokens in all at once, or a single longer source.
func New(spec model.Spec, limits model.Limits, tokens int, backend Backend) *Batch {
	return &Batch{spec: spec, limits: limits, tokens: tokens, backend: backend, kv: newPool(limits.Rows), slots: newPool(limits.Rows)}
}

// Len returns the number of sentences.
func (b *Batch) Len() int { return len(b.sentences) }

// Join encodes sources and appends them to the batch.
func (b *Batch) Join(ctx context.Context, sources [][]int64) error {
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
	if err := b.encode(sources, slots); err != nil {
		b.slots.give(slots...)
		b.rest()
		if !errors.Is(err, model.ErrInput) {
			b.broken = err
		}
		return err
	}
	for i, source := range sources {
		b.sentences = append(b.sentences, &sentence{slot: slots[i], srcLen: len(source)})
	}
	return nil
}

// Begin begins to encode a source between steps.
func (b *Batch) Begin(ctx context.Context, source []int64) (model.Encoding, error) {
	backend, ok := b.backend.(Beginner)
	if !ok {
		return model.BeginWhole(b, source), nil
	}
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	if err := b.checkSources([][]int64{source}); err != nil {
		return nil, fmt.Errorf("%w: %w", model.ErrInput, err)
	}
	e := &encoding{batch: b, slot: b.slots.take(), tokens: len(source)}
	var err error
	if e.resume, err = backend.Begin(source, e.slot); err != nil {
		b.broken = err
		return nil, err
	}
	b.begun++
	return e, nil
}

// encoding implements [model.Encoding].
type encoding struct {
	batch  *Batch
	slot   int32
	tokens int
	resume func(time.Duration) (bool, error)
}

func (e *encoding) Continue(ctx context.Context, most time.Duration) (done bool, err error) {
	b := e.batch
	if err := b.ready(ctx); err != nil {
		return false, err
	}
	if done, err = e.resume(most); err != nil {
		b.broken = fmt.Errorf("encoder on %d tokens: %w", e.tokens, err)
		return false, b.broken
	}
	if done {
		b.begun--
		b.sentences = append(b.sentences, &sentence{slot: e.slot, srcLen: e.tokens})
	}
	return done, nil
}

// encode encodes sources, as many at once as the backend allows.
func (b *Batch) encode(sources [][]int64, slots []int32) error {
	for len(sources) > 0 {
		n, tokens := 0, 0
		for n < len(sources) && (n == 0 || tokens+len(sources[n]) <= b.tokens) {
			tokens += len(sources[n])
			n++
		}
		if err := b.backend.Encode(sources[:n], slots[:n], tokens); err != nil {
			return fmt.Errorf("encoder on %d sentences of %d tokens in all: %w", n, tokens, err)
		}
		sources, slots = sources[n:], slots[n:]
	}
	return nil
}

// Step feeds the sentences that take part.
func (b *Batch) Step(ctx context.Context, feeds []model.Feed, k int) (model.Candidates, error) {
	if err := b.ready(ctx); err != nil {
		return model.Candidates{}, err
	}
	if err := b.checkFeeds(feeds, k); err != nil {
		return model.Candidates{}, fmt.Errorf("%w: %w", model.ErrInput, err)
	}
	b.rows = b.rows[:0]
	for i, s := range b.sentences {
		if len(feeds[i].Tokens) > 0 {
			b.rows = s.feed(feeds[i], &b.kv, b.rows)
		}
	}
	c, err := b.backend.Step(b.rows, k)
	if err != nil {
		b.broken = fmt.Errorf("decoder step of %d rows: %w", len(b.rows), err)
		return model.Candidates{}, b.broken
	}
	return c, nil
}

// ready fails if the batch cannot be used.
func (b *Batch) ready(ctx context.Context) error {
	if b.broken != nil {
		return fmt.Errorf("the batch is broken: %w", b.broken)
	}
	return ctx.Err()
}

// Leave removes the sentence in slot i.
func (b *Batch) Leave(i int) {
	s, last := b.sentences[i], len(b.sentences)-1
	b.backend.Leave(s.slot, s.srcLen, s.rows, s.fed)
	b.slots.give(s.slot)
	b.kv.give(s.rows...)
	b.sentences[i], b.sentences[last] = b.sentences[last], nil
	b.sentences = b.sentences[:last]
	b.rest()
}

// rest calls Idle if no sentence is left.
func (b *Batch) rest() {
	if len(b.sentences)+b.begun == 0 {
		b.backend.Idle()
	}
}

// Close closes the backend. A second call does nothing.
func (b *Batch) Close() error {
	if b.backend == nil {
		return nil
	}
	err := b.backend.Close()
	*b = Batch{broken: errors.New("the batch is closed")}
	return err
}
