// How operators get at their arguments and start their kernel.
#ifndef DRAGOMAN_DEVICE_CALL_H
#define DRAGOMAN_DEVICE_CALL_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ops.h"

typedef int (*Launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                      unsigned block_z, unsigned shared, void *stream, void **params, void **extra);

// Node is a node of a graph: an operator with its attributes.
typedef struct {
  const OrtApi *api;
  Launch launch;              // null on a CPU
  void *const *functions;     // see dragoman_family
  int type;                   // of activations: 0 half, 1 float
  i64 layer, heads, head_dim;
  float scale;
} Node;

// Call is a node at work.
typedef struct {
  const Node *node;
  const OrtApi *api;
  OrtKernelContext *context;
} Call;

#define TRY(call)                   \
  do {                              \
    OrtStatus *status_ = (call);    \
    if (status_) return status_;    \
  } while (0)

enum { ANY = -1 };  // a dimension that may have any size

// refuse is an error; it takes what printf does.
__attribute__((format(printf, 2, 3))) static inline OrtStatus *refuse(const OrtApi *api, const char *format, ...) {
  char message[256];
  va_list numbers;
  va_start(numbers, format);
  vsnprintf(message, sizeof message, format, numbers);
  va_end(numbers);
  return api->CreateStatus(ORT_INVALID_ARGUMENT, message);
}

// input gives the data of an input, null where an optional one is left out. The
// input must have n dimensions of the sizes d; those that are ANY are filled in.
static inline OrtStatus *input(Call c, size_t i, void *data, int64_t *d, size_t n) {
  const OrtValue *value = NULL;
  *(const void **)data = NULL;
  size_t count, rank;
  TRY(c.api->KernelContext_GetInputCount(c.context, &count));
  if (i >= count) return NULL;
  TRY(c.api->KernelContext_GetInput(c.context, i, &value));
  if (!value) return NULL;
  const int64_t *shape;
  ONNXTensorElementDataType type;
  TRY(c.api->GetTensorElementTypeAndShapeDataReference(value, &type, &shape, &rank));
  if (rank != n) return refuse(c.api, "input %zu has %zu dimensions: %zu are wanted", i, rank, n);
  for (size_t j = 0; j < n; j++) {
    if (d[j] == ANY) d[j] = shape[j];
    if (d[j] != shape[j])
      return refuse(c.api, "dimension %zu of input %zu is %lld: %lld is wanted", j, i, (long long)shape[j], (long long)d[j]);
  }
  return c.api->GetTensorMutableData((OrtValue *)value, (void **)data);
}

static inline OrtStatus *vector(Call c, size_t i, void *data, int64_t n) { return input(c, i, data, &n, 1); }

static inline OrtStatus *matrix(Call c, size_t i, void *data, int64_t rows, int64_t columns) {
  int64_t d[2] = {rows, columns};
  return input(c, i, data, d, 2);
}

static inline OrtStatus *output(Call c, size_t i, const int64_t *d, size_t n, void *data) {
  OrtValue *value;
  TRY(c.api->KernelContext_GetOutput(c.context, i, d, n, &value));
  return c.api->GetTensorMutableData(value, (void **)data);
}

static inline Call call_of(void *node, OrtKernelContext *context) {
  return (Call){node, ((const Node *)node)->api, context};
}

// chunks is the number of units that share a row.
static inline i32 chunks(i64 columns) { return (i32)((columns + COLUMNS - 1) / COLUMNS); }

// device_start starts a kernel, on the session's stream or on this thread.
OrtStatus *device_start(Call c, int kernel, const void *args);

OrtStatus *device_embed(void *node, OrtKernelContext *context);
OrtStatus *device_track(void *node, OrtKernelContext *context);
OrtStatus *device_add_norm(void *node, OrtKernelContext *context);
OrtStatus *device_bias_relu(void *node, OrtKernelContext *context);
OrtStatus *device_self_attention(void *node, OrtKernelContext *context);
OrtStatus *device_store_cross(void *node, OrtKernelContext *context);
OrtStatus *device_cached_attention(void *node, OrtKernelContext *context);
OrtStatus *device_cross_attention(void *node, OrtKernelContext *context);
OrtStatus *device_partial_candidates(void *node, OrtKernelContext *context);
OrtStatus *device_merge_candidates(void *node, OrtKernelContext *context);
OrtStatus *device_rescore(void *node, OrtKernelContext *context);
OrtStatus *device_best_candidates(void *node, OrtKernelContext *context);

#endif
