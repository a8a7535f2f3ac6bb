//go:build unix

package mapping

// #cgo CFLAGS: -O2 -std=gnu11 -Wall
// #cgo LDFLAGS: -lpthread
// #include "guard.h"
import "C"

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func mapFile(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

func unmap(b []byte) {
	_ = unix.Munmap(b) // fails only for memory that is not mapped
}

// Reserve returns n zeroed bytes outside Go's heap, whose pages take memory at their first use. The caller must release them.
func Reserve(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
}

// Release gives reserved memory back to the system. The memory must not be used afterwards.
func Release(b []byte) { unmap(b) }

// guard keeps the process alive if a mapping cannot be read.
type guard struct{ c *C.Guard }

func (g *guard) begin(b []byte) error {
	if g.c = C.guard_begin(unsafe.Pointer(unsafe.SliceData(b)), C.size_t(len(b))); g.c == nil {
		return errors.New("faults of its disk could not be handled")
	}
	return nil
}

func (g *guard) spoiled() bool { return C.guard_spoiled(g.c) != 0 }

func (g *guard) end() {
	if g.c != nil {
		C.guard_end(g.c)
	}
}
