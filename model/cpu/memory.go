package cpu

import (
	"fmt"
	"os"

	"dragoman/model/mapping"
)

// buffer is zeroed memory outside Go's heap. ONNX Runtime keeps pointers into
// it between calls, which cgo forbids for Go memory; and a large one goes back to
// the system when it is freed, not at some later collection.
type buffer []byte

// newBuffer reserves n bytes, which take memory when they are used first. The
// caller frees them.
func newBuffer(n int) (buffer, error) {
	b, err := mapping.Reserve(max(n, 1))
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes: %w", n, err)
	}
	return b, nil
}

// release gives the memory of the whole pages in bytes from to to-1 back to the
// system. What they hold then is not defined.
func (b buffer) release(from, to int) {
	page := os.Getpagesize()
	from, to = (from+page-1)/page*page, to/page*page
	if from < to {
		drop(b[from:to]) // the pages are mapped, and all that a failure costs is memory
	}
}

// free unmaps the buffer; nothing may use it afterwards. Freeing nil does nothing.
func (b buffer) free() {
	if b != nil {
		mapping.Release(b)
	}
}
