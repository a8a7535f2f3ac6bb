// Kernels for rows of activations of one type T. The including file defines T, NAME,
// LOAD and STORE.

// finite clamps activations in half precision as Hugging Face does: an infinity, from a
// number that half precision cannot represent, becomes a little less than the largest
// number.
DEVICE float NAME(finite)(float x) {
  const float most = sizeof(T) == 2 ? 64504.f : INFINITE;
  return x == INFINITE ? most : x == -INFINITE ? -most : x;
}

// A lane loads all elements of its columns before it stores any, so it waits for the
// memory once. ELEMENTS loops over `count` elements e of a lane; in C, only while there
// are more than e·32 columns.
#undef ELEMENTS
#define ELEMENTS(e, count, columns) UNROLL for (i32 e = 0; e < (count) && MORE(e * WARP < (columns)); e++)

DEVICE void NAME(embed)(const struct embed_args *a, i64 unit) {
  const i64 r = unit / a->chunks, token = a->feed[TOKEN * a->rows + r], position = a->feed[POSITION * a->rows + r];
  const i32 first = (i32)(unit % a->chunks) * COLUMNS;
  const T *row = (const T *)a->table + token * a->width;
  float v[COLUMNS / WARP * EACH];
  ELEMENTS(e, COLUMNS / WARP, a->width - first) LANES(l) {
    const i32 i = first + e * WARP + l;
    if (i < a->width) OF(v + e * EACH, l) = LOAD(row[i]) * a->scale + (a->positions ? a->positions[position * a->width + i] : 0);
  }
  ELEMENTS(e, COLUMNS / WARP, a->width - first) LANES(l) {
    const i32 i = first + e * WARP + l;
    if (i < a->width) a->x[r * a->width + i] = OF(v + e * EACH, l);
  }
}

DEVICE void NAME(track)(const struct track_args *a, i64 r) {
  const i64 n = a->units, position = a->feed[POSITION * n + r];
  const i64 from = a->feed[FROM * n + r], to = a->feed[TO * n + r];
  LANES(l) {
    if (from != to)
      for (i64 t = l; t < position; t += WARP) a->history[to * a->capacity + t] = a->history[from * a->capacity + t];
    if (l == 0) a->history[to * a->capacity + position] = a->feed[ROW * n + r];
  }
}

// sums_of reads the sums that add_norm has written. A short row needs no read: the lane
// still holds all its sums in v.
DEVICE void NAME(sums_of)(float *v, const float *total, i32 first, i32 n) {
  if (n <= BLOCK * WARP) return;
  ELEMENTS(e, BLOCK, n - first) LANES(l) {
    const i32 i = first + e * WARP + l;
    OF(v + e * EACH, l) = i < n ? total[i] : 0;
  }
}

DEVICE void NAME(add_norm)(const struct add_norm_args *a, i64 r) {
  const i32 n = a->width;
  const T *acc = (const T *)a->acc + (a->acc ? r * n : 0);
  const float *x = a->x + r * n;
  float *total = a->total + r * n, part[EACH], v[BLOCK * EACH];
  LANES(l) OF(part, l) = 0;
  for (i32 first = 0; first < n; first += BLOCK * WARP) {
    ELEMENTS(e, BLOCK, n - first) LANES(l) {
      const i32 i = first + e * WARP + l;
      OF(v + e * EACH, l) = i >= n ? 0 : a->acc ? x[i] + NAME(finite)(LOAD(acc[i])) * a->headroom + a->bias[i] : x[i];
    }
    ELEMENTS(e, BLOCK, n - first) LANES(l) {
      const i32 i = first + e * WARP + l;
      OF(part, l) += OF(v + e * EACH, l);
      if (i < n) total[i] = OF(v + e * EACH, l);
    }
  }
  const float mean = a->beta ? warp_sum(part) / n : 0;
  LANES(l) OF(part, l) = 0;
  for (i32 first = 0; first < n; first += BLOCK * WARP) {
    NAME(sums_of)(v, total, first, n);
    ELEMENTS(e, BLOCK, n - first) LANES(l) {
      const float d = first + e * WARP + l < n ? OF(v + e * EACH, l) - mean : 0;
      OF(part, l) += d * d;
    }
  }
  const float factor = inverse_root(warp_sum(part) / n + a->epsilon);
  T *y = (T *)a->y + r * n;
  for (i32 first = 0; first < n; first += BLOCK * WARP) {
    NAME(sums_of)(v, total, first, n);
    ELEMENTS(e, BLOCK, n - first) LANES(l) {
      const i32 i = first + e * WARP + l;
      OF(v + e * EACH, l) = i < n ? (OF(v + e * EACH, l) - mean) * factor * a->gain[i] + (a->beta ? a->beta[i] : 0) : 0;
    }
    ELEMENTS(e, BLOCK, n - first) LANES(l) {
      const i32 i = first + e * WARP + l;
      if (i < n) y[i] = STORE(OF(v + e * EACH, l));
      if (i < n && a->only_norm) total[i] = OF(v + e * EACH, l);
    }
  }
}

DEVICE float NAME(activate)(float x, i32 activation) {
  if (activation == SWISH) return x / (1 + expf(-x));
  if (activation == GELU) return 0.5f * x * erfcf(-x * 0.70710678118654752f);
  if (activation == GELU_TANH) return x / (1 + expf(-1.5957691216057308f * (x + 0.044715f * x * x * x)));
  return x < 0 ? 0 : x;  // NaN stays NaN
}

DEVICE void NAME(bias_activation)(const struct bias_activation_args *a, i64 unit) {
  const i64 r = unit / a->chunks;
  const i32 first = (i32)(unit % a->chunks) * COLUMNS;
  const i32 right = a->gated ? a->width : 0;
  const float factor = 1 / a->headroom;
  const T *acc = (const T *)a->acc + r * (a->width + right);
  T *y = (T *)a->y + r * a->width;
  float v[COLUMNS / WARP * EACH], times[COLUMNS / WARP * EACH];
  ELEMENTS(e, COLUMNS / WARP, a->width - first) LANES(l) {
    const i32 i = first + e * WARP + l;
    if (i < a->width) OF(v + e * EACH, l) = LOAD(acc[i]) + a->bias[i];
    if (i < a->width) OF(times + e * EACH, l) = right ? (LOAD(acc[right + i]) + a->bias[right + i]) * factor : factor;
  }
  ELEMENTS(e, COLUMNS / WARP, a->width - first) LANES(l) {
    const i32 i = first + e * WARP + l;
    if (i < a->width) y[i] = STORE(NAME(activate)(OF(v + e * EACH, l), a->activation) * OF(times + e * EACH, l));
  }
}
