package model

import (
	"bytes"
	"io"
)

// SameBytes reports whether two parts of files have equal contents. It reads them block by block.
func SameBytes(a, b *io.SectionReader) (bool, error) {
	if a.Size() != b.Size() {
		return false, nil
	}
	size := min(a.Size(), 128<<10)
	fromA, fromB := make([]byte, size), make([]byte, size)
	for left := a.Size(); left > 0; left -= size {
		fromA, fromB = fromA[:min(size, left)], fromB[:min(size, left)]
		if _, err := io.ReadFull(a, fromA); err != nil {
			return false, err
		}
		if _, err := io.ReadFull(b, fromB); err != nil {
			return false, err
		}
		if !bytes.Equal(fromA, fromB) {
			return false, nil
		}
	}
	return true, nil
}
