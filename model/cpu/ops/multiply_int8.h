// Products of 8-bit numbers shared by threads.
#ifndef DRAGOMAN_MULTIPLY_INT8_H
#define DRAGOMAN_MULTIPLY_INT8_H

#include "call.h"
#include "product_int8.h"

// An Int8Product is rows times a matrix, divided into units: a block of rows by some panels. Threads take one unit after the
// other, so threads that begin late or are slow do less and all end together. Blocks of rows are as large as a core's cache
// allows, since each reads the whole matrix.
typedef struct Int8Product Int8Product;
struct Int8Product {
  const uint8_t *x;  // [rows, depth]
  int64_t rows, depth;
  Int8Matrix m;
  int positive;    // x starts from 0 and is mostly small; otherwise it is around 128
  int zero;        // zero of x in the sums
  float unit;      // factor of products, beside the scales of the matrix
  int64_t panels;  // of a unit; 0: chosen by size
  const uint8_t *wanted;  // [panels of m]: 0 for panels that are skipped, for which `done` receives old contents; null: all are computed
  // done receives the floats of a unit: rows first to first+n-1, panels from `panel` on, `width` outputs. With a `target`, out
  // and stride refer to it.
  void (*done)(Int8Product *p, const float *out, int64_t first, int64_t n, int64_t panel, int64_t width);
  float *target;  // [rows, width]; null: each unit is written to scratch, [n, width of a unit]
  void *arguments;
};

// int8_product returns a product of x with the settings of a node's attributes.
Int8Product int8_product(const Node *node);
// int8_matrix reads the inputs i to i+2: panels, sums and scale of a matrix for x of `depth` numbers per row.
OrtStatus *int8_matrix(Call c, size_t i, int64_t depth, Int8Matrix *m);
// int8_run computes a product.
OrtStatus *int8_run(Call c, Int8Product *p);

#endif
