// How operators of ONNX Runtime get at their arguments and refuse them. Shared by the
// operators for CPUs (model/cpu/ops) and those for GPUs (model/cuda/kernels).
#ifndef DRAGOMAN_ARGUMENTS_H
#define DRAGOMAN_ARGUMENTS_H

#include <stdarg.h>
#include <stdio.h>

#include "onnxruntime_c_api.h"

#define TRY(call)                   \
  do {                              \
    OrtStatus *status_ = (call);    \
    if (status_) return status_;    \
  } while (0)

enum { ANY = -1 };  // a dimension that may have any size

// refuse is the error for arguments that an operator does not take; it takes what printf does.
__attribute__((format(printf, 2, 3))) static inline OrtStatus *refuse(const OrtApi *api, const char *format, ...) {
  char message[256];
  va_list numbers;
  va_start(numbers, format);
  vsnprintf(message, sizeof message, format, numbers);
  va_end(numbers);
  return api->CreateStatus(ORT_INVALID_ARGUMENT, message);
}

// argument gives the data of an input, null where an optional one is left out. The
// input must have n dimensions of the sizes d; those that are ANY are filled in.
static inline OrtStatus *argument(const OrtApi *api, OrtKernelContext *context, size_t i, void *data, int64_t *d, size_t n) {
  const OrtValue *value = NULL;
  *(const void **)data = NULL;
  size_t count, rank;
  TRY(api->KernelContext_GetInputCount(context, &count));
  if (i >= count) return NULL;
  TRY(api->KernelContext_GetInput(context, i, &value));
  if (!value) return NULL;
  const int64_t *shape;
  ONNXTensorElementDataType type;
  TRY(api->GetTensorElementTypeAndShapeDataReference(value, &type, &shape, &rank));
  if (rank != n) return refuse(api, "input %zu has %zu dimensions: %zu are wanted", i, rank, n);
  for (size_t j = 0; j < n; j++) {
    if (d[j] == ANY) d[j] = shape[j];
    if (d[j] != shape[j])
      return refuse(api, "dimension %zu of input %zu is %lld: %lld is wanted", j, i, (long long)shape[j], (long long)d[j]);
  }
  return api->GetTensorMutableData((OrtValue *)value, (void **)data);
}

// result makes an output of n dimensions of the sizes d and gives its data.
static inline OrtStatus *result(const OrtApi *api, OrtKernelContext *context, size_t i, const int64_t *d, size_t n, void *data) {
  OrtValue *value;
  TRY(api->KernelContext_GetOutput(context, i, d, n, &value));
  return api->GetTensorMutableData(value, (void **)data);
}

#endif
