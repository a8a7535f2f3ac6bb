// The interface of CUDA's driver, libcuda.so.1, which NVIDIA's kernel module brings.
// The library is loaded at run time, so CUDA is needed neither to build nor to run
// without a GPU. The types are from cuda.h; the signature of a function name never
// changes there.
#ifndef DRAGOMAN_CUDA_DRIVER_H
#define DRAGOMAN_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t CUdeviceptr;

#define DRAGOMAN_CUDA_FUNCTIONS(X)                                                               \
  X(cuInit, (unsigned))                                                                          \
  X(cuGetErrorName, (int, const char **))                                                        \
  X(cuDriverGetVersion, (int *))                                                                 \
  X(cuDeviceGetCount, (int *))                                                                   \
  X(cuDeviceGet, (int *, int))                                                                   \
  X(cuDeviceGetName, (char *, int, int))                                                         \
  X(cuDeviceGetAttribute, (int *, int, int))                                                     \
  X(cuDevicePrimaryCtxRetain, (void **, int))                                                    \
  X(cuDevicePrimaryCtxRelease_v2, (int))                                                         \
  X(cuCtxSetCurrent, (void *))                                                                   \
  X(cuMemGetInfo_v2, (size_t *, size_t *))                                                       \
  X(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                      \
  X(cuMemFree_v2, (CUdeviceptr))                                                                 \
  X(cuMemHostAlloc, (void **, size_t, unsigned))                                                 \
  X(cuMemFreeHost, (void *))                                                                     \
  X(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, void *))                           \
  X(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, void *))                                 \
  X(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, void *))                               \
  X(cuStreamCreate, (void **, unsigned))                                                         \
  X(cuStreamDestroy_v2, (void *))                                                                \
  X(cuStreamSynchronize, (void *))                                                               \
  X(cuStreamBeginCapture_v2, (void *, int))                                                      \
  X(cuStreamEndCapture, (void *, void **))                                                       \
  X(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))                          \
  X(cuGraphDestroy, (void *))                                                                    \
  X(cuGraphLaunch, (void *, void *))                                                             \
  X(cuGraphExecDestroy, (void *))                                                                \
  X(cuModuleLoadData, (void **, const void *))                                                   \
  X(cuModuleUnload, (void *))                                                                    \
  X(cuModuleGetFunction, (void **, void *, const char *))                                        \
  X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))

// A Driver is the loaded library. Go cannot call C function pointers, so there is a
// wrapper below for each function, except for those whose pointers Go passes on.
typedef struct {
#define MEMBER(name, arguments) int(*name) arguments;
  DRAGOMAN_CUDA_FUNCTIONS(MEMBER)
#undef MEMBER
} Driver;

// dragoman_cuda_load loads the library at a path. It returns null, or on failure the
// dynamic linker's message or the name of a missing function.
const char *dragoman_cuda_load(Driver *driver, const char *path);

int dragoman_cuda_init(const Driver *d);
const char *dragoman_cuda_error(const Driver *d, int code);
int dragoman_cuda_version(const Driver *d, int *version);
int dragoman_cuda_count(const Driver *d, int *count);
int dragoman_cuda_device(const Driver *d, int number, int *device, char *name, int size, int *major, int *minor);
int dragoman_cuda_retain(const Driver *d, int device, void **context);
int dragoman_cuda_release(const Driver *d, int device);
int dragoman_cuda_use(const Driver *d, void *context);
int dragoman_cuda_memory(const Driver *d, size_t *free, size_t *total);
int dragoman_cuda_alloc(const Driver *d, CUdeviceptr *p, size_t n);
int dragoman_cuda_free(const Driver *d, CUdeviceptr p);
int dragoman_cuda_host_alloc(const Driver *d, void **p, size_t n);
int dragoman_cuda_host_free(const Driver *d, void *p);
int dragoman_cuda_upload(const Driver *d, CUdeviceptr to, const void *from, size_t n, void *stream);
int dragoman_cuda_download(const Driver *d, void *to, CUdeviceptr from, size_t n, void *stream);
int dragoman_cuda_zero(const Driver *d, CUdeviceptr p, size_t n, void *stream);
int dragoman_cuda_stream(const Driver *d, void **stream);
int dragoman_cuda_stream_free(const Driver *d, void *stream);
int dragoman_cuda_wait(const Driver *d, void *stream);
int dragoman_cuda_begin_capture(const Driver *d, void *stream);
int dragoman_cuda_end_capture(const Driver *d, void *stream, void **graph);
int dragoman_cuda_graph_launch(const Driver *d, void *graph, void *stream);
int dragoman_cuda_graph_free(const Driver *d, void *graph);
int dragoman_cuda_module(const Driver *d, const void *ptx, void **module);
int dragoman_cuda_module_free(const Driver *d, void *module);
int dragoman_cuda_function(const Driver *d, void *module, const char *name, void **function);

#endif
