// Products of floats with matrices in panels.
//
// A panel is 32 columns of the matrix, one row of them after the other, so a product
// reads it from its beginning to its end. A tile is columns of a panel for a few rows
// of x; each of its outputs is a lane of an accumulator in a register, to which the
// products for k = 0, 1, … are added one after the other:
//
//   for each k:  acc[row][columns] += x[row][k] · panel[k][columns]
//
// Every tile adds in this order, whatever its size, so no output depends on what else
// is computed. A tile reads its columns once. With few rows the product so runs at the
// speed of memory; with many, tiles are as high as there are registers for, and the
// panel, 128 KiB at a depth of 1024, stays in the cache from one tile to the next. Each
// tile has the CPU fetch its share of the panel that comes next, or memory would be idle
// during all tiles but the first.
#include "kernels.h"
#include "vec.h"

#define UNROLL _Pragma("GCC unroll 16")

// A Tile is what a tile is computed from: columns of a panel, from one on.
typedef struct {
  float *y;  // of the first row, and of the panel's first column
  const float *x;
  const void *panel;
  const float *bias;  // of the panel; null: none
  Activation activation;
  int64_t depth, width, from, columns;  // columns: of the panel that are the matrix's
  const char *ahead;  // what it fetches, `stride` bytes for each k
  int64_t stride;
} Tile;

enum { LINE = 64 };  // bytes of a cache line

// finish writes n columns of row i.
KERNEL static void finish(const Tile *t, int64_t i, const float *acc, int64_t n) {
  float *y = t->y + i * t->width + t->from;
  if (n > t->columns - t->from) n = t->columns - t->from;
  if (!t->bias) {
    memcpy(y, acc, n * sizeof *y);
    return;
  }
  const float *bias = t->bias + t->from;
  if (t->activation == RELU) {
    for (int64_t j = 0; j < n; j++) {
      float v = acc[j] + bias[j];
      y[j] = v < 0 ? 0 : v;  // what is not a number stays so
    }
    return;
  }
  for (int64_t j = 0; j < n; j += LANES) {
    int64_t some = n - j < LANES ? n - j : LANES;
    float v[LANES] = {0};
    for (int64_t i = 0; i < some; i++) v[i] = acc[j + i] + bias[j + i];
    store(v, vactivate(load(v), t->activation));
    memcpy(y + j, v, some * sizeof *v);
  }
}

typedef uint16_t h8 __attribute__((vector_size(16), aligned(2), may_alias));
typedef int16_t h4 __attribute__((vector_size(8), aligned(2), may_alias));
typedef int32_t i4 __attribute__((vector_size(16)));

// The compiler keeps vectors in registers only where they are as large as these: with
// AVX-512 there are 32 of 16 floats, with AVX2 16 of 8, with NEON 32 and with SSE 16 of 4.
#if defined(__x86_64__)
TARGET_V3 INLINE v8 load_half_f16c(const uint16_t *p) {
#if defined(__clang__)
  typedef _Float16 vh __attribute__((vector_size(16), aligned(2), may_alias));
  return __builtin_convertvector(*(const vh *)p, v8);
#else
  v8 v;
  __asm__("vcvtph2ps %1, %0" : "=x"(v) : "m"(*(const h8 *)p));
  return v;
#endif
}

#define NAME(x) x##_avx512
#define TARGET TARGET_V4
#define WIDTH 16
#define ACCUMULATORS 24
#define HEIGHT 12
#define WIDEN load_half_avx512
#include "product_float_tile.h"

#define NAME(x) x##_avx2
#define TARGET TARGET_V3
#define WIDTH 8
#define ACCUMULATORS 12
#define HEIGHT 6
#define WIDEN load_half_f16c
#include "product_float_tile.h"
#endif

// load_half of 4 halves.
INLINE v4 load_half4(const uint16_t *p) {
  i4 h = __builtin_convertvector(*(const h4 *)p, i4) << 13;
  return (v4)(h & (int32_t)0x8fffffff) * 0x1p112f;
}

#define NAME(x) x##_any
#define TARGET
#define WIDTH 4
#define HEIGHT 6
#if defined(__x86_64__)
#define ACCUMULATORS 12
#else
#define ACCUMULATORS 24
#endif
#define WIDEN load_half4
#include "product_float_tile.h"

// whole is a tile of all columns of a panel.
static Tile whole(float *y, const float *x, Panels w, int64_t panel, const float *bias, Activation activation) {
  int64_t first = panel * PANEL_WIDTH, columns = w.width - first < PANEL_WIDTH ? w.width - first : PANEL_WIDTH;
  const char *data = (const char *)w.data + first * w.depth * (w.half ? 2 : 4);
  const char *next = data + w.depth * PANEL_WIDTH * (w.half ? 2 : 4);
  return (Tile){y + first, x, data, bias ? bias + first : 0, activation, w.depth, w.width, 0, columns, next, 0};
}

void multiply_panel(float *y, const float *x, int64_t rows, Panels w, int64_t panel, const float *bias, Activation activation) {
  void (*compute)(Tile, int64_t) = w.half ? halves_any : floats_any;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    compute = w.half ? halves_avx512 : floats_avx512;
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
    compute = w.half ? halves_avx2 : floats_avx2;
#endif
  compute(whole(y, x, w, panel, bias, activation), rows);
}

void embed_row(float *y, Panels w, int64_t id, float scale, const float *position) {
  int64_t at = id / PANEL_WIDTH * PANEL_WIDTH * w.depth + id % PANEL_WIDTH;
  for (int64_t k = 0; k < w.depth; k++, at += PANEL_WIDTH) {
    float v = w.half ? half_to_float(((const uint16_t *)w.data)[at]) : ((const float *)w.data)[at];
    y[k] = v * scale + (position ? position[k] : 0);
  }
}
