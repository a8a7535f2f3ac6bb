// Package pool is the memory of ONNX Runtime's sessions, which all of them share.
//
// ONNX Runtime gives each session an arena that grows to what its largest run took and
// keeps that: with many models, most of which are idle, each holds what none needs. Here
// freed memory is kept for the next one who asks, of whatever session, as long as
// somebody is running one; then the system has it back.
package pool

// #cgo CFLAGS: -O2 -std=gnu11 -Wall -I${SRCDIR}/../../onnxruntime/include
// #cgo LDFLAGS: -lpthread
// #include "pool.h"
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"dragoman/model/onnxruntime"
)

// Pool is the memory of all sessions that are made with the option "1" of
// session.use_env_allocators. It is safe for concurrent use.
type Pool struct {
	api *onnxruntime.API
	c   *C.Pool
}

// New makes the pool. There can be one at a time in a process, whose ONNX Runtime has
// been initialized. The caller closes it after all sessions that use it.
func New(api *onnxruntime.API) (*Pool, error) {
	p := &Pool{api: api}
	if err := api.Err(unsafe.Pointer(C.pool_new(p.ort(), &p.c))); err != nil {
		return nil, fmt.Errorf("make the sessions' memory: %w", err)
	}
	return p, nil
}

// Enter says that freed memory is worth keeping from now on, until as many calls of Leave.
func (p *Pool) Enter() { C.pool_enter(p.c) }

// Leave takes back one call of Enter.
func (p *Pool) Leave() { C.pool_leave(p.c) }

// Kept is how many bytes of freed memory are kept.
func (p *Pool) Kept() int64 { return int64(C.pool_kept(p.c)) }

// Taken is how many bytes the sessions that make makes hold afterwards.
func Taken(make func() error) (int64, error) {
	// ONNX Runtime takes a session's memory on the thread that makes it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := C.pool_taken()
	err := make()
	return int64(C.pool_taken() - before), err
}

// Close releases the pool. Closing twice does nothing.
func (p *Pool) Close() error {
	if p.c == nil {
		return nil
	}
	err := p.api.Err(unsafe.Pointer(C.pool_close(p.ort(), p.c)))
	p.c = nil
	return err
}

func (p *Pool) ort() *C.OrtApi { return (*C.OrtApi)(p.api.Pointer()) }
