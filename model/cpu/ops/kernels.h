// The arithmetic of the operators, independent of ONNX Runtime. Every function computes one row, sentence or head only from its
// own inputs, so that no result depends on the rest of the batch.
#ifndef DRAGOMAN_KERNELS_H
#define DRAGOMAN_KERNELS_H

#include <stdint.h>

#include "product_int8.h"

// A product is the output of a linear layer's matrix product before its completion: acc [rows, width]. Row r of the layer's
// output is acc[r]·scale[r] + bias; a null scale is 1.
typedef struct {
  const float *acc, *scale, *bias;
} Product;

// Panels are a matrix [depth, width] of floats or halves: [panels, depth, 32], with 32 of its columns in each panel; the last one
// is padded.
enum { PANEL_WIDTH = 32 };

typedef struct {
  const void *data;
  int64_t depth, width;
  int half;
} Panels;

// Activation functions, with their numbers in graphs.
typedef enum { NO_ACTIVATION, RELU, SWISH, GELU, GELU_TANH, ACTIVATIONS } Activation;

// Keys and values of attention in memory that outlives a step: [layers, rows, 2, capacity, heads·head_dim], all keys of a row
// before its values, in half or in single precision.
typedef struct {
  char *data;
  int64_t rows, capacity, token;  // token: bytes of one token, keys and values
  int half;
} Memory;

// Heads of attention. scale multiplies queries. bias, which may be null, is added to scores by the distance of key and query,
// with distances beyond reach counting as reach: for self_attend it is [heads, 2·reach + 1] for the distances from -reach on, key
// minus query; for attend, whose query is at the last token, [reach + 1, heads].
typedef struct {
  int64_t heads, head_dim;
  float scale;
  const float *bias;
  int64_t reach;
} Heads;

// A Query is one row of queries and the tokens that it attends to: tokens 0 to length-1, token t in row history[t] of the memory
// (in row `row` if history is null).
typedef struct {
  const float *q;  // [heads, head_dim], with bias and scale applied
  float *out;      // [heads, head_dim]
  const int32_t *history;
  int64_t row, length;
} Query;

// A Candidate is a token and its logit.
typedef struct {
  float logit;
  int64_t id;
} Candidate;

// A Table has embeddings: in half precision [vocabulary, d], or, if halves is null, an 8-bit matrix in panels with a scale for each row.
typedef struct {
  const uint16_t *halves;
  const int8_t *panels;
  const float *scale;
  const int32_t *rows;  // of the matrix, by token; null: token i is row i
} Table;

// table_row returns the row of a token in a table of 8 bits.
static inline int64_t table_row(Table t, int64_t id) { return t.rows ? t.rows[id] : id; }

// An ExpSum of some logits is the largest one, and the sum of e^(logit - peak).
typedef struct {
  float peak, sum;
} ExpSum;

// Kernels are the functions for one generation of CPUs, made by generation.h from rows.h, attention.h, head.h and
// product_float.h.
typedef struct {
  // multiply_panel computes the columns of one panel of y = x·w [rows, width], or with a bias [width] of activation(x·w + bias).
  void (*multiply_panel)(float *y, const float *x, int64_t rows, Panels w, int64_t panel, const float *bias, Activation activation);
  // embed_row writes every step-th number of w from the one at `at`, times scale, plus position [depth]; null: no position.
  void (*embed_row)(float *y, Panels w, int64_t at, int64_t step, float scale, const float *position);
  // quantize_row writes n floats in 8 bits, x ≈ (q - 128)·scale/127, with scale the largest magnitude. With an alpha other than
  // 0, x ≈ (q - 127)/alpha, larger numbers are clamped, and scale is 1.
  void (*quantize_row)(uint8_t *q, float *scale, const float *x, int64_t n, float alpha);
  // relu_quantize_row is quantize_row of max(0, p) for row r of a product, without an alpha ≈ q·scale/255; scratch has room for padded(n) floats.
  void (*relu_quantize_row)(uint8_t *q, float *scale, Product p, int64_t r, float *scratch, int64_t n, float alpha);
  // ssru_row is a step of a simpler simple recurrent unit (Kim et al. 2019, "From Research to Production and Back") for row r of
  // a product [rows, 2·n], candidates and gates: it writes the state σ(gate)·before + (1 - σ(gate))·candidate and y = max(0,
  // state). States are in two parts, the first of split numbers; a null `before` is 0.
  void (*ssru_row)(float *y, float *state, float *rest, int64_t split, const float *before, const float *rest_before, Product p,
                  int64_t r, int64_t n);
  // embed_int8_row writes row id of an 8-bit matrix in panels, times scale, plus position [n]; null: no position.
  void (*embed_int8_row)(float *y, const int8_t *panels, float scale, int64_t id, const float *position, int64_t n);
  // activation_quantize_row is quantize_row of activation(p), like relu_quantize_row.
  void (*activation_quantize_row)(uint8_t *q, float *scale, Product p, int64_t r, Activation activation, float *scratch, int64_t n);
  // gate_row writes activation(left)·right [n] for row r of a product [rows, 2·n], left and right.
  void (*gate_row)(float *y, Product p, int64_t r, Activation activation, int64_t n);
  // add_norm_row writes total = x + p (row r; x if p.acc is null) and its layer norm y, which may overwrite total.
  void (*add_norm_row)(float *total, float *y, const float *x, Product p, int64_t r, const float *gain, const float *beta,
                      float epsilon, int64_t n);
  // add_rms_norm_row is add_norm_row for a norm that divides by the root of the mean square, without subtracting the mean or
  // adding a bias.
  void (*add_rms_norm_row)(float *total, float *y, const float *x, Product p, int64_t r, const float *gain, float epsilon, int64_t n);
  // store_tokens writes keys and values as the tokens first to first+count-1 of a row of the memory. They come from the rows of a
  // product [rows, p_width] from p_row on: keys from column `from` on, values next to them, `width` columns each.
  void (*store_tokens)(Memory m, int64_t layer, int64_t row, int64_t first, Product p, int64_t p_row, int64_t p_width,
                      int64_t from, int64_t count, int64_t width);
  // attend computes heads from to to-1 of attention for a few queries that share most of their history. scores has attend_scratch
  // floats for the longest length.
  void (*attend)(Memory m, int64_t layer, Heads h, const Query *queries, int64_t n, int64_t from, int64_t to, float *scores);
  // self_attend computes one head of the encoder's attention over a sentence: tokens first to first+length-1 of a product [T,
  // 3·heads·head_dim], queries, keys, values. scratch has self_attend_scratch floats.
  void (*self_attend)(Product p, Heads h, int64_t head, int64_t first, int64_t length, float *out, float *scratch);
  // best_candidates finds the k largest of n logits acc·scale, with scale positive, largest first, the lower id among equals of
  // acc, and returns the log-sum-exp of all, which is NaN if any logit is. scratch has best_candidates_scratch floats.
  float (*best_candidates)(Candidate *best, int64_t k, const float *acc, float scale, int64_t n, float *scratch);
  // exp_sum sums up n logits acc·scale.
  ExpSum (*exp_sum)(const float *acc, float scale, int64_t n);
  // log_sum_exp combines the sums of parts of a row, in order.
  float (*log_sum_exp)(const ExpSum *parts, int64_t n);
  // add_candidates adds candidates from n logits acc to the `count` best so far, which are sorted and at most k. ids are their
  // ids; null: they count up from `first`. It returns the new count.
  int64_t (*add_candidates)(Candidate *best, int64_t count, int64_t k, const float *acc, const int32_t *ids, int64_t first, int64_t n);
  // table_logits computes the logits of n tokens from the hidden state x [d] and the embeddings.
  void (*table_logits)(float *out, const int32_t *tokens, int64_t n, const float *x, Table table, int64_t d);
  // rescore computes the logits of the k candidates again, from the hidden state x [d] and the embeddings, and sorts them again. bias
  // [vocabulary] is added; null: no bias. It returns lse, the log-sum-exp of all logits, with the new logits of the first CORRECTED
  // candidates: an 8-bit logit that is far off would shift all log-probabilities.
  float (*rescore)(Candidate *best, int64_t k, const float *x, Table table, const float *bias, int64_t d, float lse);
  // add_bias writes n logits acc·scale + bias.
  void (*add_bias)(float *out, const float *acc, float scale, const float *bias, int64_t n);
  // to_floats converts the sums of a tile, [rows, 3·PANEL], to floats: n outputs of each row, from output c on, the first to out.
  void (*to_floats)(float *out, int64_t stride, const int32_t *sums, int64_t rows, const Int8Rows *x, const Int8Matrix *m,
                    int64_t c, int64_t n);
} Kernels;

// kernels are the kernels of the best generation that this CPU supports.
extern const Kernels *kernels;

// Sizes of the kernels' scratch.
enum {
  LANES = 16,   // of the kernels' sums
  BLOCK = 256,  // logits that best_candidates searches together
  CORRECTED = 9,  // candidates in rescore's sum: as many as an 8-bit head proposes for k = 1, since k is that of all rows of a step
  QUERIES = 8,  // of self_attend that pass over keys and values together, at most
};
static inline int64_t padded(int64_t n) { return (n + LANES - 1) / LANES * LANES; }
static inline int64_t attend_scratch(int64_t n, int64_t longest) { return n * longest * LANES; }
static inline int64_t self_attend_scratch(Heads h, int64_t length) {
  int64_t biases = h.bias ? length + padded(length) : 0;
  return h.head_dim * padded(length) + length * padded(h.head_dim) + QUERIES * (padded(length) + padded(h.head_dim)) + biases;
}
static inline int64_t best_candidates_scratch(int64_t n) { return 2 * ((n + BLOCK - 1) / BLOCK); }

#endif
