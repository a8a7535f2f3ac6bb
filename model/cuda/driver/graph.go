package driver

// #include <stdlib.h>
// #include "driver.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// Recording is recorded work, to be launched repeatedly.
type Recording interface {
	Launch() error
	Close() error
}

// Graph is a device's recording.
type Graph struct {
	device *Device
	exec   unsafe.Pointer
}

// Record records the work that f starts on the stream, without executing it. The graph keeps the addresses used by f. After an
// error the stream is as before.
func (d *Device) Record(f func() error) (Recording, error) {
	if err := d.driver.check("begin to record", C.dragoman_cuda_begin_capture(d.driver.c, d.stream)); err != nil {
		return nil, err
	}
	err := f()
	var exec unsafe.Pointer
	end := d.driver.check("record", C.dragoman_cuda_end_capture(d.driver.c, d.stream, &exec))
	if err == nil && end == nil {
		return &Graph{d, exec}, nil
	}
	if exec != nil {
		end = errors.Join(end, (&Graph{d, exec}).Close())
	}
	return nil, errors.Join(err, end)
}

// Launch starts the recorded work.
func (g *Graph) Launch() error {
	return g.device.driver.check("launch a graph", C.dragoman_cuda_graph_launch(g.device.driver.c, g.exec, g.device.stream))
}

// Close releases the graph.
func (g *Graph) Close() error {
	return g.device.driver.check("release a graph", C.dragoman_cuda_graph_free(g.device.driver.c, g.exec))
}

// Module has kernels on a device.
type Module struct {
	device *Device
	handle unsafe.Pointer
}

// LoadModule compiles kernels for the device and loads them.
func (d *Device) LoadModule(ptx []byte) (*Module, error) {
	text := C.CBytes(append(ptx[:len(ptx):len(ptx)], 0))
	defer C.free(text)
	m := &Module{device: d}
	err := d.driver.check("translate the kernels", C.dragoman_cuda_module(d.driver.c, text, &m.handle))
	if err != nil {
		return nil, fmt.Errorf("%w: the kernels need compute capability 7.0 and a driver for CUDA 12.4, this is %s (%d.%d) with CUDA %s",
			err, d.info.Name, d.info.Major, d.info.Minor, d.driver.Version())
	}
	return m, nil
}

// Functions returns kernels by their names.
func (m *Module) Functions(names []string) ([]unsafe.Pointer, error) {
	functions := make([]unsafe.Pointer, len(names))
	for i, name := range names {
		c := C.CString(name)
		err := m.device.driver.check("find kernel "+name, C.dragoman_cuda_function(m.device.driver.c, m.handle, c, &functions[i]))
		C.free(unsafe.Pointer(c))
		if err != nil {
			return nil, err
		}
	}
	return functions, nil
}

// Close unloads the kernels.
func (m *Module) Close() error {
	return m.device.driver.check("unload the kernels", C.dragoman_cuda_module_free(m.device.driver.c, m.handle))
}
