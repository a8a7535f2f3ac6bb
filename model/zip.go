package model

import (
	"archive/zip"
	"fmt"
	"io"
)

// MaxZipDirectory is the maximum size in bytes of the directory of a model's zip archive: about 100 bytes per entry.
const MaxZipDirectory = 16 << 20

// OpenZip reads the directory of an archive of size bytes. It fails if the directory is larger than [MaxZipDirectory], because
// the directory would fill the memory before its entries can be counted.
func OpenZip(r io.ReaderAt, size int64) (*zip.Reader, error) {
	m := &meter{r: r, left: MaxZipDirectory}
	z, err := zip.NewReader(m, size)
	m.open = true
	return z, err
}

// meter limits the number of bytes read until the archive is open.
type meter struct {
	r    io.ReaderAt
	left int64
	open bool
}

// ReadAt implements [io.ReaderAt].
func (m *meter) ReadAt(p []byte, off int64) (int, error) {
	if !m.open {
		if m.left -= int64(len(p)); m.left < 0 {
			return 0, fmt.Errorf("archive's directory is larger than %d bytes", MaxZipDirectory)
		}
	}
	return m.r.ReadAt(p, off)
}
