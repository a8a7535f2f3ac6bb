// A tile of a product of 8-bit numbers, included for each instruction set, which defines
//   TILE        the function's name, TARGET the attribute of what it may use
//   ROWS        rows of the largest tile, PANELS its panels
//   V           the sums of some outputs, PARTS of which are a panel
//   W, LOAD     the weights of as many, ready for DOT
//   X, SPREAD   four numbers of a row for all lanes, ready for DOT
//   DOT(v, w, x)  v plus the products of each four numbers
// and where they differ from what is below
//   SIZE        bytes of a number in packed rows
//   ALONE       rows of the largest tile of one panel with a distance
//   PASSES      where registers are few: how often a tile goes through its panels, each time for a share of their parts
//   STORE(out, v) writes the sums in the order of their outputs
//
// A tile is `rows` rows by `panels` panels of outputs, whose sums stay in registers. A step loads the weights of each panel
// once, and four numbers of each row.
#ifndef SIZE
#define SIZE 1
#endif
#ifndef PASSES
#define PASSES 1
#endif
#ifndef ALONE
#define ALONE ROWS
#endif
#ifndef STORE
#define STORE(out, v) memcpy(out, &(v), sizeof(v))
#endif

static inline __attribute__((always_inline)) TARGET void NAME2(TILE, _of)(
    int32_t *out, const uint8_t *x, const int8_t *w, int64_t steps, Fetch fetch,
    const int rows, const int panels, const int parts, const int near) {
  V sums[ALONE][PANELS * PARTS];
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < panels * parts; i++) sums[r][i] = (V){0};
  const int64_t panel = steps * STEP_BYTES;
  const int8_t *ahead = near ? w + fetch.distance * STEP_BYTES : fetch.next;
  for (int64_t s = 0; s < steps; s++) {
    if (near && s + fetch.distance == steps) ahead = fetch.next;
    W weights[PANELS * PARTS];
#pragma GCC unroll 8
    for (int p = 0; p < panels; p++) {
      if (near)
        __builtin_prefetch(ahead, 0, 3);
      else
        __builtin_prefetch(ahead + p * panel, 0, 2);
#pragma GCC unroll 16
      for (int i = 0; i < parts; i++) weights[p * parts + i] = LOAD(w + p * panel + i * (STEP_BYTES / PARTS));
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
      X spread = SPREAD(x + STEP * SIZE * r);
#pragma GCC unroll 16
      for (int i = 0; i < panels * parts; i++) sums[r][i] = DOT(sums[r][i], weights[i], spread);
    }
    x += STEP * SIZE * rows, w += STEP_BYTES, ahead += near ? STEP_BYTES : fetch.stride;
  }
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < panels * parts; i++) STORE(out + r * 3 * PANEL + i * (PANEL / PARTS), sums[r][i]);
}

// Each pass fetches its share of what lies ahead. A few rows leave registers for the sums of all parts.
static inline __attribute__((always_inline)) TARGET void NAME2(TILE, _passes)(
    int32_t *out, const uint8_t *x, const int8_t *w, int64_t steps, Fetch fetch,
    const int rows, const int panels, const int near) {
  const int passes = rows * PASSES < ROWS ? 1 : PASSES;
  for (int i = 0; i < passes; i++) {
    Fetch f = fetch;
    if (!near) f.next += i * steps * fetch.stride / passes, f.stride /= passes;
    NAME2(TILE, _of)(out + i * (PANEL / passes), x, w + i * (STEP_BYTES / passes), steps, f, rows, panels, PARTS / passes, near);
  }
}

#define TILE_ALONE(R) \
  case (R) * 4: return NAME2(TILE, _passes)(out, x, w, steps, fetch, (R) < ALONE ? (R) : ALONE, 1, 1);
#define TILE_CASE(R, P) \
  case (R) * 4 + (P): return NAME2(TILE, _passes)(out, x, w, steps, fetch, (R) < ROWS ? (R) : ROWS, (P) < PANELS ? (P) : PANELS, 0);
#define TILE_CASES(R) TILE_ALONE(R) TILE_CASE(R, 1) TILE_CASE(R, 2) TILE_CASE(R, 3) TILE_ALONE(8 + (R))

static TARGET void TILE(int32_t *out, const uint8_t *x, int64_t rows, const int8_t *w, int64_t panels, int64_t steps,
                        Fetch fetch) {
  switch (rows * 4 + (fetch.distance ? 0 : panels)) {
    TILE_CASES(1) TILE_CASES(2) TILE_CASES(3) TILE_CASES(4) TILE_CASES(5) TILE_CASES(6) TILE_CASES(7) TILE_CASES(8)
  }
}

#undef TILE_CASES
#undef TILE_ALONE
#undef TILE_CASE
#undef TILE
#undef TARGET
#undef ROWS
#undef ALONE
#undef PANELS
#undef PARTS
#undef PASSES
#undef SIZE
#undef V
#undef W
#undef X
#undef LOAD
#undef SPREAD
#undef DOT
#undef STORE
