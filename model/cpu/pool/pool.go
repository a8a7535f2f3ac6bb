// Package pool is the memory shared by all sessions of ONNX Runtime.
//
// ONNX Runtime gives each session an arena that grows to the memory of its largest run and keeps it: with many models, most of
// them idle, each would hold unused memory. Here freed memory is kept for the next request of any session as long as some session
// is in use; after that it returns to the system.
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

// Pool is the memory of all sessions made with the option "1" of session.use_env_allocators. It is safe for concurrent use.
type Pool struct {
	api *onnxruntime.API
	c   *C.Pool
}

// New returns the pool. A process, in which ONNX Runtime must be initialized, can have one at a time. The caller must close it
// after all sessions that use it.
func New(api *onnxruntime.API) (*Pool, error) {
	p := &Pool{api: api}
	if err := api.Err(unsafe.Pointer(C.pool_new(p.ort(), &p.c))); err != nil {
		return nil, fmt.Errorf("make the sessions' memory: %w", err)
	}
	return p, nil
}

// Enter makes the pool keep freed memory, until Leave was called as many times as Enter.
func (p *Pool) Enter() { C.pool_enter(p.c) }

// Leave ends one call of Enter.
func (p *Pool) Leave() { C.pool_leave(p.c) }

// Kept returns the bytes of freed memory that are kept.
func (p *Pool) Kept() int64 { return int64(C.pool_kept(p.c)) }

// Taken returns the bytes held by the sessions that make creates.
func Taken(make func() error) (int64, error) {
	// ONNX Runtime allocates a session's memory on the thread that makes it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := C.pool_taken()
	err := make()
	return int64(C.pool_taken() - before), err
}

// Close releases the pool. A second call does nothing.
func (p *Pool) Close() error {
	if p.c == nil {
		return nil
	}
	err := p.api.Err(unsafe.Pointer(C.pool_close(p.ort(), p.c)))
	p.c = nil
	return err
}

func (p *Pool) ort() *C.OrtApi { return (*C.OrtApi)(p.api.Pointer()) }
