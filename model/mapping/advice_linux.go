package mapping

import (
	"os"

	"golang.org/x/sys/unix"
)

func inHugePages(b []byte) {
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // fails where the system has none
}

func fetch(b []byte) {
	_ = unix.Madvise(b, unix.MADV_POPULATE_READ) // Linux has it since 5.14
}

// Forget has the page cache drop a file that is on the disk. Pages that were written one
// by one are small; what is read again comes in huge ones.
func Forget(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) // advice
}
