package onnxruntime

// #include <stdlib.h>
// #include "session.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"dragoman/model/onnx"
)

// ErrProvider means that a session's provider cannot be used.
var ErrProvider = errors.New("no CUDA provider")

// Setup is the configuration of a session.
type Setup struct {
	Path    string         // of the graph's file
	Graph   []byte         // or the graph itself
	Domain  unsafe.Pointer // domain of its operators, an *OrtCustomOpDomain; nil: none
	Threads int            // threads of ONNX Runtime, for its own operators
	Config  map[string]string
	// Constants are the graph's external weights, whose file content is in Data, so that ONNX Runtime does not read the file.
	// Data must stay in place, outside Go's heap, until the session is closed.
	Constants []onnx.Weight
	Data      []byte
	// Provider has the CUDA provider's options, and Stream its CUstream; nil means the CPU provider.
	Provider map[string]string
	Stream   unsafe.Pointer
	// Memory is ONNX Runtime's name for the memory of inputs and outputs, and Number the number of its device; "" is the memory
	// of the host.
	Memory string
	Number int
}

// memory is the C memory of a setup, until it is freed.
type memory []unsafe.Pointer

func (m *memory) text(s string) *C.char {
	p := C.CString(s)
	*m = append(*m, unsafe.Pointer(p))
	return p
}

func (m *memory) alloc(n int, size uintptr) unsafe.Pointer {
	p := C.calloc(C.size_t(max(n, 1)), C.size_t(size))
	*m = append(*m, p)
	return p
}

func (m *memory) pairs(options map[string]string) C.Pairs {
	n := len(options)
	keys := unsafe.Slice((**C.char)(m.alloc(n, unsafe.Sizeof(uintptr(0)))), n)
	values := unsafe.Slice((**C.char)(m.alloc(n, unsafe.Sizeof(uintptr(0)))), n)
	i := 0
	for key, value := range options {
		keys[i], values[i] = m.text(key), m.text(value)
		i++
	}
	return C.Pairs{keys: unsafe.SliceData(keys), values: unsafe.SliceData(values), count: C.size_t(n)}
}

func (m *memory) setup(s Setup) *C.Setup {
	c := (*C.Setup)(m.alloc(1, C.sizeof_Setup))
	if s.Graph != nil {
		c.graph, c.bytes = C.CBytes(s.Graph), C.size_t(len(s.Graph))
		*m = append(*m, unsafe.Pointer(c.graph))
	}
	c.path, c.domain, c.threads = m.text(s.Path), (*C.OrtCustomOpDomain)(s.Domain), C.int(s.Threads)
	c.config, c.provider, c.stream = m.pairs(s.Config), m.pairs(s.Provider), s.Stream
	return c
}

func (m *memory) free() {
	for _, p := range *m {
		C.free(p)
	}
}

// Session is a loaded graph. Its bindings run it, on any goroutine.
type Session struct {
	api    *API
	c      *C.OrtSession
	run    *C.OrtRunOptions
	memory *C.OrtMemoryInfo
}

// NewSession loads a graph. It fails with ctx's error soon after ctx ends. The caller must close the session.
func (a *API) NewSession(ctx context.Context, s Setup) (*Session, error) {
	return a.newSession(ctx, s, (*options).session)
}

func (a *API) newSession(ctx context.Context, s Setup, load func(*options) (*Session, error)) (*Session, error) {
	o, err := a.newOptions(s)
	defer o.close()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cancelled := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { cancelled <- a.check(C.session_cancel(a.c, o.c)) })
	made, err := load(o)
	if !stop() {
		err = errors.Join(ctx.Err(), <-cancelled) // waits, because the options are in use until then
	}
	if err != nil {
		made.Close()
		return nil, err
	}
	return made, nil
}

// options are the C options of a new session.
type options struct {
	api       *API
	setup     Setup
	memory    memory
	c         *C.OrtSessionOptions
	in        *C.Setup
	constants []*C.OrtValue
}

// newOptions returns options, which the caller must close, also after an error.
func (a *API) newOptions(s Setup) (*options, error) {
	o := &options{api: a, setup: s}
	o.in = o.memory.setup(s)
	if err := a.check(C.session_options(a.c, o.in, &o.c)); err != nil {
		return o, fmt.Errorf("session options: %w", err)
	}
	if err := a.check(C.session_provider(a.c, o.in, o.c)); err != nil {
		return o, fmt.Errorf("%w: %w", ErrProvider, err)
	}
	for _, w := range s.Constants {
		if err := o.addConstant(w); err != nil {
			return o, fmt.Errorf("weight %s: %w", w.Name, err)
		}
	}
	return o, nil
}

func (o *options) addConstant(w onnx.Weight) error {
	if w.Offset < 0 || w.Size <= 0 || w.Offset > int64(len(o.setup.Data))-w.Size {
		return fmt.Errorf("bytes %d to %d of a file of %d", w.Offset, w.Offset+w.Size, len(o.setup.Data))
	}
	data, shape := o.setup.Data[w.Offset:w.Offset+w.Size], dims(w.Shape)
	var value *C.OrtValue
	err := o.api.check(C.session_constant(o.api.c, o.c, o.memory.text(w.Name), C.int(w.Type), unsafe.SliceData(shape), C.size_t(len(shape)),
		unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data)), &value))
	o.constants = append(o.constants, value)
	return err
}

// session creates a session.
func (o *options) session() (*Session, error) {
	a := o.api
	s := &Session{api: a}
	name := o.memory.text("Cpu")
	if o.setup.Memory != "" {
		name = o.memory.text(o.setup.Memory)
	}
	err := a.check(C.session_memory(a.c, name, C.int(o.setup.Number), &s.memory))
	if err == nil {
		err = a.check(C.session_run_options(a.c, &s.run))
	}
	if err == nil {
		err = a.check(C.session_new(a.c, a.env, o.in, o.c, &s.c))
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (o *options) close() {
	for _, value := range o.constants { // releases the descriptions of constants, not their memory
		C.session_release_value(o.api.c, value)
	}
	C.session_release_options(o.api.c, o.c)
	o.memory.free()
}

// Close releases the session. Its bindings must be closed before. Closing nil does nothing.
func (s *Session) Close() {
	if s != nil {
		C.session_release(s.api.c, s.c, s.run, s.memory)
		s.c, s.run, s.memory = nil, nil, nil
	}
}

func dims(shape []int) []C.int64_t {
	d := make([]C.int64_t, len(shape))
	for i, n := range shape {
		d[i] = C.int64_t(n)
	}
	return d
}
