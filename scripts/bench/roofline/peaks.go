//go:build linux && (amd64 || arm64)

package main

// #cgo CFLAGS: -O2 -std=gnu11 -Wall -Wno-psabi
// #include "peaks.h"
import "C"

import (
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// peaks are the highest rates that were seen, a second.
type peaks struct {
	Octets float64 `json:"octets"` // multiply-adds of 8 bits
	Floats float64 `json:"floats"` // multiply-adds of 32 bits
	Memory float64 `json:"memory"` // bytes read
}

// instructions are what peaks are measured with.
func instructions() (octets, floats string) {
	return C.GoString(C.instruction(C.OCTETS)), C.GoString(C.instruction(C.FLOATS))
}

// perThread is the memory that each thread reads, many times what caches hold.
const perThread = 256 << 20

// windows are how often each peak is measured, for about a hundredth of a second: a short
// time is more likely to be undisturbed.
const windows = 10

// measure measures each peak on some threads at once, and keeps the higher ones.
func (p *peaks) measure(threads int) error {
	memory, err := unix.Mmap(-1, 0, perThread*threads, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(memory) }()
	_ = unix.Madvise(memory, unix.MADV_HUGEPAGE) // small pages are as correct
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	for range windows {
		p.Octets = max(p.Octets, rate(C.OCTETS, memory, threads))
		p.Floats = max(p.Floats, rate(C.FLOATS, memory, threads))
		p.Memory = max(p.Memory, rate(C.MEMORY, memory, threads))
	}
	return nil
}

// rate is what threads do together, each with a part of memory, which each reads once:
// memory that they did not read at the same time must not count as if they had.
func rate(peak C.Peak, memory []byte, threads int) (sum float64) {
	rates := make([]float64, threads)
	var all sync.WaitGroup
	begin := time.Now()
	for i := range threads {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			rates[i] = float64(C.rate(peak, 0.01, (*C.char)(unsafe.Pointer(&memory[i*perThread])), perThread))
		})
	}
	all.Wait()
	if peak == C.MEMORY {
		return float64(len(memory)) / time.Since(begin).Seconds()
	}
	for _, r := range rates {
		sum += r
	}
	return sum
}
