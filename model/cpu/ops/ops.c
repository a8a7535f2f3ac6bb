// Registration of the operators with ONNX Runtime.
#include "ops.h"

#include <dlfcn.h>
#include <string.h>

#include "call.h"

// Op is an operator. ONNX Runtime hands our callbacks the OrtCustomOp, which is
// its first member.
typedef struct {
  OrtCustomOp base;
  const char *name;
  const char *inputs, *outputs;  // a letter per argument, see type_of; capital: optional
  const char *attributes;        // a letter per attribute, see create
  OrtStatusPtr (*compute)(void *kernel, OrtKernelContext *context);
} Op;

static ONNXTensorElementDataType type_of(char letter) {
  switch (letter | 32) {  // lower case
    case 'b': return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
    case 'h': return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
    case 'i': return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
    case 'l': return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    default: return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  }
}

static OrtCustomOpInputOutputCharacteristic need_of(char letter) {
  return letter & 32 ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
}

static const char *get_name(const OrtCustomOp *op) { return ((const Op *)op)->name; }
static const char *get_provider(const OrtCustomOp *op) { return (void)op, NULL; }
static size_t input_count(const OrtCustomOp *op) { return strlen(((const Op *)op)->inputs); }
static size_t output_count(const OrtCustomOp *op) { return strlen(((const Op *)op)->outputs); }
static ONNXTensorElementDataType input_type(const OrtCustomOp *op, size_t i) { return type_of(((const Op *)op)->inputs[i]); }
static ONNXTensorElementDataType output_type(const OrtCustomOp *op, size_t i) { return type_of(((const Op *)op)->outputs[i]); }
static OrtCustomOpInputOutputCharacteristic input_need(const OrtCustomOp *op, size_t i) { return need_of(((const Op *)op)->inputs[i]); }
static OrtCustomOpInputOutputCharacteristic output_need(const OrtCustomOp *op, size_t i) { return (void)op, (void)i, INPUT_OUTPUT_REQUIRED; }
static OrtMemType input_memory(const OrtCustomOp *op, size_t i) { return (void)op, (void)i, OrtMemTypeDefault; }
static int one(const OrtCustomOp *op) { return (void)op, 1; }
static int latest(const OrtCustomOp *op) { return (void)op, INT32_MAX; }

static OrtStatusPtr create(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info, void **out) {
  Kernel *k = calloc(1, sizeof *k);
  if (!k) return fail(api, ORT_FAIL, "out of memory");
  *k = (Kernel){.api = api, .heads = 1, .head_dim = 1};
  OrtStatus *status = NULL;
  for (const char *a = ((const Op *)op)->attributes; *a && !status; a++) switch (*a) {
      case 'l': status = api->KernelInfoGetAttribute_int64(info, "layer", &k->layer); break;
      case 'h': status = api->KernelInfoGetAttribute_int64(info, "heads", &k->heads); break;
      case 'd': status = api->KernelInfoGetAttribute_int64(info, "head_dim", &k->head_dim); break;
      case 's': status = api->KernelInfoGetAttribute_int64(info, "spare", &k->spare); break;
    }
  if (!status && (k->layer < 0 || k->heads < 1 || k->head_dim < 1 || k->spare < 0))
    status = refuse(api, "attributes out of range: layer %lld, %lld heads of %lld, %lld spare", (long long)k->layer,
                     (long long)k->heads, (long long)k->head_dim, (long long)k->spare);
  if (status) {
    free(k);
    return status;
  }
  *out = k;
  return NULL;
}

static void destroy(void *kernel) { free(kernel); }

#define OP(NAME, INPUTS, OUTPUTS, ATTRIBUTES, COMPUTE) \
  {                                                    \
    .name = NAME,                                      \
    .inputs = INPUTS,                                  \
    .outputs = OUTPUTS,                                \
    .attributes = ATTRIBUTES,                          \
    .base = {                                          \
        .version = ORT_API_VERSION,                    \
        .GetName = get_name,                           \
        .GetExecutionProviderType = get_provider,      \
        .GetInputType = input_type,                    \
        .GetInputTypeCount = input_count,              \
        .GetOutputType = output_type,                  \
        .GetOutputTypeCount = output_count,            \
        .KernelDestroy = destroy,                      \
        .GetInputCharacteristic = input_need,          \
        .GetOutputCharacteristic = output_need,        \
        .GetInputMemoryType = input_memory,            \
        .GetVariadicInputMinArity = one,               \
        .GetVariadicInputHomogeneity = one,            \
        .GetVariadicOutputMinArity = one,              \
        .GetVariadicOutputHomogeneity = one,           \
        .CreateKernelV2 = create,                      \
        .KernelComputeV2 = COMPUTE,                    \
        .GetStartVersion = one,                        \
        .GetEndVersion = latest,                       \
    },                                                 \
  }

static const Op ops[] = {
    OP("Quantize", "f", "bf", "", op_quantize),
    OP("ReluQuantize", "fff", "bf", "", op_relu_quantize),
    OP("AddNorm", "fffFFF", "ff", "", op_add_norm),
    OP("AddNormQuantize", "fffFFF", "fbf", "", op_add_norm_quantize),
    OP("SelfAttention", "ffiF", "f", "hd", op_self_attention),
    OP("StoreCross", "ffiibFI", "i", "lhd", op_store_cross),
    OP("CachedAttention", "ffiliibF", "f", "lhd", op_cached_attention),
    OP("CrossAttention", "ffiiibF", "f", "lhd", op_cross_attention),
    OP("BestCandidates", "flFFH", "flf", "s", op_best_candidates),
};

OrtStatus *dragoman_domain(const OrtApi *api, OrtCustomOpDomain **domain) {
  TRY(api->CreateCustomOpDomain("dragoman", domain));
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    OrtStatus *status = api->CustomOpDomain_Add(*domain, &ops[i].base);
    if (status) {
      api->ReleaseCustomOpDomain(*domain);
      *domain = NULL;
      return status;
    }
  }
  return NULL;
}

const OrtApi *dragoman_api(const char *library, const char **message) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) handle = dlopen(library, RTLD_LAZY);
  if (!handle) {
    *message = dlerror();
    return NULL;
  }
  // The handle is kept: the library stays loaded as long as its API is in use.
  const OrtApiBase *(*base)(void) = (const OrtApiBase *(*)(void))dlsym(handle, "OrtGetApiBase");
  const OrtApi *api = base ? base()->GetApi(ORT_API_VERSION) : NULL;
  if (!api) *message = "it does not offer the C API of version 1.24 or newer";
  return api;
}

OrtStatus *dragoman_add_domain(const OrtApi *api, OrtSessionOptions *options, OrtCustomOpDomain *domain) {
  return api->AddCustomOpDomain(options, domain);
}
OrtStatus *dragoman_cancel(const OrtApi *api, OrtSessionOptions *options) {
  return api->SessionOptionsSetLoadCancellationFlag(options, true);
}
void dragoman_release_domain(const OrtApi *api, OrtCustomOpDomain *domain) { api->ReleaseCustomOpDomain(domain); }
const char *dragoman_message(const OrtApi *api, OrtStatus *status) { return api->GetErrorMessage(status); }
void dragoman_release_status(const OrtApi *api, OrtStatus *status) { api->ReleaseStatus(status); }
