package cpu

import (
	"fmt"
	"os"

	"dragoman/model/mapping"
)

// buffer is zeroed memory outside Go's heap. It is outside because ONNX Runtime keeps pointers into it between calls, which cgo
// forbids for Go memory, and because large memory then returns to the system when it is freed, not at a later garbage collection.
type buffer []byte

// newBuffer reserves n bytes, whose pages take memory at their first use. The caller must free them.
func newBuffer(n int) (buffer, error) {
	b, err := mapping.Reserve(max(n, 1))
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes: %w", n, err)
	}
	return b, nil
}

// release gives the memory of the whole pages within bytes from to to-1 back to the system. Their contents become undefined.
func (b buffer) release(from, to int) {
	page := os.Getpagesize()
	from, to = (from+page-1)/page*page, to/page*page
	if from < to {
		drop(b[from:to]) // the pages are mapped, and a failure costs only memory
	}
}

// free unmaps the buffer, which must not be used afterwards. Freeing nil does nothing.
func (b buffer) free() {
	if b != nil {
		mapping.Release(b)
	}
}
