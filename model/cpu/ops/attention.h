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

// Storage formats of keys and values.
typedef enum { SINGLE, HALF } Format;

// load_any loads NATIVE numbers of a key or value.
INLINE vf load_any(const char *p, int64_t i, Format f) {
  return f == HALF ? load_half((const uint16_t *)p + i) : load((const float *)p + i);
}

INLINE float load_one(const char *p, int64_t i, Format f) {
  return f != SINGLE ? half_to_float(((const uint16_t *)p)[i]) : ((const float *)p)[i];
}

// fetch prefetches the numbers from element `from` on of a key or value that will be needed soon; null is none. A large prefetch
// would make the CPU wait for memory, so each head fetches its share.
INLINE void fetch(const char *p, int64_t from, int64_t count, Format f) {
  int64_t size = f == SINGLE ? 4 : 2;
  for (int64_t i = 0; p && i < count * size; i += 64) __builtin_prefetch(p + from * size + i);
}

// score_token writes the scores of a token's keys for up to LANES heads, from element `at` on, one head per lane. The other lanes
// are 0.
INLINE void score_token(vf *scores, const float *q, const char *key, const char *ahead, int64_t at, int64_t heads, int64_t dim, Format f) {
  vf parts[LANES * PARTS];
  for (int64_t b = 0; b < LANES; b++) {
    vf acc[PARTS] = {};
    int64_t i = 0, first = at + b * dim;
    if (b < heads) {
      fetch(ahead, first, dim, f);
      for (; i + LANES <= dim; i += LANES)
        EACH_PART acc[p] += load(q + first + i + p * NATIVE) * load_any(key, first + i + p * NATIVE, f);
      float rest = 0;
      for (; i < dim; i++) rest += q[first + i] * load_one(key, first + i, f);
      if (dim % LANES) acc[0] += (vf){rest};
    }
    EACH_PART parts[b * PARTS + p] = acc[p];
  }
  sums(parts);
  EACH_PART scores[p] = parts[p];
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

enum {
  TOGETHER = 4,  // tokens whose values are added together
  AHEAD = 4,     // tokens
};

// add_values adds the weighted values of count tokens to out.
INLINE void add_values(float *out, const char *const *values, const char *const *ahead, const float *weights, int64_t count,
                       int64_t at, int64_t heads, int64_t dim, Format f) {
  for (int64_t b = 0; b < heads; b++) {
    int64_t i = 0, first = at + b * dim;
    for (int64_t j = 0; j < TOGETHER; j++) fetch(ahead[j], first, dim, f);
    for (; i + NATIVE <= dim; i += NATIVE) {
      vf sum = load(out + first + i);
      for (int64_t j = 0; j < count; j++) sum += load_any(values[j], first + i, f) * weights[j * LANES + b];
      store(out + first + i, sum);
    }
    for (; i < dim; i++)
      for (int64_t j = 0; j < count; j++) out[first + i] += load_one(values[j], first + i, f) * weights[j * LANES + b];
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

// ahead_of returns the place of token t of query w, or null if there is none, or if the query before needs the same one.
INLINE const char *ahead_of(Tokens a, int64_t w, int64_t t) {
  const Query *q = &a.queries[w];
  if (t >= q->length || (w > 0 && t < q[-1].length && row_of(q, t) == row_of(q - 1, t))) return 0;
  return token_of(a, w, t);
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
    for (int64_t w = 0; w < n; w++) {
      const Query *q = &queries[w];
      if (t >= q->length) continue;
      const char *ahead = ahead_of(keys, w, t + AHEAD);
      if (t + AHEAD >= longest) ahead = ahead_of(values, w, t + AHEAD - longest);
      vf score[PARTS];
      score_token(score, q->q, token_of(keys, w, t), ahead, at, heads, dim, f);
      const float *bias = h.bias ? bias_of(h, q->length - 1 - t, from) : 0;
      EACH_PART {
        if (bias) score[p] += load_some(bias + p * NATIVE, heads - p * NATIVE);
        store(scores + (w * longest + t) * LANES + p * NATIVE, score[p]);
      }
    }
  }
  for (int64_t w = 0; w < n; w++) {
    softmax_heads(scores + w * longest * LANES, queries[w].length);
    memset(queries[w].out + at, 0, heads * dim * sizeof(float));
  }
  for (int64_t t = 0; t < longest; t += TOGETHER) {
    for (int64_t w = 0; w < n; w++) {
      const Query *q = &queries[w];
      const float *weights = scores + (w * longest + t) * LANES;
      const char *here[TOGETHER] = {0}, *ahead[TOGETHER];
      int64_t count = q->length - t < TOGETHER ? q->length - t : TOGETHER;
      for (int64_t j = 0; j < TOGETHER; j++) ahead[j] = ahead_of(values, w, t + j + AHEAD);
      for (int64_t j = 0; j < count; j++) here[j] = token_of(values, w, t + j);
      if (count == TOGETHER)
        add_values(q->out, here, ahead, weights, TOGETHER, at, heads, dim, f);
      else if (count > 0)
        add_values(q->out, here, ahead, weights, count, at, heads, dim, f);
    }
  }
}

INLINE void attend_format(Memory m, int64_t layer, Heads h, const Query *queries, int64_t n, int64_t from, int64_t to,
                          float *scores, Format f) {
  for (; from < to; from += LANES) {
    int64_t heads = to - from < LANES ? to - from : LANES;
    if (h.head_dim == 64 && heads == LANES)  // as M2M100's
      attend_heads(m, layer, h, queries, n, from, LANES, scores, 64, f);
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
    vf s[QUERIES][PARTS] = {};
    for (int64_t i = 0; i < dim; i++)
      for (int64_t r = 0; r < n; r++) EACH_PART s[r][p] += load(keys + i * columns + c + p * NATIVE) * query[r * wide + i];
    for (int64_t r = 0; h.bias && r < n; r++) EACH_PART s[r][p] += load(biases + c - (t + r) + length - 1 + p * NATIVE);
    for (int64_t r = 0; r < n; r++) EACH_PART store(scores + r * columns + c + p * NATIVE, s[r][p]);
  }
  for (int64_t r = 0; r < n; r++) softmax(scores + r * columns, length);
  for (int64_t c = 0; c < wide; c += LANES) {
    vf s[QUERIES][PARTS] = {};
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
  for (; t + QUERIES <= length; t += QUERIES)
    self_attend_rows(p, h, head, first, length, out, keys, values, scores, t, QUERIES);
  for (; t < length; t++) self_attend_rows(p, h, head, first, length, out, keys, values, scores, t, 1);
}

#endif
