package cuda

// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"dragoman/model/cuda/driver"
	"dragoman/model/cuda/kernels"
	"dragoman/model/onnxruntime"
)

// machine is a device with what runs on it. Its methods are called on the model's
// thread.
type machine interface {
	// alloc reserves zeroed memory of the device; it fails with ErrMemory.
	alloc(n int64) (unsafe.Pointer, error)
	free(p unsafe.Pointer) error
	// allocHost reserves memory of the host that copies are fast with.
	allocHost(n int64) (unsafe.Pointer, error)
	freeHost(p unsafe.Pointer) error
	// available is how much memory there is to reserve; -1 is as much as wanted.
	available() (int64, error)

	// upload, download and run happen in order; wait waits for all of it.
	upload(to, from unsafe.Pointer, n int64) error
	download(to, from unsafe.Pointer, n int64) error
	wait() error
	// record records what f starts.
	record(f func() error) (recording, error)

	// session completes how sessions on this machine run, whose weights have so many bytes.
	session(s onnxruntime.Setup, weights int64) onnxruntime.Setup
	String() string
	close() error
}

// recording is work that was recorded.
type recording interface {
	Launch() error
	Close() error
}

// gpu is a CUDA device.
type gpu struct {
	device    *driver.Device
	module    *driver.Module
	operators *kernels.Operators
	limit     int64 // bytes of activations
	title     string
}

// openGPU makes a CUDA device ready. Errors wrap ErrUnavailable.
func openGPU(a *onnxruntime.API, opts Options) (_ *gpu, err error) {
	g := &gpu{limit: opts.Activations}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%w: %w", ErrUnavailable, err), g.close())
		}
	}()
	d, err := driver.Load(opts.driver)
	if err != nil {
		return g, err
	}
	if g.device, err = d.Open(opts.Number); err != nil {
		return g, err
	}
	info := g.device.Info()
	g.title = fmt.Sprintf("GPU %d (%s, compute capability %d.%d, %d MiB, driver for CUDA %s)",
		info.Number, info.Name, info.Major, info.Minor, info.Memory>>20, d.Version())
	if g.module, err = g.device.LoadModule(kernels.PTX); err != nil {
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

func (g *gpu) alloc(n int64) (unsafe.Pointer, error) {
	p, err := g.device.Alloc(n)
	if errors.Is(err, driver.ErrMemory) {
		return nil, fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return p, err
}

func (g *gpu) free(p unsafe.Pointer) error                     { return g.device.Free(p) }
func (g *gpu) allocHost(n int64) (unsafe.Pointer, error)       { return g.device.AllocHost(n) }
func (g *gpu) freeHost(p unsafe.Pointer) error                 { return g.device.FreeHost(p) }
func (g *gpu) upload(to, from unsafe.Pointer, n int64) error   { return g.device.Upload(to, from, n) }
func (g *gpu) download(to, from unsafe.Pointer, n int64) error { return g.device.Download(to, from, n) }
func (g *gpu) wait() error                                     { return g.device.Wait() }

func (g *gpu) available() (int64, error) {
	free, _, err := g.device.Memory()
	return free, err
}

func (g *gpu) record(f func() error) (recording, error) {
	graph, err := g.device.Record(f)
	if err != nil {
		return nil, err // not graph: a nil pointer in an interface is not nil
	}
	return graph, nil
}

func (g *gpu) session(s onnxruntime.Setup, weights int64) onnxruntime.Setup {
	s.Domain, s.Stream, s.Memory, s.Number = g.operators.Domain(), g.device.Stream(), "Cuda", g.device.Info().Number
	s.Config["session.disable_cpu_ep_fallback"] = "1"
	s.Provider = map[string]string{
		"device_id":                 fmt.Sprint(s.Number),
		"gpu_mem_limit":             fmt.Sprint(weights + g.limit), // weights count
		"arena_extend_strategy":     "kSameAsRequested",
		"do_copy_in_default_stream": "1",
		"use_tf32":                  "0", // single precision is the reference
	}
	return s
}

func (g *gpu) close() error {
	g.operators.Close()
	var errs []error
	if g.module != nil {
		errs = append(errs, g.module.Close())
	}
	if g.device != nil {
		errs = append(errs, g.device.Close())
	}
	return errors.Join(errs...)
}

// host is the CPU. Copies and runs are done at once.
type host struct{ operators *kernels.Operators }

func openHost(a *onnxruntime.API) (*host, error) {
	operators, err := kernels.Host(a.Pointer())
	if err != nil {
		return nil, err
	}
	return &host{operators}, nil
}

func (h *host) String() string { return "the CPU" }

func (h *host) alloc(n int64) (unsafe.Pointer, error) {
	p, err := C.calloc(C.size_t(max(n, 1)), 1)
	if p == nil {
		return nil, fmt.Errorf("%w: reserve %d bytes: %w", ErrMemory, n, err)
	}
	return p, nil
}

func (h *host) free(p unsafe.Pointer) error {
	C.free(p)
	return nil
}

func (h *host) allocHost(n int64) (unsafe.Pointer, error) { return h.alloc(n) }
func (h *host) freeHost(p unsafe.Pointer) error           { return h.free(p) }
func (h *host) available() (int64, error)                 { return -1, nil }
func (h *host) wait() error                               { return nil }

func (h *host) upload(to, from unsafe.Pointer, n int64) error {
	copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n))
	return nil
}

func (h *host) download(to, from unsafe.Pointer, n int64) error { return h.upload(to, from, n) }

// record keeps f: there is nothing to record work on a CPU with.
func (h *host) record(f func() error) (recording, error) { return repeat(f), nil }

func (h *host) session(s onnxruntime.Setup, _ int64) onnxruntime.Setup {
	s.Domain = h.operators.Domain()
	return s
}

func (h *host) close() error {
	h.operators.Close()
	return nil
}

// repeat is work that is done over again each time.
type repeat func() error

func (r repeat) Launch() error { return r() }
func (r repeat) Close() error  { return nil }
