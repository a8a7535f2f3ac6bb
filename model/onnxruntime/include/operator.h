// The common part of operators for ONNX Runtime: their description, access to their arguments
// and errors. The operators for CPUs (model/cpu/ops) and for GPUs (model/cuda/kernels) use it.
#ifndef DRAGOMAN_OPERATOR_H
#define DRAGOMAN_OPERATOR_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "onnxruntime_c_api.h"

#define TRY(call)                   \
  do {                              \
    OrtStatus *status_ = (call);    \
    if (status_) return status_;    \
  } while (0)

enum { ANY = -1 };  // a dimension of any size

// refuse returns the error for invalid arguments of an operator, formatted as by printf.
__attribute__((format(printf, 2, 3))) static inline OrtStatus *refuse(const OrtApi *api, const char *format, ...) {
  char message[256];
  va_list numbers;
  va_start(numbers, format);
  vsnprintf(message, sizeof message, format, numbers);
  va_end(numbers);
  return api->CreateStatus(ORT_INVALID_ARGUMENT, message);
}

// ---- arguments ----

// A Node is an operator in a graph, with its attributes.
typedef struct Node Node;

// A Call is one computation of a node.
typedef struct {
  const OrtApi *api;
  OrtKernelContext *context;
  const Node *node;
} Call;

// input returns the data of an input, or null for an omitted optional one. The input must have
// n dimensions of the sizes d; input fills in the sizes that are ANY.
static inline OrtStatus *input(Call c, size_t i, void *data, int64_t *d, size_t n) {
  const OrtValue *value = NULL;
  *(const void **)data = NULL;
  size_t count, rank;
  TRY(c.api->KernelContext_GetInputCount(c.context, &count));
  if (i >= count) return NULL;
  TRY(c.api->KernelContext_GetInput(c.context, i, &value));
  if (!value) return NULL;
  const int64_t *shape;
  ONNXTensorElementDataType type;
  TRY(c.api->GetTensorElementTypeAndShapeDataReference(value, &type, &shape, &rank));
  if (rank != n) return refuse(c.api, "input %zu has %zu dimensions: %zu are wanted", i, rank, n);
  for (size_t j = 0; j < n; j++) {
    if (d[j] == ANY) d[j] = shape[j];
    if (d[j] != shape[j])
      return refuse(c.api, "dimension %zu of input %zu is %lld: %lld is wanted", j, i, (long long)shape[j], (long long)d[j]);
  }
  return c.api->GetTensorMutableData((OrtValue *)value, (void **)data);
}

// vector is input with one dimension of size n.
static inline OrtStatus *vector(Call c, size_t i, void *data, int64_t n) { return input(c, i, data, &n, 1); }

// output makes an output of n dimensions of the sizes d and returns its data.
static inline OrtStatus *output(Call c, size_t i, const int64_t *d, size_t n, void *data) {
  OrtValue *value;
  TRY(c.api->KernelContext_GetOutput(c.context, i, d, n, &value));
  return c.api->GetTensorMutableData(value, (void **)data);
}

// ---- description ----

// An Operator describes an operator to ONNX Runtime, which passes the OrtCustomOp, its first
// member, to the functions below. An Operator may itself be the first member of another
// struct.
typedef struct {
  OrtCustomOp base;
  const char *name;
  const char *inputs, *outputs;  // a letter per argument, see operator_type; a capital is optional
  const char *provider;          // null: the CPU provider
  int half;                      // letter t is float16, else float
} Operator;

static inline ONNXTensorElementDataType operator_type(const Operator *op, char letter) {
  switch (letter | 32) {  // lower case
    case 'b': return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
    case 'c': return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8;
    case 'h': return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
    case 'i': return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
    case 'l': return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    case 't': return op->half ? ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 : ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    default: return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  }
}

static inline const char *operator_name(const OrtCustomOp *op) { return ((const Operator *)op)->name; }
static inline const char *operator_provider(const OrtCustomOp *op) { return ((const Operator *)op)->provider; }
static inline size_t operator_inputs(const OrtCustomOp *op) { return strlen(((const Operator *)op)->inputs); }
static inline size_t operator_outputs(const OrtCustomOp *op) { return strlen(((const Operator *)op)->outputs); }
static inline ONNXTensorElementDataType operator_input(const OrtCustomOp *op, size_t i) {
  return operator_type((const Operator *)op, ((const Operator *)op)->inputs[i]);
}
static inline ONNXTensorElementDataType operator_output(const OrtCustomOp *op, size_t i) {
  return operator_type((const Operator *)op, ((const Operator *)op)->outputs[i]);
}
static inline OrtCustomOpInputOutputCharacteristic operator_input_need(const OrtCustomOp *op, size_t i) {
  return ((const Operator *)op)->inputs[i] & 32 ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
}
static inline OrtCustomOpInputOutputCharacteristic operator_output_need(const OrtCustomOp *op, size_t i) {
  return (void)op, (void)i, INPUT_OUTPUT_REQUIRED;
}
static inline OrtMemType operator_memory(const OrtCustomOp *op, size_t i) { return (void)op, (void)i, OrtMemTypeDefault; }
static inline int operator_one(const OrtCustomOp *op) { return (void)op, 1; }
static inline int operator_latest(const OrtCustomOp *op) { return (void)op, INT32_MAX; }

// OPERATOR initializes the base of an Operator. CREATE makes its nodes and DESTROY frees them.
#define OPERATOR(CREATE, DESTROY, COMPUTE)           \
  {                                                  \
    .version = ORT_API_VERSION,                      \
    .GetName = operator_name,                        \
    .GetExecutionProviderType = operator_provider,   \
    .GetInputType = operator_input,                  \
    .GetInputTypeCount = operator_inputs,            \
    .GetOutputType = operator_output,                \
    .GetOutputTypeCount = operator_outputs,          \
    .GetInputCharacteristic = operator_input_need,   \
    .GetOutputCharacteristic = operator_output_need, \
    .GetInputMemoryType = operator_memory,           \
    .GetVariadicInputMinArity = operator_one,        \
    .GetVariadicInputHomogeneity = operator_one,     \
    .GetVariadicOutputMinArity = operator_one,       \
    .GetVariadicOutputHomogeneity = operator_one,    \
    .GetStartVersion = operator_one,                 \
    .GetEndVersion = operator_latest,                \
    .CreateKernelV2 = (CREATE),                      \
    .KernelDestroy = (DESTROY),                      \
    .KernelComputeV2 = (COMPUTE),                    \
  }

#endif
