#include "driver.h"

#include "library.h"

const char *dragoman_cuda_load(Driver *d, const char *path) {
  const char *message;
  void *handle = library_open(path, 1, &message);
  if (!handle) return message;
#define FIND(name, arguments)                                  \
  d->name = (int(*) arguments)library_find(handle, #name);            \
  if (!d->name) return "the driver is too old: it has no " #name;
  DRAGOMAN_CUDA_FUNCTIONS(FIND)
#undef FIND
  return NULL;  // the library is never unloaded
}

int dragoman_cuda_init(const Driver *d) { return d->cuInit(0); }

const char *dragoman_cuda_error(const Driver *d, int code) {
  const char *name = NULL;
  return d->cuGetErrorName(code, &name) || !name ? "unknown error" : name;
}

int dragoman_cuda_version(const Driver *d, int *version) { return d->cuDriverGetVersion(version); }
int dragoman_cuda_count(const Driver *d, int *count) { return d->cuDeviceGetCount(count); }

int dragoman_cuda_device(const Driver *d, int number, int *device, char *name, int size, int *major, int *minor) {
  enum { MAJOR = 75, MINOR = 76 };  // CU_DEVICE_ATTRIBUTE_...
  int code = d->cuDeviceGet(device, number);
  if (!code) code = d->cuDeviceGetName(name, size, *device);
  if (!code) code = d->cuDeviceGetAttribute(major, MAJOR, *device);
  if (!code) code = d->cuDeviceGetAttribute(minor, MINOR, *device);
  return code;
}

int dragoman_cuda_retain(const Driver *d, int device, void **context) { return d->cuDevicePrimaryCtxRetain(context, device); }
int dragoman_cuda_release(const Driver *d, int device) { return d->cuDevicePrimaryCtxRelease_v2(device); }
int dragoman_cuda_use(const Driver *d, void *context) { return d->cuCtxSetCurrent(context); }
int dragoman_cuda_memory(const Driver *d, size_t *free, size_t *total) { return d->cuMemGetInfo_v2(free, total); }
int dragoman_cuda_alloc(const Driver *d, CUdeviceptr *p, size_t n) { return d->cuMemAlloc_v2(p, n); }
int dragoman_cuda_free(const Driver *d, CUdeviceptr p) { return d->cuMemFree_v2(p); }
int dragoman_cuda_host_alloc(const Driver *d, void **p, size_t n) {
  enum { PORTABLE = 1 };  // page-locked for all devices
  return d->cuMemHostAlloc(p, n, PORTABLE);
}
int dragoman_cuda_host_free(const Driver *d, void *p) { return d->cuMemFreeHost(p); }
int dragoman_cuda_upload(const Driver *d, CUdeviceptr to, const void *from, size_t n, void *stream) {
  return d->cuMemcpyHtoDAsync_v2(to, from, n, stream);
}
int dragoman_cuda_download(const Driver *d, void *to, CUdeviceptr from, size_t n, void *stream) {
  return d->cuMemcpyDtoHAsync_v2(to, from, n, stream);
}
int dragoman_cuda_zero(const Driver *d, CUdeviceptr p, size_t n, void *stream) { return d->cuMemsetD8Async(p, 0, n, stream); }

int dragoman_cuda_stream(const Driver *d, void **stream) {
  enum { NON_BLOCKING = 1 };  // independent of the default stream
  return d->cuStreamCreate(stream, NON_BLOCKING);
}
int dragoman_cuda_stream_free(const Driver *d, void *stream) { return d->cuStreamDestroy_v2(stream); }
int dragoman_cuda_wait(const Driver *d, void *stream) { return d->cuStreamSynchronize(stream); }

int dragoman_cuda_begin_capture(const Driver *d, void *stream) {
  enum { RELAXED = 2 };  // permits allocations and the work of other threads
  return d->cuStreamBeginCapture_v2(stream, RELAXED);
}
int dragoman_cuda_end_capture(const Driver *d, void *stream, void **graph) {
  void *recorded = NULL;
  *graph = NULL;
  int code = d->cuStreamEndCapture(stream, &recorded);
  if (!code) code = d->cuGraphInstantiateWithFlags(graph, recorded, 0);
  if (recorded) d->cuGraphDestroy(recorded);
  return code;
}
int dragoman_cuda_graph_launch(const Driver *d, void *graph, void *stream) { return d->cuGraphLaunch(graph, stream); }
int dragoman_cuda_graph_free(const Driver *d, void *graph) { return d->cuGraphExecDestroy(graph); }

int dragoman_cuda_module(const Driver *d, const void *ptx, void **module) { return d->cuModuleLoadData(module, ptx); }
int dragoman_cuda_module_free(const Driver *d, void *module) { return d->cuModuleUnload(module); }
int dragoman_cuda_function(const Driver *d, void *module, const char *name, void **function) {
  return d->cuModuleGetFunction(function, module, name);
}
