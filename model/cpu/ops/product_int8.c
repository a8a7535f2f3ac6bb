// Products of 8-bit numbers, by rows and panels.
#include "product_int8.h"

#include "vec.h"

// tiles_of is the number of tiles that n rows are put into; tile t begins at row
// n·t/tiles, so that their heights differ by one at most.
INLINE int64_t tiles_of(const Int8Path *path, int64_t n) { return (n + path->rows - 1) / path->rows; }

void int8_pack(const Int8Path *path, uint8_t *packed, const uint8_t *x, int64_t n, int64_t depth) {
  int64_t tiles = tiles_of(path, n), steps = (depth + STEP - 1) / STEP, whole = depth / STEP;
  uint32_t flip = path->zero * 0x01010101u;
  for (int64_t t = 0; t < tiles; t++) {
    int64_t first = n * t / tiles, height = n * (t + 1) / tiles - first;
    for (int64_t r = 0; r < height; r++) {
      const uint8_t *row = x + (first + r) * depth;
      uint8_t *out = packed + STEP * r;
      uint32_t four = 0;
      for (int64_t s = 0; s < whole; s++, out += STEP * height) {
        memcpy(&four, row + s * STEP, STEP);
        four ^= flip;
        memcpy(out, &four, STEP);
      }
      if (whole == steps) continue;
      four = 0;  // what stands where there are no more inputs is multiplied by zeros
      memcpy(&four, row + whole * STEP, depth - whole * STEP);
      four ^= flip;
      memcpy(out, &four, STEP);
    }
    packed += steps * STEP * height;
  }
}

// to_floats turns the sums of a tile into floats; the first of n outputs is c.
KERNEL static void to_floats(float *out, int64_t stride, const int32_t *sums, int64_t rows, Int8Rows x, Int8Matrix m,
                             int64_t c, int64_t n) {
  int32_t zero = x.path->zero - x.zero;
  for (int64_t r = 0; r < rows; r++, out += stride, sums += 3 * PANEL) {
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
      vi v, correction;
      memcpy(&v, sums + i, sizeof v);
      memcpy(&correction, m.sums + c + i, sizeof correction);
      store(out + i, __builtin_convertvector(v + zero * correction, vf) * (load(m.scale + c + i) * x.unit));
    }
    for (; i < n; i++) out[i] = (float)(sums[i] + zero * m.sums[c + i]) * (m.scale[c + i] * x.unit);
  }
}

// The panels are taken a few at a time, and all rows pass over these, tile by tile:
// weights come from memory once, with the first tile, and from the cache with the
// others. To wait for memory during the first and leave it idle during the others
// would waste half of the time at some 16 rows. So each tile fetches its share of the
// panels that come next.
void int8_multiply(Int8Rows x, Int8Matrix m, int64_t first, int64_t end, float *out, int64_t stride,
                   const int8_t *ahead) {
  const Int8Path *path = x.path;
  int64_t tiles = tiles_of(path, x.n), panel = m.steps * STEP_BYTES;
  int32_t sums[8 * 3 * PANEL];
  for (int64_t p = first; p < end; p += path->panels) {
    int64_t panels = path->panels < end - p ? path->panels : end - p, c = p * PANEL;
    int64_t n = panels * PANEL < m.width - c ? panels * PANEL : m.width - c;
    const int8_t *next = p + panels < end ? m.panels + (p + panels) * panel : ahead;
    for (int64_t i = 0; i < n; i += 16) {
      __builtin_prefetch(m.sums + c + n + i, 0, 2);
      __builtin_prefetch(m.scale + c + n + i, 0, 2);
    }
    const uint8_t *packed = x.packed;
    for (int64_t t = 0; t < tiles; t++) {
      int64_t row = x.n * t / tiles, height = x.n * (t + 1) / tiles - row;
      path->tile(sums, packed, height, m.panels + p * panel, panels, m.steps, next + panel * t / tiles, STEP_BYTES / tiles);
      to_floats(out + row * stride + c - first * PANEL, stride, sums, height, x, m, c, n);
      packed += m.steps * STEP * height;
    }
  }
}
