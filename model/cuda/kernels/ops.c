// Registration of the operators with ONNX Runtime.
#include "ops.h"

#include "call.h"

// Spec describes an operator for both types of activations.
typedef struct {
  const char *names[2];         // half, float
  const char *inputs, *outputs;  // a letter per argument, see operator_type; a capital is optional
  OrtStatusPtr (*compute)(void *node, OrtKernelContext *context);
} Spec;

#define SPEC(NAME, INPUTS, OUTPUTS, COMPUTE) {{"Device" NAME "F16", "Device" NAME "F32"}, INPUTS, OUTPUTS, COMPUTE}

static const Spec specs[] = {
    SPEC("Embed", "itF", "f", device_embed),
    SPEC("Track", "ii", "i", device_track),
    SPEC("AddNorm", "ffFTF", "ft", device_add_norm),
    SPEC("NormSum", "ffFTF", "ft", device_norm_sum),
    SPEC("BiasRelu", "tf", "t", device_bias_activation),
    SPEC("BiasActivation", "tf", "t", device_bias_activation),
    SPEC("Gate", "tf", "t", device_gate),
    SPEC("SelfAttention", "tfiF", "t", device_self_attention),
    SPEC("StoreCross", "tfibI", "i", device_store_cross),
    SPEC("CachedAttention", "tfiibiF", "t", device_cached_attention),
    SPEC("CrossAttention", "tfib", "t", device_cross_attention),
    SPEC("PartialCandidates", "tiF", "lf", device_partial_candidates),
    SPEC("MergeCandidates", "lf", "lf", device_merge_candidates),
    SPEC("Rescore", "lttF", "l", device_rescore),
    SPEC("BestCandidates", "lf", "i", device_best_candidates),
};
enum { SPECS = sizeof specs / sizeof *specs };

#define NAME(name, args) "dragoman_" #name,
const char *const dragoman_kernel_names[KERNELS] = {DRAGOMAN_KERNELS(NAME)};
#undef NAME

// Op is an operator for one type of activations.
typedef struct {
  Operator operator;
  const Family *family;
} Op;

struct Family {
  const OrtApi *api;
  Launch launch;
  void *functions[2 * KERNELS];
  OrtCustomOpDomain *domain;
  Op ops[2 * SPECS];
};

// integer and number read an attribute. A missing attribute leaves the value unchanged.
static void integer(const OrtApi *api, const OrtKernelInfo *info, const char *name, i64 *value) {
  int64_t v;
  OrtStatus *status = api->KernelInfoGetAttribute_int64(info, name, &v);
  if (status) api->ReleaseStatus(status);
  else *value = v;
}
static void number(const OrtApi *api, const OrtKernelInfo *info, const char *name, float *value) {
  float v;
  OrtStatus *status = api->KernelInfoGetAttribute_float(info, name, &v);
  if (status) api->ReleaseStatus(status);
  else *value = v;
}

static OrtStatusPtr create(const OrtCustomOp *custom, const OrtApi *api, const OrtKernelInfo *info, void **out) {
  const Op *op = (const Op *)custom;
  Node *n = calloc(1, sizeof *n);
  if (!n) return api->CreateStatus(ORT_FAIL, "out of memory");
  *n = (Node){.api = api, .launch = op->family->launch, .functions = op->family->functions, .type = !op->operator.half,
              .heads = 1, .head_dim = 1, .scale = 1, .headroom = 1, .activation = RELU};
  integer(api, info, "layer", &n->layer);
  integer(api, info, "heads", &n->heads);
  integer(api, info, "head_dim", &n->head_dim);
  integer(api, info, "activation", &n->activation);
  number(api, info, "scale", &n->scale);
  number(api, info, "epsilon", &n->epsilon);
  number(api, info, "headroom", &n->headroom);
  if (n->layer < 0 || n->heads < 1 || n->head_dim < 1 || n->head_dim > SLICES * WARP ||
      n->activation < RELU || n->activation >= ACTIVATIONS) {
    OrtStatus *status = refuse(api, "attributes out of range: layer %lld, %lld heads of %lld (%d at most), activation %lld", n->layer,
                               n->heads, n->head_dim, SLICES * WARP, n->activation);
    free(n);
    return status;
  }
  *out = n;
  return NULL;
}

OrtStatus *dragoman_family(const OrtApi *api, void *launch, void *const *functions, Family **out) {
  Family *f = calloc(1, sizeof *f);
  if (!f) return api->CreateStatus(ORT_FAIL, "out of memory");
  f->api = api, f->launch = (Launch)launch;
  if (launch) memcpy(f->functions, functions, sizeof f->functions);
  OrtStatus *status = api->CreateCustomOpDomain("dragoman", &f->domain);
  for (int i = 0; i < 2 * SPECS && !status; i++) {
    const Spec *s = &specs[i / 2];
    f->ops[i] = (Op){{.base = OPERATOR(create, free, s->compute), .name = s->names[i % 2], .inputs = s->inputs, .outputs = s->outputs,
                      .provider = launch ? "CUDAExecutionProvider" : NULL, .half = i % 2 == 0}, f};
    status = api->CustomOpDomain_Add(f->domain, &f->ops[i].operator.base);
  }
  if (status) {
    dragoman_release_family(f);
    return status;
  }
  *out = f;
  return NULL;
}

OrtCustomOpDomain *dragoman_family_domain(const Family *f) { return f->domain; }

void dragoman_release_family(Family *f) {
  if (f->domain) f->api->ReleaseCustomOpDomain(f->domain);
  free(f);
}

OrtStatus *device_start(Call c, int kernel, const void *args) {
  const i64 units = *(const i64 *)args;  // the first member of all arguments
  if (units == 0) return NULL;
  if (!c.node->launch) {
    dragoman_host_kernels[kernel][c.node->type](args);
    return NULL;
  }
  void *stream, *params[] = {(void *)args};
  TRY(c.api->KernelContext_GetGPUComputeStream(c.context, &stream));
  int code = c.node->launch(c.node->functions[2 * kernel + c.node->type], (unsigned)((units + 3) / 4), 1, 1, 128, 1, 1, 0,
                            stream, params, NULL);
  return code ? refuse(c.api, "kernel %s: CUDA error %d", dragoman_kernel_names[kernel], code) : NULL;
}
