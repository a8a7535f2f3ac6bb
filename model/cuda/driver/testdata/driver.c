// A CUDA driver without a device: device memory is host memory, and recorded work is
// counted but not run. The environment variable FAKE_CUDA_FAIL is function:code;
// that function fails with that code.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t CUdeviceptr;

static int fails(const char *name) {
  const char *order = getenv("FAKE_CUDA_FAIL");
  size_t n = strlen(name);
  return order && !strncmp(order, name, n) && order[n] == ':' ? atoi(order + n + 1) : 0;
}
#define MAY_FAIL                 \
  do {                           \
    int code_ = fails(__func__); \
    if (code_) return code_;     \
  } while (0)

static int recording, launched;

int cuInit(unsigned flags) { MAY_FAIL; return flags; }
int cuGetErrorName(int code, const char **name) {
  *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 100 ? "CUDA_ERROR_NO_DEVICE" : NULL;
  return *name ? 0 : 1;
}
int cuDriverGetVersion(int *v) { MAY_FAIL; *v = 12040; return 0; }
int cuDeviceGetCount(int *n) { MAY_FAIL; *n = 2; return 0; }
int cuDeviceGet(int *device, int number) { MAY_FAIL; *device = 10 + number; return 0; }
int cuDeviceGetName(char *name, int size, int device) { MAY_FAIL; snprintf(name, size, "Card %d", device); return 0; }
int cuDeviceGetAttribute(int *v, int attribute, int device) { MAY_FAIL; *v = attribute + device - 10; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { MAY_FAIL; *context = malloc(1); return device < 10; }
int cuDevicePrimaryCtxRelease_v2(int device) { MAY_FAIL; return device < 10; }
int cuCtxSetCurrent(void *context) { MAY_FAIL; free(context); return 0; }
int cuMemGetInfo_v2(size_t *available, size_t *total) { MAY_FAIL; *available = 1000; *total = 3000; return 0; }
int cuMemAlloc_v2(CUdeviceptr *p, size_t n) {
  MAY_FAIL;
  if (n > 1000) return 2;
  *p = (CUdeviceptr)(uintptr_t)malloc(n);
  memset((void *)(uintptr_t)*p, 0xff, n);
  return 0;
}
int cuMemFree_v2(CUdeviceptr p) { MAY_FAIL; free((void *)(uintptr_t)p); return 0; }
int cuMemHostAlloc(void **p, size_t n, unsigned flags) { MAY_FAIL; *p = malloc(n); return flags != 1; }
int cuMemFreeHost(void *p) { MAY_FAIL; free(p); return 0; }
int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, void *stream) {
  MAY_FAIL;
  memcpy((void *)(uintptr_t)to, from, n);
  return !stream;
}
int cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, void *stream) {
  MAY_FAIL;
  memcpy(to, (void *)(uintptr_t)from, n);
  return !stream;
}
int cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, void *stream) {
  MAY_FAIL;
  memset((void *)(uintptr_t)p, v, n);
  return !stream;
}
int cuStreamCreate(void **stream, unsigned flags) { MAY_FAIL; *stream = malloc(1); return flags != 1; }
int cuStreamDestroy_v2(void *stream) { MAY_FAIL; free(stream); return 0; }
int cuStreamSynchronize(void *stream) { MAY_FAIL; return !stream; }
int cuStreamBeginCapture_v2(void *stream, int mode) { MAY_FAIL; recording = 1; return mode != 2 || !stream; }
int cuStreamEndCapture(void *stream, void **graph) {
  MAY_FAIL;
  if (!recording) return 1;
  recording = 0;
  *graph = malloc(1);
  return !stream;
}
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  MAY_FAIL;
  *exec = malloc(1);
  return flags != 0 || !graph;
}
int cuGraphDestroy(void *graph) { MAY_FAIL; free(graph); return 0; }
int cuGraphLaunch(void *exec, void *stream) { MAY_FAIL; launched++; return !exec || !stream; }
int cuGraphExecDestroy(void *exec) { MAY_FAIL; free(exec); return 0; }
int cuModuleLoadData(void **module, const void *ptx) { MAY_FAIL; *module = strdup(ptx); return 0; }
int cuModuleUnload(void *module) { MAY_FAIL; free(module); return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  MAY_FAIL;
  *function = strstr(module, name);
  return *function ? 0 : 500;
}
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned h, void *stream,
                   void **params, void **extra) {
  (void)f, (void)a, (void)b, (void)c, (void)d, (void)e, (void)g, (void)h, (void)stream, (void)params, (void)extra;
  return 0;
}
