// Package onnxruntime is what both backends need of ONNX Runtime's C API: the API itself,
// its errors, loading that can be interrupted, and in include/ the headers. The CPU's
// sessions are onnxruntime_go's; see [Handle] for what ties the two together.
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
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unsafe"
)

// API is the C API. It is safe for concurrent use.
type API struct {
	Version string // of ONNX Runtime
	c       *C.OrtApi
}

// Load loads ONNX Runtime's shared library from a path, where it may be loaded already.
// It is never unloaded, and tells nobody what it is used for.
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
	return &API{C.GoString(version), api}, nil
}

// Pointer is the *OrtApi, for the C code of other packages.
func (a *API) Pointer() unsafe.Pointer { return unsafe.Pointer(a.c) }

// Err turns an *OrtStatus into an error and releases it.
func (a *API) Err(status unsafe.Pointer) error {
	if status == nil {
		return nil
	}
	s := (*C.OrtStatus)(status)
	defer C.release(a.c, s)
	return errors.New(C.GoString(C.message(a.c, s)))
}

// Interruptible calls load, which makes a session with options, an *OrtSessionOptions.
// When ctx is done, load ends soon and the error is that of ctx, also where the session
// was made all the same: the caller releases it.
func (a *API) Interruptible(ctx context.Context, options unsafe.Pointer, load func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cancelled := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		cancelled <- a.Err(unsafe.Pointer(C.cancel(a.c, (*C.OrtSessionOptions)(options))))
	})
	err := load()
	if stop() {
		return err
	}
	return errors.Join(ctx.Err(), <-cancelled) // until this comes the options are in use
}
