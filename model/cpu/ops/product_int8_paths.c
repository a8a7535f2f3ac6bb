// The tiles of products of 8-bit numbers, for each kind of CPU.
#include "cpu.h"
#include "product_int8.h"

#include <stddef.h>
#include <string.h>

#define NAME2_(a, b) a##b
#define NAME2(a, b) NAME2_(a, b)

static int always(void) { return 1; }

#if defined(__x86_64__)
#include <immintrin.h>

static inline int32_t four(const void *x) {
  int32_t v;
  memcpy(&v, x, sizeof v);
  return v;
}

// AVX-512 with VNNI: one instruction multiplies and adds 64 pairs. With its intrinsic gcc copies the sums from register to
// register around it, which halves the speed.
static inline __attribute__((always_inline, target("avx512f"))) __m512i dot512(__m512i v, __m512i w, __m512i x) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(v) : "v"(x), "v"(w));
  return v;
}

#define TILE avx512vnni
#define TARGET __attribute__((target("avx512f,avx512vnni")))
#define ROWS 8
#define ALONE 12
#define PANELS 3
#define PARTS 1
#define V __m512i
#define W __m512i
#define X __m512i
#define LOAD(p) _mm512_loadu_si512(p)
#define SPREAD(p) _mm512_set1_epi32(four(p))
#define DOT(v, w, x) dot512(v, w, x)
#include "product_int8_tile.h"

// VNNI in vectors of 256 bits.
static inline __attribute__((always_inline, target("avx2"))) __m256i dot256(__m256i v, __m256i w, __m256i x) {
  __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(v) : "x"(x), "x"(w));
  return v;
}

#define TILE avxvnni
#define TARGET __attribute__((target("avx2,avxvnni")))
#define ROWS 6
#define PANELS 1
#define PARTS 2
#define V __m256i
#define W __m256i
#define X __m256i
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define SPREAD(p) _mm256_set1_epi32(four(p))
#define DOT(v, w, x) dot256(v, w, x)
#include "product_int8_tile.h"

// Without VNNI: products of an unsigned and a signed number, of which two are added in 16 bits, then four in 32. That takes three
// instructions for 32 products; products of 16-bit numbers, which never overflow, take four. To prevent an overflow, x has a
// bound: if x is signed, w is the unsigned factor, up to 255; if x is unsigned, w is from -128 on.
static inline __attribute__((always_inline, target("avx2"))) __m256i pairs_dot256(__m256i v, __m256i positive, __m256i any) {
  __m256i products;
  __asm__("vpmaddubsw %3, %2, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
          : "+x"(v), "=&x"(products)
          : "x"(positive), "x"(any), "x"(_mm256_set1_epi16(1)));
  return v;
}

#define LOAD256(p) _mm256_loadu_si256((const __m256i *)(p))

#define TILE avx2_signed
#define MENDS
#define TARGET __attribute__((target("avx2")))
#define ROWS 5
#define PANELS 1
#define PARTS 2
#define V __m256i
#define W __m256i
#define X __m256i
#define LOAD(p) _mm256_xor_si256(LOAD256(p), _mm256_set1_epi8(-128))
#define SPREAD(p) _mm256_set1_epi32(four(p))
#define DOT(v, w, x) pairs_dot256(v, w, x)
#include "product_int8_tile.h"

#define TILE avx2_unsigned
#define MENDS
#define TARGET __attribute__((target("avx2")))
#define ROWS 5
#define PANELS 1
#define PARTS 2
#define V __m256i
#define W __m256i
#define X __m256i
#define LOAD(p) LOAD256(p)
#define SPREAD(p) _mm256_set1_epi32(four(p))
#define DOT(v, w, x) pairs_dot256(v, x, w)
#include "product_int8_tile.h"
#undef LOAD256

// Without AVX2: numbers in even and in odd places are widened separately.
typedef struct {
  __m128i even, odd;
} Pairs128;

#define TILE sse2
#define TARGET
#define ROWS 2
#define PANELS 1
#define PARTS 4
#define V __m128i
#define W Pairs128
#define X Pairs128
#define BYTES(p) _mm_loadu_si128((const __m128i *)(p))
#define LOAD(p) ((W){_mm_srai_epi16(_mm_slli_epi16(BYTES(p), 8), 8), _mm_srai_epi16(BYTES(p), 8)})
#define SPREAD(p) ((X){_mm_set1_epi32(four(p) & 0x00ff00ff), _mm_set1_epi32(four(p) >> 8 & 0x00ff00ff)})
#define DOT(v, w, x) _mm_add_epi32(v, _mm_add_epi32(_mm_madd_epi16((w).even, (x).even), _mm_madd_epi16((w).odd, (x).odd)))
#include "product_int8_tile.h"
#undef BYTES

static int has_avx512vnni(void) { return features().avx512vnni; }
static int has_avxvnni(void) { return features().avxvnni; }
static int has_avx2(void) { return features().avx2; }

#elif defined(__aarch64__)
#include <arm_neon.h>
#if defined(__linux__)
#include <sys/auxv.h>
static int has_dotprod(void) { return (getauxval(AT_HWCAP) >> 20 & 1) != 0; }  // HWCAP_ASIMDDP
static int has_i8mm(void) { return (getauxval(AT_HWCAP2) >> 13 & 1) != 0; }    // HWCAP2_I8MM
#else
#include <sys/sysctl.h>
static int has_dotprod(void) { return 1; }  // every Apple CPU has it
static int has_i8mm(void) {
  int has = 0;
  size_t size = sizeof has;
  return !sysctlbyname("hw.optional.arm.FEAT_I8MM", &has, &size, NULL, 0) && has;
}
#endif

#if defined(__clang__)
#define TARGET __attribute__((target("i8mm")))
#else
#define TARGET __attribute__((target("arch=armv8.2-a+i8mm")))
#endif

static inline int8x16_t together(int32x4_t v) { return vreinterpretq_s8_s32(v); }

// i8mm_half multiplies by half of a panel. An instruction multiplies two rows by two outputs, with eight numbers each, of two
// steps. Of each four outputs the first and third are together, and the second and fourth.
static inline __attribute__((always_inline)) TARGET void i8mm_half(int32_t *out, const uint8_t *x, const int8_t *w, int64_t steps,
                                                                   const int8_t *ahead, int64_t stride, const int rows) {
  int32x4_t sums[4][4] = {0};  // [pairs of rows, pairs of outputs]
  for (int64_t s = 0; s < steps; s += 2, x += 2 * STEP * rows, w += 2 * STEP_BYTES, ahead += 2 * stride) {
    const int alone = s + 1 == steps;
    int8x16_t weights[4];
    __builtin_prefetch(ahead, 0, 2);
    __builtin_prefetch(ahead + stride, 0, 2);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
      int32x4_t first = vld1q_s32((const int32_t *)(w + 16 * i)), second = {0};
      if (!alone) second = vld1q_s32((const int32_t *)(w + STEP_BYTES + 16 * i));
      weights[2 * i] = together(vtrn1q_s32(first, second)), weights[2 * i + 1] = together(vtrn2q_s32(first, second));
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r += 2) {
      const int32_t *at = (const int32_t *)(x + STEP * r);
      int32x2_t first, second = {0};
      if (r + 1 < rows) {
        first = vld1_s32(at);
        if (!alone) second = vld1_s32(at + rows);
      } else {  // the last row's sums are computed twice
        first = vld1_dup_s32(at);
        if (!alone) second = vld1_dup_s32(at + rows);
      }
      int8x16_t pair = together(vcombine_s32(vzip1_s32(first, second), vzip2_s32(first, second)));
#pragma GCC unroll 4
      for (int i = 0; i < 4; i++) sums[r / 2][i] = vmmlaq_s32(sums[r / 2][i], pair, weights[i]);
    }
  }
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < 2; i++) {
      int32x4_t even = sums[r / 2][2 * i], odd = sums[r / 2][2 * i + 1];
      vst1q_s32(out + r * 3 * PANEL + 4 * i, r % 2 ? vzip2q_s32(even, odd) : vzip1q_s32(even, odd));
    }
}

static TARGET void i8mm(int32_t *out, const uint8_t *x, int64_t rows, const int8_t *w, int64_t panels, int64_t steps,
                        const Fetch *fetch) {
  (void)panels;  // one
  for (int i = 0; i < 2; i++) {
    switch (rows) {
#define ROWS(n) case n: i8mm_half(out + PANEL / 2 * i, x, w + STEP_BYTES / 2 * i, steps, fetch->next + i * steps * fetch->stride / 2, fetch->stride / 2, n); break;
      ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8)
#undef ROWS
    }
  }
}
#undef TARGET

// Dot products of signed numbers.
#define TILE dotprod
#if defined(__clang__)
#define TARGET __attribute__((target("dotprod")))
#else
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#endif
#define ROWS 6
#define PANELS 1
#define PARTS 4
#define V int32x4_t
#define W int8x16_t
#define X int8x16_t
#define LOAD(p) vld1q_s8(p)
#define SPREAD(p) vreinterpretq_s8_s32(vld1q_dup_s32((const int32_t *)(p)))
#define DOT(v, w, x) vdotq_s32(v, w, x)
#include "product_int8_tile.h"

// Without dot products: products in 16 bits, added in pairs to 32.
static inline int32x4_t neon_dot(int32x4_t v, int8x16_t w, int8x16_t x) {
  int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(w), vget_low_s8(x))), high = vpaddlq_s16(vmull_high_s8(w, x));
  return vaddq_s32(v, vpaddq_s32(low, high));
}

#define TILE neon
#define TARGET
#define ROWS 4
#define PANELS 1
#define PARTS 4
#define V int32x4_t
#define W int8x16_t
#define X int8x16_t
#define LOAD(p) vld1q_s8(p)
#define SPREAD(p) vreinterpretq_s8_s32(vld1q_dup_s32((const int32_t *)(p)))
#define DOT(v, w, x) neon_dot(v, w, x)
#include "product_int8_tile.h"

#endif

// Plain C, for other CPUs.
static inline int32_t plain_dot(int32_t v, const int8_t *w, const uint8_t *x) {
  for (int i = 0; i < STEP; i++) v += w[i] * x[i];
  return v;
}

#define TILE plain
#define TARGET
#define ROWS 1
#define PANELS 1
#define PARTS 16
#define V int32_t
#define W const int8_t *
#define X const uint8_t *
#define LOAD(p) (p)
#define SPREAD(p) (p)
#define DOT(v, w, x) plain_dot(v, w, x)
#include "product_int8_tile.h"

const Int8Path int8_paths[] = {
#if defined(__x86_64__)
    {"AVX-512 VNNI", has_avx512vnni, avx512vnni, 8, 3, 12, 0, 0, NULL},
    {"AVX-VNNI", has_avxvnni, avxvnni, 6, 1, 6, 0, 0, NULL},
    {"AVX2, signed", has_avx2, avx2_signed, 5, 1, 5, 128, 128, avx2_signed_mend},
    {"AVX2, unsigned", has_avx2, avx2_unsigned, 5, 1, 5, 0, 256, avx2_unsigned_mend},
    {"SSE2", always, sse2, 2, 1, 2, 0, 0, NULL},
#elif defined(__aarch64__)
    {"8-bit matrices", has_i8mm, i8mm, 8, 1, 8, 128, 0, NULL},
    {"dot products", has_dotprod, dotprod, 6, 1, 6, 128, 0, NULL},
    {"NEON", always, neon, 4, 1, 4, 128, 0, NULL},
#endif
    {"plain C", always, plain, 1, 1, 1, 0, 0, NULL},
    {0},
};

static const Int8Path *best[2] = {int8_paths, int8_paths};  // for x around 128, and from 0 on

__attribute__((constructor)) static void choose(void) {
  for (int positive = 0; positive < 2; positive++)
    while (!best[positive]->supported() || (best[positive]->bound && positive == (best[positive]->zero != 0))) best[positive]++;
}

const Int8Path *int8_path(int positive) { return best[positive]; }
