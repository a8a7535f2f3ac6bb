// Package driver is the part of CUDA's driver interface that a model on a GPU needs beside ONNX Runtime: devices, memory, copies,
// a stream, and graphs of the work on it.
//
// The driver is loaded at run time, so programs with this package build and start without it.
package driver

// #cgo CFLAGS: -I${SRCDIR}/../../onnxruntime/include
// #cgo unix LDFLAGS: -ldl
// #include <stdlib.h>
// #include "driver.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"
)

// DefaultLibrary is the driver's name on Linux. This library is part of the driver, not of the CUDA toolkit; in a container it is
// mounted by NVIDIA's container toolkit.
const DefaultLibrary = "libcuda.so.1"

var (
	// ErrNoDriver means that this machine has no working CUDA driver.
	ErrNoDriver = errors.New("no CUDA driver")
	// ErrNoDevice means that the driver has no device with the number.
	ErrNoDevice = errors.New("no such CUDA device")
	// ErrMemory means that a device has not enough free memory.
	ErrMemory = errors.New("out of device memory")
	// ErrLost means that a device has failed, by a fault of a kernel or of its own: no further call for the device works in this
	// process.
	ErrLost = errors.New("the device is lost")
)

// Driver is the loaded driver. It is safe for concurrent use.
type Driver struct {
	c       *C.Driver
	version int
}

// Load loads the driver. It fails with an error that wraps ErrNoDriver.
func Load(library string) (*Driver, error) {
	path := C.CString(library)
	defer C.free(unsafe.Pointer(path))
	d := &Driver{c: (*C.Driver)(C.calloc(1, C.sizeof_Driver))} // never freed, because the library is never unloaded
	if message := C.dragoman_cuda_load(d.c, path); message != nil {
		return nil, fmt.Errorf("%w: %s: install NVIDIA's driver, and in a container its container toolkit", ErrNoDriver, C.GoString(message))
	}
	if err := d.check("initialize", C.dragoman_cuda_init(d.c)); err != nil {
		return nil, fmt.Errorf("%w: %w: is a GPU there, and visible (nvidia-smi, CUDA_VISIBLE_DEVICES)?", ErrNoDriver, err)
	}
	var version C.int
	if err := d.check("ask for the version", C.dragoman_cuda_version(d.c, &version)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDriver, err)
	}
	d.version = int(version)
	return d, nil
}

// Version returns the newest CUDA version that the driver supports, such as "12.4".
func (d *Driver) Version() string { return fmt.Sprintf("%d.%d", d.version/1000, d.version%1000/10) }

// Devices returns the number of available devices, subject to CUDA_VISIBLE_DEVICES.
func (d *Driver) Devices() (int, error) {
	var n C.int
	err := d.check("count devices", C.dragoman_cuda_count(d.c, &n))
	return int(n), err
}

// Launch returns the driver's cuLaunchKernel, for C code.
func (d *Driver) Launch() unsafe.Pointer { return unsafe.Pointer(d.c.cuLaunchKernel) }

// Error is a failed call of the driver.
type Error struct {
	Doing string
	Code  int
	Name  string // such as CUDA_ERROR_OUT_OF_MEMORY
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%d)", e.Doing, e.Name, e.Code) }

// Is reports whether the error is ErrMemory or ErrLost.
func (e *Error) Is(target error) bool {
	switch target { // the numbers are from cuda.h
	case ErrMemory:
		return e.Code == 2
	case ErrLost: // memory faults, NVLink and contained errors, kernel faults, unknown errors
		return slices.Contains([]int{214, 220, 226, 999}, e.Code) || 700 <= e.Code && e.Code <= 799
	}
	return false
}

func (d *Driver) check(doing string, code C.int) error {
	if code == 0 {
		return nil
	}
	return &Error{Doing: doing, Code: int(code), Name: C.GoString(C.dragoman_cuda_error(d.c, code))}
}

// Device is an open device, with its own stream on which all copies and graphs run in order. All methods except Info must be
// called on the OS thread that called Open.
type Device struct {
	driver *Driver
	info   Info
	handle C.int
	stream unsafe.Pointer
}

// Info describes a device.
type Info struct {
	Number       int // among the visible devices
	Name         string
	Major, Minor int // compute capability
	Memory       int64
}

// Open opens a device on the calling OS thread, which the caller must have locked. The caller must close it on that thread.
func (d *Driver) Open(number int) (_ *Device, err error) {
	count, err := d.Devices()
	if err != nil {
		return nil, err
	}
	if number < 0 || number >= count {
		return nil, fmt.Errorf("%w: %d is wanted, there are %d", ErrNoDevice, number, count)
	}
	dev := &Device{driver: d, info: Info{Number: number}}
	var name [256]C.char
	var major, minor C.int
	if err := d.check("describe the device", C.dragoman_cuda_device(d.c, C.int(number), &dev.handle, &name[0], C.int(len(name)),
		&major, &minor)); err != nil {
		return nil, err
	}
	dev.info.Name, dev.info.Major, dev.info.Minor = C.GoString(&name[0]), int(major), int(minor)
	var context unsafe.Pointer
	if err := d.check("use the device", C.dragoman_cuda_retain(d.c, dev.handle, &context)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dev.Close())
		}
	}()
	if err := d.check("use the device", C.dragoman_cuda_use(d.c, context)); err != nil {
		return nil, err
	}
	if _, dev.info.Memory, err = dev.Memory(); err != nil {
		return nil, err
	}
	return dev, d.check("make a stream", C.dragoman_cuda_stream(d.c, &dev.stream))
}

// Info returns the description of the device.
func (d *Device) Info() Info { return d.info }

// Stream returns the device's CUstream.
func (d *Device) Stream() unsafe.Pointer { return d.stream }

// Memory returns the free and the total bytes of the device.
func (d *Device) Memory() (free, total int64, err error) {
	var f, t C.size_t
	err = d.driver.check("ask for free memory", C.dragoman_cuda_memory(d.driver.c, &f, &t))
	return int64(f), int64(t), err
}

// Alloc reserves n zeroed bytes on the device. It fails with ErrMemory if there is not enough memory.
func (d *Device) Alloc(n int64) (unsafe.Pointer, error) {
	var p C.CUdeviceptr
	if err := d.driver.check(fmt.Sprintf("reserve %d bytes", n), C.dragoman_cuda_alloc(d.driver.c, &p, C.size_t(n))); err != nil {
		return nil, err
	}
	address := *(*unsafe.Pointer)(unsafe.Pointer(&p)) // an address on the device: never dereferenced here
	return address, d.Zero(address, n)
}

// Free frees memory. All work that uses it must be finished, see Wait.
func (d *Device) Free(p unsafe.Pointer) error {
	return d.driver.check("free memory", C.dragoman_cuda_free(d.driver.c, address(p)))
}

// AllocHost reserves n bytes of page-locked memory of the host, with which copies to and from the device are fastest.
func (d *Device) AllocHost(n int64) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	err := d.driver.check(fmt.Sprintf("reserve %d bytes of page-locked memory", n), C.dragoman_cuda_host_alloc(d.driver.c, &p, C.size_t(n)))
	return p, err
}

// FreeHost frees page-locked memory.
func (d *Device) FreeHost(p unsafe.Pointer) error {
	return d.driver.check("free page-locked memory", C.dragoman_cuda_host_free(d.driver.c, p))
}

// Upload starts a copy of n bytes to the device. The source must not change until Wait.
func (d *Device) Upload(to, from unsafe.Pointer, n int64) error {
	return d.driver.check("copy to the device", C.dragoman_cuda_upload(d.driver.c, address(to), from, C.size_t(n), d.stream))
}

// Download starts a copy of n bytes from the device. The bytes are complete after Wait.
func (d *Device) Download(to, from unsafe.Pointer, n int64) error {
	return d.driver.check("copy from the device", C.dragoman_cuda_download(d.driver.c, to, address(from), C.size_t(n), d.stream))
}

// Zero starts zeroing n bytes on the device.
func (d *Device) Zero(p unsafe.Pointer, n int64) error {
	return d.driver.check("zero memory", C.dragoman_cuda_zero(d.driver.c, address(p), C.size_t(n), d.stream))
}

// Wait waits for all work started on the stream. It returns the errors of kernels.
func (d *Device) Wait() error {
	return d.driver.check("wait for the device", C.dragoman_cuda_wait(d.driver.c, d.stream))
}

// Close releases the device.
func (d *Device) Close() error {
	var errs []error
	if d.stream != nil {
		errs = append(errs, d.driver.check("release the stream", C.dragoman_cuda_stream_free(d.driver.c, d.stream)))
		d.stream = nil
	}
	errs = append(errs, d.driver.check("release the device", C.dragoman_cuda_release(d.driver.c, d.handle)))
	runtime.KeepAlive(d.driver)
	return errors.Join(errs...)
}

func address(p unsafe.Pointer) C.CUdeviceptr { return C.CUdeviceptr(uintptr(p)) }
