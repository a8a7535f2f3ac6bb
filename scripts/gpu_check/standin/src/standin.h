// Stand-ins for CUDA's driver, its runtime and cuBLAS, with which ONNX Runtime's CUDA
// provider runs where there is no GPU. They model what tends to go wrong between a
// program and a device, not the device's speed:
//
//   memory       addresses of the device cannot be read or written by the host: that is
//                a fault of segmentation. New memory is full of NaN, addresses are never
//                used again, a device has no more memory than STANDIN_MEMORY says, and
//                whatever is left when its context is released is reported
//   streams      work is done when something waits for it, and not before: who reads a
//                result too early, or changes an input too early, gets it wrong
//   copies       asynchronous ones need page-locked memory; ordinary ones go through the
//                default stream, which our own stream does not wait for
//   recordings   work on a stream that records is kept and not done; started again, it
//                has the addresses and arguments that it was recorded with. Waiting for a
//                stream that records, or for its device, spoils it
//   contexts     calls need one, and streams, kernels and memory belong to one device
//   kernels      the C versions of package kernels, with the arguments that were passed;
//                there must be a warp for every unit
//   faults       see standin_fault; after an error from 700 to 799 every call for that
//                device fails with it, as a lost one's do
//
// What is called: all that driver.h of package cuda lists, the runtime's and cuBLAS's
// functions in runtime.c and cublas.c. All others that the provider is linked to are
// there, and report that they were called (ABSENT), as does a kernel of ONNX Runtime's
// own: our graphs have none.
//
// These variables of the environment set them up:
//
//   STANDIN_DEVICES  how many there are: 1, or 2, the default
//   STANDIN_MEMORY   bytes of each device; default: 4 GiB
//   STANDIN_FAULT    file that says what fails, read at each call
//   STANDIN_LOG      file that lines are added to: "wrong: ..." for what is against the
//                    rules above, "graph: ..." for recordings that were released
#ifndef STANDIN_H
#define STANDIN_H

#include <stddef.h>
#include <stdint.h>

enum { DEVICES = 2, MAJOR = 9, MINOR = 0, MULTIPROCESSORS = 132, CUDA_VERSION = 13000 };

// Errors of the driver; the runtime's have the same numbers.
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

// The page-locked memory of the host, where a device is meant otherwise.
enum { HOST = DEVICES };

// standin_log adds a line to the log; it takes what printf does.
__attribute__((format(printf, 2, 3))) void standin_log(const char *kind, const char *format, ...);
// standin_wrong reports something that is against the rules.
#define standin_wrong(...) standin_log("wrong", __VA_ARGS__)

// standin_fault is the error that a call for the current device fails with, or 0. The
// file that STANDIN_FAULT names says which: "call code device after", where after is how
// many such calls for the device go well before. It may be written at any time.
int standin_fault(const char *call);

int standin_devices(void);  // how many there are

// The device whose context the thread has; none: -1.
int standin_current(void);
void standin_set_current(int device);

// standin_reserve and standin_release do what cuMemAlloc and cuMemFree do, or with HOST
// cuMemHostAlloc and cuMemFreeHost. Giving back waits for the device's work.
int standin_reserve(int device, size_t size, void **address);
int standin_release(int device, void *address);
size_t standin_total(void);
size_t standin_free(int device);
// standin_device is the device that an address is of, HOST, or -1.
int standin_device(const void *address);
// standin_memory is where size bytes of a device lie for those who do its work; null,
// and a report, where the device has not as much there.
void *standin_memory(int device, const void *address, size_t size, const char *who);

// Streams. The null stream is the current device's default one.
int standin_open_stream(void **stream);
int standin_close_stream(void *stream);
// standin_start starts work: run gets a copy of the argument, of size bytes.
int standin_start(void *stream, void (*run)(const void *argument), const void *argument, size_t size);
int standin_wait(void *stream);
// standin_wait_device waits for all streams of the current device.
int standin_wait_device(void);
// standin_copy starts a copy between a device and the host, or does it at once.
int standin_copy(void *to, const void *from, size_t size, void *stream);
int standin_copy_now(void *to, const void *from, size_t size);

int standin_begin_capture(void *stream);
int standin_end_capture(void *stream, void **graph);
int standin_start_graph(void *graph, void *stream);
void standin_free_graph(void *graph);

// standin_leftovers reports what a device still has.
void standin_leftovers(int device);

// ABSENT defines a function that is linked to and must not be called.
#define ABSENT(name)                            \
  int name(void) {                              \
    standin_wrong("%s is not modelled", #name); \
    return NOT_SUPPORTED;                       \
  }

#endif
