package cpu

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"dragoman/model"
	"dragoman/model/batch"
	"dragoman/model/cpu/ops"
	"dragoman/model/cpu/pool"
	"dragoman/model/mapping"
)

// backend implements [batch.Backend].
type backend struct {
	kv       *store // a row per hypothesis, capacity in decoder tokens
	cross    *store // a row per sentence, capacity in source tokens
	allowed  *allowed
	encoding encoding
	step     step
	memory   *pool.Pool    // shared by the sessions
	weights  *mapping.File // weights of the sessions
	busy     bool          // whether the batch has called memory.Enter

	begun map[*ops.Pieces]*encoding // encoder runs between steps
	spare []*encoding               // unused encodings, for reuse
}

// NewBatch returns an empty batch.
func (m *Model) NewBatch(limits model.Limits) (model.Batch, error) {
	spec := m.manifest.Spec
	if err := batch.CheckLimits(spec, limits); err != nil {
		return nil, err
	}
	b := &backend{encoding: encoding{session: m.encoder}, memory: m.memory, weights: m.weights, begun: map[*ops.Pieces]*encoding{}}
	var err error
	if b.step, err = newStep(m.decoder, limits); err != nil {
		return nil, fmt.Errorf("histories: %w", err)
	}
	if b.kv, err = newStore(spec.Decoder.Layers, limits.Rows, limits.MaxLength, tokenSize(m.manifest)); err != nil {
		return nil, errors.Join(fmt.Errorf("KV cache: %w", err), b.Close())
	}
	if b.cross, err = newStore(spec.Decoder.Layers, limits.Rows, spec.MaxPositions, tokenSize(m.manifest)); err != nil {
		return nil, errors.Join(fmt.Errorf("memory of cross attention: %w", err), b.Close())
	}
	if b.allowed, err = newAllowed(m, limits.Rows); err != nil {
		return nil, errors.Join(fmt.Errorf("allowed tokens: %w", err), b.Close())
	}
	return batch.New(spec, limits, encoderTokens(m.threads), b), nil
}

// Footprint returns the memory of a batch. Rows that are no longer in use keep the memory of their first tokens until the batch
// is empty.
func (m *Model) Footprint() model.Footprint { return Footprint(m.manifest) }

// Footprint is [Model.Footprint] for a model that is not loaded.
func Footprint(m *model.Manifest) model.Footprint {
	token := int64(m.Spec.Decoder.Layers * tokenSize(m))
	return model.Footprint{RowToken: token, SourceToken: token}
}

// tokenSize returns the bytes of a token's keys and values in one layer. An int8 model keeps them in half precision: this halves
// the memory that attention reads, and its rounding is a hundred times finer than that of the model's matrix products. States of
// recurrent units, which are small and accumulate over a sentence, and the memory used with them are in single precision.
func tokenSize(m *model.Manifest) int {
	return m.Spec.TokenBytes(m.Precision == model.INT8 && !m.Spec.Recurrent)
}

func (b *backend) Encode(sources [][]int64, slots []int32, tokens int) error {
	b.enter()
	for i, source := range sources {
		b.allowed.source(slots[i], source)
	}
	return b.sound(b.encoding.run(sources, slots, tokens, b.cross, b.allowed))
}

// enter makes the sessions' pool keep freed memory.
func (b *backend) enter() {
	if !b.busy {
		b.busy = true
		b.memory.Enter()
	}
}

// Begin implements [batch.Beginner].
func (b *backend) Begin(source []int64, slot int32) (func(time.Duration) (bool, error), error) {
	b.enter()
	b.allowed.source(slot, source)
	e := &encoding{session: b.encoding.session}
	if last := len(b.spare) - 1; last >= 0 {
		e, b.spare = b.spare[last], b.spare[:last]
	}
	p, err := ops.InPieces(func() error { return e.run([][]int64{source}, []int32{slot}, len(source), b.cross, b.allowed) })
	if err != nil {
		return nil, err
	}
	b.begun[p] = e
	return func(most time.Duration) (done bool, err error) {
		if done, err = p.Continue(most); done {
			err = b.sound(err)
			delete(b.begun, p)
			b.spare = append(b.spare, e)
		}
		return done, err
	}, nil
}

// sound returns the error of the weights, if any, in place of the error of a run, because no result computed from lost weights
// may be used.
func (b *backend) sound(err error) error {
	return cmp.Or(lost(b.weights), err)
}

func (b *backend) Step(rows []batch.Row, k int) (model.Candidates, error) {
	b.allowed.prefixes(rows)
	candidates, err := b.step.run(rows, k, b.kv, b.cross, b.allowed)
	return candidates, b.sound(err)
}

func (b *backend) Leave(slot int32, length int, rows []int32, fed int) {
	b.cross.trim(slot, length)
	for _, row := range rows {
		b.kv.trim(row, fed)
	}
}

// Idle gives back the memory of keys and values, and with the last batch in use the memory of activations, except a few megabytes
// of both.
func (b *backend) Idle() {
	if b.busy {
		b.busy = false
		b.kv.clear()
		b.cross.clear()
		b.step.histories.release(0, len(b.step.histories))
		b.memory.Leave()
	}
}

func (b *backend) Close() error {
	if b.busy {
		b.memory.Leave()
	}
	for p, e := range b.begun {
		p.Close()
		e.close()
	}
	b.encoding.close()
	b.step.close()
	for _, e := range b.spare {
		e.close()
	}
	b.kv.close()
	b.cross.close()
	b.allowed.close()
	return nil
}
