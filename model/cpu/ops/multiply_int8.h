// Products of 8-bit numbers shared by threads.
#ifndef DRAGOMAN_MULTIPLY_INT8_H
#define DRAGOMAN_MULTIPLY_INT8_H

#include "call.h"
#include "product_int8.h"

// An Int8Product is rows times a matrix, cut into units: a block of rows by some
// panels. Threads take one unit after the other, so those that begin late or are slow
// do less and all end together. Blocks of rows are as large as a core's cache allows,
// since each reads the whole matrix.
typedef struct Int8Product Int8Product;
struct Int8Product {
  const uint8_t *x;  // [rows, depth]
  int64_t rows, depth;
  Int8Matrix m;
  int positive;    // x is from 0 on, mostly small; else it lies around 128
  int zero;        // of x, as sums have it
  float unit;      // what products are multiplied by, beside the scales of the matrix
  int64_t panels;  // of a unit; 0: as fits
  const uint8_t *wanted;  // [panels of m]: 0 for those that are left out, of which `done` takes what stood there; null: all are computed
  // done takes the floats of a unit: rows first to first+n-1, panels from `panel` on,
  // `width` outputs. out and stride are of the caller's where `target` is set.
  void (*done)(Int8Product *p, const float *out, int64_t first, int64_t n, int64_t panel, int64_t width);
  float *target;  // [rows, width]; null: each unit is written to scratch, [n, width of a unit]
  void *arguments;
};

// int8_product is a product of x as the attributes of a node say.
Int8Product int8_product(const Node *node);
// int8_matrix reads the inputs i to i+2: panels, sums and scale of a matrix for x of
// `depth` numbers a row.
OrtStatus *int8_matrix(Call c, size_t i, int64_t depth, Int8Matrix *m);
// int8_run computes a product.
OrtStatus *int8_run(Call c, Int8Product *p);

#endif
