// Row-wise operators: quantization and layer normalization.
#ifndef DRAGOMAN_ROWS_H
#define DRAGOMAN_ROWS_H

#include "vec.h"

// The scale of a row is its largest magnitude. If one of its numbers is infinite or NaN, the scale is NaN, so no result of the
// row appears valid: comparisons would lose it, but 0·x is NaN too.
INLINE float scale_of(float peak, float zeros) { return (peak > 1e-6f ? peak : 1e-6f) + zeros; }

// sum_of_zeros returns 0, or NaN if one of NATIVE numbers is NaN.
INLINE float sum_of_zeros(vf zeros) {
  float x[NATIVE], all = 0;
  store(x, zeros);
  UNROLL for (int i = 0; i < NATIVE; i++) all += x[i];
  return all;
}

// scale_of_row returns the scale of a row; alpha is as in quantize_row.
INLINE float scale_of_row(const float *x, int64_t n, float alpha) {
  vf m = {}, zeros = {};
  int64_t i = 0;
  for (; i + NATIVE <= n; i += NATIVE) {
    vf v = load(x + i);
    m = vmax(m, vabs(v));
    zeros += v * 0;
  }
  float peak = largest(m), zero = sum_of_zeros(zeros);
  for (; i < n; i++) {
    peak = fabsf(x[i]) > peak ? fabsf(x[i]) : peak;
    zero += x[i] * 0;
  }
  return scale_of(alpha ? 1 : peak, zero);
}

// to_bytes writes round(x·factor) + zero for n floats; the results are 0 to 255, and undefined if x·factor is NaN. With cut,
// x·factor is first clamped to -127 to 127.
INLINE void to_bytes(uint8_t *q, const float *x, float factor, int32_t zero, int64_t n, int cut) {
  const float magic = 12582912.0f;  // 1.5 · 2^23: adding it rounds to an integer, ties to even
  const int32_t magic_bits = 0x4B400000;
  int64_t i = 0;
  for (; i + NATIVE <= n; i += NATIVE) {
    vf scaled = load(x + i) * factor;
    if (cut) scaled = -vmax(-vmax(scaled, splat(-127)), splat(-127));
    vi v = (vi)(scaled + magic) - magic_bits + zero;
    *(vb *)(q + i) = __builtin_convertvector(v, vb);
  }
  for (; i < n; i++) {
    float f = x[i] * factor;
    if (cut) f = f > 127 ? 127 : f > -127 ? f : -127;
    f += magic;
    int32_t v;
    memcpy(&v, &f, 4);
    q[i] = (uint8_t)(v - magic_bits + zero);
  }
}

static void quantize_row(uint8_t *q, float *scale, const float *x, int64_t n, float alpha) {
  *scale = scale_of_row(x, n, alpha);
  if (alpha)
    to_bytes(q, x, alpha, 127, n, 1);
  else
    to_bytes(q, x, 127 / *scale, 128, n, 0);
}

// activate returns an activation function of up to NATIVE numbers; lanes beyond n are 0.
INLINE vf activate(const float *acc, float scale, const float *bias, Activation activation, int64_t n) {
  return vactivate(load_some(acc, n) * scale + load_some(bias, n), activation);
}

static void relu_quantize_row(uint8_t *q, float *scale, Product p, int64_t r, float *scratch, int64_t n, float alpha) {
  const float *acc = p.acc + r * n;
  float s = p.scale ? p.scale[r] : 1;
  vf m = {}, zeros = {};
  for (int64_t i = 0; i < n; i += NATIVE) {  // scratch has room for whole vectors
    vf v = activate(acc + i, s, p.bias + i, NO_ACTIVATION, n - i);
    zeros += v * 0;
    v = vmax(v, (vf){});
    m = vmax(m, v);
    store(scratch + i, v);
  }
  *scale = scale_of(alpha ? 1 : largest(m), sum_of_zeros(zeros));
  if (alpha)
    to_bytes(q, scratch, alpha, 127, n, 1);
  else
    to_bytes(q, scratch, 255 / *scale, 0, n, 0);
}

static void activation_quantize_row(uint8_t *q, float *scale, Product p, int64_t r, Activation activation, float *scratch, int64_t n) {
  const float *acc = p.acc + r * n;
  float s = p.scale ? p.scale[r] : 1;
  for (int64_t i = 0; i < n; i += NATIVE)  // scratch has room for whole vectors
    store(scratch + i, activate(acc + i, s, p.bias + i, activation, n - i));
  *scale = scale_of_row(scratch, n, 0);
  to_bytes(q, scratch, 127 / *scale, 128, n, 0);
}

static void ssru_row(float *y, float *state, float *rest, int64_t split, const float *before, const float *rest_before, Product p,
                     int64_t r, int64_t n) {
  const float *candidate = p.acc + r * 2 * n, *gate = candidate + n;
  float s = p.scale ? p.scale[r] : 1;
  for (int64_t i = 0; i < n; i += NATIVE) {
    int64_t end = i < split ? split : n, some = end - i < NATIVE ? end - i : NATIVE;
    float *at = i < split ? state + i : rest + i - split;
    const float *old = i < split ? before + i : rest_before + i - split;
    vf open = 1 / (1 + vexp(-vmax(activate(gate + i, s, p.bias + n + i, NO_ACTIVATION, some), splat(-88))));
    vf v = (1 - open) * activate(candidate + i, s, p.bias + i, NO_ACTIVATION, some);
    if (before) v += open * load_some(old, some);
    vf positive = vmax(v, (vf){});
    if (some == NATIVE) {
      store(at, v);
      store(y + i, positive);
    } else {
      memcpy(at, &v, some * sizeof *at);
      memcpy(y + i, &positive, some * sizeof *y);
      i += some - NATIVE;
    }
  }
}

static void embed_int8_row(float *y, const int8_t *panels, float scale, int64_t id, const float *position, int64_t n) {
  const int8_t *row = int8_row(panels, id, n);
  for (int64_t i = 0; i < n; i++) y[i] = row[i / 4 * 64 + i % 4] * scale + (position ? position[i] : 0);
}

static void gate_row(float *y, Product p, int64_t r, Activation activation, int64_t n) {
  const float *left = p.acc + r * 2 * n, *right = left + n;
  float s = p.scale ? p.scale[r] : 1;
  for (int64_t i = 0; i < n; i += NATIVE) {
    int64_t some = n - i < NATIVE ? n - i : NATIVE;
    vf v = activate(left + i, s, p.bias + i, activation, some) * activate(right + i, s, p.bias + n + i, NO_ACTIVATION, some);
    if (some == NATIVE)
      store(y + i, v);
    else
      memcpy(y + i, &v, some * sizeof *y);
  }
}

// added returns x plus the output of a linear layer; a null acc: x.
INLINE vf added(const float *x, const float *acc, float scale, const float *bias) {
  if (acc) return load(x) + (load(acc) * scale + load(bias));
  return load(x);
}

static void add_rms_norm_row(float *total, float *y, const float *x, Product p, int64_t r, const float *gain, float epsilon,
                             int64_t n) {
  float s = p.scale ? p.scale[r] : 1, squares = 0;
  const float *acc = p.acc ? p.acc + r * n : 0, *bias = p.bias;
  vf lanes[PARTS] = {};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
    EACH_PART {
      vf v = added(x + i + p * NATIVE, acc ? acc + i + p * NATIVE : 0, s, bias + i + p * NATIVE);
      store(total + i + p * NATIVE, v);
      lanes[p] += v * v;
    }
  for (; i < n; i++) {
    total[i] = acc ? x[i] + (acc[i] * s + p.bias[i]) : x[i];
    squares += total[i] * total[i];
  }
  float inverse = 1 / sqrtf((squares + sum(lanes)) / n + epsilon);
  for (i = 0; i + NATIVE <= n; i += NATIVE) store(y + i, load(total + i) * inverse * load(gain + i));
  for (; i < n; i++) y[i] = total[i] * inverse * gain[i];
}

static void add_norm_row(float *total, float *y, const float *x, Product p, int64_t r, const float *gain,
                         const float *beta, float epsilon, int64_t n) {
  float s = p.scale ? p.scale[r] : 1;
  const float *acc = p.acc ? p.acc + r * n : 0, *bias = p.bias;
  vf lanes[PARTS] = {}, squares[PARTS] = {};
  float mean = 0, variance = 0;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
    EACH_PART {
      vf v = added(x + i + p * NATIVE, acc ? acc + i + p * NATIVE : 0, s, bias + i + p * NATIVE);
      store(total + i + p * NATIVE, v);
      lanes[p] += v;
    }
  for (; i < n; i++) {
    total[i] = acc ? x[i] + (acc[i] * s + p.bias[i]) : x[i];
    mean += total[i];
  }
  mean = (mean + sum(lanes)) / n;
  for (i = 0; i + LANES <= n; i += LANES)
    EACH_PART {
      vf v = load(total + i + p * NATIVE) - mean;
      squares[p] += v * v;
    }
  for (; i < n; i++) variance += (total[i] - mean) * (total[i] - mean);
  variance = (variance + sum(squares)) / n;
  float inverse = 1 / sqrtf(variance + epsilon);
  for (i = 0; i + NATIVE <= n; i += NATIVE)
    store(y + i, (load(total + i) - mean) * inverse * load(gain + i) + load(beta + i));
  for (; i < n; i++) y[i] = (total[i] - mean) * inverse * gain[i] + beta[i];
}

static void to_floats(float *out, int64_t stride, const int32_t *sums, int64_t rows, const Int8Rows *x, const Int8Matrix *m,
                      int64_t c, int64_t n) {
  int32_t zero = x->path->zero - x->zero;
  int64_t i = 0;
  for (; i + NATIVE <= n; i += NATIVE) {
    vi correction;
    memcpy(&correction, m->sums + c + i, sizeof correction);
    vf factor = load(m->scale + c + i) * x->unit;
    correction *= zero;
    for (int64_t r = 0; r < rows; r++) {
      vi v;
      memcpy(&v, sums + r * 3 * PANEL + i, sizeof v);
      store(out + r * stride + i, __builtin_convertvector(v + correction, vf) * factor);
    }
  }
  for (; i < n; i++)
    for (int64_t r = 0; r < rows; r++)
      out[r * stride + i] = (float)(sums[r * 3 * PANEL + i] + zero * m->sums[c + i]) * (m->scale[c + i] * x->unit);
}

#endif
