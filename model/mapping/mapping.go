// Package mapping maps files of weights into memory: their pages are those of the page
// cache, which all workers and processes share.
//
// Where the file system has huge pages (ext4 since Linux 6.16, XFS and btrfs), what is not in
// memory yet comes in such. Matrices are read faster from them, since a page of 4 KB is over
// after a tenth of a microsecond: a decoder step of few rows takes 5% less time, see
// docs/benchmarks.md. What is in memory already, as it is after a file was written, stays in
// the pages that it has: see [Forget].
package mapping

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// File is a mapped file, read-only. It is safe for concurrent use. Who reads bytes that
// a disk fails to deliver, or that somebody has cut off since, is ended by a signal.
type File []byte

// Open maps the file at path, which must not be empty. The caller closes it.
func Open(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	_ = unix.Madvise(data, unix.MADV_HUGEPAGE) // fails where the system has none
	return data, nil
}

// Fetch brings the bytes from `from` to before `to` into memory. It may fail, and nothing
// depends on it.
func (f File) Fetch(from, to int) {
	page := os.Getpagesize()
	if from, to = from/page*page, min(to, len(f)); from < to {
		_ = unix.Madvise(f[from:to], unix.MADV_POPULATE_READ) // Linux has it since 5.14
	}
}

// Close unmaps the file; nothing may use its bytes afterwards. Closing nil does nothing.
func (f File) Close() {
	if f != nil {
		_ = unix.Munmap(f) // it fails only for memory that is not mapped
	}
}

// Forget has the page cache drop a file that is on the disk. Pages that were written one
// by one are small; what is read again comes in huge ones.
func Forget(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) // advice
}
