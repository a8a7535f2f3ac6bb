package onnxruntime

// #include <stdlib.h>
// #include "session.h"
import "C"

import (
	"fmt"
	"slices"
	"unsafe"

	"dragoman/model/onnx"
)

// Binding binds a session's inputs and outputs to memory, so that a run neither creates nor allocates tensors. A Binding owns the
// tensors, not the memory. It must be used by one goroutine at a time.
type Binding struct {
	session *Session
	c       *C.OrtIoBinding
	bound   map[string]tensor
	err     error // the first error of bind
}

// tensor is a bound input or output.
type tensor struct {
	value *C.OrtValue
	data  unsafe.Pointer
	shape []int
}

// NewBinding returns a binding, which the caller must close.
func (s *Session) NewBinding() (*Binding, error) {
	b := &Binding{session: s, bound: map[string]tensor{}}
	if err := s.api.check(C.session_binding(s.api.c, s.c, &b.c)); err != nil {
		return nil, fmt.Errorf("bind memory: %w", err)
	}
	return b, nil
}

// Input binds the input called name to data. Input does nothing if the input is bound so already. Run returns the error of Input.
func (b *Binding) Input(name string, data unsafe.Pointer, t onnx.DataType, shape ...int) {
	b.bind(name, data, t, shape, 0)
}

// Output binds the output called name to data, like Input.
func (b *Binding) Output(name string, data unsafe.Pointer, t onnx.DataType, shape ...int) {
	b.bind(name, data, t, shape, 1)
}

func (b *Binding) bind(name string, data unsafe.Pointer, t onnx.DataType, shape []int, output C.int) {
	old := b.bound[name]
	if b.err != nil || old.value != nil && old.data == data && slices.Equal(old.shape, shape) {
		return
	}
	bytes := t.Size()
	for _, n := range shape {
		bytes *= n
	}
	a, d, text := b.session.api, dims(shape), C.CString(name)
	defer C.free(unsafe.Pointer(text))
	now, unneeded := tensor{data: data, shape: slices.Clone(shape)}, old
	err := a.check(C.session_tensor(a.c, b.session.memory, data, C.size_t(bytes), unsafe.SliceData(d), C.size_t(len(d)), C.int(t), &now.value))
	if err == nil {
		err = a.check(C.session_bind(a.c, b.c, text, now.value, output))
	}
	if err == nil {
		b.bound[name] = now
	} else {
		unneeded, b.err = now, fmt.Errorf("bind %s %v: %w", name, shape, err)
	}
	C.session_release_value(a.c, unneeded.value)
}

// Run runs the session, or only starts the run if the session is on a stream.
func (b *Binding) Run() error {
	if b.err != nil {
		return b.err
	}
	s := b.session
	return s.api.check(C.session_run(s.api.c, s.c, s.run, b.c))
}

// Close releases the tensors and the binding. Closing nil does nothing.
func (b *Binding) Close() {
	if b == nil {
		return
	}
	a := b.session.api
	C.session_release_binding(a.c, b.c)
	for _, t := range b.bound {
		C.session_release_value(a.c, t.value)
	}
	b.bound, b.c = nil, nil
}
