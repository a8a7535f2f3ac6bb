// Row-wise operators.
#include <string.h>

#include "call.h"

typedef struct {
  Product p;
  const float *x, *gain, *beta;
  float *total, *y, *scale;
  uint8_t *q;
  int64_t width;
  Activation activation;
  float alpha, epsilon;
} Rows;

// PickRows: x [R, N], wanted int64 [Q] → y [Q, N]: rows of x.
OrtStatus *op_pick_rows(void *kernel, OrtKernelContext *context) {
  Call c = {((Node *)kernel)->api, context, kernel};
  const float *x;
  const int64_t *wanted;
  float *y;
  int64_t d[2] = {ANY, ANY}, n = ANY;
  TRY(input(c, 0, &x, d, 2));
  TRY(input(c, 1, &wanted, &n, 1));
  TRY(output(c, 0, (int64_t[]){n, d[1]}, 2, &y));
  for (int64_t i = 0; i < n; i++) {
    if (wanted[i] < 0 || wanted[i] >= d[0]) return refuse(c.api, "row %lld is none of %lld", (long long)wanted[i], (long long)d[0]);
    memcpy(y + i * d[1], x + wanted[i] * d[1], d[1] * sizeof *y);
  }
  return NULL;
}

static void quantize_item(Task *t, int64_t r, void *scratch) {
  const Rows *a = t->arguments;
  (void)scratch;
  kernels->quantize_row(a->q + r * a->width, a->scale + r, a->x + r * a->width, a->width, a->alpha);
}

// Quantize: x [R, N] → q uint8 [R, N], scale [R]; x ≈ (q - 128)·scale/127. With the attribute alpha, here and
// below, x ≈ (q - 127)/alpha, and all scales are 1.
OrtStatus *op_quantize(void *kernel, OrtKernelContext *context) {
  Call c = {((Node *)kernel)->api, context, kernel};
  Rows a = {.alpha = c.node->alpha};
  int64_t d[2] = {ANY, ANY};
  TRY(input(c, 0, &a.x, d, 2));
  TRY(output(c, 0, d, 2, &a.q));
  TRY(output(c, 1, d, 1, &a.scale));
  a.width = d[1];
  Task t = {.item = quantize_item, .items = d[0], .arguments = &a};
  return run(c, &t, d[0] * d[1]);
}

static void activation_quantize_item(Task *t, int64_t r, void *scratch) {
  const Rows *a = t->arguments;
  if (a->activation == RELU)
    kernels->relu_quantize_row(a->q + r * a->width, a->scale + r, a->p, r, scratch, a->width, a->alpha);
  else
    kernels->activation_quantize_row(a->q + r * a->width, a->scale + r, a->p, r, a->activation, scratch, a->width);
}

// ActivationQuantize: acc [R, N], bias [N], scale [R] → q uint8 [R, N], scale [R]; activation(acc·scale + bias) ≈ (q -
// 128)·scale/127. For a ReLU without alpha, and for ReluQuantize, which has no attribute activation, it is ≈ q·scale/255.
OrtStatus *op_activation_quantize(void *kernel, OrtKernelContext *context) {
  Call c = {((Node *)kernel)->api, context, kernel};
  Rows a = {.activation = c.node->activation, .alpha = c.node->alpha};
  int64_t d[2] = {ANY, ANY};
  TRY(input(c, 0, &a.p.acc, d, 2));
  TRY(vector(c, 1, &a.p.bias, d[1]));
  TRY(vector(c, 2, &a.p.scale, d[0]));
  TRY(output(c, 0, d, 2, &a.q));
  TRY(output(c, 1, d, 1, &a.scale));
  a.width = d[1];
  size_t vectors = (d[1] + 15) / 16 * 16;
  Task t = {.item = activation_quantize_item, .items = d[0], .scratch = vectors * sizeof(float), .arguments = &a};
  return run(c, &t, d[0] * d[1]);
}

static void gate_item(Task *t, int64_t r, void *scratch) {
  const Rows *a = t->arguments;
  float *y = a->y ? a->y + r * a->width : scratch;
  kernels->gate_row(y, a->p, r, a->activation, a->width);
  if (a->q) kernels->quantize_row(a->q + r * a->width, a->scale + r, y, a->width, 0);
}

static OrtStatus *gate(Node *k, OrtKernelContext *context, int quantized) {
  Call c = {k->api, context, k};
  Rows a = {.activation = k->activation};
  int64_t d[2] = {ANY, ANY};
  TRY(input(c, 0, &a.p.acc, d, 2));
  TRY(vector(c, 1, &a.p.bias, d[1]));
  TRY(vector(c, 2, &a.p.scale, d[0]));
  if (d[1] % 2) return refuse(c.api, "%lld columns are not two halves", (long long)d[1]);
  d[1] /= 2;
  TRY(output(c, 0, d, 2, quantized ? (void *)&a.q : (void *)&a.y));
  if (quantized) TRY(output(c, 1, d, 1, &a.scale));
  a.width = d[1];
  Task t = {.item = gate_item, .items = d[0], .scratch = quantized ? d[1] * sizeof(float) : 0, .arguments = &a};
  return run(c, &t, d[0] * d[1]);
}

// Gate: acc [R, 2·N], bias [2·N], scale [R], optional → y [R, N] = activation(left)·right, the halves of acc·scale + bias;
// GateQuantize → y as q uint8 [R, N], scale [R].
OrtStatus *op_gate(void *kernel, OrtKernelContext *context) { return gate(kernel, context, 0); }
OrtStatus *op_gate_quantize(void *kernel, OrtKernelContext *context) { return gate(kernel, context, 1); }

static void add_norm_item(Task *t, int64_t r, void *scratch) {
  const Rows *a = t->arguments;
  float *y = a->y ? a->y + r * a->width : scratch;
  if (a->beta)
    kernels->add_norm_row(a->total + r * a->width, y, a->x + r * a->width, a->p, r, a->gain, a->beta, a->epsilon, a->width);
  else
    kernels->add_rms_norm_row(a->total + r * a->width, y, a->x + r * a->width, a->p, r, a->gain, a->epsilon, a->width);
  if (a->q) kernels->quantize_row(a->q + r * a->width, a->scale + r, y, a->width, a->alpha);
}

// add_norm_any is AddNorm or, without the sum, NormSum.
static OrtStatus *add_norm_any(Node *k, OrtKernelContext *context, int quantized, int sum) {
  Call c = {k->api, context, k};
  Rows a = {.alpha = k->alpha};
  int64_t d[2] = {ANY, ANY};
  TRY(input(c, 0, &a.x, d, 2));
  TRY(vector(c, 1, &a.gain, d[1]));
  TRY(vector(c, 2, &a.beta, d[1]));
  a.epsilon = k->epsilon ? k->epsilon : a.beta ? 1e-5f : 1e-6f;
  TRY(input(c, 3, &a.p.acc, d, 2));
  TRY(vector(c, 4, &a.p.bias, d[1]));
  TRY(vector(c, 5, &a.p.scale, d[0]));
  if (a.p.acc && !a.p.bias) return refuse(c.api, "a product needs a bias");
  TRY(output(c, 0, d, 2, &a.total));
  if (!sum) a.y = a.total;
  if (quantized) {
    TRY(output(c, 1, d, 2, &a.q));
    TRY(output(c, 2, d, 1, &a.scale));
  } else if (sum) {
    TRY(output(c, 1, d, 2, &a.y));
  }
  a.width = d[1];
  Task t = {.item = add_norm_item, .items = d[0], .scratch = quantized ? d[1] * sizeof(float) : 0, .arguments = &a};
  return run(c, &t, d[0] * d[1]);
}

// AddNorm: x [R, N], gain, beta [N], and acc [R, N], bias [N], scale [R], optional → total [R, N] = x + acc·scale + bias, y [R,
// N], its layer norm, or without beta its RMS norm. The attribute epsilon, by default 1e-5, or 1e-6 for RMS norms, is added to
// the variance.
OrtStatus *op_add_norm(void *kernel, OrtKernelContext *context) { return add_norm_any(kernel, context, 0, 1); }

// AddNormQuantize: like AddNorm, with y as q uint8 [R, N], scale [R].
OrtStatus *op_add_norm_quantize(void *kernel, OrtKernelContext *context) {
  return add_norm_any(kernel, context, 1, 1);
}

// NormSum: the inputs of AddNorm → y; NormSumQuantize → y, q and scale.
OrtStatus *op_norm_sum(void *kernel, OrtKernelContext *context) { return add_norm_any(kernel, context, 0, 0); }
OrtStatus *op_norm_sum_quantize(void *kernel, OrtKernelContext *context) { return add_norm_any(kernel, context, 1, 0); }
