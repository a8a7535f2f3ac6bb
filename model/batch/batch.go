// Package batch keeps the books of a [model.Batch], whatever it is computed on: which
// sentences there are, which rows of memory are theirs, what they may be fed. A
// [Backend] computes.
package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dragoman/model"
)

// Backend computes for a batch, which makes one call at a time. It has memory for as
// many sentences and hypotheses as the batch has room for.
type Backend interface {
	// Encode writes the keys and values of the sources' cross attention, of tokens
	// tokens in all, to the rows of the memory that slots names. After an error that
	// wraps [model.ErrInput] the batch goes on.
	Encode(sources [][]int64, slots []int32, tokens int) error
	// Step feeds rows and returns the k best candidates of those that are wanted, which
	// hold until the next call.
	Step(rows []Row, k int) (model.Candidates, error)
	// Leave says that nothing reads the rows of a sentence any more: length tokens of
	// its source in slot, fed tokens in rows of the KV cache.
	Leave(slot int32, length int, rows []int32, fed int)
	// Idle says that no sentence is left, so that the backend can give back memory that
	// the next one takes again.
	Idle()
	// Close releases the memory.
	Close() error
}

// Beginner is a [Backend] that can encode beside steps.
type Beginner interface {
	// Begin begins to encode a source into a row of the memory. What it returns is called until
	// it is done or fails, at any time between other calls; Close ends it.
	Begin(source []int64, slot int32) (resume func(most time.Duration) (done bool, err error), err error)
}

// Row is a row of a step: a token of a hypothesis, or of a forced prefix. The rows of a
// sentence follow one another, and no other sentence has their slot.
type Row struct {
	Token, Position int32
	KV              int32 // row of the KV cache that the token is written to
	From, To        int32 // histories: the hypothesis goes on from one, in the other
	Slot, Length    int32 // row of the source in the memory of cross attention, its tokens
	Wanted          bool  // whether the row's candidates are
}

// Batch implements [model.Batch].
type Batch struct {
	spec      model.Spec
	limits    model.Limits
	tokens    int // that a backend encodes at once
	backend   Backend
	sentences []*sentence // by slot of the batch
	begun     int         // sources that are encoded beside the steps
	kv, slots pool        // rows of both memories that are not in use
	rows      []Row       // of the last step
	broken    error       // the first error; the state is undefined after it
}

// New makes an empty batch on a backend, which it closes. Limits were checked by
// [CheckLimits]. A backend encodes sources of up to tokens in all at once, or a single
// longer one.
func New(spec model.Spec, limits model.Limits, tokens int, backend Backend) *Batch {
	return &Batch{spec: spec, limits: limits, tokens: tokens, backend: backend, kv: newPool(limits.Rows), slots: newPool(limits.Rows)}
}

// Len is the number of sentences.
func (b *Batch) Len() int { return len(b.sentences) }

// Join encodes sources and appends them.
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

// Begin begins to encode a source beside the steps.
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

// encode encodes sources, as many at once as the backend takes.
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

// Step feeds the sentences that do not rest.
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

// ready says whether the batch can be used.
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

// rest tells the backend if no sentence is left.
func (b *Batch) rest() {
	if len(b.sentences)+b.begun == 0 {
		b.backend.Idle()
	}
}

// Close closes the backend. Closing twice does nothing.
func (b *Batch) Close() error {
	if b.backend == nil {
		return nil
	}
	err := b.backend.Close()
	*b = Batch{broken: errors.New("the batch is closed")}
	return err
}
