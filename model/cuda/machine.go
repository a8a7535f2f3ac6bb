package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"dragoman/model/cuda/driver"
	"dragoman/model/cuda/kernels"
	"dragoman/model/onnxruntime"
)

// Machine is a device and its memory. Its methods are called on the model's thread.
type Machine interface {
	// Alloc reserves zeroed memory of the device; it fails with ErrMemory.
	Alloc(n int64) (unsafe.Pointer, error)
	Free(p unsafe.Pointer) error
	// AllocHost reserves memory of the host for fast copies.
	AllocHost(n int64) (unsafe.Pointer, error)
	FreeHost(p unsafe.Pointer) error
	// Available returns the bytes that can be reserved; -1: unlimited.
	Available() (int64, error)

	// Upload, Download and recorded work are executed in order; Wait waits for all of this work.
	Upload(to, from unsafe.Pointer, n int64) error
	Download(to, from unsafe.Pointer, n int64) error
	Wait() error
	// Record records the work that f starts.
	Record(f func() error) (driver.Recording, error)

	// Session completes the setup of a session on this machine; weights is the size of its weights in bytes.
	Session(s onnxruntime.Setup, weights int64) onnxruntime.Setup
	String() string
	Close() error
}

// gpu is a CUDA device.
type gpu struct {
	*driver.Device
	module    *driver.Module
	operators *kernels.Operators
	limit     int64 // bytes of activations
	title     string
}

// openGPU opens a CUDA device. Errors wrap ErrUnavailable.
func openGPU(a *onnxruntime.API, opts Options) (_ *gpu, err error) {
	g := &gpu{limit: opts.Activations}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%w: %w", ErrUnavailable, err), g.Close())
		}
	}()
	d, err := driver.Load(opts.driver)
	if err != nil {
		return g, err
	}
	if g.Device, err = d.Open(opts.Number); err != nil {
		return g, err
	}
	info := g.Info()
	g.title = fmt.Sprintf("GPU %d (%s, compute capability %d.%d, %d MiB, driver for CUDA %s)",
		info.Number, info.Name, info.Major, info.Minor, info.Memory>>20, d.Version())
	if g.module, err = g.LoadModule(kernels.PTX); err != nil {
		return g, err
	}
	functions, err := g.module.Functions(kernels.Names())
	if err != nil {
		return g, err
	}
	g.operators, err = kernels.CUDA(a.Pointer(), d.Launch(), functions)
	return g, err
}

func (g *gpu) String() string { return g.title }

func (g *gpu) Alloc(n int64) (unsafe.Pointer, error) {
	p, err := g.Device.Alloc(n)
	if errors.Is(err, driver.ErrMemory) {
		return nil, fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return p, err
}

func (g *gpu) Available() (int64, error) {
	free, _, err := g.Memory()
	return free, err
}

func (g *gpu) Session(s onnxruntime.Setup, weights int64) onnxruntime.Setup {
	s.Domain, s.Stream, s.Memory, s.Number = g.operators.Domain(), g.Stream(), "Cuda", g.Info().Number
	s.Config["session.disable_cpu_ep_fallback"] = "1"
	s.Provider = map[string]string{
		"device_id":                 fmt.Sprint(s.Number),
		"gpu_mem_limit":             fmt.Sprint(weights + g.limit), // ONNX Runtime's limit includes weights
		"arena_extend_strategy":     "kSameAsRequested",
		"do_copy_in_default_stream": "1",
		"use_tf32":                  "0", // off, because single precision is the reference
	}
	return s
}

func (g *gpu) Close() error {
	g.operators.Close()
	var errs []error
	if g.module != nil {
		errs = append(errs, g.module.Close())
	}
	if g.Device != nil {
		errs = append(errs, g.Device.Close())
	}
	return errors.Join(errs...)
}
