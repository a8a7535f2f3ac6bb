// CUDA's runtime: the functions that ONNX Runtime's CUDA provider calls. The types are
// those of CUDA 13.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { TEXT = 32 };

static _Thread_local int last;  // the thread's last error

static int result(int code) {
  if (code) last = code;
  return code;
}

// The first statement of calls that work on the current device. Without one, that is
// the first device.
#define MAY_FAIL                                              \
  do {                                                        \
    if (standin_current() < 0) standin_set_current(0);        \
    int code_ = standin_fault(__func__);                      \
    if (code_) return result(code_);                          \
  } while (0)

int cudaGetLastError(void) {
  int code = last;
  last = SUCCESS;
  return code;
}

const char *cudaGetErrorString(int code) {
  static _Thread_local char text[TEXT];
  snprintf(text, sizeof text, "error %d", code);
  return code == OUT_OF_MEMORY ? "out of memory" : text;
}
const char *cudaGetErrorName(int code) { return cudaGetErrorString(code); }

int cudaGetDeviceCount(int *count) {
  MAY_FAIL;
  *count = standin_devices();
  return SUCCESS;
}

int cudaGetDevice(int *device) {
  MAY_FAIL;
  *device = standin_current();
  return SUCCESS;
}

int cudaSetDevice(int device) {
  if (device < 0 || device >= DEVICES) return result(INVALID_DEVICE);
  standin_set_current(device);
  MAY_FAIL;
  return SUCCESS;
}

// The beginning of cudaDeviceProp. The other fields are zeros.
typedef struct {
  char name[256], uuid[16], luid[8];
  unsigned nodes;
  size_t memory, shared;
  int registers, warp;
  size_t pitch;
  int threads, block[3], grid[3];
  size_t constants;
  int major, minor;
  size_t alignment, pitch_alignment;
  int multiprocessors;
  char rest[312];
} Properties;

int cudaGetDeviceProperties(void *to, int device) {
  MAY_FAIL;
  Properties *p = to;
  *p = (Properties){.memory = standin_total(), .warp = 32, .threads = 1024, .major = MAJOR, .minor = MINOR,
                    .multiprocessors = MULTIPROCESSORS};
  snprintf(p->name, sizeof p->name, "Stand-in %d", device);
  return SUCCESS;
}

int cudaMalloc(void **p, size_t size) {
  MAY_FAIL;
  return result(standin_reserve(standin_current(), size, p));
}

int cudaFree(void *p) {
  MAY_FAIL;
  return result(standin_release(standin_current(), p));
}

int cudaMemGetInfo(size_t *available, size_t *total) {
  MAY_FAIL;
  *available = standin_free(standin_current());
  *total = standin_total();
  return SUCCESS;
}

int cudaMemcpy(void *to, const void *from, size_t size, int kind) {
  (void)kind;
  MAY_FAIL;
  return result(standin_copy_now(to, from, size));
}

int cudaStreamSynchronize(void *stream) {
  MAY_FAIL;
  return result(standin_wait(stream));
}

int cudaDeviceSynchronize(void) {
  MAY_FAIL;
  return result(standin_wait_device());
}

// ONNX Runtime's library registers its own kernels when it is loaded.
void **__cudaRegisterFatBinary(void *binary) {
  static void *handle;
  (void)binary;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
void __cudaRegisterFunction(void) {}
void __cudaRegisterVar(void) {}

ABSENT(__cudaGetKernel)
ABSENT(__cudaLaunchKernel)
ABSENT(__cudaPopCallConfiguration)
ABSENT(__cudaPushCallConfiguration)
ABSENT(cudaDeviceGetAttribute)
ABSENT(cudaDriverGetVersion)
ABSENT(cudaEventCreate)
ABSENT(cudaEventCreateWithFlags)
ABSENT(cudaEventDestroy)
ABSENT(cudaEventElapsedTime)
ABSENT(cudaEventRecord)
ABSENT(cudaEventSynchronize)
ABSENT(cudaFreeAsync)
ABSENT(cudaFreeHost)
ABSENT(cudaFuncGetAttributes)
ABSENT(cudaFuncSetAttribute)
ABSENT(cudaGetDriverEntryPointByVersion)
ABSENT(cudaGraphDestroy)
ABSENT(cudaGraphExecDestroy)
ABSENT(cudaGraphInstantiate)
ABSENT(cudaGraphLaunch)
ABSENT(cudaHostAlloc)
ABSENT(cudaKernelSetAttributeForDevice)
ABSENT(cudaLaunchCooperativeKernel)
ABSENT(cudaLaunchHostFunc)
ABSENT(cudaLaunchKernel)
ABSENT(cudaLaunchKernelExC)
ABSENT(cudaLibraryGetKernel)
ABSENT(cudaLibraryLoadData)
ABSENT(cudaLibraryUnload)
ABSENT(cudaMallocFromPoolAsync)
ABSENT(cudaMallocHost)
ABSENT(cudaMemPoolCreate)
ABSENT(cudaMemPoolDestroy)
ABSENT(cudaMemPoolGetAttribute)
ABSENT(cudaMemPoolSetAttribute)
ABSENT(cudaMemPoolTrimTo)
ABSENT(cudaMemcpy2DAsync)
ABSENT(cudaMemcpyAsync)
ABSENT(cudaMemcpyFromSymbol)
ABSENT(cudaMemset)
ABSENT(cudaMemsetAsync)
ABSENT(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
ABSENT(cudaPeekAtLastError)
ABSENT(cudaPointerGetAttributes)
ABSENT(cudaRuntimeGetVersion)
ABSENT(cudaStreamBeginCapture)
ABSENT(cudaStreamCreate)
ABSENT(cudaStreamCreateWithFlags)
ABSENT(cudaStreamDestroy)
ABSENT(cudaStreamEndCapture)
ABSENT(cudaStreamIsCapturing)
ABSENT(cudaStreamWaitEvent)
