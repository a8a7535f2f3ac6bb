//go:build unix

package server

import (
	"errors"
	"syscall"
)

// openFiles returns the limit of open files of the process, which Go has raised as far as possible; 0: no limit.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) // the type of the field differs between systems
}

// noFiles reports whether an error means that the process, or the system, has too many open files.
func noFiles(err error) bool { return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) }
