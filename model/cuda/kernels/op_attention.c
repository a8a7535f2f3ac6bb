// The attention operators. Memory is uint8 [layers, rows, capacity, token], where token is the size in
// bytes of a token's keys and values. Within a row all keys precede all values.
#include "call.h"


static i64 width_of(const Node *n) { return n->heads * n->head_dim; }

// arguments reads the arguments common to all attention operators, acc T [R, parts·d], bias [parts·d] and
// feed int32 [fields, R], and makes the output T [R, d].
static OrtStatus *arguments(Call c, int parts, int fields, struct attention_args *a) {
  const i64 width = width_of(c.node);
  int64_t acc[2] = {ANY, parts * width};
  TRY(input(c, 0, &a->acc, acc, 2));
  TRY(vector(c, 1, &a->bias, acc[1]));
  TRY(matrix(c, 2, &a->feed, fields, acc[0]));
  TRY(output(c, 0, (int64_t[]){acc[0], width}, 2, &a->out));
  a->rows = acc[0], a->units = acc[0] * c.node->heads;
  a->heads = (i32)c.node->heads, a->head_dim = (i32)c.node->head_dim;
  a->layer = c.node->layer, a->scale = c.node->scale, a->headroom = c.node->headroom;
  return NULL;
}

static OrtStatus *memory(Call c, size_t i, void **data, i64 *rows, i64 *capacity) {
  int64_t d[4] = {ANY, ANY, ANY, 2 * width_of(c.node) * (c.node->type == 0 ? 2 : 4)};
  TRY(input(c, i, data, d, 4));
  if (c.node->layer >= d[0])
    return refuse(c.api, "the memory has %lld layers, layer %lld is wanted", (long long)d[0], c.node->layer);
  if (d[2] > 0 && d[1] > INT32_MAX / 2 / d[2])  // kernels count keys and values in 32 bits
    return refuse(c.api, "the memory has %lld rows of %lld tokens: that is too much", (long long)d[1], (long long)d[2]);
  *rows = d[1], *capacity = d[2];
  return NULL;
}

// SelfAttention: acc T [N, 3d], bias [3d], feed of the encoder, optional distances [heads, 2·reach+1] → T
// [N, d].
OrtStatus *device_self_attention(void *node, OrtKernelContext *context) {
  Call c = call_of(node, context);
  struct attention_args a = {0};
  int64_t distances[2] = {c.node->heads, ANY};
  TRY(arguments(c, 3, ENCODER_FIELDS, &a));
  TRY(input(c, 3, &a.distances, distances, 2));
  a.reach = (i32)(distances[1] / 2);
  return device_start(c, KERNEL_self_attention, &a);
}

// StoreCross: acc T [N, 2d], bias [2d], feed of the encoder, cross memory, which it changes, an input that
// only orders it after other operators → done int32 [1], which only orders later operators.
OrtStatus *device_store_cross(void *node, OrtKernelContext *context) {
  Call c = call_of(node, context);
  const i64 width = width_of(c.node);
  struct store_args a = {.layer = c.node->layer, .width = (i32)width};
  int64_t acc[2] = {ANY, 2 * width};
  i32 *done;
  TRY(input(c, 0, &a.acc, acc, 2));
  TRY(vector(c, 1, &a.bias, acc[1]));
  TRY(matrix(c, 2, &a.feed, ENCODER_FIELDS, acc[0]));
  TRY(memory(c, 3, &a.memory, &a.memory_rows, &a.capacity));
  TRY(output(c, 0, (int64_t[]){1}, 1, &done));
  a.rows = acc[0], a.chunks = chunks(2 * width);
  a.units = a.rows * a.chunks;
  return device_start(c, KERNEL_store_cross, &a);
}

// CachedAttention: acc T [R, 3d], bias [3d], feed, history int32 [H, C], KV cache, which it changes,
// Track's output, optional distances [reach+1, heads] → T [R, d].
OrtStatus *device_cached_attention(void *node, OrtKernelContext *context) {
  Call c = call_of(node, context);
  struct attention_args a = {0};
  int64_t history[2] = {ANY, ANY}, distances[2] = {ANY, c.node->heads};
  TRY(arguments(c, 3, STEP_FIELDS, &a));
  TRY(input(c, 3, &a.history, history, 2));
  TRY(memory(c, 4, &a.memory, &a.memory_rows, &a.capacity));
  TRY(input(c, 6, &a.distances, distances, 2));
  a.history_capacity = history[1], a.reach = (i32)distances[0] - 1;
  return device_start(c, KERNEL_cached_attention, &a);
}

// CrossAttention: acc T [R, d], bias [d], feed, cross memory → T [R, d].
OrtStatus *device_cross_attention(void *node, OrtKernelContext *context) {
  Call c = call_of(node, context);
  struct attention_args a = {0};
  TRY(arguments(c, 1, STEP_FIELDS, &a));
  TRY(memory(c, 3, &a.memory, &a.memory_rows, &a.capacity));
  return device_start(c, KERNEL_cross_attention, &a);
}
