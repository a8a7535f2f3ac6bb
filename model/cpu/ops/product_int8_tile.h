// A tile of a product of 8-bit numbers, included for each instruction set, which defines
//   TILE        the function's name, TARGET the attribute of its instruction set
//   ROWS        rows of the largest tile, PANELS its panels
//   V           the sums of some outputs, PARTS of which are a panel
//   W, LOAD     the weights of the same outputs, in the form for DOT
//   X, SPREAD   four numbers of a row for all lanes, in the form for DOT
//   DOT(v, w, x)  v plus the sum of the products of each four numbers
// and, if they differ from the defaults below
//   ALONE       rows of the largest tile of one panel with a distance
//   MENDS       if x has a bound: there is also a function TILE_mend, which adds rests
//
// A tile is `rows` rows by `panels` panels of outputs, whose sums stay in registers. A step loads the weights of each panel
// once, and four numbers of each row.
#ifndef ALONE
#define ALONE ROWS
#endif

static inline __attribute__((always_inline)) TARGET void NAME2(TILE, _of)(
    int32_t *out, const uint8_t *x, const int8_t *w, int64_t steps, Fetch fetch,
    const int rows, const int panels, const int near) {
  V sums[ALONE][PANELS * PARTS];
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
    for (int i = 0; i < panels * PARTS; i++) sums[r][i] = (V){0};
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
      for (int i = 0; i < PARTS; i++) weights[p * PARTS + i] = LOAD(w + p * panel + i * (STEP_BYTES / PARTS));
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
      X spread = SPREAD(x + STEP * r);
#pragma GCC unroll 16
      for (int i = 0; i < panels * PARTS; i++) sums[r][i] = DOT(sums[r][i], weights[i], spread);
    }
    x += STEP * rows, w += STEP_BYTES, ahead += near ? STEP_BYTES : fetch.stride;
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
    for (int i = 0; i < panels * PARTS; i++) memcpy(out + r * 3 * PANEL + i * (PANEL / PARTS), &sums[r][i], sizeof(V));
}

#define TILE_ALONE(R) \
  case (R) * 4: return NAME2(TILE, _of)(out, x, w, steps, *fetch, (R) < ALONE ? (R) : ALONE, 1, 1);
#define TILE_CASE(R, P) \
  case (R) * 4 + (P): return NAME2(TILE, _of)(out, x, w, steps, *fetch, (R) < ROWS ? (R) : ROWS, (P) < PANELS ? (P) : PANELS, 0);
#define TILE_CASES(R) TILE_ALONE(R) TILE_CASE(R, 1) TILE_CASE(R, 2) TILE_CASE(R, 3) TILE_ALONE(8 + (R))

static TARGET void TILE(int32_t *out, const uint8_t *x, int64_t rows, const int8_t *w, int64_t panels, int64_t steps,
                        const Fetch *fetch) {
  switch (rows * 4 + (fetch->distance ? 0 : panels)) {
    TILE_CASES(1) TILE_CASES(2) TILE_CASES(3) TILE_CASES(4) TILE_CASES(5) TILE_CASES(6) TILE_CASES(7) TILE_CASES(8)
  }
}

#ifdef MENDS
static TARGET void NAME2(TILE, _mend)(int32_t *out, int32_t start, const Int8Rest *rests, int64_t n, const int8_t *w) {
  int32_t more[PANEL];
  V sums[PARTS];
#pragma GCC unroll 16
  for (int p = 0; p < PARTS; p++) sums[p] = (V){0};
  for (int64_t i = 0; i < n; i++) {
    X spread = SPREAD(rests[i].numbers);
#pragma GCC unroll 16
    for (int p = 0; p < PARTS; p++)
      sums[p] = DOT(sums[p], LOAD(w + rests[i].step * STEP_BYTES + p * (STEP_BYTES / PARTS)), spread);
  }
#pragma GCC unroll 16
  for (int p = 0; p < PARTS; p++) memcpy(more + p * (PANEL / PARTS), &sums[p], sizeof(V));
  for (int i = 0; i < PANEL; i++) out[i] += start + more[i];
}
#undef MENDS
#endif

#undef TILE_CASES
#undef TILE_ALONE
#undef TILE_CASE
#undef TILE
#undef TARGET
#undef ROWS
#undef ALONE
#undef PANELS
#undef PARTS
#undef V
#undef W
#undef X
#undef LOAD
#undef SPREAD
#undef DOT
