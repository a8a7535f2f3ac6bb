// Package mapping maps files of weights into memory: their pages are those of the page
// cache, which all workers and processes share.
//
// Where the file system has huge pages (ext4 since Linux 6.16, XFS and btrfs), what is not in
// memory yet comes in such. Matrices are read faster from them, since a page of 4 KB is over
// after a tenth of a microsecond: a decoder step of few rows takes 5% less time, see
// docs/benchmarks.md. What is in memory already, as it is after a file was written, stays in
// the pages that it has: see [Forget].
//
// [Reserve] is memory without a file, which goes back to the system as soon as it is released.
package mapping

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// File is a mapped file, read-only. It is safe for concurrent use.
type File struct {
	// Bytes are the file's. Where a disk fails to deliver them, or somebody has cut them off since,
	// who reads finds zeros, and [File.Err] says so afterwards.
	Bytes []byte

	file     *os.File
	modified time.Time // when it was mapped
	guard    guard
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

// ErrChanged means that a file is not any more what was mapped.
var ErrChanged = errors.New("the file was written or cut off while it was in use, or its disk fails")

// Err says whether what was read of the file until now may be something else than what was there when
// it was mapped. It takes about a microsecond.
func (f *File) Err() error {
	now, err := f.file.Stat()
	if err == nil && now.Size() == int64(len(f.Bytes)) && now.ModTime().Equal(f.modified) && !f.guard.spoiled() {
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
		fetch(f.Bytes[from:to])
	}
}

// Close unmaps the file; nothing may use its bytes afterwards. Closing nil does nothing.
func (f *File) Close() {
	if f == nil {
		return
	}
	f.guard.end()
	if f.Bytes != nil {
		unmap(f.Bytes)
	}
	_ = f.file.Close() // only read
}
