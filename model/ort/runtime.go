// Package ort runs exported models on ONNX Runtime. It is the only package that
// uses cgo.
//
// [Load] loads ONNX Runtime's library, [Runtime.Open] an exported folder. The
// state of sentences that decode together is a batch: see [model.Batch].
package ort

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model/ort/ops"
)

// Runtime is ONNX Runtime, loaded. A process can hold one at a time.
type Runtime struct{ operators *ops.Operators }

// Load loads ONNX Runtime's shared library from a path. The caller closes the
// Runtime after everything that was opened with it.
func Load(library string) (*Runtime, error) {
	if _, err := os.Stat(library); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("ONNX Runtime's library is not at %s: run `make runtime` or set ONNXRUNTIME_LIB to the path of libonnxruntime.so", library)
	}
	ort.SetSharedLibraryPath(library)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return nil, fmt.Errorf("%s cannot be used as ONNX Runtime (version 1.24 or newer is needed): %w", library, err)
	}
	operators, err := ops.Load(library)
	if err != nil {
		return nil, errors.Join(err, ort.DestroyEnvironment())
	}
	return &Runtime{operators}, nil
}

// Version is ONNX Runtime's version.
func (r *Runtime) Version() string { return ort.GetVersion() }

// Close unloads ONNX Runtime.
func (r *Runtime) Close() error {
	r.operators.Close()
	return ort.DestroyEnvironment()
}
