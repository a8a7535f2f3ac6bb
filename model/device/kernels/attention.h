// Kernels of attention, for one type T of activations.
// T, NAME, LOAD and STORE are defined by who includes this file.

// source says where the keys and values of one row and head are. Token t is in a row
// of the memory; from token `fresh` on, they are what this step's product brings, in
// its rows from fresh_row on.
struct NAME(source) {
  const T *memory, *acc;  // both at the head's first column; memory at layer 0's place
  const float *bias;
  const i32 *history;  // null: all in `row`
  i64 row, length, fresh, fresh_row, capacity, width;
};

DEVICE const T *NAME(locate)(const struct NAME(source) *s, i64 t, const float **bias) {
  if (t >= s->fresh) {
    *bias = s->bias + s->width;
    return s->acc + (s->fresh_row + t - s->fresh) * 3 * s->width + s->width;
  }
  *bias = 0;
  const i64 row = s->history ? s->history[t] : s->row;
  return s->memory + (row * 2 * s->capacity + t) * s->width;
}

// fetch is an element of a key or value as the memory holds it, or will.
DEVICE float NAME(fetch)(const T *x, const float *bias, i32 i) {
  return bias ? LOAD(STORE(LOAD(x[i]) + bias[i])) : LOAD(x[i]);
}

// SLICES_OF goes through the slices j that a head has.
#undef SLICES_OF
#define SLICES_OF(dim) UNROLL for (i32 j = 0; j < SLICES; j++) if (j * WARP < (dim))

// attend computes attention for one row and head; q is its query, at the head's first
// column, `out` its result. Softmax goes along: `most` is the largest score so far,
// and weights are relative to it.
DEVICE void NAME(attend)(const struct attention_args *a, const struct NAME(source) *s, const T *query,
                         const float *query_bias, T *out) {
  const i32 dim = a->head_dim;
  float q[SLICES * EACH], sums[SLICES * EACH];
  SLICES_OF(dim) LANES(l) {
    const i32 i = j * WARP + l;
    OF(q + j * EACH, l) = i < dim ? (LOAD(query[i]) + query_bias[i]) * a->scale : 0;
    OF(sums + j * EACH, l) = 0;
  }
  float most = -INFINITE, total = 0;
  for (i64 first = 0; first < s->length; first += GROUP) {
    float weight[GROUP], values[GROUP * SLICES * EACH], top = most;
    UNROLL for (i32 g = 0; g < GROUP; g++) {
      const i64 t = first + g < s->length ? first + g : s->length - 1;
      const float *bias;
      const T *key = NAME(locate)(s, t, &bias);
      const T *value = key + (bias ? s->width : s->capacity * s->width);  // behind a row's keys, or a token's
      float dot[EACH];
      LANES(l) OF(dot, l) = 0;
      SLICES_OF(dim) LANES(l) {
        const i32 i = j * WARP + l;
        if (i >= dim) continue;
        OF(dot, l) += OF(q + j * EACH, l) * NAME(fetch)(key, bias, i);
        OF(values + (g * SLICES + j) * EACH, l) = NAME(fetch)(value, bias ? bias + s->width : 0, i);
      }
      weight[g] = warp_sum(dot);
    }
    UNROLL for (i32 g = 0; g < GROUP; g++) {
      if (first + g >= s->length) weight[g] = -INFINITE;
      top = fmaxf(top, weight[g]);
    }
    const float keep = expf(most - top);
    total *= keep;
    UNROLL for (i32 g = 0; g < GROUP; g++) total += weight[g] = expf(weight[g] - top);
    SLICES_OF(dim) LANES(l) {
      if (j * WARP + l >= dim) continue;
      float v = OF(sums + j * EACH, l) * keep;
      UNROLL for (i32 g = 0; g < GROUP; g++) v += weight[g] * OF(values + (g * SLICES + j) * EACH, l);
      OF(sums + j * EACH, l) = v;
    }
    most = top;
  }
  SLICES_OF(dim) LANES(l) {
    const i32 i = j * WARP + l;
    if (i < dim) out[i] = STORE(s->length > 0 ? OF(sums + j * EACH, l) / total : 0);
  }
}

DEVICE T *NAME(layer)(const struct attention_args *a, i32 head) {
  return (T *)a->memory + (a->layer * a->memory_rows * 2 * a->capacity * a->heads + head) * a->head_dim;
}

DEVICE void NAME(self_attention)(const struct attention_args *a, i64 unit) {
  const i64 r = unit / a->heads, n = a->rows, width = (i64)a->heads * a->head_dim;
  const i32 column = (i32)(unit % a->heads) * a->head_dim;
  const T *acc = (const T *)a->acc + column;
  struct NAME(source) s = {0, acc, a->bias + column, 0, 0, 0, 0, 0, 0, width};
  s.length = a->feed[TOKENS * n + r];
  s.fresh_row = a->feed[FIRST * n + r];
  NAME(attend)(a, &s, acc + r * 3 * width, a->bias + column, (T *)a->out + r * width + column);
}

DEVICE void NAME(store_cross)(const struct store_args *a, i64 unit) {
  const i64 r = unit / a->chunks, row = a->feed[SENTENCE * a->rows + r], position = a->feed[POSITION * a->rows + r];
  const i32 first = (i32)(unit % a->chunks) * COLUMNS, width = a->width;
  const T *acc = (const T *)a->acc + r * 2 * width;
  T *key = (T *)a->memory + ((a->layer * a->memory_rows + row) * 2 * a->capacity + position) * width;
  T *value = key + (a->capacity - 1) * width;  // where column `width` would be the first
  float v[COLUMNS / WARP * EACH];
  ELEMENTS(e, COLUMNS / WARP, 2 * width - first) LANES(l) {
    const i32 i = first + e * WARP + l;
    if (i < 2 * width) OF(v + e * EACH, l) = LOAD(acc[i]) + a->bias[i];
  }
  ELEMENTS(e, COLUMNS / WARP, 2 * width - first) LANES(l) {
    const i32 i = first + e * WARP + l;
    if (i < 2 * width) (i < width ? key : value)[i] = STORE(OF(v + e * EACH, l));
  }
}

DEVICE void NAME(cached_attention)(const struct attention_args *a, i64 unit) {
  const i64 r = unit / a->heads, n = a->rows, width = (i64)a->heads * a->head_dim;
  const i32 head = (i32)(unit % a->heads), column = head * a->head_dim;
  const i32 *rows = a->feed + ROW * n, *positions = a->feed + POSITION * n;
  const i64 row = rows[r], position = positions[r];
  // The tokens of a prefix are fed at once, as rows that follow each other. Other warps
  // are writing them to the memory, so they are read from the product.
  i64 before = 0;
  while (before < r && rows[r - before - 1] == row && positions[r - before - 1] == position - before - 1) before++;
  const T *acc = (const T *)a->acc + column;
  struct NAME(source) s = {NAME(layer)(a, head), acc, a->bias + column,
                           a->history + a->feed[TO * n + r] * a->history_capacity,
                           row, position + 1, position - before, r - before, a->capacity, width};
  T *key = NAME(layer)(a, head) + (row * 2 * a->capacity + position) * width;
  const T *own = acc + r * 3 * width;
  LANES(l) for (i32 i = l; i < a->head_dim; i += WARP) {
    key[i] = STORE(LOAD(own[width + i]) + s.bias[width + i]);
    key[a->capacity * width + i] = STORE(LOAD(own[2 * width + i]) + s.bias[2 * width + i]);
  }
  NAME(attend)(a, &s, own, s.bias, (T *)a->out + r * width + column);
}

DEVICE void NAME(cross_attention)(const struct attention_args *a, i64 unit) {
  const i64 r = unit / a->heads, n = a->rows, width = (i64)a->heads * a->head_dim;
  const i32 head = (i32)(unit % a->heads), column = head * a->head_dim;
  const i64 length = a->feed[LENGTH * n + r];
  struct NAME(source) s = {NAME(layer)(a, head), 0, 0, 0, a->feed[SLOT * n + r], length, length, 0, a->capacity, width};
  NAME(attend)(a, &s, (const T *)a->acc + r * width + column, a->bias + column, (T *)a->out + r * width + column);
}
