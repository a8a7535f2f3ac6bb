// Attention kernels for one type T of activations. The including file defines T, NAME,
// LOAD and STORE.

// source locates the keys and values for one row and head. Tokens before `fresh` lie in
// a row of the memory. Tokens from `fresh` on lie in this step's matrix product, in its
// rows from fresh_row on, and do not have their bias yet.
struct NAME(source) {
  const T *memory, *acc;  // both point to the head's first column, memory to this layer
  const float *bias;
  const i32 *history;
  i32 tracked;  // 1: the history gives each token's row; 0: all tokens are in `row`
  i32 row, length, fresh, fresh_row, capacity, width;
  const float *distances;  // score bias of distance 0, or null; the bias of the next later key is `apart` floats further
  i32 apart, at;           // at is the query's position
};

// place is the address of a token's key. The token's value lies `apart` elements after
// it.
struct NAME(place) {
  const T *key;
  i64 apart;
  i32 fresh;
};

DEVICE struct NAME(place) NAME(locate)(const struct NAME(source) *s, i32 row, i32 t) {
  const i32 fresh = s->acc && t >= s->fresh, token = fresh ? s->fresh_row + t - s->fresh : row * 2 * s->capacity + t;
  const struct NAME(place) p = {(fresh ? s->acc + s->width : s->memory) + (i64)token * (fresh ? 3 * s->width : s->width),
                                fresh ? s->width : (i64)s->capacity * s->width, fresh};
  return p;
}

// remembered returns an element of a key or value as the memory stores it, or will store
// it.
DEVICE float NAME(remembered)(T x, float bias, i32 fresh) {
  return fresh ? LOAD(STORE(LOAD(x) + bias)) : LOAD(x);
}

// SLICES_OF loops over the slices j of a head.
#undef SLICES_OF
#define SLICES_OF(dim) UNROLL for (i32 j = 0; j < slices && MORE(j * WARP < (dim)); j++)

// TOKEN_OF is the token at place g of a group. Places after the last token repeat it,
// with weight 0.
#undef TOKEN_OF
#define TOKEN_OF(g) (first + (g) < s->length ? first + (g) : s->length - 1)

DEVICE i32 NAME(clamp)(i32 x, i32 most) { return x < -most ? -most : x > most ? most : x; }

// attend_slices computes attention for one row and head. query and `out`, the result,
// point to the head's first column. Softmax is computed online: `most` is the largest
// score so far, and the weights are relative to it. A whole group of tokens is loaded
// before the first is used, so a warp waits for the memory once per group.
DEVICE void NAME(attend_slices)(const struct attention_args *a, const struct NAME(source) *s, const i32 slices,
                                const T *query, const float *query_bias, T *out) {
  const i32 dim = a->head_dim, group = HELD / slices;
  float q[SLICES * EACH], sums[SLICES * EACH], key_bias[SLICES * EACH], value_bias[SLICES * EACH];
  SLICES_OF(dim) LANES(l) {
    const i32 i = j * WARP + l;
    OF(q + j * EACH, l) = i < dim ? (LOAD(query[i]) + query_bias[i]) * a->scale : 0;
    OF(key_bias + j * EACH, l) = s->acc && i < dim ? s->bias[s->width + i] : 0;
    OF(value_bias + j * EACH, l) = s->acc && i < dim ? s->bias[2 * s->width + i] : 0;
    OF(sums + j * EACH, l) = 0;
  }
  float most = -INFINITE, total = 0;
  for (i32 first = 0; first < s->length; first += group) {
    T keys[HELD * EACH], values[HELD * EACH];
    float dots[HELD * EACH], far[EACH], weight[HELD], top = most;
    i32 rows[HELD], fresh[HELD];
    // Lane g adds the score bias of token g's distance.
    LANES(l) OF(far, l) = s->distances ? s->distances[s->apart * NAME(clamp)(TOKEN_OF(l) - s->at, a->reach)] : 0;
    UNROLL for (i32 g = 0; g < group; g++) rows[g] = s->tracked ? s->history[TOKEN_OF(g)] : s->row;
    UNROLL for (i32 g = 0; g < group; g++) {
      const struct NAME(place) p = NAME(locate)(s, rows[g], TOKEN_OF(g));
      fresh[g] = p.fresh;
      SLICES_OF(dim) LANES(l) {
        const i32 i = j * WARP + l;
        OF(keys + (g * slices + j) * EACH, l) = i < dim ? p.key[i] : 0;
        OF(values + (g * slices + j) * EACH, l) = i < dim ? p.key[p.apart + i] : 0;
      }
    }
    UNROLL for (i32 g = 0; g < group; g++) {
      LANES(l) OF(dots + g * EACH, l) = l == g ? OF(far, l) : 0;
      SLICES_OF(dim) LANES(l) OF(dots + g * EACH, l) += OF(q + j * EACH, l) *
          NAME(remembered)(OF(keys + (g * slices + j) * EACH, l), OF(key_bias + j * EACH, l), fresh[g]);
    }
    warp_sums(dots, weight, group);
    UNROLL for (i32 g = 0; g < group; g++) {
      if (first + g >= s->length) weight[g] = -INFINITE;
      top = fmaxf(top, weight[g]);
    }
    const float keep = expf(most - top);
    total *= keep;
    UNROLL for (i32 g = 0; g < group; g++) total += weight[g] = expf(weight[g] - top);
    SLICES_OF(dim) LANES(l) {
      float v = OF(sums + j * EACH, l) * keep;
      UNROLL for (i32 g = 0; g < group; g++)
        v += weight[g] * NAME(remembered)(OF(values + (g * slices + j) * EACH, l), OF(value_bias + j * EACH, l), fresh[g]);
      OF(sums + j * EACH, l) = v;
    }
    most = top;
  }
  SLICES_OF(dim) LANES(l) {
    const i32 i = j * WARP + l;
    if (i < dim) out[i] = STORE(s->length > 0 ? OF(sums + j * EACH, l) / (total * a->headroom) : 0);
  }
}

// attend calls attend_slices with as many registers as the head needs.
DEVICE void NAME(attend)(const struct attention_args *a, const struct NAME(source) *s, const T *query,
                         const float *query_bias, T *out) {
  if (a->head_dim <= SLICES / 2 * WARP) NAME(attend_slices)(a, s, SLICES / 2, query, query_bias, out);
  else NAME(attend_slices)(a, s, SLICES, query, query_bias, out);
}

DEVICE T *NAME(layer)(const struct attention_args *a, i32 head) {
  return (T *)a->memory + (a->layer * a->memory_rows * 2 * a->capacity * a->heads + head) * a->head_dim;
}

DEVICE void NAME(self_attention)(const struct attention_args *a, i64 unit) {
  const i64 r = unit / a->heads, n = a->rows;
  const i32 head = (i32)(unit % a->heads), column = head * a->head_dim, width = a->heads * a->head_dim;
  const T *acc = (const T *)a->acc + column;
  const float *distances = a->distances ? a->distances + head * (2 * a->reach + 1) + a->reach : 0;
  const struct NAME(source) s = {0, acc, a->bias + column, 0, 0, 0, a->feed[TOKENS * n + r], 0, a->feed[FIRST * n + r], 0, width,
                                 distances, 1, a->feed[POSITION * n + r]};
  NAME(attend)(a, &s, acc + r * 3 * width, a->bias + column, (T *)a->out + r * width + column);
}

DEVICE void NAME(store_cross)(const struct store_args *a, i64 unit) {
  const i64 r = unit / a->chunks, row = a->feed[SENTENCE * a->rows + r], position = a->feed[POSITION * a->rows + r];
  const i32 first = (i32)(unit % a->chunks) * COLUMNS, width = a->width;
  const T *acc = (const T *)a->acc + r * 2 * width;
  T *key = (T *)a->memory + ((a->layer * a->memory_rows + row) * 2 * a->capacity + position) * width;
  T *value = key + (a->capacity - 1) * width;  // points where column `width` would be column 0
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
  const i64 r = unit / a->heads, n = a->rows;
  const i32 head = (i32)(unit % a->heads), column = head * a->head_dim, width = a->heads * a->head_dim;
  const i32 *rows = a->feed + ROW * n, *positions = a->feed + POSITION * n;
  const i32 row = rows[r], position = positions[r];
  // All tokens of a prefix are fed in one step, as consecutive rows. Other warps are
  // writing their keys and values to the memory, so they are read from the matrix
  // product.
  i32 before = 0;
  while (before < r && rows[r - before - 1] == row && positions[r - before - 1] == position - before - 1) before++;
  const T *acc = (const T *)a->acc + column, *own = acc + r * 3 * width;
  const struct NAME(source) s = {NAME(layer)(a, head), acc, a->bias + column,
                                 a->history + a->feed[TO * n + r] * a->history_capacity, 1,
                                 row, position + 1, position - before, (i32)r - before, (i32)a->capacity, width,
                                 a->distances ? a->distances + head : 0, -a->heads, position};
  NAME(attend)(a, &s, own, s.bias, (T *)a->out + r * width + column);
  T *key = NAME(layer)(a, head) + (row * 2 * a->capacity + position) * width;
  LANES(l) for (i32 i = l; i < a->head_dim; i += WARP) {
    key[i] = STORE(LOAD(own[width + i]) + s.bias[width + i]);
    key[a->capacity * width + i] = STORE(LOAD(own[2 * width + i]) + s.bias[2 * width + i]);
  }
}

DEVICE void NAME(cross_attention)(const struct attention_args *a, i64 unit) {
  const i64 r = unit / a->heads, n = a->rows;
  const i32 head = (i32)(unit % a->heads), column = head * a->head_dim, width = a->heads * a->head_dim;
  const i32 row = a->feed[SLOT * n + r], length = a->feed[LENGTH * n + r];
  const struct NAME(source) s = {NAME(layer)(a, head), 0, 0, 0, 0, row, length, length, 0, (i32)a->capacity, width, 0, 0, 0};
  NAME(attend)(a, &s, (const T *)a->acc + r * width + column, a->bias + column, (T *)a->out + r * width + column);
}
