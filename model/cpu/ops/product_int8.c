// Products of 8-bit numbers, by rows and panels.
#include "product_int8.h"

#include <string.h>

#include "kernels.h"

// tiles_of is the number of tiles that n rows are put into.
static inline int64_t tiles_of(const Int8Path *path, int64_t n) {
  return n <= path->alone ? 1 : (n + path->rows - 1) / path->rows;
}

// height_of is how many rows tile t has: the first ones may have one more than the others.
static inline int64_t height_of(int64_t t, int64_t n, int64_t tiles) { return n / tiles + (t < n % tiles); }

// put writes four numbers of a packed row, each in `size` bytes.
static inline void put(uint8_t *out, uint32_t four, int size) {
  uint64_t wide = (four | (uint64_t)four << 16) & 0x0000ffff0000ffff;
  wide = (wide | wide << 8) & 0x00ff00ff00ff00ff;
  if (size == 2)
    memcpy(out, &wide, sizeof wide);
  else
    memcpy(out, &four, sizeof four);
}

static inline void pack(const Int8Path *path, uint8_t *packed, const uint8_t *x, int64_t n, int64_t depth, int size) {
  int64_t tiles = tiles_of(path, n), steps = (depth + STEP - 1) / STEP, whole = depth / STEP;
  uint32_t flip = path->zero * 0x01010101u;
  for (int64_t t = 0; t < tiles; t++) {
    int64_t height = height_of(t, n, tiles);
    for (int64_t r = 0; r < height; r++, x += depth) {
      uint8_t *out = packed + STEP * size * r;
      uint32_t four = 0;
      for (int64_t s = 0; s < whole; s++, out += STEP * size * height) {
        memcpy(&four, x + s * STEP, STEP);
        put(out, four ^ flip, size);
      }
      if (whole == steps) continue;
      four = 0;  // what stands where there are no more inputs is multiplied by zeros
      memcpy(&four, x + whole * STEP, depth - whole * STEP);
      put(out, four ^ flip, size);
    }
    packed += steps * STEP * size * height;
  }
}

void int8_pack(const Int8Path *path, uint8_t *packed, const uint8_t *x, int64_t n, int64_t depth) {
  if (path->size == 2)
    pack(path, packed, x, n, depth, 2);
  else
    pack(path, packed, x, n, depth, 1);
}

// The panels are taken a few at a time, and all rows pass over these, tile by tile:
// weights come from memory once, with the first tile, and from the cache with the
// others. To wait for memory during the first and leave it idle during the others
// would waste half of the time at some 16 rows. So each tile fetches its share of the
// panels that come next.
//
// Where all rows are one tile, a step waits for memory alone, which gives the most to who reads one panel after the other and
// fetches 8 KiB ahead: 10 to 15% more than with three panels side by side.
void int8_multiply(Int8Rows x, Int8Matrix m, int64_t first, int64_t end, float *out, int64_t stride,
                   const int8_t *ahead) {
  const Int8Path *path = x.path;
  enum { DISTANCE = (8 << 10) / STEP_BYTES };
  int64_t tiles = tiles_of(path, x.n), panel = m.steps * STEP_BYTES, most = tiles == 1 ? 1 : path->panels;
  int64_t share = (STEP_BYTES + tiles - 1) / tiles;  // of a step of a panel, that each tile fetches
  int64_t distance = tiles > 1 ? 0 : m.steps < DISTANCE ? m.steps : DISTANCE;
  int32_t sums[16 * 3 * PANEL];
  for (int64_t p = first; p < end; p += most) {
    int64_t panels = most < end - p ? most : end - p, c = p * PANEL;
    int64_t n = panels * PANEL < m.width - c ? panels * PANEL : m.width - c;
    const int8_t *next = p + panels < end ? m.panels + (p + panels) * panel : ahead;
    for (int64_t i = 0; i < n; i += 16) {
      __builtin_prefetch(m.sums + c + n + i, 0, 2);
      __builtin_prefetch(m.scale + c + n + i, 0, 2);
    }
    const uint8_t *packed = x.packed;
    float *at = out + c - first * PANEL;
    for (int64_t t = 0; t < tiles; t++) {
      int64_t height = height_of(t, x.n, tiles);
      path->tile(sums, packed, height, m.panels + p * panel, panels, m.steps, (Fetch){next, share, distance});
      kernels->to_floats(at, stride, sums, height, x, m, c, n);
      packed += m.steps * STEP * path->size * height, at += height * stride, next += m.steps * share;
    }
  }
}
