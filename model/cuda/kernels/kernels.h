// The arguments of the kernels. A GPU and the C functions take the same structs.
//
// A kernel's work is split into units. One warp computes a unit alone, from the unit's own inputs, so no result depends on
// the rest of the batch. T is the type of activations and of the attention memory, float or half; the residual stream,
// biases and norms are float.
#ifndef DRAGOMAN_DEVICE_KERNELS_H
#define DRAGOMAN_DEVICE_KERNELS_H

#include "warp.h"

// The fields of a step's feed, int32 [fields, rows]. The decoder's rows are hypotheses (or the tokens of a forced prefix),
// the encoder's rows are tokens.
enum {
  TOKEN,     // id
  POSITION,  // of the token, from 0
  // decoder
  ROW = 2,    // of the KV cache that the token is written to
  FROM,       // row of the histories with the tokens before it
  TO,         // row of the histories that it continues in
  SLOT,       // row of the memory of cross attention
  LENGTH,     // tokens of the source
  STEP_FIELDS,
  // encoder
  SENTENCE = 2,    // row of the memory of cross attention
  FIRST,           // row of the sentence's first token
  TOKENS,          // of the sentence
  ENCODER_FIELDS,
};

enum {
  SLICES = 4,         // maximum dimensions of a head, in warps
  HELD = 16,          // keys, and values, that a lane of attention holds at once
  BLOCK = 32,         // elements that a lane of AddNorm holds at once
  COLUMNS = 256,      // columns of a unit, if a row has several units
  VOCAB_CHUNK = 4096  // tokens of a unit of PartialCandidates
};

// x [rows, width] = table[token] · scale + positions[position], or without positions
struct embed_args {
  i64 units, rows;  // rows · chunks of columns
  const i32 *feed;
  const void *table;  // T [vocabulary, width]
  const float *positions;  // null: none
  float *x;
  float scale;
  i32 width, chunks;
};

// Writes the histories: history[to] = history[from] up to the position, and ROW there.
struct track_args {
  i64 units;  // rows
  const i32 *feed;
  i32 *history;  // [.., capacity]
  i64 capacity;
};

// total = x + acc · headroom + bias, and y is its layer norm. With only_norm, total is the layer norm, too. Without beta
// the norm is an RMS norm, which does not subtract the mean.
struct add_norm_args {
  i64 units;  // rows
  const float *x;
  const void *acc;  // T [rows, width]; null: 0
  const float *bias, *gain, *beta;
  float *total;
  void *y;  // T
  i32 width, only_norm;
  float epsilon, headroom;
};

// The activation functions, by their numbers in graphs.
enum { NO_ACTIVATION, RELU, SWISH, GELU, GELU_TANH, ACTIVATIONS };

// y = activation(acc + bias) / headroom. With gated, acc and bias are [rows, 2·width] and y = activation(left) · right /
// headroom, where left and right are the halves of acc + bias.
struct bias_activation_args {
  i64 units;  // rows · chunks of columns
  const void *acc;
  const float *bias;
  void *y;
  i32 width, chunks, activation, gated;
  float headroom;
};

// Attention of every row and head over the tokens in `memory` and acc.
struct attention_args {
  i64 units, rows;  // rows · heads
  const i32 *feed;
  const void *acc;  // T [rows, width], or [rows, 3·width]: queries, keys, values
  const float *bias;
  const i32 *history;
  // Score biases by distance, up to `reach`, or null. For self_attention [heads, 2·reach+1], from keys before the query to
  // keys after it; for cached_attention [reach+1, heads].
  const float *distances;
  void *memory;  // T [layers, memory_rows, 2, capacity, width]: a row's keys, then its values
  void *out;     // T [rows, width], divided by headroom
  i64 layer, memory_rows, capacity, history_capacity;
  i32 heads, head_dim, reach;
  float scale, headroom;
};

// Writes the keys and values acc + bias, T [rows, 2·width], to the memory.
struct store_args {
  i64 units, rows;  // rows · chunks of 2·width columns
  const i32 *feed;
  const void *acc;
  const float *bias;
  void *memory;
  i64 layer, memory_rows, capacity;
  i32 width, chunks;
};

// The best 32·pages candidates of every chunk of the vocabulary, and the chunk's part of the log-sum-exp.
struct partial_args {
  i64 units;           // rows · chunks
  const void *logits;  // T [rows, vocab]
  const float *bias;   // [vocab]; null: 0
  i64 *keys;           // [rows, chunks, pages, 32], see sort_key; 0: none
  float *stats;        // [rows, chunks, 2]: largest logit, sum of exp(logit - largest)
  i64 vocab;
  i32 chunks, pages;
};

// The best candidates of every row, from its chunks, and the row's log-sum-exp.
struct merge_args {
  i64 units;  // rows
  const i64 *parts;
  const float *stats;
  i64 *keys;  // [rows, pages, 32], best first
  float *lse;
  i32 chunks, pages;
};

// With one page, recomputes the keys' logits from the hidden states in single precision. With more pages, copies the keys.
struct rescore_args {
  i64 units;  // rows · pages · 32
  const i64 *keys;
  const void *hidden;  // T [rows, width]
  const void *table;   // T [vocab, width]
  const float *bias;   // [vocab]; null: 0
  i64 *rescored;
  i32 pages, width;
};

// The keys of each page, in order and split into log-probabilities [32·pages] (float), ids [32·pages] and the log-sum-exp
// (float), in best, int32 [rows, 64·pages+1].
struct best_args {
  i64 units;  // rows
  const i64 *keys;
  const float *lse;
  i32 *best;
  i32 pages;
};

// The kernels, by number. X(name, arguments)
#define DRAGOMAN_KERNELS(X)            \
  X(embed, embed_args)                 \
  X(track, track_args)                 \
  X(add_norm, add_norm_args)           \
  X(bias_activation, bias_activation_args) \
  X(self_attention, attention_args)    \
  X(store_cross, store_args)           \
  X(cached_attention, attention_args)  \
  X(cross_attention, attention_args)   \
  X(partial_candidates, partial_args)  \
  X(merge_candidates, merge_args)      \
  X(rescore, rescore_args)             \
  X(best_candidates, best_args)

#endif
