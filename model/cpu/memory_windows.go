package cpu

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// drop lets Windows reclaim the pages. The pages stay committed, because committing them again could fail.
func drop(pages []byte) {
	_, _ = windows.VirtualAlloc(address(pages), uintptr(len(pages)), windows.MEM_RESET, windows.PAGE_READWRITE)
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
