// Products of matrices of 8-bit numbers, free of ONNX Runtime.
//
// x [R, K] are unsigned numbers around a zero, 128 or 0; the matrix [K, N] has signed
// ones. Sums are exact, in 32 bits, on every CPU and in every order, and what they are
// multiplied by is the same for all rows: results are equal to the last bit whatever
// the CPU and whatever else is in the batch.
//
// The matrix lies in memory as it lies in the exported file, in panels of 16 outputs
// and steps of 4 inputs: [panels, steps, 16, 4], zeros where there are no more inputs
// or outputs. That is 64 bytes a step: one vector of AVX-512, two of AVX2, four of
// NEON, and each 4 bytes are what one lane of their 8-bit dot products takes.
#ifndef DRAGOMAN_PRODUCT_INT8_H
#define DRAGOMAN_PRODUCT_INT8_H

#include <stdint.h>

enum {
  PANEL = 16,                 // outputs
  STEP = 4,                   // inputs
  STEP_BYTES = PANEL * STEP,  // of a panel
  // A sum of that many products of 8-bit numbers fits into 32 bits.
  LARGEST_DEPTH = INT32_MAX / (255 * 128),
};

typedef struct {
  const int8_t *panels;  // [panels, steps, 16, 4]
  const int32_t *sums;   // [width] of the numbers of each output, for the zero of x
  const float *scale;    // [width]
  int64_t width, steps;  // width: outputs
} Int8Matrix;

// A Fetch is what a tile has the CPU fetch while it computes: `stride` bytes of `next` for each step, in as many panels. Where
// distance is not 0, the tile has one panel, of which it fetches what is so many steps ahead, and in the last of them `next`.
typedef struct {
  const int8_t *next;
  int64_t stride, distance;
} Fetch;

// An Int8Rest is what packed rows leave out of four numbers of step `step`.
typedef struct {
  int32_t step;
  uint8_t numbers[STEP];
} Int8Rest;

// An Int8Path computes tiles with what some CPUs have.
typedef struct {
  const char *name;
  int (*supported)(void);
  // tile writes the sums of rows × panels to out [rows, 3·PANEL], from packed rows x,
  // see int8_pack.
  void (*tile)(int32_t *out, const uint8_t *x, int64_t rows, const int8_t *w, int64_t panels, int64_t steps, const Fetch *fetch);
  int rows, panels;  // the largest tile, at most 8 × 3
  int alone;         // rows of the largest tile of one panel with a distance, at most 16
  int zero;          // what x counts from: 128 where it is signed, else 0
  // Where products are added in 16 bits first: what two neighbours of x may come to, in magnitude, so that nothing overflows,
  // a power of two; else 0. What is beyond it is left for `mend`.
  int bound;
  // mend adds to the sums of a row and a panel the products of its n rests, and `start`.
  void (*mend)(int32_t *out, int32_t start, const Int8Rest *rests, int64_t n, const int8_t *w);
} Int8Path;

// int8_paths are all paths of this architecture, best first, a null name at the end.
extern const Int8Path int8_paths[];
// int8_path is the best path that this CPU has for x that lies around 128, or if `positive` is 1 for x from 0 on, mostly small.
// Each path is right for both.
const Int8Path *int8_path(int positive);

// int8_tiles is how many tiles n rows are put into, of about equal height.
int64_t int8_tiles(const Int8Path *path, int64_t n);
// int8_packed is how many bytes n packed rows take, a multiple of 4: tiles [steps, height, 4], and where the path has a bound,
// behind them what it leaves for `mend`.
int64_t int8_packed(const Int8Path *path, int64_t n, int64_t steps);
// int8_pack packs a tile of n rows of x, depth numbers each. Threads may pack different tiles at once.
void int8_pack(const Int8Path *path, uint8_t *packed, const uint8_t *x, int64_t n, int64_t depth, int64_t tile);

// Int8Rows are packed rows, and how they become floats: a product is
// sum · scale[output] · unit, of x counted from zero.
typedef struct {
  const Int8Path *path;
  const uint8_t *packed;
  int64_t n;
  int zero;
  float unit;
} Int8Rows;

// int8_multiply multiplies rows by the panels first to end-1 and writes column c of
// row r to out[r·stride + c], c from 0. Meanwhile it has the CPU fetch what comes after
// the last panel, at ahead.
void int8_multiply(Int8Rows rows, Int8Matrix m, int64_t first, int64_t end, float *out, int64_t stride,
                   const int8_t *ahead);

#endif
