// Package onnxruntime wraps the parts of ONNX Runtime's C API that both backends need: errors, sessions with custom operators
// whose loading can be interrupted, inputs and outputs bound to memory of the host or of a device, and in include/ the headers.
//
// The headers are those of onnxruntime_go's module; a test compares them. A package can name only folders of its own module to
// the C compiler, and `go build` cannot tell it the path of another module, so a copy is needed.
package onnxruntime

// #cgo CFLAGS: -O2 -std=gnu11 -Wall -I${SRCDIR}/include
// #cgo unix LDFLAGS: -ldl
// #include <stdlib.h>
// #include "api.h"
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unsafe"
)

// API is the C API. It is safe for concurrent use.
type API struct {
	Version string // of ONNX Runtime
	// Fault converts a message of ONNX Runtime to an error; nil: errors.New.
	Fault func(message string) error

	c   *C.OrtApi
	env *C.OrtEnv // one per process
}

// Load loads ONNX Runtime's shared library from a path, unless it is loaded already. Load disables the library's telemetry. The
// library is never unloaded. The caller must close the API after everything made with it.
func Load(library string) (*API, error) {
	if _, err := os.Stat(library); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("ONNX Runtime's library is not at %s: run `make runtime` or set ONNXRUNTIME_LIB to the path of libonnxruntime.so", library)
	}
	// Without this, published builds, from 1.30 on at the latest, send usage data to their makers.
	if err := os.Setenv("ORT_DISABLE_TELEMETRY", "1"); err != nil {
		return nil, err
	}
	a := &API{}
	if err := a.open(library); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// open finds the C API of a library and creates its environment, of which a process has one: all uses share it.
func (a *API) open(library string) error {
	path := C.CString(library)
	defer C.free(unsafe.Pointer(path))
	var version, message *C.char
	if a.c = C.load(path, &version, &message); a.c == nil {
		return fmt.Errorf("%s cannot be used as ONNX Runtime (version 1.24 or newer is needed): %s", library, C.GoString(message))
	}
	a.Version = C.GoString(version)
	if err := a.check(C.new_env(a.c, &a.env)); err != nil {
		return fmt.Errorf("%s cannot be used as ONNX Runtime: %w", library, err)
	}
	return nil
}

// Close releases ONNX Runtime.
func (a *API) Close() {
	if a.env != nil {
		C.release_env(a.c, a.env)
	}
}

// Pointer returns the *OrtApi, for C code of other packages.
func (a *API) Pointer() unsafe.Pointer { return unsafe.Pointer(a.c) }

// Err converts an *OrtStatus to an error and releases it.
func (a *API) Err(status unsafe.Pointer) error {
	if status == nil {
		return nil
	}
	s := (*C.OrtStatus)(status)
	defer C.release(a.c, s)
	message := C.GoString(C.message(a.c, s))
	if a.Fault != nil {
		return a.Fault(message)
	}
	return errors.New(message)
}

func (a *API) check(status *C.OrtStatus) error { return a.Err(unsafe.Pointer(status)) }
