// Access to an operator's node, and the start of its kernel.
#ifndef DRAGOMAN_DEVICE_CALL_H
#define DRAGOMAN_DEVICE_CALL_H

#include <stdlib.h>

#include "operator.h"
#include "ops.h"

typedef int (*Launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                      unsigned block_z, unsigned shared, void *stream, void **params, void **extra);

struct Node {
  const OrtApi *api;
  Launch launch;              // null on a CPU
  void *const *functions;     // see dragoman_family
  int type;                   // of activations: 0 half, 1 float
  i64 layer, heads, head_dim, activation;
  float scale, epsilon, headroom;
};

static inline OrtStatus *matrix(Call c, size_t i, void *data, int64_t rows, int64_t columns) {
  int64_t d[2] = {rows, columns};
  return input(c, i, data, d, 2);
}

static inline Call call_of(void *node, OrtKernelContext *context) {
  return (Call){((const Node *)node)->api, context, node};
}

// chunks returns the number of units per row.
static inline i32 chunks(i64 columns) { return (i32)((columns + COLUMNS - 1) / COLUMNS); }

// device_start starts a kernel on the session's stream, or runs it on this
// thread for a CPU.
OrtStatus *device_start(Call c, int kernel, const void *args);

OrtStatus *device_embed(void *node, OrtKernelContext *context);
OrtStatus *device_track(void *node, OrtKernelContext *context);
OrtStatus *device_add_norm(void *node, OrtKernelContext *context);
OrtStatus *device_norm_sum(void *node, OrtKernelContext *context);
OrtStatus *device_bias_activation(void *node, OrtKernelContext *context);
OrtStatus *device_gate(void *node, OrtKernelContext *context);
OrtStatus *device_self_attention(void *node, OrtKernelContext *context);
OrtStatus *device_store_cross(void *node, OrtKernelContext *context);
OrtStatus *device_cached_attention(void *node, OrtKernelContext *context);
OrtStatus *device_cross_attention(void *node, OrtKernelContext *context);
OrtStatus *device_partial_candidates(void *node, OrtKernelContext *context);
OrtStatus *device_merge_candidates(void *node, OrtKernelContext *context);
OrtStatus *device_rescore(void *node, OrtKernelContext *context);
OrtStatus *device_best_candidates(void *node, OrtKernelContext *context);

#endif
