package cpu

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	ort "github.com/yalue/onnxruntime_go"
)

// binding ties the inputs and outputs of a session to memory, so that a run
// neither makes tensors nor allocates them. It owns the tensors, not the memory.
type binding struct {
	session *ort.DynamicAdvancedSession
	io      *ort.IoBinding
	bound   map[string]*tensor
	err     error // the first of bind's errors
}

// tensor is what a name is bound to.
type tensor struct {
	value  ort.Value
	memory *byte
	shape  []int
}

func newBinding(session *ort.DynamicAdvancedSession) (*binding, error) {
	io, err := session.CreateIoBinding()
	if err != nil {
		return nil, fmt.Errorf("bind memory: %w", err)
	}
	return &binding{session: session, io: io, bound: map[string]*tensor{}}, nil
}

// input binds the input called name to the front of memory.
func (b *binding) input(name string, t ort.TensorElementDataType, memory buffer, shape ...int) {
	b.bind(name, t, memory, shape, b.io.BindInput)
}

// output binds the output called name to the front of memory.
func (b *binding) output(name string, t ort.TensorElementDataType, memory buffer, shape ...int) {
	b.bind(name, t, memory, shape, b.io.BindOutput)
}

// bind does nothing where the name is bound to just that already.
func (b *binding) bind(name string, t ort.TensorElementDataType, memory buffer, shape []int, bind func(string, ort.Value) error) {
	if b.err != nil {
		return
	}
	old := b.bound[name]
	if old != nil && old.memory == unsafe.SliceData(memory) && slices.Equal(old.shape, shape) {
		return
	}
	dims, bytes := make(ort.Shape, len(shape)), elemSize(t)
	for i, n := range shape {
		dims[i] = int64(n)
		bytes *= n
	}
	value, err := ort.NewCustomDataTensor(dims, memory[:bytes], t)
	if err == nil {
		err = b.replace(name, &tensor{value: value, memory: unsafe.SliceData(memory), shape: slices.Clone(shape)}, bind)
	}
	if err != nil {
		b.err = fmt.Errorf("bind %s %v: %w", name, shape, err)
	}
}

// replace binds a name to a tensor and releases what it was bound to before; where that
// fails, the tensor.
func (b *binding) replace(name string, t *tensor, bind func(string, ort.Value) error) error {
	err, unneeded := bind(name, t.value), t
	if err == nil {
		unneeded, b.bound[name] = b.bound[name], t
	}
	if unneeded == nil {
		return err
	}
	return errors.Join(err, unneeded.value.Destroy())
}

// run runs the session. Whatever input and output could not bind is its error.
func (b *binding) run() error {
	if b.err != nil {
		return b.err
	}
	return b.session.RunWithBinding(b.io)
}

// close releases the tensors and the binding. Closing nil does nothing.
func (b *binding) close() error {
	if b == nil {
		return nil
	}
	errs := []error{b.io.Destroy()}
	for _, t := range b.bound {
		errs = append(errs, t.value.Destroy())
	}
	return errors.Join(errs...)
}

func elemSize(t ort.TensorElementDataType) int {
	switch t {
	case ort.TensorElementDataTypeUint8:
		return 1
	case ort.TensorElementDataTypeInt64:
		return 8
	default: // float32, int32
		return 4
	}
}
