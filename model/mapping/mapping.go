// Package mapping maps weight files into memory: their pages are pages of the page cache, which all workers and processes share.
//
// If the file system supports huge pages (ext4 since Linux 6.16, XFS and btrfs), pages that are not in memory yet are read as
// huge pages. Matrices are read faster from huge pages, because a page of 4 KB is exhausted after a tenth of a microsecond: a
// decoder step of few rows takes 5% less time, see docs/benchmarks.md. Pages already in memory, as after a file was written, keep
// their size: see [Forget].
//
// [Reserve] returns memory that has no file, and that returns to the system as soon as it is released.
package mapping

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// File is a mapped file, read-only. It is safe for concurrent use.
type File struct {
	// Bytes are the file's contents. If a disk fails to deliver them, or the file was truncated after it was mapped, a reader
	// finds zeros, and [File.Err] reports the error afterwards.
	Bytes []byte

	file     *os.File
	modified time.Time // time of modification when the file was mapped
	guard    guard
}

// Open maps the file at path, which must not be empty. The caller must close it.
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
	info, err := f.file.Stat()
	if err != nil {
		return nil, err
	}
	f.modified = info.ModTime()
	if f.Bytes, err = mapFile(f.file, int(info.Size())); err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	if err := f.guard.begin(f.Bytes); err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	inHugePages(f.Bytes)
	return f, nil
}

// ErrChanged means that a mapped file has changed.
var ErrChanged = errors.New("the file was written or cut off while it was in use, or its disk fails")

// Err fails if the bytes read so far may differ from the file's contents at the time of mapping. It takes about a microsecond.
func (f *File) Err() error {
	now, err := f.file.Stat()
	if err == nil && now.Size() == int64(len(f.Bytes)) && now.ModTime().Equal(f.modified) && !f.guard.spoiled() {
		return nil
	}
	return fmt.Errorf("%s: %w: put a new file in its place by renaming it", f.file.Name(), errors.Join(ErrChanged, err))
}

// Fetch reads the bytes from `from` to before `to` into memory. Fetch may fail without consequence.
func (f *File) Fetch(from, to int) {
	if f == nil {
		return
	}
	page := os.Getpagesize()
	if from, to = from/page*page, min(to, len(f.Bytes)); from < to {
		fetch(f.Bytes[from:to])
	}
}

// Close unmaps the file, whose bytes must not be used afterwards. Closing nil does nothing.
func (f *File) Close() {
	if f == nil {
		return
	}
	f.guard.end()
	if f.Bytes != nil {
		unmap(f.Bytes)
	}
	_ = f.file.Close() // opened for reading only
}
