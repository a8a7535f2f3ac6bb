package cuda

// #cgo CFLAGS: -O2 -std=gnu11 -Wall -I${SRCDIR}/../onnxruntime/include
// #include <stdlib.h>
// #include "api.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unsafe"

	"dragoman/model/onnxruntime"
)

// api is ONNX Runtime. Its calls are safe for concurrent use.
type api struct {
	*onnxruntime.API
	c   *C.OrtApi
	env *C.OrtEnv // one for the process
}

// openAPI loads ONNX Runtime.
func openAPI(library string) (*api, error) {
	loaded, err := onnxruntime.Load(library)
	if err != nil {
		return nil, err
	}
	a := &api{API: loaded, c: (*C.OrtApi)(loaded.Pointer())}
	return a, a.check(C.device_env(a.c, &a.env))
}

func (a *api) close() { C.device_release_env(a.c, a.env) }

// check turns a status into an error and releases it.
func (a *api) check(status *C.OrtStatus) error {
	err := a.Err(unsafe.Pointer(status))
	if err == nil {
		return nil
	}
	message := plain(err.Error())
	if lacksMemory(message) {
		return fmt.Errorf("%w: %s", ErrMemory, message)
	}
	return errors.New(message)
}

// lacksMemory says whether a message of ONNX Runtime is about memory that is not there:
// its arena's limit, CUDA's memory, or what cuBLAS needs of it.
func lacksMemory(message string) bool {
	for _, sign := range []string{
		"is smaller than requested bytes", "Failed to allocate memory", "out of memory", "CUBLAS failure 3:", "CUBLAS_STATUS_ALLOC_FAILED",
	} {
		if strings.Contains(message, sign) {
			return true
		}
	}
	return false
}

// sourcePlace is where in ONNX Runtime's source a message comes from: file, line and
// function.
var sourcePlace = regexp.MustCompile(`^\S+\.(?:cc|cpp|h):\d+ [^;]*?\)(?: const)? `)

// plain is what a message of ONNX Runtime says, without where in its source it comes from
// ("file:line function [ONNXRuntimeError] : 1 : FAIL : message", and in the CUDA provider
// "file:line function [with types] CUDA failure 2: message ; GPU=0 ; file=..."), in one
// line.
func plain(message string) string {
	if _, after, ok := strings.Cut(message, "[ONNXRuntimeError] : "); ok {
		if parts := strings.SplitN(after, " : ", 3); len(parts) == 3 {
			message = parts[2]
		}
	}
	if i := strings.LastIndex(message, "Status Message: "); i >= 0 { // of a node
		message = message[i+len("Status Message: "):]
	}
	message = sourcePlace.ReplaceAllString(message, "")
	if before, _, ok := strings.Cut(message, " ; GPU="); ok {
		message = before[strings.LastIndex(before, "] ")+1:]
	}
	return strings.Join(strings.Fields(message), " ")
}

// setup is how a session runs.
type setup struct {
	path    string
	weights int64 // bytes of the file that holds the graph's weights, and others
	domain  unsafe.Pointer
	threads int
	// provider holds the CUDA provider's options; nil is the CPU provider.
	provider map[string]string
	stream   unsafe.Pointer
}

// c makes the setup's form in C, which free releases.
func (s setup) c() (_ *C.Setup, free func()) {
	var allocated []unsafe.Pointer
	text := func(s string) *C.char {
		p := C.CString(s)
		allocated = append(allocated, unsafe.Pointer(p))
		return p
	}
	list := func(n int) []*C.char {
		p := C.calloc(C.size_t(max(n, 1)), C.size_t(unsafe.Sizeof(uintptr(0))))
		allocated = append(allocated, p)
		return unsafe.Slice((**C.char)(p), n)
	}
	n := len(s.provider)
	c := (*C.Setup)(C.calloc(1, C.sizeof_Setup))
	keys, values := list(n), list(n)
	i := 0
	for key, value := range s.provider {
		keys[i], values[i] = text(key), text(value)
		i++
	}
	c.model, c.domain, c.threads = text(s.path), (*C.OrtCustomOpDomain)(s.domain), C.int(s.threads)
	c.keys, c.values, c.count, c.stream = unsafe.SliceData(keys), unsafe.SliceData(values), C.size_t(n), s.stream
	return c, func() {
		for _, p := range append(allocated, unsafe.Pointer(c)) {
			C.free(p)
		}
	}
}

// session is a loaded graph.
type session struct {
	api *api
	c   *C.OrtSession
	run *C.OrtRunOptions
}

// newSession loads a graph. It fails with ErrNoProvider where the provider does, and
// with ctx's error soon after ctx is done.
func (a *api) newSession(ctx context.Context, s setup) (_ *session, err error) {
	c, free := s.c()
	defer free()
	var options *C.OrtSessionOptions
	defer func() {
		if options != nil {
			C.device_release_options(a.c, options)
		}
	}()
	if err := a.check(C.device_options(a.c, c, &options)); err != nil {
		return nil, fmt.Errorf("session options: %w", err)
	}
	if err := a.check(C.device_provider(a.c, c, options)); err != nil {
		return nil, fmt.Errorf("%w: %w: %w: it needs the libraries of the CUDA version that it was built for, in LD_LIBRARY_PATH or the system's folders",
			ErrUnavailable, ErrNoProvider, err)
	}
	out := &session{api: a}
	if err := a.check(C.device_run_options(a.c, &out.run)); err != nil {
		return nil, errors.Join(err, out.close())
	}
	err = a.Interruptible(ctx, unsafe.Pointer(options), func() error {
		return a.check(C.device_session(a.c, a.env, c, options, &out.c))
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load %s: %w", s.path, err), out.close())
	}
	return out, nil
}

func (s *session) close() error {
	if s.c != nil {
		C.device_release_session(s.api.c, s.c)
	}
	if s.run != nil {
		C.device_release_run_options(s.api.c, s.run)
	}
	s.c, s.run = nil, nil
	return nil
}

// elemType is the type of a tensor's elements, as in ONNX.
type elemType int

const (
	typeUint8 elemType = 2
	typeInt32 elemType = 6
)

func (t elemType) size() int64 {
	if t == typeUint8 {
		return 1
	}
	return 4
}

// memoryInfo names a device's memory to ONNX Runtime.
type memoryInfo struct {
	api *api
	c   *C.OrtMemoryInfo
}

func (a *api) newMemoryInfo(name string, number int) (memoryInfo, error) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	m := memoryInfo{api: a}
	return m, a.check(C.device_memory(a.c, c, C.int(number), &m.c))
}

func (m memoryInfo) close() { C.device_release_memory(m.api.c, m.c) }

// binding ties a session's inputs and outputs to memory of the device: a run neither
// makes tensors nor allocates them. It owns the tensors, not the memory.
type binding struct {
	session *session
	memory  memoryInfo
	c       *C.OrtIoBinding
	values  []*C.OrtValue
	err     error // the first of bind's errors
}

func (s *session) newBinding(memory memoryInfo) (*binding, error) {
	b := &binding{session: s, memory: memory}
	if err := s.api.check(C.device_binding(s.api.c, s.c, &b.c)); err != nil {
		return nil, fmt.Errorf("bind memory: %w", err)
	}
	return b, nil
}

// input binds the input called name to memory.
func (b *binding) input(name string, p unsafe.Pointer, t elemType, shape ...int64) {
	b.bind(name, p, t, shape, 0)
}

// output binds the output called name to memory.
func (b *binding) output(name string, p unsafe.Pointer, t elemType, shape ...int64) {
	b.bind(name, p, t, shape, 1)
}

func (b *binding) bind(name string, p unsafe.Pointer, t elemType, shape []int64, output C.int) {
	if b.err != nil {
		return
	}
	bytes := t.size()
	for _, n := range shape {
		bytes *= n
	}
	c, a := C.CString(name), b.session.api
	defer C.free(unsafe.Pointer(c))
	var value *C.OrtValue
	err := a.check(C.device_tensor(a.c, b.memory.c, p, C.size_t(bytes), (*C.int64_t)(unsafe.SliceData(shape)),
		C.size_t(len(shape)), C.int(t), &value))
	if err == nil {
		b.values = append(b.values, value)
		err = a.check(C.device_bind(a.c, b.c, c, value, output))
	}
	if err != nil {
		b.err = fmt.Errorf("bind %s %v: %w", name, shape, err)
	}
}

// run starts the session's work, or does it where the device is the CPU.
func (b *binding) run() error {
	if b.err != nil {
		return b.err
	}
	return b.session.api.check(C.device_run(b.session.api.c, b.session.c, b.session.run, b.c))
}

// close releases the tensors and the binding.
func (b *binding) close() {
	C.device_release_binding(b.session.api.c, b.c)
	for _, value := range b.values {
		C.device_release_tensor(b.session.api.c, value)
	}
	b.values = nil
}
