// Package cudatest is a machine without a GPU, for tests of package cuda and its users.
package cudatest

// #include <stdlib.h>
import "C"

import (
	"fmt"
	"unsafe"

	"dragoman/model/cpu/cputest"
	"dragoman/model/cuda/driver"
	"dragoman/model/cuda/kernels"
	"dragoman/model/onnxruntime"
)

// Host is the CPU, with the kernels as plain C functions on one thread. It is a cuda.Machine; copies and runs are synchronous.
type Host struct {
	api       *onnxruntime.API
	operators *kernels.Operators
}

// NewHost returns the CPU as a machine. One model can be opened on the machine, and closes it.
func NewHost() (*Host, error) {
	api, err := onnxruntime.Load(cputest.Library())
	if err != nil {
		return nil, err
	}
	operators, err := kernels.Host(api.Pointer())
	if err != nil {
		return nil, err
	}
	return &Host{api, operators}, nil
}

func (h *Host) String() string { return "the CPU" }

// Alloc reserves zeroed memory.
func (h *Host) Alloc(n int64) (unsafe.Pointer, error) {
	p, err := C.calloc(C.size_t(max(n, 1)), 1)
	if p == nil {
		return nil, fmt.Errorf("reserve %d bytes: %w", n, err)
	}
	return p, nil
}

// Free frees memory.
func (h *Host) Free(p unsafe.Pointer) error {
	C.free(p)
	return nil
}

// AllocHost is Alloc.
func (h *Host) AllocHost(n int64) (unsafe.Pointer, error) { return h.Alloc(n) }

// FreeHost is Free.
func (h *Host) FreeHost(p unsafe.Pointer) error { return h.Free(p) }

// Available returns -1: unlimited.
func (h *Host) Available() (int64, error) { return -1, nil }

// Wait does nothing.
func (h *Host) Wait() error { return nil }

// Upload copies n bytes.
func (h *Host) Upload(to, from unsafe.Pointer, n int64) error {
	copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n))
	return nil
}

// Download copies n bytes.
func (h *Host) Download(to, from unsafe.Pointer, n int64) error { return h.Upload(to, from, n) }

// Record keeps f, because work on a CPU cannot be recorded.
func (h *Host) Record(f func() error) (driver.Recording, error) { return repeat(f), nil }

// Session adds the kernels as operators.
func (h *Host) Session(s onnxruntime.Setup, _ int64) onnxruntime.Setup {
	s.Domain = h.operators.Domain()
	return s
}

// Close releases the operators.
func (h *Host) Close() error {
	h.operators.Close()
	h.api.Close()
	return nil
}

// repeat is a recording that calls its function at each launch.
type repeat func() error

func (r repeat) Launch() error { return r() }
func (r repeat) Close() error  { return nil }
