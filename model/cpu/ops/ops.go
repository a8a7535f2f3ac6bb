// Package ops adds the operators that dragoman's graphs are made of, beside
// matrix products, to ONNX Runtime: the domain "dragoman".
//
// ONNX Runtime's own operators would do, but at 80 rows a decoder step then spends
// close to half of its time outside of matrix products: each product is followed by
// five passes over memory to scale, add, normalize and quantize, the KV cache is
// copied when beams change places, attention to padding is computed and masked, and
// log-probabilities of the whole vocabulary are written out to find the best ten.
// The operators here do each of these in one pass and copy nothing. Each row and
// each sentence is computed from its own numbers alone, so a translation does not
// depend on what else is in the batch.
//
// The arithmetic is in C (rows.c, attention.c, head.c), in the compiler's vector
// types: one source for AVX-512, AVX2, SSE and NEON. The files op_*.c describe the
// operators and check what they are given; call.h and ops.c tie them to ONNX
// Runtime's C API, whose headers (MIT license) are in include/.
package ops

// #cgo CFLAGS: -O3 -std=gnu11 -Wall -Wno-psabi -I${SRCDIR}/include
// #cgo LDFLAGS: -ldl -lm
// #include <stdlib.h>
// #include "ops.h"
import "C"

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	ort "github.com/yalue/onnxruntime_go"
)

// Domain is the operators' name space in graphs.
const Domain = "dragoman"

// Operators are the operators, ready for sessions. They are safe for concurrent use.
type Operators struct {
	api    *C.OrtApi
	domain *C.OrtCustomOpDomain
}

// Load makes the operators for the ONNX Runtime whose shared library is at a path
// and loaded already. The caller closes them after every session that uses them.
func Load(library string) (*Operators, error) {
	path := C.CString(library)
	defer C.free(unsafe.Pointer(path))
	var message *C.char
	api := C.dragoman_api(path, &message)
	if api == nil {
		return nil, fmt.Errorf("%s cannot be used as ONNX Runtime: %s", library, C.GoString(message))
	}
	o := &Operators{api: api}
	if err := o.check(C.dragoman_domain(api, &o.domain)); err != nil {
		return nil, fmt.Errorf("make the operators: %w", err)
	}
	return o, nil
}

// Register makes the operators known to the sessions that options are used for.
func (o *Operators) Register(options *ort.SessionOptions) error {
	handle, err := sessionOptions(options)
	if err != nil {
		return err
	}
	if err := o.check(C.dragoman_add_domain(o.api, handle, o.domain)); err != nil {
		return fmt.Errorf("register the operators: %w", err)
	}
	return nil
}

// Cancel ends the loading of a session that options are being used for: it fails soon.
func (o *Operators) Cancel(options *ort.SessionOptions) error {
	handle, err := sessionOptions(options)
	if err != nil {
		return err
	}
	return o.check(C.dragoman_cancel(o.api, handle))
}

// Close releases the operators.
func (o *Operators) Close() {
	if o.domain != nil {
		C.dragoman_release_domain(o.api, o.domain)
		o.domain = nil
	}
}

// check turns a status into an error and releases it.
func (o *Operators) check(status *C.OrtStatus) error {
	if status == nil {
		return nil
	}
	defer C.dragoman_release_status(o.api, status)
	return errors.New(C.GoString(C.dragoman_message(o.api, status)))
}

// sessionOptions is the C handle inside of options, the only field that they have.
// onnxruntime_go has no call of its own for operators that are not in a library.
func sessionOptions(options *ort.SessionOptions) (*C.OrtSessionOptions, error) {
	t := reflect.TypeOf(*options)
	if t.NumField() != 1 || t.Field(0).Type.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("onnxruntime_go's SessionOptions have changed: %d fields, one pointer was expected", t.NumField())
	}
	return *(**C.OrtSessionOptions)(unsafe.Pointer(options)), nil
}
