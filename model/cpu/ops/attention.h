// Attention of the decoder to its past and to the source, and of the encoder.
#ifndef DRAGOMAN_ATTENTION_H
#define DRAGOMAN_ATTENTION_H

#include "vec.h"

// token_at returns the place of a token's keys; its values are m.capacity half tokens further on.
INLINE char *token_at(Memory m, int64_t layer, int64_t row, int64_t t) {
  return m.data + ((layer * m.rows + row) * 2 * m.capacity + t) * (m.token / 2);
}

static void store_tokens(Memory m, int64_t layer, int64_t row, int64_t first, Product p, int64_t p_row,
                         int64_t p_width, int64_t from, int64_t count, int64_t width) {
  for (int64_t t = 0; t < 2 * count; t++) {
    int64_t value = t % 2, column = from + value * width;  // keys and values alternate
    const float *acc = p.acc + (p_row + t / 2) * p_width + column, *bias = p.bias + column;
    float scale = p.scale ? p.scale[p_row + t / 2] : 1;
    char *token = token_at(m, layer, row, first + t / 2 + value * m.capacity);
    if (m.half)
      linear_half((uint16_t *)token, acc, scale, bias, width);
    else
      linear((float *)token, acc, scale, bias, width);
  }
}

INLINE int64_t row_of(const Query *q, int64_t t) { return q->history ? q->history[t] : q->row; }

enum {
  TOGETHER = 4,  // tokens whose values are added together
  AHEAD = 4,     // tokens
  ALIKE = 4,     // queries that are processed together if they attend to the same tokens, as the beams of a sentence mostly do
};

// Storage formats of keys and values.
typedef enum { SINGLE, HALF } Format;

// load_any loads NATIVE numbers of a key or value.
INLINE vf load_any(const char *p, int64_t i, Format f) {
  return f == HALF ? load_half((const uint16_t *)p + i) : load((const float *)p + i);
}

INLINE float load_one(const char *p, int64_t i, Format f) {
  return f != SINGLE ? half_to_float(((const uint16_t *)p)[i]) : ((const float *)p)[i];
}

// Ahead are keys or values that will be needed soon.
typedef struct {
  const char *at[ALIKE * TOGETHER];
  int64_t count;
} Ahead;

// fetch prefetches the numbers from element `from` on. A large prefetch would make the CPU wait for memory, so each head fetches
// its share.
INLINE void fetch(const Ahead *ahead, int64_t from, int64_t count, Format f) {
  int64_t size = f == SINGLE ? 4 : 2;
  for (int64_t j = 0; j < ahead->count; j++)
    for (int64_t i = 0; i < count * size; i += 64) __builtin_prefetch(ahead->at[j] + from * size + i);
}

// score_token writes the scores of a token's keys for up to LANES heads, from element `at` on, one head per lane, of n queries that
// attend to the same keys. The other lanes are 0.
INLINE void score_token(vf (*scores)[PARTS], const Query *queries, int64_t n, const char *key, const Ahead *ahead, int64_t at,
                        int64_t heads, int64_t dim, Format f) {
  vf parts[ALIKE][LANES * PARTS];
  for (int64_t b = 0; b < LANES; b++) {
    vf acc[ALIKE][PARTS];
    UNROLL for (int64_t w = 0; w < n; w++) EACH_PART acc[w][p] = (vf){};
    int64_t i = 0, first = at + b * dim;
    if (b < heads) {
      fetch(ahead, first, dim, f);
      for (; i + LANES <= dim; i += LANES)
        EACH_PART {
          vf k = load_any(key, first + i + p * NATIVE, f);
          UNROLL for (int64_t w = 0; w < n; w++) acc[w][p] += load(queries[w].q + first + i + p * NATIVE) * k;
        }
      for (int64_t w = 0; dim % LANES && w < n; w++) {
        float rest = 0;
        for (int64_t j = i; j < dim; j++) rest += queries[w].q[first + j] * load_one(key, first + j, f);
        acc[w][0] += (vf){rest};
      }
    }
    UNROLL for (int64_t w = 0; w < n; w++) EACH_PART parts[w][b * PARTS + p] = acc[w][p];
  }
  UNROLL for (int64_t w = 0; w < n; w++) {
    sums(parts[w]);
    EACH_PART scores[w][p] = parts[w][p];
  }
}

// softmax_heads converts the scores of n tokens to weights that add up to 1 for each head, one head per lane.
INLINE void softmax_heads(float *scores, int64_t n) {
  for (float *s = scores; s < scores + LANES; s += NATIVE) {
    vf peak = load(s), total = {};
    for (int64_t t = 1; t < n; t++) peak = vmax(load(s + t * LANES), peak);
    for (int64_t t = 0; t < n; t++) {
      vf e = vexp(load(s + t * LANES) - peak);
      store(s + t * LANES, e);
      total += e;
    }
    vf inverse = 1 / total;
    for (int64_t t = 0; t < n; t++) store(s + t * LANES, load(s + t * LANES) * inverse);
  }
}

// add_values adds the weighted values of count tokens to the outputs of n queries that attend to the same ones. The weights of a
// query are `stride` after those of the one before.
INLINE void add_values(const Query *queries, int64_t n, const char *const *values, const Ahead *ahead, const float *weights,
                       int64_t stride, int64_t count, int64_t at, int64_t heads, int64_t dim, Format f) {
  for (int64_t b = 0; b < heads; b++) {
    float *out[ALIKE], by[ALIKE][TOGETHER];  // copies, which no store to out may change
    int64_t i = 0, first = at + b * dim;
    fetch(ahead, first, dim, f);
    UNROLL for (int64_t w = 0; w < n; w++) {
      out[w] = queries[w].out + first;
      UNROLL for (int64_t j = 0; j < TOGETHER; j++) by[w][j] = j < count ? weights[w * stride + j * LANES + b] : 0;
    }
    for (; i + NATIVE <= dim; i += NATIVE) {
      vf v[TOGETHER];
      UNROLL for (int64_t j = 0; j < count; j++) v[j] = load_any(values[j], first + i, f);
      UNROLL for (int64_t w = 0; w < n; w++) {
        vf sum = load(out[w] + i);
        UNROLL for (int64_t j = 0; j < count; j++) sum += v[j] * by[w][j];
        store(out[w] + i, sum);
      }
    }
    for (; i < dim; i++)
      for (int64_t w = 0; w < n; w++)
        for (int64_t j = 0; j < count; j++) out[w][i] += load_one(values[j], first + i, f) * by[w][j];
  }
}

// Tokens are the keys, or values, that a call of attend reads.
typedef struct {
  Memory m;
  int64_t layer, value;  // 1 for values
  const Query *queries;
} Tokens;

INLINE const char *token_of(Tokens a, int64_t w, int64_t t) {
  return token_at(a.m, a.layer, row_of(&a.queries[w], t), t + a.value * a.m.capacity);
}

// add_ahead adds token t of query w to those ahead, unless there is none, or the query before needs the same one.
INLINE void add_ahead(Ahead *ahead, Tokens a, int64_t w, int64_t t) {
  const Query *q = &a.queries[w];
  if (t >= q->length || (w > 0 && t < q[-1].length && row_of(q, t) == row_of(q - 1, t))) return;
  ahead->at[ahead->count++] = token_of(a, w, t);
}

// alike returns ALIKE if so many queries from w on, of n, attend to the same `count` tokens from t on, otherwise 1.
INLINE int64_t alike(const Query *queries, int64_t w, int64_t n, int64_t t, int64_t count) {
  if (w + ALIKE > n) return 1;
  for (int64_t v = w; v < w + ALIKE; v++) {
    if (t + count > queries[v].length) return 1;
    for (int64_t j = t; j < t + count; j++)
      if (row_of(&queries[v], j) != row_of(&queries[w], j)) return 1;
  }
  return ALIKE;
}

// bias_of returns the biases of the scores of up to LANES heads, from head `from` on, at a distance.
INLINE const float *bias_of(Heads h, int64_t distance, int64_t from) {
  return h.bias + (distance < h.reach ? distance : h.reach) * h.heads + from;
}

// attend_heads is attend for up to LANES heads, from head `from` on, with arguments that the compiler should know as constants.
// Scores are [query, token, lane].
INLINE void attend_heads(Memory m, int64_t layer, Heads h, const Query *queries, int64_t n, int64_t from, int64_t heads,
                         float *scores, int64_t dim, Format f) {
  const Tokens keys = {m, layer, 0, queries}, values = {m, layer, 1, queries};
  int64_t longest = 0, at = from * dim;
  for (int64_t w = 0; w < n; w++) longest = queries[w].length > longest ? queries[w].length : longest;
  // The outer loop is over tokens, the inner one over queries: beams share most of their history, so a token's keys are read from
  // memory once for all of them.
  for (int64_t t = 0; t < longest; t++) {
    for (int64_t w = 0, some; w < n; w += some) {
      some = 1;
      if (t >= queries[w].length) continue;
      some = alike(queries, w, n, t, 1);
      const char *key = token_of(keys, w, t);
      Ahead ahead = {.count = 0};
      for (int64_t i = 0; i < some; i++) {
        if (t + AHEAD < longest)
          add_ahead(&ahead, keys, w + i, t + AHEAD);
        else
          add_ahead(&ahead, values, w + i, t + AHEAD - longest);
      }
      vf score[ALIKE][PARTS];
      if (some == ALIKE)
        score_token(score, queries + w, ALIKE, key, &ahead, at, heads, dim, f);
      else
        score_token(score, queries + w, 1, key, &ahead, at, heads, dim, f);
      for (int64_t i = 0; i < some; i++) {
        const float *bias = h.bias ? bias_of(h, queries[w + i].length - 1 - t, from) : 0;
        EACH_PART {
          if (bias) score[i][p] += load_some(bias + p * NATIVE, heads - p * NATIVE);
          store(scores + ((w + i) * longest + t) * LANES + p * NATIVE, score[i][p]);
        }
      }
    }
  }
  for (int64_t w = 0; w < n; w++) {
    softmax_heads(scores + w * longest * LANES, queries[w].length);
    memset(queries[w].out + at, 0, heads * dim * sizeof(float));
  }
  for (int64_t t = 0; t < longest; t += TOGETHER) {
    for (int64_t w = 0, some; w < n; w += some) {
      const float *weights = scores + (w * longest + t) * LANES;
      const char *here[TOGETHER] = {0};
      Ahead ahead = {.count = 0};
      int64_t count = queries[w].length - t < TOGETHER ? queries[w].length - t : TOGETHER, stride = longest * LANES;
      some = alike(queries, w, n, t, TOGETHER);
      for (int64_t i = 0; i < some; i++)
        for (int64_t j = 0; j < TOGETHER; j++) add_ahead(&ahead, values, w + i, t + j + AHEAD);
      for (int64_t j = 0; j < count; j++) here[j] = token_of(values, w, t + j);
      if (some == ALIKE)
        add_values(queries + w, ALIKE, here, &ahead, weights, stride, TOGETHER, at, heads, dim, f);
      else if (count == TOGETHER)
        add_values(queries + w, 1, here, &ahead, weights, stride, TOGETHER, at, heads, dim, f);
      else if (count > 0)
        add_values(queries + w, 1, here, &ahead, weights, stride, count, at, heads, dim, f);
    }
  }
}

INLINE void attend_format(Memory m, int64_t layer, Heads h, const Query *queries, int64_t n, int64_t from, int64_t to,
                          float *scores, Format f) {
  for (; from < to; from += LANES) {
    int64_t heads = to - from < LANES ? to - from : LANES;
    if (h.head_dim == 64 && heads == LANES)  // as M2M100's
      attend_heads(m, layer, h, queries, n, from, LANES, scores, 64, f);
    else if (h.head_dim == 64 && heads == LANES / 2)  // as Opus-MT's and Argos'
      attend_heads(m, layer, h, queries, n, from, LANES / 2, scores, 64, f);
    else
      attend_heads(m, layer, h, queries, n, from, heads, scores, h.head_dim, f);
  }
}

static void attend(Memory m, int64_t layer, Heads h, const Query *queries, int64_t n, int64_t from, int64_t to, float *scores) {
  if (m.half)
    attend_format(m, layer, h, queries, n, from, to, scores, HALF);
  else
    attend_format(m, layer, h, queries, n, from, to, scores, SINGLE);
}

// Keys of self-attention are transposed, [head_dim, padded length], so that the scores of 16 keys are one vector; values are not,
// [length, padded head_dim].

// spread_bias writes the biases of the scores of each pair of tokens of a sentence: out[i] at the distance i - (length - 1), key
// minus query, and padding for reads of whole vectors.
INLINE void spread_bias(float *out, Heads h, int64_t head, int64_t length) {
  const float *bias = h.bias + head * (2 * h.reach + 1) + h.reach;
  for (int64_t i = 0; i < length + padded(length); i++) {
    int64_t distance = i - (length - 1);
    out[i] = bias[distance < -h.reach ? -h.reach : distance > h.reach ? h.reach : distance];
  }
}

enum { ABREAST = NATIVE == 16 ? QUERIES : 6 };  // queries whose sums fit into registers

// self_attend_rows is self_attend for n tokens from t on, once keys and values are in place.
INLINE void self_attend_rows(Product product, Heads h, int64_t head, int64_t first, int64_t length, float *out, const float *keys,
                             const float *values, float *scores, int64_t t, int64_t n) {
  int64_t dim = h.head_dim, width = h.heads * dim, columns = padded(length), wide = padded(dim);
  float *query = scores + QUERIES * columns;
  const float *biases = query + QUERIES * wide;
  for (int64_t r = 0; r < n; r++) {
    int64_t row = first + t + r;
    linear(query + r * wide, product.acc + row * 3 * width + head * dim, product.scale ? product.scale[row] : 1, product.bias + head * dim, dim);
    for (int64_t i = 0; i < dim; i++) query[r * wide + i] *= h.scale;
  }
  for (int64_t c = 0; c < columns; c += LANES) {
    vf s[ABREAST][PARTS] = {};
    for (int64_t i = 0; i < dim; i++)
      for (int64_t r = 0; r < n; r++) EACH_PART s[r][p] += load(keys + i * columns + c + p * NATIVE) * query[r * wide + i];
    for (int64_t r = 0; h.bias && r < n; r++) EACH_PART s[r][p] += load(biases + c - (t + r) + length - 1 + p * NATIVE);
    for (int64_t r = 0; r < n; r++) EACH_PART store(scores + r * columns + c + p * NATIVE, s[r][p]);
  }
  for (int64_t r = 0; r < n; r++) softmax(scores + r * columns, length);
  for (int64_t c = 0; c < wide; c += LANES) {
    vf s[ABREAST][PARTS] = {};
    for (int64_t k = 0; k < length; k++)
      for (int64_t r = 0; r < n; r++) EACH_PART s[r][p] += load(values + k * wide + c + p * NATIVE) * scores[r * columns + k];
    int64_t size = (dim - c < LANES ? dim - c : LANES) * sizeof(float);
    for (int64_t r = 0; r < n; r++) memcpy(out + (first + t + r) * width + head * dim + c, s[r], size);
  }
}

static void self_attend(Product p, Heads h, int64_t head, int64_t first, int64_t length, float *out, float *scratch) {
  int64_t dim = h.head_dim, width = h.heads * dim, columns = padded(length), wide = padded(dim);
  float *keys = scratch, *values = keys + dim * columns, *scores = values + length * wide;
  if (h.bias) spread_bias(scores + QUERIES * (columns + wide), h, head, length);
  memset(keys, 0, dim * columns * sizeof(float));
  memset(values, 0, length * wide * sizeof(float));
  for (int64_t t = 0; t < length; t++) {
    const float *acc = p.acc + (first + t) * 3 * width + head * dim, *bias = p.bias + head * dim;
    float scale = p.scale ? p.scale[first + t] : 1;
    // The next head, which is most likely next.
    for (int64_t i = dim; i < 2 * dim; i += 16)
      for (int64_t j = 0; j < 3; j++) __builtin_prefetch(acc + j * width + i, 0, 2);
    for (int64_t i = 0; i < dim; i++) keys[i * columns + t] = acc[width + i] * scale + bias[width + i];
    linear(values + t * wide, acc + 2 * width, scale, bias + 2 * width, dim);
  }
  int64_t t = 0;
  for (; t + ABREAST <= length; t += ABREAST)
    self_attend_rows(p, h, head, first, length, out, keys, values, scores, t, ABREAST);
  for (; t < length; t++) self_attend_rows(p, h, head, first, length, out, keys, values, scores, t, 1);
}

#endif
