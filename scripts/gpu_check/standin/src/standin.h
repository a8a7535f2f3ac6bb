// Stand-ins for CUDA's driver, its runtime and cuBLAS. With them ONNX Runtime's CUDA
// provider runs without a GPU. They model the usual faults between a program and a
// device, not the device's speed:
//
//   memory       the host cannot read or write addresses of a device: the attempt is a
//                segmentation fault. New memory is full of NaN. No address is used twice.
//                A device has STANDIN_MEMORY bytes. Memory that is still allocated when
//                its context is released is reported
//   streams      work runs only when the host waits for its stream, so a result that is
//                read too early, or an input that is changed too early, is wrong
//   copies       asynchronous copies need page-locked memory; synchronous copies use the
//                default stream, for which our own stream does not wait
//   recordings   work on a recording stream is kept and not run. A graph that is launched
//                again has the recorded addresses and arguments. Waiting for a recording
//                stream, or for its device, spoils the recording
//   contexts     calls need a context; streams, kernels and memory belong to one device
//   kernels      the C versions of package kernels, with the arguments of the launch,
//                which must have a warp for every unit
//   faults       see standin_fault; after an error from 700 to 799 the device is lost:
//                every further call for it fails with that error
//
// Implemented are all functions of the driver that driver.h of package cuda lists, and
// the functions of the runtime and of cuBLAS in runtime.c and cublas.c. The provider's
// other imports exist and report each call (ABSENT), and so does a launch of ONNX
// Runtime's own kernels, which our graphs do not have.
//
// Environment variables configure them:
//
//   STANDIN_DEVICES  number of devices: 1 or 2; default: 2
//   STANDIN_MEMORY   bytes of each device; default: 4 GiB
//   STANDIN_FAULT    file that names the failing call, read at each call
//   STANDIN_LOG      log file: a line "wrong: ..." for each breach of the rules above,
//                    "graph: ..." for each released recording
#ifndef STANDIN_H
#define STANDIN_H

#include <stddef.h>
#include <stdint.h>

enum { DEVICES = 2, MAJOR = 9, MINOR = 0, MULTIPROCESSORS = 132, CUDA_VERSION = 13000 };

// Errors of the driver; the runtime's errors have the same numbers.
enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  INVALID_DEVICE = 101,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  LOST_FROM = 700,
  LOST_TO = 799,
  NOT_SUPPORTED = 801,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901,
};

// The page-locked memory of the host, in place of a device's number.
enum { HOST = DEVICES };

// standin_log adds a line to the log, formatted as by printf.
__attribute__((format(printf, 2, 3))) void standin_log(const char *kind, const char *format, ...);
// standin_wrong reports a breach of the rules.
#define standin_wrong(...) standin_log("wrong", __VA_ARGS__)

// standin_fault returns the error that a call for the current device must fail with, or
// 0. The file STANDIN_FAULT holds "call code device after": the call on the device fails
// with the code after so many successful calls. The file may be written at any time.
int standin_fault(const char *call);

int standin_devices(void);  // number of devices

// The device of the thread's context, or -1 without a context.
int standin_current(void);
void standin_set_current(int device);

// standin_reserve and standin_release work as cuMemAlloc and cuMemFree, or with HOST as
// cuMemHostAlloc and cuMemFreeHost. The release waits for the device's work.
int standin_reserve(int device, size_t size, void **address);
int standin_release(int device, void *address);
size_t standin_total(void);
size_t standin_free(int device);
// standin_device returns the device of an address, HOST, or -1.
int standin_device(const void *address);
// standin_memory returns the host's address for size bytes of a device, for the code that
// does the device's work. It reports a range outside of the device's blocks and returns
// null.
void *standin_memory(int device, const void *address, size_t size, const char *who);

// Streams. A null stream is the default stream of the current device.
int standin_open_stream(void **stream);
int standin_close_stream(void *stream);
// standin_start queues work: run gets a copy of the argument, size bytes.
int standin_start(void *stream, void (*run)(const void *argument), const void *argument, size_t size);
int standin_wait(void *stream);
// standin_wait_device waits for all streams of the current device.
int standin_wait_device(void);
// standin_copy queues a copy between a device and the host. standin_copy_now copies at
// once.
int standin_copy(void *to, const void *from, size_t size, void *stream);
int standin_copy_now(void *to, const void *from, size_t size);

int standin_begin_capture(void *stream);
int standin_end_capture(void *stream, void **graph);
int standin_start_graph(void *graph, void *stream);
void standin_free_graph(void *graph);

// standin_leftovers reports the memory that a device still has.
void standin_leftovers(int device);

// ABSENT defines a function that the provider imports and must not call.
#define ABSENT(name)                            \
  int name(void) {                              \
    standin_wrong("%s is not modelled", #name); \
    return NOT_SUPPORTED;                       \
  }

#endif
