// Products of matrices of 8-bit numbers, independent of ONNX Runtime.
//
// x [R, K] has unsigned numbers around a zero, 128 or 0; the matrix [K, N] has signed ones. Sums are exact, in 32 bits, on every
// CPU and in every order, and their factor is the same for all rows: results are equal to the last bit on all CPUs and in all
// batches.
//
// The matrix has the same layout in memory and in the exported file, in panels of 16 outputs and steps of 4 inputs: [panels,
// steps, 16, 4], padded with zeros. A step has 64 bytes: one vector of AVX-512, two of AVX2, four of NEON, and each 4 bytes are
// the input of one lane of their 8-bit dot products.
#ifndef DRAGOMAN_PRODUCT_INT8_H
#define DRAGOMAN_PRODUCT_INT8_H

#include <stdint.h>

enum {
  PANEL = 16,                 // outputs
  STEP = 4,                   // inputs
  STEP_BYTES = PANEL * STEP,  // of a panel
  // A sum of so many products of 8-bit numbers fits into 32 bits.
  LARGEST_DEPTH = INT32_MAX / (255 * 128),
};

typedef struct {
  const int8_t *panels;  // [panels, steps, 16, 4]
  const int32_t *sums;   // [width], sums of the numbers of each output, for the zero of x
  const float *scale;    // [width]
  int64_t width, steps;  // width: outputs
} Int8Matrix;

// A Fetch has the data that a tile prefetches while it computes: `stride` bytes of `next` for each step, in each panel. If
// distance is not 0, the tile has one panel, and prefetches its data distance steps ahead, and in the last steps `next`.
typedef struct {
  const int8_t *next;
  int64_t stride, distance;
} Fetch;

// An Int8Rest is the part of four numbers of step `step` that packed rows leave out.
typedef struct {
  int32_t step;
  uint8_t numbers[STEP];
} Int8Rest;

// An Int8Path computes tiles with the instructions of some CPUs.
typedef struct {
  const char *name;
  int (*supported)(void);
  // tile writes the sums of rows × panels to out [rows, 3·PANEL], from packed rows x, see int8_pack.
  void (*tile)(int32_t *out, const uint8_t *x, int64_t rows, const int8_t *w, int64_t panels, int64_t steps, const Fetch *fetch);
  int rows, panels;  // the largest tile, at most 8 × 3
  int alone;         // rows of the largest tile of one panel with a distance, at most 16
  int zero;          // the zero of x: 128 if it is signed, otherwise 0
  // If products are first added in 16 bits: the maximum magnitude of the sum of two neighbours of x without overflow, a power of
  // two; otherwise 0. The excess is left for `mend`.
  int bound;
  // mend adds the products of a row's n rests, and `start`, to the sums of the row and a panel.
  void (*mend)(int32_t *out, int32_t start, const Int8Rest *rests, int64_t n, const int8_t *w);
} Int8Path;

// int8_paths are all paths of this architecture, best first, followed by a null name.
extern const Int8Path int8_paths[];
// int8_path returns the best path of this CPU for x around 128, or if `positive` is 1 for x from 0 on, mostly small. Each path is
// correct for both.
const Int8Path *int8_path(int positive);

// int8_tiles returns the number of tiles for n rows, of about equal height.
int64_t int8_tiles(const Int8Path *path, int64_t n);
// int8_packed returns the size in bytes of n packed rows, a multiple of 4: tiles [steps, height, 4], followed by the rests for
// `mend` if the path has a bound.
int64_t int8_packed(const Int8Path *path, int64_t n, int64_t steps);
// int8_pack packs a tile of n rows of x, of depth numbers each. Threads may pack different tiles concurrently.
void int8_pack(const Int8Path *path, uint8_t *packed, const uint8_t *x, int64_t n, int64_t depth, int64_t tile);

// Int8Rows are packed rows, and their conversion to floats: a product is sum · scale[output] · unit, with x relative to zero.
typedef struct {
  const Int8Path *path;
  const uint8_t *packed;
  int64_t n;
  int zero;
  float unit;
} Int8Rows;

// int8_multiply multiplies rows by the panels first to end-1 and writes column c of row r to out[r·stride + c], c from 0. It
// prefetches the data after the last panel, at ahead.
void int8_multiply(Int8Rows rows, Int8Matrix m, int64_t first, int64_t end, float *out, int64_t stride,
                   const int8_t *ahead);

#endif
