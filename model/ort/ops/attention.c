// Attention of the decoder to its past and to the source, and of the encoder.
#include "kernels.h"
#include "vec.h"

// token_at is where the keys of a token are; its values are m.capacity half tokens
// further on.
INLINE char *token_at(Memory m, int64_t layer, int64_t row, int64_t t) {
  return m.data + ((layer * m.rows + row) * 2 * m.capacity + t) * (m.token / 2);
}

KERNEL void store_tokens(Memory m, int64_t layer, int64_t row, int64_t first, Product p, int64_t p_row,
                         int64_t p_width, int64_t from, int64_t count, int64_t width) {
  for (int64_t t = 0; t < 2 * count; t++) {
    int64_t value = t % 2, column = from + value * width;  // keys and values take turns
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

// attend_block is attend with what the compiler should know as constants.
INLINE void attend_block(Memory m, int64_t layer, const Query *queries, int64_t n, int64_t from, int64_t to,
                         float *scores, int64_t dim, int half) {
  int64_t longest = 0, blocks = to - from;
  for (int64_t w = 0; w < n; w++) longest = queries[w].length > longest ? queries[w].length : longest;
  // Tokens on the outside, queries within: beams share most of their history, so
  // a token's keys are read from memory once for all of them.
  for (int64_t t = 0; t < longest; t++) {
    for (int64_t w = 0; w < n; w++) {
      const Query *q = &queries[w];
      if (t >= q->length) continue;
      const char *token = token_at(m, layer, row_of(q, t), t);
      float *s = scores + w * blocks * longest + t;
      for (int64_t b = 0; b < blocks; b++) {
        int64_t at = (from + b) * dim;
        s[b * longest] = half ? dot_half(q->q + at, (const uint16_t *)token + at, dim)
                              : dot(q->q + at, (const float *)token + at, dim);
      }
    }
  }
  for (int64_t w = 0; w < n; w++) {
    for (int64_t b = 0; b < blocks; b++) softmax(scores + (w * blocks + b) * longest, queries[w].length);
    memset(queries[w].out + from * dim, 0, blocks * dim * sizeof(float));
  }
  for (int64_t t = 0; t < longest; t++) {
    for (int64_t w = 0; w < n; w++) {
      const Query *q = &queries[w];
      if (t >= q->length) continue;
      const char *token = token_at(m, layer, row_of(q, t), t + m.capacity);
      const float *s = scores + w * blocks * longest + t;
      for (int64_t b = 0; b < blocks; b++) {
        int64_t at = (from + b) * dim;
        if (half)
          add_scaled_half(q->out + at, (const uint16_t *)token + at, s[b * longest], dim);
        else
          add_scaled(q->out + at, (const float *)token + at, s[b * longest], dim);
      }
    }
  }
}

KERNEL void attend(Memory m, int64_t layer, Heads h, const Query *queries, int64_t n, int64_t from, int64_t to,
                   float *scores) {
  if (m.half && h.head_dim == 64)
    attend_block(m, layer, queries, n, from, to, scores, 64, 1);
  else if (m.half)
    attend_block(m, layer, queries, n, from, to, scores, h.head_dim, 1);
  else if (h.head_dim == 64)
    attend_block(m, layer, queries, n, from, to, scores, 64, 0);
  else
    attend_block(m, layer, queries, n, from, to, scores, h.head_dim, 0);
}

// Keys lie transposed, [head_dim, padded length], so that the scores of 16 keys
// are one vector; values as they come, [length, padded head_dim].
INLINE int64_t padded(int64_t n) { return (n + LANES - 1) / LANES * LANES; }

int64_t self_attend_scratch(Heads h, int64_t length) {
  return h.head_dim * padded(length) + length * padded(h.head_dim) + padded(length) + 2 * padded(h.head_dim);
}

KERNEL void self_attend(Product p, Heads h, int64_t head, int64_t first, int64_t length, float *out, float *scratch) {
  int64_t dim = h.head_dim, width = h.heads * dim, columns = padded(length), wide = padded(dim);
  float *keys = scratch, *values = keys + dim * columns, *scores = values + length * wide, *query = scores + columns,
        *result = query + wide;
  memset(keys, 0, dim * columns * sizeof(float));
  memset(values, 0, length * wide * sizeof(float));
  for (int64_t t = 0; t < length; t++) {
    const float *acc = p.acc + (first + t) * 3 * width + head * dim, *bias = p.bias + head * dim;
    float scale = p.scale ? p.scale[first + t] : 1;
    for (int64_t i = 0; i < dim; i++) keys[i * columns + t] = acc[width + i] * scale + bias[width + i];
    linear(values + t * wide, acc + 2 * width, scale, bias + 2 * width, dim);
  }
  for (int64_t t = 0; t < length; t++) {
    const float *acc = p.acc + (first + t) * 3 * width + head * dim;
    linear(query, acc, p.scale ? p.scale[first + t] : 1, p.bias + head * dim, dim);
    for (int64_t i = 0; i < dim; i++) query[i] *= h.scale;
    for (int64_t c = 0; c < columns; c += LANES) {
      vf s = {};
      for (int64_t i = 0; i < dim; i++) s += load(keys + i * columns + c) * query[i];
      store(scores + c, s);
    }
    softmax(scores, length);
    for (int64_t c = 0; c < wide; c += LANES) {
      vf s = {};
      for (int64_t k = 0; k < length; k++) s += load(values + k * wide + c) * scores[k];
      store(result + c, s);
    }
    memcpy(out + (first + t) * width + head * dim, result, dim * sizeof(float));
  }
}
