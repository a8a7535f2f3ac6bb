package onnxruntime

// #include <stdlib.h>
// #include "constants.h"
import "C"

import (
	"fmt"
	"unsafe"

	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model/onnx"
)

// Constants are constants of graphs that lie in memory, not in the graph's files.
type Constants struct {
	api    *API
	values []*C.OrtValue
}

// AddConstants has the sessions that options are used for take weights from data, the
// file in which they lie, instead of reading it. data must stay where it is, outside of Go's
// heap, until the last of these sessions is destroyed. The caller closes the Constants once
// the sessions are made.
func (a *API) AddConstants(options *ort.SessionOptions, weights []onnx.Weight, data []byte) (*Constants, error) {
	handle, err := Handle(options)
	if err != nil {
		return nil, err
	}
	c := &Constants{api: a}
	for _, w := range weights {
		if w.Offset < 0 || w.Size <= 0 || w.Offset > int64(len(data))-w.Size {
			c.Close()
			return nil, fmt.Errorf("weight %s: bytes %d to %d of a file of %d", w.Name, w.Offset, w.Offset+w.Size, len(data))
		}
		if err := c.add(handle, w, data[w.Offset:w.Offset+w.Size]); err != nil {
			c.Close()
			return nil, fmt.Errorf("weight %s: %w", w.Name, err)
		}
	}
	return c, nil
}

func (c *Constants) add(options unsafe.Pointer, w onnx.Weight, data []byte) error {
	name := C.CString(w.Name)
	defer C.free(unsafe.Pointer(name))
	shape := make([]C.int64_t, len(w.Shape))
	for i, n := range w.Shape {
		shape[i] = C.int64_t(n)
	}
	var value *C.OrtValue
	err := c.api.Err(unsafe.Pointer(C.add_constant(c.api.c, (*C.OrtSessionOptions)(options), name, C.ONNXTensorElementDataType(w.Type),
		unsafe.SliceData(shape), C.size_t(len(shape)), unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data)), &value)))
	if value != nil {
		c.values = append(c.values, value)
	}
	return err
}

// Close releases what describes the constants, not their memory.
func (c *Constants) Close() {
	for _, v := range c.values {
		C.release_value(c.api.c, v)
	}
	c.values = nil
}
