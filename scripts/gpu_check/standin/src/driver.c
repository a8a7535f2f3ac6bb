// CUDA's driver: the functions that driver.h of package cuda lists.
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "standin.h"

enum { ARGUMENTS = 256, TEXT = 32, GRID_MOST = 0x7fffffff };
#define HOST_FROM ((uintptr_t)1 << 46)  // addresses of the host's C heap and libraries
#define HOST_TO ((uintptr_t)1 << 47)

// The C versions of the kernels, each for half and float.
extern void (*const dragoman_host_kernels[][2])(const void *args);
#define NAME(name, args) "dragoman_" #name,
static const char *const names[] = {DRAGOMAN_KERNELS(NAME)};
#define SIZE(name, args) sizeof(struct args),
static const size_t sizes[] = {DRAGOMAN_KERNELS(SIZE)};
enum { KERNELS = sizeof names / sizeof *names };

// A Context is the only context of a device, shared by all threads.
typedef struct { int users; } Context;
static Context contexts[DEVICES];

// A Module holds the kernels on a device. A Function is one kernel of it.
typedef struct { int device, kernel, type; } Function;
typedef struct { Function functions[KERNELS][2]; } Module;

#define MAY_FAIL                          \
  do {                                    \
    int code_ = standin_fault(__func__);  \
    if (code_) return code_;              \
  } while (0)

// The first statement of calls that work on the current device.
#define NEED_CONTEXT                                         \
  do {                                                       \
    if (standin_current() < 0) {                             \
      standin_wrong("%s is called without a context", __func__); \
      return INVALID_CONTEXT;                                \
    }                                                        \
    MAY_FAIL;                                                \
  } while (0)

int cuInit(unsigned flags) {
  MAY_FAIL;
  return flags ? INVALID_VALUE : SUCCESS;
}

int cuGetErrorName(int code, const char **name) {
  static _Thread_local char text[TEXT];
  snprintf(text, sizeof text, "CUDA_ERROR_%d", code);
  *name = text;
  return SUCCESS;
}

int cuDriverGetVersion(int *version) {
  *version = CUDA_VERSION;
  return SUCCESS;
}

int cuDeviceGetCount(int *count) {
  MAY_FAIL;
  *count = standin_devices();
  return SUCCESS;
}

int cuDeviceGet(int *device, int number) {
  *device = number;
  return number < DEVICES ? SUCCESS : INVALID_DEVICE;
}

int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, size, "Stand-in %d", device);
  return SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  enum { UNITS = 16, COMPUTE_MAJOR = 75, COMPUTE_MINOR = 76 };  // CU_DEVICE_ATTRIBUTE_...
  (void)device;
  *value = attribute == UNITS ? MULTIPROCESSORS : attribute == COMPUTE_MAJOR ? MAJOR : attribute == COMPUTE_MINOR ? MINOR : 0;
  return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  MAY_FAIL;
  __atomic_add_fetch(&contexts[device].users, 1, __ATOMIC_SEQ_CST);
  *context = &contexts[device];
  return SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  if (!__atomic_sub_fetch(&contexts[device].users, 1, __ATOMIC_SEQ_CST)) standin_leftovers(device);
  return SUCCESS;
}

int cuCtxSetCurrent(void *context) {
  standin_set_current(context ? (int)((Context *)context - contexts) : -1);
  return SUCCESS;
}

int cuMemGetInfo_v2(size_t *available, size_t *total) {
  NEED_CONTEXT;
  *available = standin_free(standin_current());
  *total = standin_total();
  return SUCCESS;
}

int cuMemAlloc_v2(CUdeviceptr *p, size_t size) {
  NEED_CONTEXT;
  void *address;
  int code = standin_reserve(standin_current(), size, &address);
  if (!code) *p = (CUdeviceptr)(uintptr_t)address;
  return code;
}

int cuMemFree_v2(CUdeviceptr p) {
  NEED_CONTEXT;
  return standin_release(standin_current(), (void *)(uintptr_t)p);
}

int cuMemHostAlloc(void **p, size_t size, unsigned flags) {
  (void)flags;
  NEED_CONTEXT;
  return standin_reserve(HOST, size, p);
}

int cuMemFreeHost(void *p) {
  NEED_CONTEXT;
  return standin_release(HOST, p);
}

int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, void *stream) {
  NEED_CONTEXT;
  return standin_copy((void *)(uintptr_t)to, from, size, stream);
}

int cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, void *stream) {
  NEED_CONTEXT;
  return standin_copy(to, (void *)(uintptr_t)from, size, stream);
}

typedef struct {
  void *to;
  size_t size;
  int device, value;
} Fill;

static void fill(const void *argument) {
  const Fill *f = argument;
  void *to = standin_memory(f->device, f->to, f->size, "fill");
  if (to) memset(to, f->value, f->size);
}

int cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t size, void *stream) {
  NEED_CONTEXT;
  Fill f = {(void *)(uintptr_t)to, size, standin_current(), value};
  return standin_start(stream, fill, &f, sizeof f);
}

int cuStreamCreate(void **stream, unsigned flags) {
  enum { NON_BLOCKING = 1 };
  NEED_CONTEXT;
  if (flags != NON_BLOCKING) standin_wrong("a stream that waits for the default one is not modelled");
  return standin_open_stream(stream);
}

int cuStreamDestroy_v2(void *stream) {
  NEED_CONTEXT;
  return standin_close_stream(stream);
}

int cuStreamSynchronize(void *stream) {
  NEED_CONTEXT;
  return standin_wait(stream);
}

int cuStreamBeginCapture_v2(void *stream, int mode) {
  enum { RELAXED = 2 };
  NEED_CONTEXT;
  if (mode != RELAXED) standin_wrong("recording in mode %d is not modelled", mode);
  return standin_begin_capture(stream);
}

int cuStreamEndCapture(void *stream, void **graph) {
  NEED_CONTEXT;
  return standin_end_capture(stream, graph);
}

// The recording and the executable graph are the same object, so destroying the
// recording does nothing.
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  (void)flags;
  NEED_CONTEXT;
  *exec = graph;
  return SUCCESS;
}

int cuGraphDestroy(void *graph) {
  (void)graph;
  return SUCCESS;
}

int cuGraphLaunch(void *exec, void *stream) {
  NEED_CONTEXT;
  return standin_start_graph(exec, stream);
}

int cuGraphExecDestroy(void *exec) {
  NEED_CONTEXT;
  standin_free_graph(exec);
  return SUCCESS;
}

int cuModuleLoadData(void **module, const void *ptx) {
  (void)ptx;
  NEED_CONTEXT;
  Module *m = malloc(sizeof *m);
  for (int kernel = 0; kernel < KERNELS; kernel++)
    for (int type = 0; type < 2; type++) m->functions[kernel][type] = (Function){standin_current(), kernel, type};
  *module = m;
  return SUCCESS;
}

int cuModuleUnload(void *module) {
  NEED_CONTEXT;
  free(module);
  return SUCCESS;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  static const char *const suffixes[2] = {"_f16", "_f32"};
  for (int kernel = 0; kernel < KERNELS; kernel++) {
    size_t n = strlen(names[kernel]);
    for (int type = 0; type < 2; type++) {
      if (strncmp(name, names[kernel], n) || strcmp(name + n, suffixes[type])) continue;
      *function = &((Module *)module)->functions[kernel][type];
      return SUCCESS;
    }
  }
  return NOT_FOUND;
}

// A Start is a kernel launch with its arguments.
typedef struct {
  Function function;
  _Alignas(16) char arguments[ARGUMENTS];
} Start;

// start runs a kernel. It replaces the device addresses among the arguments by the
// host addresses of their contents.
static void start(const void *argument) {
  Start s = *(const Start *)argument;
  const char *name = names[s.function.kernel];
  for (size_t at = 0; at + sizeof(uintptr_t) <= sizes[s.function.kernel]; at += sizeof(uintptr_t)) {
    uintptr_t word;
    memcpy(&word, s.arguments + at, sizeof word);
    void *p = (void *)word;
    if (standin_device(p) < 0 && (word < HOST_FROM || word >= HOST_TO)) continue;  // a number
    p = standin_memory(s.function.device, p, 1, name);
    if (!p) return;
    memcpy(s.arguments + at, &p, sizeof p);
  }
  dragoman_host_kernels[s.function.kernel][s.function.type](s.arguments);
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, void *stream, void **params, void **extra) {
  NEED_CONTEXT;
  Start s = {.function = *(Function *)function};
  _Static_assert(sizeof s.arguments >= sizeof(struct attention_args), "the largest arguments fit");
  memcpy(s.arguments, params[0], sizes[s.function.kernel]);
  int64_t units;  // the first member of all arguments
  memcpy(&units, s.arguments, sizeof units);
  const char *name = names[s.function.kernel];
  if (s.function.device != standin_current()) standin_wrong("%s of device %d is started on another", name, s.function.device);
  if (!stream) standin_wrong("%s is started on the default stream", name);
  if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || shared || extra || grid_x > GRID_MOST || block_x % WARP ||
      (int64_t)grid_x * (block_x / WARP) < units)
    standin_wrong("%s: %u blocks of %u threads for %lld units", name, grid_x, block_x, (long long)units);
  return standin_start(stream, start, &s, sizeof s);
}

ABSENT(cuTensorMapEncodeTiled)
