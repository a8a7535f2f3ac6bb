//go:build unix

package model

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Sync waits until a file's contents, or a folder's names, are on the disk.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// FreeSpace returns the bytes that an unprivileged user may still write to a folder's disk.
func FreeSpace(dir string) (uint64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}
