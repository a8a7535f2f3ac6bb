// Vectors of 16 floats in the compiler's own vector types: gcc and clang turn them
// into AVX-512, AVX2, SSE or NEON as the target has it. The order in which lanes
// are added up is written down here, so it does not depend on the target.
#ifndef DRAGOMAN_VEC_H
#define DRAGOMAN_VEC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels.h"

#define LANES 16

typedef float vf __attribute__((vector_size(64), aligned(4), may_alias));
typedef float v8 __attribute__((vector_size(32)));
typedef float v4 __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(64)));
typedef int16_t vs __attribute__((vector_size(32), aligned(2), may_alias));
typedef uint8_t vb __attribute__((vector_size(16), aligned(1), may_alias));

// TARGET_V3 and TARGET_V4 mark what runs on x86 CPUs of these levels only. As a cross compiler clang is told
// by name what other CPUs lack, which has more weight than a level.
#if defined(__clang__)
#define FEATURES_V3 "avx2,bmi,bmi2,f16c,fma,lzcnt,movbe"
#define TARGET_V3 __attribute__((target(FEATURES_V3)))
#define TARGET_V4 __attribute__((target(FEATURES_V3 ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl")))
#else
#define TARGET_V3 __attribute__((target("arch=x86-64-v3")))
#define TARGET_V4 __attribute__((target("arch=x86-64-v4")))
#endif

#define INLINE static inline __attribute__((always_inline))

// KERNEL marks a function that is compiled for several generations of x86 CPUs;
// the loader of Linux picks one when the program starts. Clang refuses to call functions of
// vectors of 16 floats from such as are compiled for AVX-512. With -DKERNEL= there is one, for
// the compiler's target.
#if defined(KERNEL)
#elif defined(__x86_64__) && defined(__linux__) && defined(__clang__)
#define KERNEL __attribute__((target_clones("arch=x86-64-v3", "default")))
#elif defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define KERNEL __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KERNEL
#endif

INLINE vf splat(float x) { return x - (vf){}; }
INLINE vf load(const float *p) { return *(const vf *)p; }
INLINE void store(float *p, vf v) { *(vf *)p = v; }
INLINE vf pick(vi mask, vf a, vf b) { return (vf)(((vi)a & mask) | ((vi)b & ~mask)); }
INLINE vf vmax(vf a, vf b) { return pick(a > b, a, b); }
INLINE vf vabs(vf a) { return (vf)((vi)a & 0x7fffffff); }

INLINE float sum(vf v) {
  v8 a = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  v4 b = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
  b += __builtin_shufflevector(b, b, 2, 3, 0, 1);
  return b[0] + b[1];
}

// PAIR adds the halves of what two vectors consist of, parts of 2·n lanes, and puts
// the sums of both into one.
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define PAIR8(a, b) (SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) + \
                     SHUFFLE(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31))
#define PAIR4(a, b) (SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) + \
                     SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31))
#define PAIR2(a, b) (SHUFFLE(a, b, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) + \
                     SHUFFLE(a, b, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31))
#define PAIR1(a, b) (SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) + \
                     SHUFFLE(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31))

// sums returns the sum of each of 16 vectors, in the order of additions of sum.
INLINE vf sums(vf *v) {
  for (int i = 0; i < 8; i++) v[i] = PAIR8(v[2 * i], v[2 * i + 1]);
  for (int i = 0; i < 4; i++) v[i] = PAIR4(v[2 * i], v[2 * i + 1]);
  for (int i = 0; i < 2; i++) v[i] = PAIR2(v[2 * i], v[2 * i + 1]);
  return PAIR1(v[0], v[1]);
}

INLINE float largest(vf v) {
  v = vmax(v, SHUFFLE(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  v = vmax(v, SHUFFLE(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  v = vmax(v, SHUFFLE(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  v = vmax(v, SHUFFLE(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
  return v[0];
}

// Half precision (IEEE binary16) without special instructions: shifted to the
// place of a float's exponent and mantissa, a half is the number times 2^-112.

INLINE vf load_half(const uint16_t *p) {
  // Extending the sign puts copies of it above the exponent; all but one go.
  vi h = __builtin_convertvector(*(const vs *)p, vi) << 13;
  return (vf)(h & (int32_t)0x8fffffff) * 0x1p112f;
}

// The same with the instruction that x86 CPUs have for it. gcc has no name for it that
// may be used in a function that is compiled for several CPUs, so this is for
// functions that are compiled for AVX-512 only. For clang it is no function: see KERNEL.
#if defined(__x86_64__) && defined(__clang__)
typedef _Float16 vh __attribute__((vector_size(32), aligned(2), may_alias));
#define load_half_avx512(p) __builtin_convertvector(*(const vh *)(p), vf)
#else
INLINE vf load_half_avx512(const uint16_t *p) {
#if defined(__x86_64__)
  vf v;
  __asm__("vcvtph2ps %1, %0" : "=v"(v) : "m"(*(const vs *)p));
  return v;
#else
  return load_half(p);
#endif
}
#endif

INLINE float half_to_float(uint16_t h) {
  uint32_t bits = (uint32_t)(h & 0x7fff) << 13;
  float magnitude;
  memcpy(&magnitude, &bits, 4);
  magnitude *= 0x1p112f;
  return h & 0x8000 ? -magnitude : magnitude;
}

// store_half writes 16 numbers as the nearest halves, ties to even; what is too large, or
// not a number, becomes the largest.
INLINE void store_half(uint16_t *p, vf x) {
  vf magnitude = vabs(x);
  magnitude = pick(magnitude < 65504, magnitude, splat(65504));
  vf fixed = magnitude + 0.5f;  // rounds what is small to a multiple of 2^-24, as subnormal halves are
  vi bits = (vi)magnitude, small = (vi)fixed - 0x3f000000;
  bits = (bits - (112 << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
  bits = (vi)pick(magnitude < 0x1p-14f, (vf)small, (vf)bits);
  *(vs *)p = __builtin_convertvector(bits | ((vi)x >> 16 & 0x8000), vs);
}

INLINE uint16_t float_to_half(float x) {
  uint16_t h[LANES];
  store_half(h, splat(x));
  return h[0];
}

// e^x for x up to 88, with an error below 2 units in the last place; 0 below -87.
// x = n ln 2 + r, e^r by a polynomial (the coefficients are Cephes' expf).
INLINE vf vexp(vf x) {
  const float magic = 12582912.0f;  // 1.5 · 2^23: adding it rounds to an integer
  vi tiny = x < -87.0f;
  x = pick(tiny, splat(-87.0f), x);
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

// vswish is x/(1 + e^-x); what is below -88 is 0 but for the last place of its 37 zeros.
INLINE vf vswish(vf x) { return x / (1 + vexp(-vmax(x, splat(-88)))); }

// vgelu is x·Φ(x), by formula 7.1.26 of Abramowitz and Stegun for the error function, which
// is within 2e-7.
INLINE vf vgelu(vf x) {
  vf z = vabs(x) * 0.70710678118654752f, t = 1 / (1 + z * 0.3275911f);
  vf p = t * 1.061405429f - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  vf tail = p * t * vexp(z * -z) * 0.5f;  // of the normal distribution, beyond |x|
  return x * pick(x < 0, tail, 1 - tail);
}

// vgelu_tanh is x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2, which is x/(1 + e^-2·…).
INLINE vf vgelu_tanh(vf x) {
  vf u = x * (x * x * 0.07135481627f + 1.595769122f);
  return x / (1 + vexp(-vmax(u, splat(-88))));
}

// vactivate is an activation function.
INLINE vf vactivate(vf x, Activation activation) {
  switch (activation) {
    case RELU: return pick(x < 0, (vf){}, x);  // what is not a number stays so
    case SWISH: return vswish(x);
    case GELU: return vgelu(x);
    case GELU_TANH: return vgelu_tanh(x);
    default: return x;
  }
}

// load_some loads n numbers, at most 16; the other lanes are 0.
INLINE vf load_some(const float *p, int64_t n) {
  vf v = {};
  if (n >= LANES) return load(p);
  for (int64_t i = 0; i < n; i++) v[i] = p[i];
  return v;
}

// dot_half is the inner product of n numbers.
INLINE float dot_half(const float *a, const uint16_t *b, int64_t n) {
  vf acc = {};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) acc += load(a + i) * load_half(b + i);
  float s = sum(acc);
  for (; i < n; i++) s += a[i] * half_to_float(b[i]);
  return s;
}

// softmax turns n scores into weights that add up to 1. What follows them, up to a whole
// vector, becomes 0.
INLINE void softmax(float *s, int64_t n) {
  const vi lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  int64_t last = (n - 1) / LANES * LANES;
  vi some = lane < (int32_t)(n - last);
  store(s + last, pick(some, load(s + last), splat(-INFINITY)));
  vf peak = load(s), total = {};
  for (int64_t i = LANES; i < n; i += LANES) peak = vmax(load(s + i), peak);
  float most = largest(peak);
  for (int64_t i = 0; i < n; i += LANES) {
    vf e = vexp(load(s + i) - most);
    store(s + i, e);
    total += e;
  }
  float inverse = 1 / sum(total);
  for (int64_t i = 0; i < n; i += LANES) store(s + i, load(s + i) * inverse);
}

// linear writes x·scale + bias, the output of a linear layer whose product is x.
INLINE void linear(float *out, const float *x, float scale, const float *bias, int64_t n) {
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) store(out + i, load(x + i) * scale + load(bias + i));
  for (; i < n; i++) out[i] = x[i] * scale + bias[i];
}

INLINE void linear_half(uint16_t *out, const float *x, float scale, const float *bias, int64_t n) {
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) store_half(out + i, load(x + i) * scale + load(bias + i));
  for (; i < n; i++) out[i] = float_to_half(x[i] * scale + bias[i]);
}

#endif
