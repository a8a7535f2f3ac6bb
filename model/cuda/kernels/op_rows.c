// The operators whose units are rows, or parts of rows.
#include "call.h"

// Embed: feed int32 [F, R], table T [V, d], optional positions [P, d] → x [R, d]. Attribute scale.
OrtStatus *device_embed(void *node, OrtKernelContext *context) {
  Call c = call_of(node, context);
  struct embed_args a = {.scale = c.node->scale};
  int64_t feed[2] = {ANY, ANY}, table[2] = {ANY, ANY};
  TRY(input(c, 0, &a.feed, feed, 2));
  TRY(input(c, 1, &a.table, table, 2));
  TRY(matrix(c, 2, &a.positions, ANY, table[1]));
  TRY(output(c, 0, (int64_t[]){feed[1], table[1]}, 2, &a.x));
  a.rows = feed[1], a.width = (i32)table[1], a.chunks = chunks(table[1]);
  a.units = a.rows * a.chunks;
  return device_start(c, KERNEL_embed, &a);
}

// Track: feed int32 [F, R], history int32 [H, C], which it changes → done int32 [1], which only orders later
// operators.
OrtStatus *device_track(void *node, OrtKernelContext *context) {
  Call c = call_of(node, context);
  struct track_args a = {0};
  int64_t feed[2] = {STEP_FIELDS, ANY}, history[2] = {ANY, ANY};
  i32 *done;
  TRY(input(c, 0, &a.feed, feed, 2));
  TRY(input(c, 1, &a.history, history, 2));
  TRY(output(c, 0, (int64_t[]){1}, 1, &done));
  a.units = feed[1], a.capacity = history[1];
  return device_start(c, KERNEL_track, &a);
}

static OrtStatus *add_norm(Call c, i32 only_norm);

// AddNorm: x [R, d], gain, beta [d], acc T [R, d], bias [d] → total = x + acc · headroom + bias [R, d], y T [R,
// d]. y is the layer norm of total, or without beta its RMS norm. Without acc and bias, total is x. Attributes
// epsilon and headroom.
OrtStatus *device_add_norm(void *node, OrtKernelContext *context) { return add_norm(call_of(node, context), 0); }

// NormSum: as AddNorm, but total is the layer norm, too.
OrtStatus *device_norm_sum(void *node, OrtKernelContext *context) { return add_norm(call_of(node, context), 1); }

static OrtStatus *add_norm(Call c, i32 only_norm) {
  struct add_norm_args a = {.headroom = c.node->headroom, .only_norm = only_norm};
  int64_t d[2] = {ANY, ANY};
  TRY(input(c, 0, &a.x, d, 2));
  TRY(vector(c, 1, &a.gain, d[1]));
  TRY(vector(c, 2, &a.beta, d[1]));
  a.epsilon = c.node->epsilon ? c.node->epsilon : a.beta ? 1e-5f : 1e-6f;
  TRY(matrix(c, 3, &a.acc, d[0], d[1]));
  TRY(vector(c, 4, &a.bias, d[1]));
  if (d[0] > 0 && !a.acc != !a.bias) return refuse(c.api, "a product and its bias need each other");
  TRY(output(c, 0, d, 2, &a.total));
  TRY(output(c, 1, d, 2, &a.y));
  a.units = d[0], a.width = (i32)d[1];
  return device_start(c, KERNEL_add_norm, &a);
}

static OrtStatus *activate(Call c, i32 gated) {
  struct bias_activation_args a = {.activation = (i32)c.node->activation, .headroom = c.node->headroom, .gated = gated};
  int64_t d[2] = {ANY, ANY};
  TRY(input(c, 0, &a.acc, d, 2));
  TRY(vector(c, 1, &a.bias, d[1]));
  if (gated && d[1] % 2) return refuse(c.api, "%lld columns are not two halves", (long long)d[1]);
  if (gated) d[1] /= 2;
  TRY(output(c, 0, d, 2, &a.y));
  a.width = (i32)d[1], a.chunks = chunks(d[1]);
  a.units = d[0] * a.chunks;
  return device_start(c, KERNEL_bias_activation, &a);
}

// BiasActivation: acc T [R, f], bias [f] → activation(acc + bias) / headroom T [R, f]. Attributes
// activation and headroom; BiasRelu has no activation.
OrtStatus *device_bias_activation(void *node, OrtKernelContext *context) { return activate(call_of(node, context), 0); }

// Gate: acc T [R, 2·f], bias [2·f] → activation(left) · right / headroom T [R, f], where left and right are the
// halves of acc + bias.
OrtStatus *device_gate(void *node, OrtKernelContext *context) { return activate(call_of(node, context), 1); }

// PartialCandidates: logits T [R, V], pages int32 [P], of which only the size is read, optional bias [V] → keys
// int64 [R, chunks, P, 32], stats [R, chunks, 2], see kernels.h.
OrtStatus *device_partial_candidates(void *node, OrtKernelContext *context) {
  Call c = call_of(node, context);
  struct partial_args a = {0};
  int64_t d[2] = {ANY, ANY}, pages = ANY;
  const i32 *nothing;
  TRY(input(c, 0, &a.logits, d, 2));
  TRY(input(c, 1, &nothing, &pages, 1));
  TRY(vector(c, 2, &a.bias, d[1]));
  a.vocab = d[1], a.pages = (i32)pages, a.chunks = (i32)((d[1] + VOCAB_CHUNK - 1) / VOCAB_CHUNK);
  a.units = d[0] * a.chunks;
  TRY(output(c, 0, (int64_t[]){d[0], a.chunks, pages, WARP}, 4, &a.keys));
  TRY(output(c, 1, (int64_t[]){d[0], a.chunks, 2}, 3, &a.stats));
  return device_start(c, KERNEL_partial_candidates, &a);
}

// MergeCandidates: parts and stats of PartialCandidates → keys int64 [R, P, 32], lse [R].
OrtStatus *device_merge_candidates(void *node, OrtKernelContext *context) {
  Call c = call_of(node, context);
  struct merge_args a = {0};
  int64_t parts[4] = {ANY, ANY, ANY, WARP};
  TRY(input(c, 0, &a.parts, parts, 4));
  TRY(input(c, 1, &a.stats, (int64_t[]){parts[0], parts[1], 2}, 3));
  TRY(output(c, 0, (int64_t[]){parts[0], parts[2], WARP}, 3, &a.keys));
  TRY(output(c, 1, parts, 1, &a.lse));
  a.units = parts[0], a.chunks = (i32)parts[1], a.pages = (i32)parts[2];
  return device_start(c, KERNEL_merge_candidates, &a);
}

// Rescore: keys int64 [R, P, 32], hidden T [R, d], table T [V, d], optional bias [V] → keys. With one page, the
// keys have the logits hidden·tableᵀ + bias in single precision, because matrix products in half precision round
// them.
OrtStatus *device_rescore(void *node, OrtKernelContext *context) {
  Call c = call_of(node, context);
  struct rescore_args a = {0};
  int64_t keys[3] = {ANY, ANY, WARP}, table[2] = {ANY, ANY};
  TRY(input(c, 0, &a.keys, keys, 3));
  TRY(input(c, 2, &a.table, table, 2));
  TRY(matrix(c, 1, &a.hidden, keys[0], table[1]));
  TRY(vector(c, 3, &a.bias, table[0]));
  TRY(output(c, 0, keys, 3, &a.rescored));
  a.units = keys[0] * keys[1] * WARP, a.pages = (i32)keys[1], a.width = (i32)table[1];
  return device_start(c, KERNEL_rescore, &a);
}

// BestCandidates: keys int64 [R, P, 32], lse [R] → best int32 [R, 64·P+1], see kernels.h.
OrtStatus *device_best_candidates(void *node, OrtKernelContext *context) {
  Call c = call_of(node, context);
  struct best_args a = {0};
  int64_t keys[3] = {ANY, ANY, WARP};
  TRY(input(c, 0, &a.keys, keys, 3));
  TRY(vector(c, 1, &a.lse, keys[0]));
  TRY(output(c, 0, (int64_t[]){keys[0], 2 * WARP * keys[1] + 1}, 2, &a.best));
  a.units = keys[0], a.pages = (i32)keys[1];
  return device_start(c, KERNEL_best_candidates, &a);
}
