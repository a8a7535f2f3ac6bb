// Tiles of products of floats, for one kind of CPU. product_float.c includes this for
// each, with these macros:
//
//   NAME(x)      the name of x for this CPU
//   TARGET       the attribute of its functions
//   WIDTH        floats of a register
//   ACCUMULATORS registers for a tile's outputs; weights and x need a few more
//   HEIGHT       rows of the highest tile
//   WIDEN(p)     loads WIDTH halves

typedef float NAME(vector) __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

// tile computes `rows` rows of `columns` registers; the compiler knows both.
TARGET INLINE void NAME(tile)(Tile t, int rows, int columns, int half) {
  NAME(vector) acc[ACCUMULATORS] = {};
  for (int64_t k = 0; k < t.depth; k++) {
    __builtin_prefetch(t.ahead + k * t.stride, 0, 2);
    if (t.stride > LINE) __builtin_prefetch(t.ahead + k * t.stride + LINE, 0, 2);
    int64_t at = k * PANEL_WIDTH + t.from;
    NAME(vector) w[PANEL_WIDTH / WIDTH];
    UNROLL for (int j = 0; j < columns; j++) {
      if (half)
        w[j] = WIDEN((const uint16_t *)t.panel + at + j * WIDTH);
      else
        w[j] = *(const NAME(vector) *)((const float *)t.panel + at + j * WIDTH);
    }
    UNROLL for (int i = 0; i < rows; i++) {
      NAME(vector) x = t.x[i * t.depth + k] - (NAME(vector)){};
      UNROLL for (int j = 0; j < columns; j++) acc[i * columns + j] += x * w[j];
    }
  }
  UNROLL for (int i = 0; i < rows; i++) {
    NAME(vector) out[PANEL_WIDTH / WIDTH];  // acc itself would be in memory if its address were taken
    UNROLL for (int j = 0; j < columns; j++) out[j] = acc[i * columns + j];
    finish(&t, i, (const float *)out, columns * WIDTH);
  }
}

// strip computes all columns for a few rows, in tiles as wide as there are registers for.
TARGET INLINE void NAME(strip)(Tile t, int rows, int half) {
  int columns = PANEL_WIDTH / WIDTH;
  while (columns * rows > ACCUMULATORS) columns /= 2;
  t.stride = t.stride * columns * WIDTH / PANEL_WIDTH;
  for (; t.from < t.columns; t.from += columns * WIDTH) {
    NAME(tile)(t, rows, columns, half);
    t.ahead += t.depth * t.stride;
  }
}

// panel computes all rows, in strips of nearly the same height.
TARGET INLINE void NAME(panel)(Tile t, int64_t rows, int half) {
  int64_t strips = (rows + HEIGHT - 1) / HEIGHT;
  for (int64_t i = 0; i < strips; i++) {
    int64_t first = rows * i / strips, count = rows * (i + 1) / strips - first;
    Tile part = t;
    part.stride = PANEL_WIDTH * (half ? 2 : 4) / strips, part.ahead += i * t.depth * part.stride;
    part.x += first * t.depth, part.y += first * t.width;
    switch (count) {
#define ROWS(n) case n: if (n <= HEIGHT) NAME(strip)(part, n, half); break;
      ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8) ROWS(9) ROWS(10) ROWS(11) ROWS(12)
#undef ROWS
    }
  }
}

TARGET static void NAME(floats)(Tile t, int64_t rows) { NAME(panel)(t, rows, 0); }
TARGET static void NAME(halves)(Tile t, int64_t rows) { NAME(panel)(t, rows, 1); }

#undef NAME
#undef TARGET
#undef WIDTH
#undef ACCUMULATORS
#undef HEIGHT
#undef WIDEN
