// Common parts of the operators: their arguments and their work in parallel.
#ifndef DRAGOMAN_CALL_H
#define DRAGOMAN_CALL_H

#include <stdlib.h>

#include "kernels.h"
#include "memory.h"
#include "operator.h"
#include "pieces.h"
#include "thread_pool.h"

struct Node {
  const OrtApi *api;
  int64_t layer, heads, head_dim, spare, positive, width;
  int64_t first, shared;  // of a shortlist
  float scale, alpha, epsilon;
  int64_t activation;  // see Activation
  int threads;  // number of threads that share its work
};

static inline OrtStatus *fail(const OrtApi *api, OrtErrorCode code, const char *message) {
  return api->CreateStatus(code, message);
}

// ---- arguments ----

static inline int64_t width_of(const Node *k) { return k->heads * k->head_dim; }

// memory describes the input with keys and values.
static inline OrtStatus *memory(Call c, size_t i, const Node *k, Memory *m) {
  int64_t d[4] = {ANY, ANY, ANY, ANY}, width = width_of(k);
  TRY(input(c, i, &m->data, d, 4));
  m->rows = d[1], m->capacity = d[2], m->token = d[3];
  m->half = m->token == 4 * width;
  if (!m->half && m->token != 8 * width)
    return refuse(c.api, "the memory has %lld bytes per token: %lld in half or %lld in single precision are wanted",
                   (long long)m->token, (long long)(4 * width), (long long)(8 * width));
  if (k->layer >= d[0])
    return refuse(c.api, "the memory has %lld layers, layer %lld is wanted", (long long)d[0], (long long)k->layer);
  return NULL;
}

// partition checks that n groups share the rows without gaps: group i has the rows offsets[i] to offsets[i+1]-1.
static inline OrtStatus *partition(Call c, const int32_t *offsets, int64_t n, int64_t rows) {
  int ok = n >= 0 && offsets[0] == 0 && offsets[n] == rows;
  for (int64_t i = 0; ok && i < n; i++) ok = offsets[i] <= offsets[i + 1];
  return ok ? NULL : refuse(c.api, "the offsets of %lld groups do not rise from 0 to %lld", (long long)n, (long long)rows);
}

// ---- work in parallel ----

// A Task is the same work for every item. Items are distributed in parts.
typedef struct Task Task;
struct Task {
  void (*item)(Task *task, int64_t i, void *scratch);
  int64_t items, parts, first;  // first: of the parts distributed together
  size_t scratch;  // bytes shared by the items of a part, one after the other
  _Atomic int failed;  // scratch could not be allocated; parts run on several threads
  const void *arguments;
};

static inline void part(void *data, size_t p) {
  Task *t = data;
  void *scratch = t->scratch ? aligned_take(64, t->scratch) : NULL;
  if (t->scratch && !scratch) {
    t->failed = 1;
    return;
  }
  p += t->first;
  int64_t first = t->items * (int64_t)p / t->parts, end = t->items * (int64_t)(p + 1) / t->parts;
  for (int64_t i = first; i < end; i++) t->item(t, i, scratch);
  aligned_give(scratch);
}

// run executes a task. elements is the number of floats that it reads and writes: small tasks stay on this thread, as waking
// others takes longer. A part is large enough to be worth its scratch, and small enough that the wait for the last one is short.
static inline OrtStatus *run(Call c, Task *t, int64_t elements) {
  enum { SMALL = 1 << 13, PART = 1 << 16, FEWEST = 8 };  // FEWEST parts per thread: some threads begin late
  enum { PIECE = 1 << 20 };  // floats between the points where a run in pieces may pause: some tenths of a millisecond
  if (t->items == 0) return NULL;
  if (!pieces_rest()) return fail(c.api, ORT_FAIL, "the run was given up");
  if (elements < SMALL || t->items == 1) {
    t->parts = 1;
    part(t, 0);
  } else {
    int64_t parts = elements / PART, fewest = FEWEST * c.node->threads;
    if (parts < fewest) parts = fewest;
    t->parts = t->items < parts ? t->items : parts;
    int64_t each = t->parts;
    if (pieces_divided() && elements > PIECE) {
      each = t->parts * PIECE / elements;
      if (each < c.node->threads) each = c.node->threads;
    }
    for (t->first = 0; t->first < t->parts; t->first += each) {
      if (t->first && !pieces_rest()) return fail(c.api, ORT_FAIL, "the run was given up");
      threads_run(c.node->threads, part, t, each < t->parts - t->first ? each : t->parts - t->first);
    }
  }
  if (t->failed) return fail(c.api, ORT_FAIL, "out of memory");
  return NULL;
}

// ---- the operators ----

// operator_named returns the operator with a name of n bytes, or null.
const Operator *operator_named(const char *name, size_t n);

OrtStatus *op_pick_rows(void *kernel, OrtKernelContext *context);
OrtStatus *op_quantize(void *kernel, OrtKernelContext *context);
OrtStatus *op_activation_quantize(void *kernel, OrtKernelContext *context);
OrtStatus *op_gate(void *kernel, OrtKernelContext *context);
OrtStatus *op_gate_quantize(void *kernel, OrtKernelContext *context);
OrtStatus *op_add_norm(void *kernel, OrtKernelContext *context);
OrtStatus *op_add_norm_quantize(void *kernel, OrtKernelContext *context);
OrtStatus *op_norm_sum(void *kernel, OrtKernelContext *context);
OrtStatus *op_norm_sum_quantize(void *kernel, OrtKernelContext *context);
OrtStatus *op_self_attention(void *kernel, OrtKernelContext *context);
OrtStatus *op_store_cross(void *kernel, OrtKernelContext *context);
OrtStatus *op_cached_attention(void *kernel, OrtKernelContext *context);
OrtStatus *op_cross_attention(void *kernel, OrtKernelContext *context);
OrtStatus *op_product_f32(void *kernel, OrtKernelContext *context);
OrtStatus *op_product_f16(void *kernel, OrtKernelContext *context);
OrtStatus *op_product_activation_f32(void *kernel, OrtKernelContext *context);
OrtStatus *op_product_activation_f16(void *kernel, OrtKernelContext *context);
OrtStatus *op_embed_f32(void *kernel, OrtKernelContext *context);
OrtStatus *op_embed_f16(void *kernel, OrtKernelContext *context);
OrtStatus *op_embed_rows(void *kernel, OrtKernelContext *context);
OrtStatus *op_embed_int8(void *kernel, OrtKernelContext *context);
OrtStatus *op_shortlist(void *kernel, OrtKernelContext *context);
OrtStatus *op_ssru(void *kernel, OrtKernelContext *context);
OrtStatus *op_best_candidates(void *kernel, OrtKernelContext *context);
OrtStatus *op_product_int8(void *kernel, OrtKernelContext *context);
OrtStatus *op_best_candidates_int8(void *kernel, OrtKernelContext *context);

#endif
