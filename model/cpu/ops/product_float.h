// Products of floats with matrices in panels.
//
// A panel is 32 columns of the matrix, stored row by row, so a product reads it from its beginning to its end. A tile is columns
// of a panel for a few rows of x; each of its outputs is a lane of an accumulator in a register, to which the products for k = 0,
// 1, … are added one after the other:
//
//	for each k:  acc[row][columns] += x[row][k] · panel[k][columns]
//
// Every tile adds in this order, whatever its size, so no output depends on the other computations. A tile reads its columns
// once. With few rows the product thus runs at the speed of memory; with many, tiles have as many rows as there are registers,
// and the panel, 128 KiB at a depth of 1024, stays in the cache from one tile to the next. Each tile prefetches its share of the
// next panel, as memory would otherwise be idle during all tiles but the first.
#ifndef DRAGOMAN_PRODUCT_FLOAT_H
#define DRAGOMAN_PRODUCT_FLOAT_H

#include "vec.h"

// A Tile has the inputs of a tile: columns of a panel, from one on.
typedef struct {
  float *y;  // of the first row, and of the panel's first column
  const float *x;
  const void *panel;
  const float *bias;  // of the panel; null: none
  Activation activation;
  int64_t depth, width, from, columns;  // columns: the number of the panel's columns that are in the matrix
  const char *ahead;  // the data to prefetch, `stride` bytes for each k
  int64_t stride;
} Tile;

enum { LINE = 64 };  // bytes of a cache line

// finish writes n columns of row i.
static void finish(const Tile *t, int64_t i, const float *acc, int64_t n) {
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
      y[j] = v < 0 ? 0 : v;  // NaN stays NaN
    }
    return;
  }
  for (int64_t j = 0; j < n; j += NATIVE) {
    int64_t some = n - j < NATIVE ? n - j : NATIVE;
    float v[NATIVE] = {0};
    for (int64_t i = 0; i < some; i++) v[i] = acc[j + i] + bias[j + i];
    store(v, vactivate(load(v), t->activation));
    memcpy(y + j, v, some * sizeof *v);
  }
}

// The compiler keeps vectors in registers only if they have exactly these sizes: with AVX-512 there are 32 of 16 floats, with
// AVX2 16 of 8, with NEON 32 and with SSE 16 of 4. Weights and x need a few of them.
enum {
  HEIGHT = NATIVE == 16 ? 12 : 6,  // rows of the highest tile
#if NATIVE == 16 || !defined(__x86_64__)
  ACCUMULATORS = 24,
#else
  ACCUMULATORS = 12,
#endif
};

// tile computes `rows` rows of `columns` registers; both are compile-time constants.
INLINE void tile(Tile t, int rows, int columns, int half) {
  vf acc[ACCUMULATORS] = {};
  for (int64_t k = 0; k < t.depth; k++) {
    __builtin_prefetch(t.ahead + k * t.stride, 0, 2);
    if (t.stride > LINE) __builtin_prefetch(t.ahead + k * t.stride + LINE, 0, 2);
    int64_t at = k * PANEL_WIDTH + t.from;
    vf w[PANEL_WIDTH / NATIVE];
    UNROLL for (int j = 0; j < columns; j++) {
      if (half)
        w[j] = load_half((const uint16_t *)t.panel + at + j * NATIVE);
      else
        w[j] = *(const vf *)((const float *)t.panel + at + j * NATIVE);
    }
    UNROLL for (int i = 0; i < rows; i++) {
      vf x = t.x[i * t.depth + k] - (vf){};
      UNROLL for (int j = 0; j < columns; j++) acc[i * columns + j] += x * w[j];
    }
  }
  UNROLL for (int i = 0; i < rows; i++) {
    vf out[PANEL_WIDTH / NATIVE];  // acc itself would be in memory if its address were taken
    UNROLL for (int j = 0; j < columns; j++) out[j] = acc[i * columns + j];
    finish(&t, i, (const float *)out, columns * NATIVE);
  }
}

// strip computes all columns for a few rows, in tiles as wide as the registers allow.
INLINE void strip(Tile t, int rows, int half) {
  int columns = PANEL_WIDTH / NATIVE;
  while (columns * rows > ACCUMULATORS) columns /= 2;
  t.stride = t.stride * columns * NATIVE / PANEL_WIDTH;
  for (; t.from < t.columns; t.from += columns * NATIVE) {
    tile(t, rows, columns, half);
    t.ahead += t.depth * t.stride;
  }
}

// all_rows computes all rows, in strips of nearly the same height.
INLINE void all_rows(Tile t, int64_t rows, int half) {
  int64_t strips = (rows + HEIGHT - 1) / HEIGHT;
  for (int64_t i = 0; i < strips; i++) {
    int64_t first = rows * i / strips, count = rows * (i + 1) / strips - first;
    Tile part = t;
    part.stride = PANEL_WIDTH * (half ? 2 : 4) / strips, part.ahead += i * t.depth * part.stride;
    part.x += first * t.depth, part.y += first * t.width;
    switch (count) {
#define ROWS(n) case n: if (n <= HEIGHT) strip(part, n, half); break;
      ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8) ROWS(9) ROWS(10) ROWS(11) ROWS(12)
#undef ROWS
    }
  }
}

// whole returns a tile of all columns of a panel.
static Tile whole(float *y, const float *x, Panels w, int64_t panel, const float *bias, Activation activation) {
  int64_t first = panel * PANEL_WIDTH, columns = w.width - first < PANEL_WIDTH ? w.width - first : PANEL_WIDTH;
  const char *data = (const char *)w.data + first * w.depth * (w.half ? 2 : 4);
  const char *next = data + w.depth * PANEL_WIDTH * (w.half ? 2 : 4);
  return (Tile){y + first, x, data, bias ? bias + first : 0, activation, w.depth, w.width, 0, columns, next, 0};
}

static void multiply_panel(float *y, const float *x, int64_t rows, Panels w, int64_t panel, const float *bias, Activation activation) {
  Tile t = whole(y, x, w, panel, bias, activation);
  if (w.half)
    all_rows(t, rows, 1);
  else
    all_rows(t, rows, 0);
}

static void embed_row(float *y, Panels w, int64_t at, int64_t step, float scale, const float *position) {
  for (int64_t k = 0; k < w.depth; k++, at += step)
    y[k] = (w.half ? half_to_float(((const uint16_t *)w.data)[at]) : ((const float *)w.data)[at]) * scale;
  for (int64_t k = 0; position && k < w.depth; k++) y[k] += position[k];  // a separate loop: rounded twice on every CPU
}

#endif
