package mapping

import (
	"os"

	"golang.org/x/sys/unix"
)

func inHugePages(b []byte) {
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // fails on systems without huge pages
}

func fetch(b []byte) {
	_ = unix.Madvise(b, unix.MADV_POPULATE_READ) // since Linux 5.14
}

// Forget drops a file that is on the disk from the page cache. Pages that were written one by one are small; when the file is
// read again, its pages are huge.
func Forget(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) // only advice
}
