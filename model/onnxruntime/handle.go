package onnxruntime

import (
	"fmt"
	"reflect"
	"unsafe"

	ort "github.com/yalue/onnxruntime_go"
)

// Handle is the *OrtSessionOptions inside of onnxruntime_go's options, which is their
// only field and not exported. The C API takes it for what onnxruntime_go has no call
// for: operators that are not in a library of their own (AddCustomOpDomain), and ending
// the loading of a session (SessionOptionsSetLoadCancellationFlag). It lives as long as
// the options. A version of onnxruntime_go in which options are anything else but one
// pointer is an error here, not a crash later.
func Handle(options *ort.SessionOptions) (unsafe.Pointer, error) {
	t := reflect.TypeOf(*options)
	if t.NumField() != 1 || t.Field(0).Type.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("onnxruntime_go's SessionOptions have changed: %d fields, one pointer was expected", t.NumField())
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(options)), nil
}
