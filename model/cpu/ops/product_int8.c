// Products of 8-bit numbers, by rows and panels.
#include "product_int8.h"

#include <string.h>

#include "kernels.h"

int64_t int8_tiles(const Int8Path *path, int64_t n) { return n <= path->alone ? 1 : (n + path->rows - 1) / path->rows; }

// height_of returns the number of rows of tile t: the first tiles may have one more than the others.
static inline int64_t height_of(int64_t t, int64_t n, int64_t tiles) { return n / tiles + (t < n % tiles); }

// Rests are the parts of packed rows left for `mend`. They are behind the rows.
typedef struct {
  int32_t *starts;  // [n]: the initial value of a row's sums; if x is signed, weights are raised by 128, which this subtracts
  int32_t *counts;  // [n]: number of a row's rests
  Int8Rest *rests;  // [n, steps]
} Rests;

static inline Rests rests_of(const uint8_t *packed, int64_t n, int64_t steps) {
  int32_t *starts = (int32_t *)(packed + n * steps * STEP);
  return (Rests){starts, starts + n, (Int8Rest *)(starts + 2 * n)};
}

int64_t int8_packed(const Int8Path *path, int64_t n, int64_t steps) {
  int64_t rests = path->bound ? 2 * (int64_t)sizeof(int32_t) + steps * (int64_t)sizeof(Int8Rest) : 0;
  return n * (steps * STEP + rests);
}

// sums_of adds two pairs of four numbers.
static inline uint32_t sums_of(uint32_t four) { return (four & 0x00ff00ff) + (four >> 8 & 0x00ff00ff); }

// fit returns whether sums of two numbers of x, in their present form, are within a bound; both halves of `bound` are the bound.
// Numbers of different signs always are.
static inline int fit(uint32_t sums, uint32_t bound, const int with_sign) {
  uint32_t beyond = sums + bound - 0x00010001u;
  return with_sign ? (beyond & 6 * bound) == 2 * bound : !(beyond & 2 * bound);
}

// cut leaves of four numbers the parts within the bound, and moves the rest to *rests.
static inline uint32_t cut(const Int8Path *path, uint32_t four, int32_t step, const int with_sign, Int8Rest **rests) {
  uint8_t numbers[STEP];
  memcpy(numbers, &four, STEP);
  Int8Rest *rest = (*rests)++;
  rest->step = step;
  for (int i = 0; i < STEP; i++) {
    int half = path->bound / 2, v = with_sign ? (int8_t)numbers[i] : numbers[i], kept = v > half ? half : v < -half ? -half : v;
    numbers[i] = kept, rest->numbers[i] = v - kept;
  }
  memcpy(&four, numbers, STEP);
  return four;
}

typedef int32_t Four __attribute__((vector_size(16), aligned(1), may_alias));
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

// pack_four packs the first `whole` steps, a multiple of four, of four rows: four steps at a time, each with a number of every row.
static void pack_four(uint8_t *packed, const uint8_t *x, int64_t whole, int64_t depth, int64_t height, uint32_t flip) {
  for (int64_t s = 0; s < whole; s += 4, x += 4 * STEP) {
    Four a = *(const Four *)x, b = *(const Four *)(x + depth), c = *(const Four *)(x + 2 * depth), d = *(const Four *)(x + 3 * depth);
    Four ab = SHUFFLE(a, b, 0, 4, 1, 5), cd = SHUFFLE(c, d, 0, 4, 1, 5), ab2 = SHUFFLE(a, b, 2, 6, 3, 7), cd2 = SHUFFLE(c, d, 2, 6, 3, 7);
    Four steps[] = {SHUFFLE(ab, cd, 0, 1, 4, 5), SHUFFLE(ab, cd, 2, 3, 6, 7), SHUFFLE(ab2, cd2, 0, 1, 4, 5), SHUFFLE(ab2, cd2, 2, 3, 6, 7)};
    for (int i = 0; i < 4; i++, packed += STEP * height) *(Four *)packed = steps[i] ^ (int32_t)flip;
  }
}

static inline __attribute__((always_inline)) void pack(const Int8Path *path, uint8_t *packed, const uint8_t *x, int64_t n, int64_t depth,
                                                       int64_t tile, const int bounded, const int with_sign) {
  int64_t tiles = int8_tiles(path, n), steps = (depth + STEP - 1) / STEP, whole = depth / STEP, height = height_of(tile, n, tiles);
  int64_t first = n / tiles * tile + (tile < n % tiles ? tile : n % tiles);
  uint32_t flip = path->zero * 0x01010101u, bound = path->bound * 0x00010001u;
  Rests left = rests_of(packed, n, steps);
  packed += first * steps * STEP;
  for (int64_t r = first; r < first + height; r++, packed += STEP) {
    const uint8_t *row = x + r * depth;
    Int8Rest *rests = left.rests + r * steps;
    int64_t sum = -4 * 128 * steps;  // of x, if it is signed
    int64_t done = !bounded && r - first < height / 4 * 4 ? whole / 4 * 4 : 0;
    if (done && (r - first) % 4 == 0) pack_four(packed, row, done, depth, height, flip);
    uint8_t *out = packed + done * STEP * height;
    for (int64_t s = done; s < steps; s++, out += STEP * height) {
      uint32_t four = flip;  // if there are no more inputs
      memcpy(&four, row + s * STEP, s < whole ? STEP : depth % STEP);
      uint32_t sums = sums_of(four);
      if (bounded && with_sign) sum += sums * 0x00010001u >> 16;
      four ^= flip;
      if (bounded && !fit(sums, bound, with_sign)) four = cut(path, four, (int32_t)s, with_sign, &rests);
      memcpy(out, &four, STEP);
    }
    if (bounded) left.starts[r] = with_sign ? -128 * sum : 0, left.counts[r] = rests - (left.rests + r * steps);
  }
}

void int8_pack(const Int8Path *path, uint8_t *packed, const uint8_t *x, int64_t n, int64_t depth, int64_t tile) {
  if (!path->bound)
    pack(path, packed, x, n, depth, tile, 0, 0);
  else if (path->zero)
    pack(path, packed, x, n, depth, tile, 1, 1);
  else
    pack(path, packed, x, n, depth, tile, 1, 0);
}

// The panels are processed a few at a time, and all rows pass over these, tile by tile: weights come from memory once, with the
// first tile, and from the cache with the others. Waiting for memory during the first tile and leaving it idle during the others
// would waste half of the time at some 16 rows. So each tile prefetches its share of the next panels.
//
// If all rows are one tile, a step waits only for memory, which is fastest when one panel is read after the other and 8 KiB are
// prefetched: by 10 to 15% over three panels side by side.
void int8_multiply(Int8Rows x, Int8Matrix m, int64_t first, int64_t end, float *out, int64_t stride,
                   const int8_t *ahead) {
  const Int8Path *path = x.path;
  enum { DISTANCE = (8 << 10) / STEP_BYTES };
  int64_t tiles = int8_tiles(path, x.n), panel = m.steps * STEP_BYTES, most = tiles == 1 ? 1 : path->panels;
  int64_t share = (STEP_BYTES + tiles - 1) / tiles;  // of a panel's step, prefetched by each tile
  int64_t distance = tiles > 1 ? 0 : m.steps < DISTANCE ? m.steps : DISTANCE;
  int32_t sums[16 * 3 * PANEL];
  for (int64_t p = first; p < end; p += most) {
    int64_t panels = most < end - p ? most : end - p, c = p * PANEL;
    int64_t n = panels * PANEL < m.width - c ? panels * PANEL : m.width - c;
    for (int64_t i = 0; i < n; i += 16) {
      __builtin_prefetch(m.sums + c + n + i, 0, 2);
      __builtin_prefetch(m.scale + c + n + i, 0, 2);
    }
    const uint8_t *packed = x.packed;
    Rests left = rests_of(packed, x.n, m.steps);
    Fetch fetch = {p + panels < end ? m.panels + (p + panels) * panel : ahead, share, distance};
    float *at = out + c - first * PANEL;
    for (int64_t t = 0; t < tiles; t++) {
      int64_t height = height_of(t, x.n, tiles);
      path->tile(sums, packed, height, m.panels + p * panel, panels, m.steps, &fetch);
      for (int64_t r = 0; path->bound && r < height; r++, left.rests += m.steps)
        path->mend(sums + r * 3 * PANEL, *left.starts++, left.rests, *left.counts++, m.panels + p * panel);
      kernels->to_floats(at, stride, sums, height, &x, &m, c, n);
      packed += m.steps * STEP * height, at += height * stride, fetch.next += m.steps * share;
    }
  }
}
