package cpu

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func reserve(n int) ([]byte, error) {
	at, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n), nil
}

// drop lets Windows take the pages where it needs them. They stay promised: to give them up and take them
// again could fail.
func drop(pages []byte) {
	_, _ = windows.VirtualAlloc(address(pages), uintptr(len(pages)), windows.MEM_RESET, windows.PAGE_READWRITE)
}

func unmap(b []byte) {
	_ = windows.VirtualFree(address(b), 0, windows.MEM_RELEASE) // it fails only for memory that is not mapped
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
