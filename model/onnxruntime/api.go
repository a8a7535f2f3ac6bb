// Package onnxruntime is what both backends need of ONNX Runtime's C API: its errors, sessions
// with operators of our own whose loading can be interrupted, inputs and outputs that are bound
// to memory of the host or of a device, and in include/ the headers.
//
// The headers are those of onnxruntime_go's module, which a test compares. A package can
// only name folders of its own module to the C compiler, and `go build` has no step that
// could tell it where another one lies, so there has to be a copy.
package onnxruntime

// #cgo CFLAGS: -O2 -std=gnu11 -Wall -I${SRCDIR}/include
// #cgo LDFLAGS: -ldl
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
	// Fault makes an error of what ONNX Runtime says; nil is errors.New.
	Fault func(message string) error

	c   *C.OrtApi
	env *C.OrtEnv // one for the process
}

// Load loads ONNX Runtime's shared library from a path, where it may be loaded already.
// It is never unloaded, and tells nobody what it is used for. The caller closes the API after all that
// was made with it.
func Load(library string) (*API, error) {
	if _, err := os.Stat(library); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("ONNX Runtime's library is not at %s: run `make runtime` or set ONNXRUNTIME_LIB to the path of libonnxruntime.so", library)
	}
	// Published builds, from 1.30 on at the latest, report how they are used to their makers otherwise.
	if err := os.Setenv("ORT_DISABLE_TELEMETRY", "1"); err != nil {
		return nil, err
	}
	path := C.CString(library)
	defer C.free(unsafe.Pointer(path))
	var version, message *C.char
	api := C.load(path, &version, &message)
	if api == nil {
		return nil, fmt.Errorf("%s cannot be used as ONNX Runtime (version 1.24 or newer is needed): %s", library, C.GoString(message))
	}
	a := &API{Version: C.GoString(version), c: api}
	if err := a.check(C.new_env(api, &a.env)); err != nil {
		return nil, fmt.Errorf("%s cannot be used as ONNX Runtime: %w", library, err)
	}
	return a, nil
}

// Close releases ONNX Runtime.
func (a *API) Close() { C.release_env(a.c, a.env) }

// Pointer is the *OrtApi, for the C code of other packages.
func (a *API) Pointer() unsafe.Pointer { return unsafe.Pointer(a.c) }

// Err turns an *OrtStatus into an error and releases it.
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
