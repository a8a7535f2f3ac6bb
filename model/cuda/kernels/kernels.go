// Package kernels has the operators between the matrix products of a model on a GPU: CUDA kernels, as operators for ONNX
// Runtime's CUDA provider.
//
// ONNX Runtime's own operators would do, but a decoder layer made of them takes some 28 kernels, several of which only move
// numbers, and the time of a batch's step depends on the number of kernels launched. Here a layer takes 12 kernels. None of ONNX
// Runtime's attention kernels reads a KV cache through a beam's history, so beams that change places would have to be copied; and
// its TopK takes milliseconds for a vocabulary.
//
// The source (rows.h, attention.h and candidates.h, in the language of warp.h) is both C and CUDA. kernels.ptx is the output of
// NVIDIA's compiler, which the driver translates for the card; kernels.ptx is part of the program, so neither a compiler nor a
// CUDA library is needed to build or run. The same source, compiled as C, makes the operators of the CPU provider ([Host]) for
// tests, which thereby cover all of the arithmetic, the addressing and the passing of arguments.
//
// Every row and head is computed by one warp only from its own inputs, always in the same order, so its result does not depend on
// the rest of the batch.
package kernels

// #cgo CFLAGS: -O3 -std=gnu11 -Wall -I${SRCDIR}/../../onnxruntime/include
// #cgo LDFLAGS: -lm
// #include "ops.h"
import "C"

import (
	_ "embed"
	"errors"
	"fmt"
	"unsafe"
)

// PTX has the kernels for a GPU, as text that the CUDA driver compiles. The first line has the sha256 of the source.
//
//go:embed kernels.ptx
var PTX []byte

// Names returns the kernels' names in PTX, each kernel in half and then in single precision.
func Names() []string {
	var names []string
	for i := range C.KERNELS {
		name := C.GoString(C.dragoman_kernel_names[i])
		names = append(names, name+"_f16", name+"_f32")
	}
	return names
}

// Operators are the kernels as operators of one device.
type Operators struct{ family *C.Family }

// Host returns the operators of the CPU provider. api is the *OrtApi of ONNX Runtime. The caller must close the operators after
// every session that uses them.
func Host(api unsafe.Pointer) (*Operators, error) { return load(api, nil, nil) }

// CUDA returns the operators of the CUDA provider on one device. launch is the driver's cuLaunchKernel and functions are the
// kernels, in the order of Names, of a module of the device, which must outlive the operators.
func CUDA(api, launch unsafe.Pointer, functions []unsafe.Pointer) (*Operators, error) {
	if launch == nil || len(functions) != len(Names()) {
		return nil, fmt.Errorf("%d kernels are loaded: %d are needed", len(functions), len(Names()))
	}
	return load(api, launch, functions)
}

func load(api, launch unsafe.Pointer, functions []unsafe.Pointer) (*Operators, error) {
	o := &Operators{}
	status := C.dragoman_family((*C.OrtApi)(api), launch, (*unsafe.Pointer)(unsafe.SliceData(functions)), &o.family)
	if status != nil {
		return nil, errors.New("the device's operators cannot be made: out of memory")
	}
	return o, nil
}

// Domain returns the operators' OrtCustomOpDomain, for the options of sessions.
func (o *Operators) Domain() unsafe.Pointer {
	return unsafe.Pointer(C.dragoman_family_domain(o.family))
}

// Close releases the operators. Closing nil does nothing.
func (o *Operators) Close() {
	if o != nil && o.family != nil {
		C.dragoman_release_family(o.family)
		o.family = nil
	}
}
