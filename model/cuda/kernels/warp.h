// The language of the kernels: the code of one warp of 32 lanes, written once for CUDA
// and C.
//
// On a GPU every lane runs the code; LANES is the lane's own iteration, and a per-lane
// variable is a register. In C one thread runs the code for all lanes; LANES is a
// loop, and a per-lane variable is an array. Code outside of LANES computes the same
// in all lanes. Kernels communicate only through the functions at the end of this
// file: they need neither shared memory nor barriers.
#ifndef DRAGOMAN_WARP_H
#define DRAGOMAN_WARP_H

typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned short u16;  // also a number in half precision

enum { WARP = 32 };

#ifdef __CUDACC__

#define DEVICE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define EACH 1  // elements of a per-lane variable
#define MORE(condition) 1  // always true: a loop of fixed length can be unrolled
#define LANES(l) for (i32 l = threadIdx.x & 31, once_ = 1; once_; once_ = 0)
#define OF(x, l) (x)[0 * (l)]  // lane l's element
#define ALL 0xffffffffu
#define INFINITE __int_as_float(0x7f800000)

DEVICE float half_to_float(u16 h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}
DEVICE u16 float_to_half(float f) {
  u16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
}
DEVICE u32 bits_of(float f) { return __float_as_uint(f); }
DEVICE float float_of(u32 u) { return __uint_as_float(u); }
DEVICE float inverse_root(float x) { return rsqrtf(x); }

DEVICE float warp_sum(const float *x) {
  float sum = x[0];
  UNROLL for (i32 o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(ALL, sum, o);
  return sum;
}
// warp_sums computes warp_sum of n variables, and changes them. Additions for one
// variable overlap the waiting for another.
DEVICE void warp_sums(float *x, float *sums, i32 n) {
  UNROLL for (i32 o = 16; o > 0; o >>= 1)
    UNROLL for (i32 i = 0; i < n; i++) x[i] += __shfl_xor_sync(ALL, x[i], o);
  UNROLL for (i32 i = 0; i < n; i++) sums[i] = x[i];
}
DEVICE float warp_max(const float *x) {
  float most = x[0];
  UNROLL for (i32 o = 16; o > 0; o >>= 1) most = fmaxf(most, __shfl_xor_sync(ALL, most, o));
  return most;
}
// lane_key returns lane l's key to all lanes.
DEVICE u64 lane_key(const u64 *x, i32 l) { return __shfl_sync(ALL, x[0], l); }
// insert puts a key into a list that is sorted over the lanes, largest first, and
// drops the smallest.
DEVICE void insert(u64 *list, u64 key) {
  i32 lane = threadIdx.x & 31, at = __popc(__ballot_sync(ALL, list[0] > key));
  u64 above = __shfl_up_sync(ALL, list[0], 1);
  if (lane >= at) list[0] = lane == at ? key : above;
}
// offer inserts the lanes' keys that are among the 32 largest so far.
DEVICE void offer(u64 *list, const u64 *keys) {
  u32 better = __ballot_sync(ALL, keys[0] > lane_key(list, 31));
  while (better) {
    i32 l = __ffs(better) - 1;
    better &= better - 1;
    insert(list, lane_key(keys, l));
  }
}

#else  // C

#include <math.h>
#include <string.h>

#define DEVICE static inline
#define UNROLL
#define EACH 32
#define MORE(condition) (condition)
#define LANES(l) for (i32 l = 0; l < WARP; l++)
#define OF(x, l) (x)[l]
#define INFINITE INFINITY

DEVICE u32 bits_of(float f) {
  u32 u;
  memcpy(&u, &f, sizeof u);
  return u;
}
DEVICE float float_of(u32 u) {
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}
DEVICE float half_to_float(u16 h) {
  u32 sign = (u32)(h & 0x8000) << 16, m = h & 0x7fff;
  if (m >= 0x7c00) return float_of(sign | 0x7f800000 | (m & 0x3ff) << 13);  // infinite or NaN
  if (m < 0x400) return float_of(bits_of((float)m * 0x1p-24f) | sign);
  return float_of(sign | ((m << 13) + 0x38000000));
}
DEVICE u16 float_to_half(float f) {  // rounds to nearest, ties to even
  u32 u = bits_of(f), sign = u >> 16 & 0x8000, m = u & 0x7fffffff;
  if (m >= 0x7f800000) return (u16)(sign | 0x7c00 | (m > 0x7f800000 ? 0x200 : 0));
  if (m >= 0x477ff000) return (u16)(sign | 0x7c00);
  if (m < 0x38800000) return (u16)(sign | (bits_of(float_of(m) + 0.5f) - 0x3f000000));  // the addition rounds
  m += 0xfff + (m >> 13 & 1);
  return (u16)(sign | (m - 0x38000000) >> 13);
}

DEVICE float inverse_root(float x) { return 1 / sqrtf(x); }
DEVICE float warp_sum(const float *x) {  // adds in the order of a GPU's lanes
  float a[WARP], b[WARP];
  memcpy(a, x, sizeof a);
  for (i32 o = 16; o > 0; o >>= 1) {
    for (i32 l = 0; l < WARP; l++) b[l] = a[l] + a[l ^ o];
    memcpy(a, b, sizeof a);
  }
  return a[0];
}
DEVICE void warp_sums(const float *x, float *sums, i32 n) {
  for (i32 i = 0; i < n; i++) sums[i] = warp_sum(x + i * WARP);
}
DEVICE float warp_max(const float *x) {
  float most = x[0];
  for (i32 l = 1; l < WARP; l++) most = fmaxf(most, x[l]);
  return most;
}
DEVICE u64 lane_key(const u64 *x, i32 l) { return x[l]; }
DEVICE void insert(u64 *list, u64 key) {
  i32 at = 0;
  for (i32 l = 0; l < WARP; l++) at += list[l] > key;
  for (i32 l = WARP - 1; l > at; l--) list[l] = list[l - 1];
  if (at < WARP) list[at] = key;
}
DEVICE void offer(u64 *list, const u64 *keys) {
  for (i32 l = 0; l < WARP; l++)
    if (keys[l] > list[WARP - 1]) insert(list, keys[l]);
}

#endif

// sort_key orders candidates by logit, and equal logits by id, lower first. It is
// never 0.
DEVICE u64 sort_key(float logit, u32 id) {
  u32 u = bits_of(logit);
  u = u & 0x80000000u ? ~u : u | 0x80000000u;
  return (u64)u << 32 | (u32)~id;
}
DEVICE float key_logit(u64 key) {
  u32 u = (u32)(key >> 32);
  return float_of(u & 0x80000000u ? u & 0x7fffffffu : ~u);
}
DEVICE u32 key_id(u64 key) { return ~(u32)key; }

#endif
