// Allocation, whose functions differ between systems.
#ifndef DRAGOMAN_MEMORY_H
#define DRAGOMAN_MEMORY_H

#include <stdlib.h>

#if defined(_WIN32)
#include <malloc.h>
#include <windows.h>

// aligned_take allocates memory, or returns null; aligned_give frees it.
static inline void *aligned_take(size_t alignment, size_t size) { return _aligned_malloc(size, alignment); }
static inline void aligned_give(void *p) { _aligned_free(p); }

// pages_take maps whole pages of zeros, or returns null; pages_give unmaps all of them.
static inline void *pages_take(size_t bytes) { return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }
static inline void pages_give(void *p, size_t bytes) { (void)bytes, VirtualFree(p, 0, MEM_RELEASE); }

#else
#include <sys/mman.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

static inline void *aligned_take(size_t alignment, size_t size) {
  void *p;
  return posix_memalign(&p, alignment, size) ? NULL : p;
}
static inline void aligned_give(void *p) { free(p); }

static inline void *pages_take(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}
static inline void pages_give(void *p, size_t bytes) { munmap(p, bytes); }

#endif
#endif
