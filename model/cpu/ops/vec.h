// Vectors of floats in the compiler's own vector types: gcc and clang compile them to AVX-512, AVX2, SSE or NEON according to the
// target. They would take vectors larger than a register apart lane by lane. NATIVE is the number of floats in a register of the
// target: 16, 8 or 4.
//
// Sums have LANES lanes, in LANES/NATIVE vectors, on all targets, and the order in which lanes are added is defined here, so it
// does not depend on the target.
#ifndef DRAGOMAN_VEC_H
#define DRAGOMAN_VEC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels.h"

enum { PARTS = LANES / NATIVE };

typedef float vf __attribute__((vector_size(4 * NATIVE), aligned(4), may_alias));
typedef float v8 __attribute__((vector_size(32)));
typedef float v4 __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(4 * NATIVE)));
typedef int16_t vs __attribute__((vector_size(2 * NATIVE), aligned(2), may_alias));
typedef uint8_t vb __attribute__((vector_size(NATIVE), aligned(1), may_alias));

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")
#define EACH_PART UNROLL for (int p = 0; p < PARTS; p++)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

INLINE vf splat(float x) { return x - (vf){}; }
INLINE vf load(const float *p) { return *(const vf *)p; }
INLINE void store(float *p, vf v) { *(vf *)p = v; }
INLINE vf pick(vi mask, vf a, vf b) { return (vf)(((vi)a & mask) | ((vi)b & ~mask)); }

// vmax returns b unless a is larger and neither is NaN. gcc makes four dependent instructions of it.
#if NATIVE == 4
INLINE vf vmax(vf a, vf b) { return pick(a > b, a, b); }
#else
INLINE vf vmax(vf a, vf b) {
  __asm__("vmaxps %2, %1, %0" : "=v"(b) : "v"(a), "vm"(b));
  return b;
}
#endif
INLINE vf vabs(vf a) { return (vf)((vi)a & 0x7fffffff); }

// Lanes are added first with those eight apart, then with those four, two and one apart.

// four_sums reduces LANES lanes to four.
INLINE v4 four_sums(const vf *v) {
#if NATIVE == 16
  v8 a = SHUFFLE(v[0], v[0], 0, 1, 2, 3, 4, 5, 6, 7) + SHUFFLE(v[0], v[0], 8, 9, 10, 11, 12, 13, 14, 15);
  return SHUFFLE(a, a, 0, 1, 2, 3) + SHUFFLE(a, a, 4, 5, 6, 7);
#elif NATIVE == 8
  v8 a = v[0] + v[1];
  return SHUFFLE(a, a, 0, 1, 2, 3) + SHUFFLE(a, a, 4, 5, 6, 7);
#else
  return (v[0] + v[2]) + (v[1] + v[3]);
#endif
}

INLINE float sum(const vf *v) {
  v4 b = four_sums(v);
  b += SHUFFLE(b, b, 2, 3, 0, 1);
  return b[0] + b[1];
}

// PAIR adds the halves of the parts of two vectors, parts of 2·n lanes, and puts the sums of both into one vector.
#if NATIVE == 16
#define PAIR8(a, b) (SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) + \
                     SHUFFLE(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31))
#define PAIR4(a, b) (SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) + \
                     SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31))
#define PAIR2(a, b) (SHUFFLE(a, b, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) + \
                     SHUFFLE(a, b, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31))
#define PAIR1(a, b) (SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) + \
                     SHUFFLE(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31))
#elif NATIVE == 8
#define PAIR4(a, b) (SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11) + SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15))
#define PAIR2(a, b) (SHUFFLE(a, b, 0, 1, 4, 5, 8, 9, 12, 13) + SHUFFLE(a, b, 2, 3, 6, 7, 10, 11, 14, 15))
#define PAIR1(a, b) (SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14) + SHUFFLE(a, b, 1, 3, 5, 7, 9, 11, 13, 15))
#else
#define PAIR2(a, b) (SHUFFLE(a, b, 0, 1, 4, 5) + SHUFFLE(a, b, 2, 3, 6, 7))
#define PAIR1(a, b) (SHUFFLE(a, b, 0, 2, 4, 6) + SHUFFLE(a, b, 1, 3, 5, 7))
#endif
#define PAIRS(PAIR, n) UNROLL for (int i = 0; i < (n); i++) v[i] = PAIR(v[2 * i], v[2 * i + 1])

// sums writes the sum of each of LANES times LANES lanes to the first LANES of them, with the additions in the order of sum.
INLINE void sums(vf *v) {
#if NATIVE == 16
  PAIRS(PAIR8, 8);
  PAIRS(PAIR4, 4);
#elif NATIVE == 8
  UNROLL for (int i = 0; i < LANES; i++) v[i] = v[2 * i] + v[2 * i + 1];
  PAIRS(PAIR4, 8);
#else
  UNROLL for (int i = 0; i < LANES; i++) v[i] = four_sums(v + 4 * i);
#endif
  PAIRS(PAIR2, 2 * PARTS);
  PAIRS(PAIR1, PARTS);
}

// largest returns the largest of NATIVE floats.
INLINE float largest(vf v) {
  float x[NATIVE];
  store(x, v);
  UNROLL for (int n = NATIVE / 2; n > 0; n /= 2) UNROLL for (int i = 0; i < n; i++) x[i] = x[i] > x[i + n] ? x[i] : x[i + n];
  return x[0];
}

// Half precision (IEEE binary16). Without special instructions: a half shifted to the place of a float's exponent and mantissa is
// the number times 2^-112.

// gcc allows x86's intrinsic only in functions compiled for it, so not in inline ones.
#if NATIVE == 4
INLINE vf load_half(const uint16_t *p) {
  // Extending the sign copies it above the exponent; the mask leaves one copy.
  vi h = __builtin_convertvector(*(const vs *)p, vi) << 13;
  return (vf)(h & (int32_t)0x8fffffff) * 0x1p112f;
}
#elif defined(__clang__)
typedef _Float16 vh __attribute__((vector_size(2 * NATIVE), aligned(2), may_alias));
INLINE vf load_half(const uint16_t *p) { return __builtin_convertvector(*(const vh *)p, vf); }
#else
INLINE vf load_half(const uint16_t *p) {
  vf v;
  __asm__("vcvtph2ps %1, %0" : "=v"(v) : "m"(*(const vs *)p));
  return v;
}
#endif

INLINE float half_to_float(uint16_t h) {
  uint32_t bits = (uint32_t)(h & 0x7fff) << 13;
  float magnitude;
  memcpy(&magnitude, &bits, 4);
  magnitude *= 0x1p112f;
  return h & 0x8000 ? -magnitude : magnitude;
}

// store_half writes NATIVE numbers as the nearest halves, ties to even; numbers that are too large, and NaN, become the largest.
INLINE void store_half(uint16_t *p, vf x) {
  vf magnitude = vabs(x);
  magnitude = pick(magnitude < 65504, magnitude, splat(65504));
  vf fixed = magnitude + 0.5f;  // rounds small numbers to a multiple of 2^-24, like subnormal halves
  vi bits = (vi)magnitude, small = (vi)fixed - 0x3f000000;
  bits = (bits - (112 << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
  bits = (vi)pick(magnitude < 0x1p-14f, (vf)small, (vf)bits);
  *(vs *)p = __builtin_convertvector(bits | ((vi)x >> 16 & 0x8000), vs);
}

INLINE uint16_t float_to_half(float x) {
  uint16_t h[NATIVE];
  store_half(h, splat(x));
  return h[0];
}

// e^x for x up to 88, with an error below 2 units in the last place; 0 below -87.
// x = n ln 2 + r, e^r by a polynomial (the coefficients are Cephes' expf).
INLINE vf vexp(vf x) {
  const float magic = 12582912.0f;  // 1.5 · 2^23: adding it rounds to an integer
  vi tiny = x < -87.0f;
  x = vmax(splat(-87.0f), x);
  vf n = x * 1.44269504088896341f + magic;
  vi exponent = (vi)n << 23;
  n -= magic;
  vf r = x - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  vf p = splat(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  vf y = (vf)((vi)p + exponent);
  return pick(tiny, splat(0), y);
}

INLINE float fexp(float x) {
  vf v = vexp(splat(x));
  return v[0];
}

// vswish returns x/(1 + e^-x); numbers below -88 give 0, except for the last place of its 37 zeros.
INLINE vf vswish(vf x) { return x / (1 + vexp(-vmax(x, splat(-88)))); }

// vgelu returns x·Φ(x), by formula 7.1.26 of Abramowitz and Stegun for the error function, with an error below 2e-7.
INLINE vf vgelu(vf x) {
  vf z = vabs(x) * 0.70710678118654752f, t = 1 / (1 + z * 0.3275911f);
  vf p = t * 1.061405429f - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  vf tail = p * t * vexp(z * -z) * 0.5f;  // of the normal distribution, beyond |x|
  return x * pick(x < 0, tail, 1 - tail);
}

// vgelu_tanh returns x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2, which is x/(1 + e^-2·…).
INLINE vf vgelu_tanh(vf x) {
  vf u = x * (x * x * 0.07135481627f + 1.595769122f);
  return x / (1 + vexp(-vmax(u, splat(-88))));
}

// vactivate returns an activation function.
INLINE vf vactivate(vf x, Activation activation) {
  switch (activation) {
    case RELU: return pick(x < 0, (vf){}, x);  // NaN stays NaN
    case SWISH: return vswish(x);
    case GELU: return vgelu(x);
    case GELU_TANH: return vgelu_tanh(x);
    default: return x;
  }
}

// load_some loads n numbers, at most NATIVE; the other lanes are 0.
INLINE vf load_some(const float *p, int64_t n) {
  vf v = {};
  if (n >= NATIVE) return load(p);
  for (int64_t i = 0; i < n; i++) v[i] = p[i];
  return v;
}

// int8_row returns the first number of row id of an 8-bit matrix [rows, n] in panels. Number i is at i / 4 * 64 + i % 4.
INLINE const int8_t *int8_row(const int8_t *panels, int64_t id, int64_t n) {
  return panels + id / 16 * 16 * ((n + 3) / 4 * 4) + id % 16 * 4;
}

// dot_half returns the inner product of n numbers.
INLINE float dot_half(const float *a, const uint16_t *b, int64_t n) {
  vf acc[PARTS] = {};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) EACH_PART acc[p] += load(a + i + p * NATIVE) * load_half(b + i + p * NATIVE);
  float s = sum(acc);
  for (; i < n; i++) s += a[i] * half_to_float(b[i]);
  return s;
}

// softmax converts n scores to weights that add up to 1. The scores after them, up to LANES, become 0.
INLINE void softmax(float *s, int64_t n) {
  for (int64_t i = n; i < padded(n); i++) s[i] = -INFINITY;
  vf peak = load(s), total[PARTS] = {};
  for (int64_t i = NATIVE; i < padded(n); i += NATIVE) peak = vmax(load(s + i), peak);
  float most = largest(peak);
  for (int64_t i = 0; i < n; i += LANES)
    EACH_PART {
      vf e = vexp(load(s + i + p * NATIVE) - most);
      store(s + i + p * NATIVE, e);
      total[p] += e;
    }
  float inverse = 1 / sum(total);
  for (int64_t i = 0; i < padded(n); i += NATIVE) store(s + i, load(s + i) * inverse);
}

// linear writes x·scale + bias, the output of a linear layer whose product is x.
INLINE void linear(float *out, const float *x, float scale, const float *bias, int64_t n) {
  int64_t i = 0;
  for (; i + NATIVE <= n; i += NATIVE) store(out + i, load(x + i) * scale + load(bias + i));
  for (; i < n; i++) out[i] = x[i] * scale + bias[i];
}

INLINE void linear_half(uint16_t *out, const float *x, float scale, const float *bias, int64_t n) {
  int64_t i = 0;
  for (; i + NATIVE <= n; i += NATIVE) store_half(out + i, load(x + i) * scale + load(bias + i));
  for (; i < n; i++) out[i] = float_to_half(x[i] * scale + bias[i]);
}

#endif
