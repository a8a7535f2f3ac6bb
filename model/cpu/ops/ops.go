// Package ops adds the operators of dragoman's graphs to ONNX Runtime, as the domain "dragoman".
//
// ONNX Runtime's own operators would do, but at 80 rows a decoder step then spends close to half of its time outside of matrix
// products: each product is followed by five passes over memory to scale, add, normalize and quantize, the KV cache is copied
// when beams change places, attention to padding is computed and masked, and log-probabilities of the whole vocabulary are
// written out to find the best ten. The operators here do each of these tasks in one pass and copy nothing. Each row and each
// sentence is computed only from its own numbers, so a translation does not depend on the rest of the batch.
//
// The arithmetic is in C (rows.h, attention.h, head.h), in the compiler's vector types: one source for AVX-512, AVX2, SSE and
// NEON. Matrix products read the exported panels of a matrix: of floats (product_float.h), or of 8-bit numbers, in code for each
// instruction set (product_int8.h). The files op_*.c describe the operators and check their inputs; call.h and ops.c connect them
// to ONNX Runtime's C API. The operators share their work among threads of their own (thread_pool.h), not ONNX Runtime's.
// Consecutive nodes of a graph run as one (chain.h).
package ops

// #cgo CFLAGS: -O3 -std=gnu11 -Wall -Wno-psabi -I${SRCDIR}/../../onnxruntime/include
// #cgo LDFLAGS: -lm -lpthread
// #include <stdlib.h>
// #include "ops.h"
import "C"

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// Operators are the operators for sessions. They are safe for concurrent use.
type Operators struct {
	api     *onnxruntime.API
	mu      sync.Mutex
	domains map[string]*C.Domain // by operator names and chain
}

// New returns the operators for the sessions of a library. The caller must close them after every session that uses them.
func New(api *onnxruntime.API) *Operators {
	return &Operators{api: api, domains: map[string]*C.Domain{}}
}

// Setup returns the setup of a session of a graph, in which threads threads, at least 1, share the work of each operator. These
// are threads of the operators, not of the session, which needs no threads. Consecutive nodes of the graph run as one, see
// chain.h. Unused operators would cost a session a quarter of a megabyte, so it has only those of its graph.
func (o *Operators) Setup(graph []byte, threads int) (onnxruntime.Setup, error) {
	setup := onnxruntime.Setup{Threads: 1, Config: map[string]string{C.THREADS: strconv.Itoa(threads)}}
	var chain onnx.Chain
	var err error
	if setup.Graph, chain, err = onnx.Fuse(graph, onnx.Dragoman); err != nil {
		return setup, err
	}
	names, err := onnx.Operators(setup.Graph, onnx.Dragoman)
	if err != nil || len(names) == 0 {
		return setup, err
	}
	domain, err := o.domain(names, chain)
	if err == nil {
		setup.Domain = unsafe.Pointer(domain.domain)
	}
	return setup, err
}

// domain returns the domain with the named operators and a chain. Each domain is made once.
func (o *Operators) domain(names []string, chain onnx.Chain) (*C.Domain, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := fmt.Sprint(names, chain)
	if domain := o.domains[key]; domain != nil {
		return domain, nil
	}
	text := C.CString(strings.Join(names, " ") + " ")
	defer C.free(unsafe.Pointer(text))
	program := C.Program{names: C.CString(strings.Join(chain.Operators, " ") + " "), nodes: C.int32_t(len(chain.Operators)),
		values: (*C.int32_t)(C.calloc(C.size_t(len(chain.Values)+1), C.sizeof_int32_t)), count: C.int32_t(len(chain.Values)),
		inputs: C.int32_t(chain.Inputs), outputs: C.int32_t(chain.Outputs), total: C.int32_t(chain.Total)}
	defer C.free(unsafe.Pointer(program.names))
	defer C.free(unsafe.Pointer(program.values))
	copy(unsafe.Slice((*int32)(program.values), len(chain.Values)), chain.Values)
	domain := (*C.Domain)(C.calloc(1, C.sizeof_Domain))
	if err := o.api.Err(unsafe.Pointer(C.dragoman_domain(o.c(), text, &program, domain))); err != nil {
		C.free(unsafe.Pointer(domain))
		return nil, fmt.Errorf("make the operators: %w", err)
	}
	o.domains[key] = domain
	return domain, nil
}

// Close releases the operators. A second call does nothing.
func (o *Operators) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.domains != nil {
		for _, domain := range o.domains {
			C.dragoman_release_domain(o.c(), domain)
			C.free(unsafe.Pointer(domain))
		}
		o.domains = nil
		C.dragoman_end()
	}
}

func (o *Operators) c() *C.OrtApi { return (*C.OrtApi)(o.api.Pointer()) }
