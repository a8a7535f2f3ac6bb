package cuda

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"dragoman/model"
	"dragoman/model/batch"
)

// timedBatch is a batch that measures the time of its device.
type timedBatch struct {
	*batch.Batch
	backend *backend
}

// DeviceTime returns the total time of steps on the device, including copies and kernel launches. The rest of a step's time is
// spent on the host. DeviceTime is for measurements.
func (b *timedBatch) DeviceTime() time.Duration { return b.backend.step.busy }

// backend implements [batch.Backend].
type backend struct {
	model    *Model
	limits   model.Limits
	encoding encoding
	step     step
	memory   []unsafe.Pointer // memory of the device that Close frees
}

// NewBatch returns an empty batch and reserves all the memory that the batch will ever need: [Model.StateBytes]. It fails with
// ErrMemory if there is not enough. Unless NoGraphs is set, it records all steps, which takes some tenths of a second.
func (m *Model) NewBatch(limits model.Limits) (model.Batch, error) {
	b, err := m.newBatch(limits, !m.opts.NoGraphs)
	if err != nil {
		return nil, err // not b: a nil pointer in an interface is not nil
	}
	return b, nil
}

func (m *Model) newBatch(limits model.Limits, graphs bool) (*timedBatch, error) {
	if err := batch.CheckLimits(m.manifest.Spec, limits); err != nil {
		return nil, err
	}
	b := &backend{model: m, limits: limits}
	err := m.do(func() error {
		if err := b.reserve(graphs); err != nil || !graphs {
			return err
		}
		return b.step.warmUp()
	})
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return &timedBatch{batch.New(m.manifest.Spec, limits, b.encoding.tokens, b), b}, nil
}

// reserve reserves memory on the device. The last row of each kind is for padding rows.
func (b *backend) reserve(graphs bool) error {
	m, spec := b.model, b.model.manifest.Spec
	if free, err := m.machine.Available(); err != nil {
		return err
	} else if need := m.StateBytes(b.limits); free >= 0 && free < need {
		return fmt.Errorf("%w: the state of %d rows of %d tokens takes %d MiB, %s has %d MiB left: lower BATCH_SIZE or MAX_LENGTH_LIMIT",
			ErrMemory, b.limits.Rows, b.limits.MaxLength, need>>20, m.machine, free>>20)
	}
	take := func(n int64) (unsafe.Pointer, error) {
		p, err := m.machine.Alloc(n)
		if err == nil {
			b.memory = append(b.memory, p)
		}
		return p, err
	}
	layers, rows := int64(spec.Decoder.Layers), int64(b.limits.Rows)+1
	kv, err := take(layers * rows * int64(b.limits.MaxLength) * tokenSize(m.manifest))
	if err != nil {
		return fmt.Errorf("KV cache: %w", err)
	}
	cross, err := take(layers * rows * int64(spec.MaxPositions) * tokenSize(m.manifest))
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

func (b *backend) Encode(sources [][]int64, slots []int32, tokens int) error {
	err := b.do(func() error { return b.encoding.run(sources, slots, tokens) })
	if errors.Is(err, ErrMemory) { // the batch is intact, because only free memory was written to
		return fmt.Errorf("%w: %w", model.ErrInput, err)
	}
	return err
}

func (b *backend) Step(rows []batch.Row, k int) (model.Candidates, error) {
	err := b.do(func() error { return b.step.run(rows, k) })
	return b.step.candidates, err
}

// Leave does nothing: the memory stays reserved.
func (b *backend) Leave(int32, int, []int32, int) {}

// Idle does nothing either.
func (b *backend) Idle() {}

// do calls f on the model's thread. To an error, do adds the device's fault, if any, because ONNX Runtime does not report it.
// After an error, do waits for all work that was started, so that the caller does not disturb it.
func (b *backend) do(f func() error) error {
	return b.model.do(func() error {
		err := f()
		if err == nil {
			return nil
		}
		return errors.Join(err, b.model.machine.Wait())
	})
}

// Close frees the memory. It first waits for all work that was started, because the device may still write to the memory.
func (b *backend) Close() error {
	m := b.model
	if b.memory == nil && b.step.program == nil && b.encoding.program == nil {
		return nil
	}
	return m.do(func() error {
		errs := []error{m.machine.Wait(), b.encoding.close(), b.step.close()}
		for _, p := range b.memory {
			errs = append(errs, m.machine.Free(p))
		}
		return errors.Join(errs...)
	})
}
