// Multiplies by every path of this CPU and compares with plain sums; prints the paths' names.
//
// Every buffer has exactly the size of the contract, so that a sanitizer detects accesses out of bounds.
#include <stdio.h>
#include <stdlib.h>

#include "generation.h"

#include "../product_int8.c"
#include "../product_int8_paths.c"

static uint32_t seed = 1;

static int next(void) { return (seed = seed * 1664525 + 1013904223) >> 24; }

// A Problem is x [rows, depth] times w [width, depth].
typedef struct {
  int64_t rows, depth, width;
  uint8_t *x;
  int8_t *w, *panels;
  int32_t *sums;
  float *scale, *want;
} Problem;

// begin makes numbers; extreme ones are the largest possible.
static Problem begin(int64_t rows, int64_t depth, int64_t width, int zero, int extreme) {
  Problem p = {.rows = rows, .depth = depth, .width = width};
  int64_t steps = (depth + STEP - 1) / STEP, panels = (width + PANEL - 1) / PANEL;
  p.x = malloc(rows * depth), p.w = malloc(width * depth), p.panels = calloc(panels, steps * STEP_BYTES);
  p.sums = calloc(width, 4), p.scale = malloc(width * 4), p.want = malloc(rows * width * 4);
  for (int64_t i = 0; i < rows * depth; i++) p.x[i] = extreme ? 255 : i / depth % 2 ? next() : 112 + next() / 8;
  for (int64_t c = 0; c < width; c++) {
    p.scale[c] = (float)(1 + next()) / 512;
    for (int64_t i = 0; i < depth; i++) {
      int8_t v = extreme ? c % 2 ? 127 : -128 : next() - 128;
      p.w[c * depth + i] = p.panels[((c / PANEL * steps + i / STEP) * PANEL + c % PANEL) * STEP + i % STEP] = v;
      p.sums[c] += v;
    }
  }
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < width; c++) {
      int64_t sum = 0;
      for (int64_t i = 0; i < depth; i++) sum += (p.x[r * depth + i] - zero) * p.w[c * depth + i];
      if (sum != (int32_t)sum) abort();
      p.want[r * width + c] = (float)sum * (p.scale[c] * (1.0f / 127));
    }
  return p;
}

static int equal(const Int8Path *path, Problem p, int zero) {
  int64_t steps = (p.depth + STEP - 1) / STEP, panels = (p.width + PANEL - 1) / PANEL;
  uint8_t *packed = malloc(int8_packed(path, p.rows, steps));
  float *out = malloc(p.rows * p.width * 4);
  for (int64_t t = int8_tiles(path, p.rows); t-- > 0;) int8_pack(path, packed, p.x, p.rows, p.depth, t);
  Int8Rows rows = {path, packed, p.rows, zero, 1.0f / 127};
  int64_t middle = panels / 2;
  Int8Matrix m = {p.panels, p.sums, p.scale, p.width, steps};
  int8_multiply(rows, m, 0, middle, out, p.width, p.panels);
  int8_multiply(rows, m, middle, panels, out + middle * PANEL, p.width, p.panels);
  int ok = !memcmp(out, p.want, p.rows * p.width * 4);
  free(packed), free(out);
  return ok;
}

int main(void) {
  int64_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 31, 80}, depths[] = {1, 3, 4, 5, 64, 130, 1023},
          widths[] = {1, 15, 16, 17, 33, 48, 49, 64, 100};
  for (const Int8Path *path = int8_paths; path->name; path++) {
    if (!path->supported()) continue;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
      for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
          int zero = (r + d + w) % 2 ? 0 : 128, extreme = (r + w) % 5 == 0;
          Problem p = begin(rows[r], depths[d], widths[w], zero, extreme);
          if (!equal(path, p, zero)) {
            printf("%s: %d x %d x %d differs\n", path->name, (int)rows[r], (int)depths[d], (int)widths[w]);
            return 1;
          }
          free(p.x), free(p.w), free(p.panels), free(p.sums), free(p.scale), free(p.want);
        }
    Problem p = begin(9, LARGEST_DEPTH, 20, 0, 1);
    if (!equal(path, p, 0)) {
      printf("%s: the largest sums differ\n", path->name);
      return 1;
    }
    free(p.x), free(p.w), free(p.panels), free(p.sums), free(p.scale), free(p.want);
    puts(path->name);
  }
}
