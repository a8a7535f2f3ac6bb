// Package mapping maps files of weights into memory: their pages are those of the page
// cache, which all workers and processes share.
//
// Where the file system has huge pages (ext4 since Linux 6.16, XFS and btrfs), what is not in
// memory yet comes in such. Matrices are read faster from them, since a page of 4 KB is over
// after a tenth of a microsecond: a decoder step of few rows takes 5% less time, see
// docs/benchmarks.md. What is in memory already, as it is after a file was written, stays in
// the pages that it has: see [Forget].
package mapping

// #cgo CFLAGS: -O2 -std=gnu11 -Wall
// #cgo LDFLAGS: -lpthread
// #include "guard.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// File is a mapped file, read-only. It is safe for concurrent use.
type File struct {
	// Bytes are the file's. Where a disk fails to deliver them, or somebody has cut them off since,
	// who reads finds zeros, and [File.Err] says so afterwards.
	Bytes []byte

	file  *os.File
	was   unix.Stat_t // when it was mapped
	guard *C.Guard
}

// Open maps the file at path, which must not be empty. The caller closes it.
func Open(path string) (_ *File, err error) {
	f := &File{}
	if f.file, err = os.Open(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := unix.Fstat(int(f.file.Fd()), &f.was); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if f.Bytes, err = unix.Mmap(int(f.file.Fd()), 0, int(f.was.Size), unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	if f.guard = C.guard_begin(unsafe.Pointer(unsafe.SliceData(f.Bytes)), C.size_t(len(f.Bytes))); f.guard == nil {
		return nil, fmt.Errorf("map %s: faults of its disk could not be handled", path)
	}
	_ = unix.Madvise(f.Bytes, unix.MADV_HUGEPAGE) // fails where the system has none
	return f, nil
}

// ErrChanged means that a file is not any more what was mapped.
var ErrChanged = errors.New("the file was written or cut off while it was in use, or its disk fails")

// Err says whether what was read of the file until now may be something else than what was there when
// it was mapped. It takes about a microsecond.
func (f *File) Err() error {
	var now unix.Stat_t
	err := unix.Fstat(int(f.file.Fd()), &now)
	if err == nil && now.Size == f.was.Size && now.Mtim == f.was.Mtim && C.guard_spoiled(f.guard) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w: put a new file in its place by renaming it", f.file.Name(), errors.Join(ErrChanged, err))
}

// Fetch brings the bytes from `from` to before `to` into memory. It may fail, and nothing
// depends on it.
func (f *File) Fetch(from, to int) {
	if f == nil {
		return
	}
	page := os.Getpagesize()
	if from, to = from/page*page, min(to, len(f.Bytes)); from < to {
		_ = unix.Madvise(f.Bytes[from:to], unix.MADV_POPULATE_READ) // Linux has it since 5.14
	}
}

// Close unmaps the file; nothing may use its bytes afterwards. Closing nil does nothing.
func (f *File) Close() {
	if f == nil {
		return
	}
	if f.guard != nil {
		C.guard_end(f.guard)
	}
	if f.Bytes != nil {
		_ = unix.Munmap(f.Bytes) // it fails only for memory that is not mapped
	}
	_ = f.file.Close() // only read
}

// Forget has the page cache drop a file that is on the disk. Pages that were written one
// by one are small; what is read again comes in huge ones.
func Forget(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) // advice
}
