package model

import (
	"errors"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// inode returns a file's number, and the time of its last change of status.
func inode(path string, _ fs.FileInfo) (number uint64, changed int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	var file windows.ByHandleFileInformation
	var basic struct { // FILE_BASIC_INFO
		Created, Accessed, Written, Changed windows.Filetime
		Attributes, _                       uint32
	}
	handle := windows.Handle(f.Fd())
	if err := windows.GetFileInformationByHandle(handle, &file); err != nil {
		return 0, 0, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if err := windows.GetFileInformationByHandleEx(handle, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic))); err != nil {
		return 0, 0, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return uint64(file.FileIndexHigh)<<32 | uint64(file.FileIndexLow), basic.Changed.Nanoseconds(), nil
}

// Sync waits until a file's contents are on the disk. Names in folders are in Windows' journal.
func Sync(path string) error {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// FreeSpace returns the bytes that an unprivileged user may still write to a folder's disk.
func FreeSpace(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	return free, windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
}
