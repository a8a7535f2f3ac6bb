//go:build unix

package server

import (
	"errors"
	"syscall"
)

// openFiles is how many files the process may have open, which Go has raised as far as it may; 0: there is no limit.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) // which some systems have as another type
}

// noFiles says whether an error is that too many files are open, of the process or of all.
func noFiles(err error) bool { return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) }
