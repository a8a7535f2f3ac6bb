package cuda

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"dragoman/model/cuda/driver"
	"dragoman/model/onnxruntime"
)

// providerLibrary is ONNX Runtime's CUDA provider, which ONNX Runtime loads from its own folder.
const providerLibrary = "libonnxruntime_providers_cuda.so"

// Runtime is ONNX Runtime for models on devices. It is safe for concurrent use.
type Runtime struct {
	api     *onnxruntime.API
	library string
	// sessions is locked while sessions are made and closed: the first session changes a table of the process, and making or
	// closing one waits for all work of its device, which breaks another model's recording there. Recordings hold the lock for
	// reading.
	sessions sync.RWMutex
}

// Load loads ONNX Runtime's shared library from a path. If package model/cpu has loaded ONNX Runtime too, both use the same
// library. The caller must close the Runtime after every model opened with it.
func Load(library string) (*Runtime, error) {
	a, err := onnxruntime.Load(library)
	if err != nil {
		return nil, err
	}
	a.Fault = fault
	return &Runtime{api: a, library: library}, nil
}

// Version returns ONNX Runtime's version.
func (r *Runtime) Version() string { return r.api.Version }

// Devices returns the number of CUDA devices on which models can be opened. If there is no device, it fails with an error that
// wraps ErrUnavailable and names the missing part.
func (r *Runtime) Devices() (int, error) {
	if err := r.checkProvider(); err != nil {
		return 0, err
	}
	d, err := driver.Load(driver.DefaultLibrary)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	n, err := d.Devices()
	if err == nil && n == 0 {
		err = driver.ErrNoDevice
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return n, nil
}

// Memory returns the free and the total bytes of a device. It fails with an error that wraps ErrUnavailable if the device cannot
// be used.
func (r *Runtime) Memory(number int) (free, total int64, err error) {
	if err := r.checkProvider(); err != nil {
		return 0, 0, err
	}
	return memoryOf(driver.DefaultLibrary, number)
}

// memoryOf queries a driver, on a thread of its own, because the driver keeps a context per thread.
func memoryOf(library string, number int) (free, total int64, err error) {
	t := newThread()
	defer t.stop()
	err = t.do(func() error {
		d, err := driver.Load(library)
		if err != nil {
			return err
		}
		device, err := d.Open(number)
		if err != nil {
			return err
		}
		free, total, err = device.Memory()
		return errors.Join(err, device.Close())
	})
	if err != nil {
		return 0, 0, fmt.Errorf("%w: GPU %d: %w", ErrUnavailable, number, err)
	}
	return free, total, nil
}

// checkProvider returns an error if this ONNX Runtime is one without CUDA.
func (r *Runtime) checkProvider() error {
	path := filepath.Join(filepath.Dir(r.library), providerLibrary)
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%w: %w: %s is not there: %s is ONNX Runtime for CPUs; set ONNXRUNTIME_LIB to a build for CUDA",
			ErrUnavailable, ErrNoProvider, path, r.library)
	}
	return nil
}

// newSetup returns the common setup of sessions on all machines.
func newSetup(path string) onnxruntime.Setup {
	return onnxruntime.Setup{Path: path, Threads: 1, Config: map[string]string{
		"session.intra_op.allow_spinning": "0",
		// With this, weights take exactly their size, without the growth of the arena.
		"session.use_device_allocator_for_initializers": "1",
	}}
}

// newSession loads a graph. It fails with ErrNoProvider if the provider fails.
func (r *Runtime) newSession(ctx context.Context, s onnxruntime.Setup) (*onnxruntime.Session, error) {
	out, err := r.api.NewSession(ctx, s)
	if errors.Is(err, ErrNoProvider) {
		return nil, fmt.Errorf("%w: %w: it needs the libraries of the CUDA version that it was built for, in LD_LIBRARY_PATH or the system's folders",
			ErrUnavailable, err)
	}
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", s.Path, err)
	}
	return out, nil
}

// open opens a device, on the thread that will use it.
func (r *Runtime) open(opts Options) (Machine, error) {
	if opts.Machine != nil {
		return opts.Machine, nil
	}
	if err := r.checkProvider(); err != nil {
		return nil, err
	}
	opts.driver = cmp.Or(opts.driver, driver.DefaultLibrary)
	g, err := openGPU(r.api, opts)
	if err != nil {
		return nil, err
	}
	return g, nil
}

// Close releases ONNX Runtime.
func (r *Runtime) Close() error {
	r.api.Close()
	return nil
}
