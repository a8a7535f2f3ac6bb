// cuBLAS: products of a transposed matrix and another matrix, in single or half precision,
// with sums in single precision.
#include <stdlib.h>

#include "kernels.h"
#include "standin.h"

enum { NORMAL, TRANSPOSED };     // cublasOperation_t
enum { FLOAT = 0, HALF = 2 };    // cudaDataType_t
enum { COMPUTE_FLOAT = 68 };     // cublasComputeType_t
enum { EXECUTION_FAILED = 13 };  // cublasStatus_t
enum { TF32 = 3 };               // cublasMath_t
enum { SUMS = 32 };               // partial sums of a dot product

typedef struct {
  void *stream;
  int device, mode;
} Handle;

#define MAY_FAIL                                      \
  do {                                                \
    if (standin_fault(__func__)) return EXECUTION_FAILED; \
  } while (0)

int cublasCreate_v2(void **handle) {
  MAY_FAIL;
  Handle *h = calloc(1, sizeof *h);
  h->device = standin_current();
  *handle = h;
  return SUCCESS;
}

int cublasDestroy_v2(void *handle) {
  MAY_FAIL;
  int code = standin_wait_device();
  free(handle);
  return code ? EXECUTION_FAILED : SUCCESS;
}

int cublasSetStream_v2(void *handle, void *stream) {
  ((Handle *)handle)->stream = stream;
  return SUCCESS;
}

int cublasSetMathMode(void *handle, int mode) {
  ((Handle *)handle)->mode = mode;
  return SUCCESS;
}

int cublasGetMathMode(void *handle, int *mode) {
  *mode = ((Handle *)handle)->mode;
  return SUCCESS;
}

const char *cublasGetStatusName(int code) {
  (void)code;
  return "CUBLAS_STATUS_EXECUTION_FAILED";
}
const char *cublasGetStatusString(int code) { return cublasGetStatusName(code); }

// A Product is c [m, n] = aᵀ·b with a [k, m] and b [k, n]. Consecutive columns are a_step,
// b_step and c_step elements apart.
typedef struct {
  int device, type;
  int64_t m, n, k, a_step, b_step, c_step;
  const void *a, *b;
  void *c;
} Product;

// padded returns the size of a copied column: a multiple of SUMS.
static int64_t padded(int64_t rows) { return (rows + SUMS - 1) / SUMS * SUMS; }

// columns copies a matrix column by column in single precision, padded with zeros.
static float *columns(const void *from, int type, int64_t rows, int64_t count, int64_t step) {
  float *to = calloc(padded(rows) * count, sizeof *to);
  for (int64_t i = 0; i < count; i++) {
    float *column = to + i * padded(rows);
    for (int64_t j = 0; j < rows; j++)
      column[j] = type == FLOAT ? ((const float *)from)[i * step + j] : half_to_float(((const u16 *)from)[i * step + j]);
  }
  return to;
}

// dot returns the dot product of two vectors. The compiler vectorizes its sums.
static float dot(const float *a, const float *b, int64_t n) {
  float sums[SUMS] = {0}, sum = 0;
  for (int64_t k = 0; k < n; k += SUMS)
    for (int i = 0; i < SUMS; i++) sums[i] += a[k + i] * b[k + i];
  for (int i = 0; i < SUMS; i++) sum += sums[i];
  return sum;
}

static void *matrix(const Product *p, const void *at, int64_t rows, int64_t count, int64_t step) {
  size_t size = p->type == FLOAT ? sizeof(float) : sizeof(u16);
  return standin_memory(p->device, at, ((count - 1) * step + rows) * size, "a product");
}

static void multiply(const void *argument) {
  const Product *p = argument;
  void *a = matrix(p, p->a, p->k, p->m, p->a_step), *b = matrix(p, p->b, p->k, p->n, p->b_step);
  void *c = matrix(p, p->c, p->m, p->n, p->c_step);
  if (!a || !b || !c) return;
  float *left = columns(a, p->type, p->k, p->m, p->a_step), *right = columns(b, p->type, p->k, p->n, p->b_step);
  for (int64_t j = 0; j < p->n; j++) {
    for (int64_t i = 0; i < p->m; i++) {
      float sum = dot(left + i * padded(p->k), right + j * padded(p->k), padded(p->k));
      if (p->type == FLOAT) ((float *)c)[j * p->c_step + i] = sum;
      else ((u16 *)c)[j * p->c_step + i] = float_to_half(sum);
    }
  }
  free(left);
  free(right);
}

// start queues a product. It refuses the forms that our graphs do not have.
static int start(const Handle *h, Product p, int a_operation, int b_operation, float alpha, float beta) {
  if (a_operation != TRANSPOSED || b_operation != NORMAL || alpha != 1 || beta != 0)
    standin_wrong("a product of another form is not modelled");
  if (p.type == FLOAT && h->mode == TF32) standin_wrong("a product in single precision is rounded to TF32");
  if (h->device != standin_current()) standin_wrong("a handle of device %d is used on another", h->device);
  if (!h->stream) standin_wrong("a product on the default stream");
  p.device = h->device;
  return standin_start(h->stream, multiply, &p, sizeof p) ? EXECUTION_FAILED : SUCCESS;
}

int cublasSgemm_v2(void *handle, int a_operation, int b_operation, int m, int n, int k, const float *alpha, const float *a,
                   int a_step, const float *b, int b_step, const float *beta, float *c, int c_step) {
  MAY_FAIL;
  Product p = {.type = FLOAT, .m = m, .n = n, .k = k,
               .a = a, .a_step = a_step, .b = b, .b_step = b_step, .c = c, .c_step = c_step};
  return start(handle, p, a_operation, b_operation, *alpha, *beta);
}

int cublasGemmEx(void *handle, int a_operation, int b_operation, int m, int n, int k, const void *alpha, const void *a,
                 int a_type, int a_step, const void *b, int b_type, int b_step, const void *beta, void *c, int c_type, int c_step,
                 int compute, int algorithm) {
  (void)algorithm;
  MAY_FAIL;
  if (a_type != HALF || b_type != HALF || c_type != HALF || compute != COMPUTE_FLOAT) {
    standin_wrong("a product of types %d, %d and %d with sums of type %d is not modelled", a_type, b_type, c_type, compute);
    return EXECUTION_FAILED;
  }
  Product p = {.type = HALF, .m = m, .n = n, .k = k,
               .a = a, .a_step = a_step, .b = b, .b_step = b_step, .c = c, .c_step = c_step};
  return start(handle, p, a_operation, b_operation, *(const float *)alpha, *(const float *)beta);
}

int cublasLtCreate(void **handle) {
  static int only;
  *handle = &only;
  return SUCCESS;
}

int cublasLtDestroy(void *handle) {
  (void)handle;
  return SUCCESS;
}

ABSENT(cublasDcopy_v2)
ABSENT(cublasDgeam)
ABSENT(cublasDgemmBatched)
ABSENT(cublasDgemmStridedBatched)
ABSENT(cublasDgemm_v2)
ABSENT(cublasDgetrfBatched)
ABSENT(cublasDgetriBatched)
ABSENT(cublasGemmBatchedEx)
ABSENT(cublasGemmStridedBatchedEx)
ABSENT(cublasScopy_v2)
ABSENT(cublasSgeam)
ABSENT(cublasSgemmBatched)
ABSENT(cublasSgemmStridedBatched)
ABSENT(cublasSgetrfBatched)
ABSENT(cublasSgetriBatched)
ABSENT(cublasSscal_v2)
ABSENT(cublasLtMatmul)
ABSENT(cublasLtMatmulAlgoConfigSetAttribute)
ABSENT(cublasLtMatmulAlgoGetHeuristic)
ABSENT(cublasLtMatmulAlgoInit)
ABSENT(cublasLtMatmulDescCreate)
ABSENT(cublasLtMatmulDescDestroy)
ABSENT(cublasLtMatmulDescSetAttribute)
ABSENT(cublasLtMatmulPreferenceCreate)
ABSENT(cublasLtMatmulPreferenceDestroy)
ABSENT(cublasLtMatmulPreferenceSetAttribute)
ABSENT(cublasLtMatrixLayoutCreate)
ABSENT(cublasLtMatrixLayoutDestroy)
ABSENT(cublasLtMatrixLayoutSetAttribute)
ABSENT(cublasLtMatrixTransform)
ABSENT(cublasLtMatrixTransformDescCreate)
ABSENT(cublasLtMatrixTransformDescDestroy)
