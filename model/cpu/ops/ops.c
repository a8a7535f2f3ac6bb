// Registration of the operators with ONNX Runtime.
#include "ops.h"

#include <string.h>

#include "call.h"

// optional ignores the error of reading an optional attribute.
static OrtStatus *optional(const OrtApi *api, OrtStatus *status) {
  if (status) api->ReleaseStatus(status);
  return NULL;
}

// Op is an operator with a letter per attribute, see create.
typedef struct {
  Operator operator;
  const char *attributes;
} Op;

// threads_of reads the session's option THREADS, by default 1.
static OrtStatus *threads_of(const OrtApi *api, const OrtKernelInfo *info, int *threads) {
  OrtKeyValuePairs *options;
  TRY(api->KernelInfo_GetConfigEntries(info, &options));
  const char *value = api->GetKeyValue(options, THREADS);
  *threads = value ? atoi(value) : 1;
  api->ReleaseKeyValuePairs(options);
  threads_grow(*threads);
  return NULL;
}

static OrtStatusPtr create(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info, void **out) {
  Node *k = calloc(1, sizeof *k);
  if (!k) return fail(api, ORT_FAIL, "out of memory");
  *k = (Node){.api = api, .heads = 1, .head_dim = 1, .width = 1, .activation = RELU};
  OrtStatus *status = threads_of(api, info, &k->threads);
  for (const char *a = ((const Op *)op)->attributes; *a && !status; a++) switch (*a) {
      case 'l': status = api->KernelInfoGetAttribute_int64(info, "layer", &k->layer); break;
      case 'h': status = api->KernelInfoGetAttribute_int64(info, "heads", &k->heads); break;
      case 'd': status = api->KernelInfoGetAttribute_int64(info, "head_dim", &k->head_dim); break;
      case 'p': status = api->KernelInfoGetAttribute_int64(info, "positive", &k->positive); break;
      case 's': status = api->KernelInfoGetAttribute_int64(info, "spare", &k->spare); break;
      case 'w': status = api->KernelInfoGetAttribute_int64(info, "width", &k->width); break;
      case 'n': status = api->KernelInfoGetAttribute_int64(info, "first", &k->first); break;
      case 'o': status = api->KernelInfoGetAttribute_int64(info, "shared", &k->shared); break;
      case 'a': status = api->KernelInfoGetAttribute_int64(info, "activation", &k->activation); break;
      case 'f': status = api->KernelInfoGetAttribute_float(info, "scale", &k->scale); break;
      case 'A': status = optional(api, api->KernelInfoGetAttribute_float(info, "alpha", &k->alpha)); break;
      case 'E': status = optional(api, api->KernelInfoGetAttribute_float(info, "epsilon", &k->epsilon)); break;
      case 'F': status = optional(api, api->KernelInfoGetAttribute_float(info, "scale", &k->scale)); break;
    }
  if (!status && (k->layer < 0 || k->alpha < 0 || k->epsilon < 0 || k->heads < 1 || k->head_dim < 1 || k->spare < 0 || k->width < 1 || k->first < 0 || k->threads < 1 ||
                  k->activation < 0 || k->activation >= ACTIVATIONS))
    status = refuse(api, "attributes out of range: layer %lld, %lld heads of %lld, %lld spare, width %lld, activation %lld, %d threads",
                    (long long)k->layer, (long long)k->heads, (long long)k->head_dim, (long long)k->spare, (long long)k->width,
                    (long long)k->activation, k->threads);
  if (status) {
    free(k);
    return status;
  }
  *out = k;
  return NULL;
}

#define OP(NAME, INPUTS, OUTPUTS, ATTRIBUTES, COMPUTE) \
  {{.base = OPERATOR(create, free, COMPUTE), .name = NAME, .inputs = INPUTS, .outputs = OUTPUTS}, ATTRIBUTES}

static const Op ops[] = {
    OP("PickRows", "fl", "f", "", op_pick_rows),
    OP("Quantize", "f", "bf", "A", op_quantize),
    OP("ReluQuantize", "fff", "bf", "A", op_activation_quantize),
    OP("ActivationQuantize", "fff", "bf", "a", op_activation_quantize),
    OP("Gate", "ffF", "f", "a", op_gate),
    OP("GateQuantize", "ffF", "bf", "a", op_gate_quantize),
    OP("AddNorm", "ffFFFF", "ff", "E", op_add_norm),
    OP("AddNormQuantize", "ffFFFF", "fbf", "AE", op_add_norm_quantize),
    OP("NormSum", "ffFFFF", "f", "E", op_norm_sum),
    OP("NormSumQuantize", "ffFFFF", "fbf", "AE", op_norm_sum_quantize),
    OP("SelfAttention", "ffiFF", "f", "hdF", op_self_attention),
    OP("StoreCross", "ffiibFI", "i", "lhd", op_store_cross),
    OP("CachedAttention", "ffiliibFF", "f", "lhdF", op_cached_attention),
    OP("CrossAttention", "ffiiibF", "f", "lhdF", op_cross_attention),
    OP("ProductF32", "ff", "f", "w", op_product_f32),
    OP("ProductF16", "fh", "f", "w", op_product_f16),
    OP("ProductReluF32", "fff", "f", "w", op_product_activation_f32),
    OP("ProductReluF16", "fhf", "f", "w", op_product_activation_f16),
    OP("ProductActivationF32", "fff", "f", "wa", op_product_activation_f32),
    OP("ProductActivationF16", "fhf", "f", "wa", op_product_activation_f16),
    OP("EmbedF32", "flFL", "f", "wf", op_embed_f32),
    OP("EmbedF16", "hlFL", "f", "wf", op_embed_f16),
    OP("EmbedRows", "hlFL", "f", "wf", op_embed_rows),
    OP("EmbedInt8", "cflFLI", "f", "wf", op_embed_int8),
    OP("Shortlist", "liilib", "i", "now", op_shortlist),
    OP("Ssru", "ffiliibF", "f", "lhd", op_ssru),
    OP("BestCandidates", "flFFH", "flf", "s", op_best_candidates),
    OP("ProductInt8", "bcif", "f", "pA", op_product_int8),
    OP("BestCandidatesInt8", "bcifflFHFBIILII", "flf", "sA", op_best_candidates_int8),
};

const Operator *operator_named(const char *name, size_t n) {
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (strlen(ops[i].operator.name) == n && !memcmp(ops[i].operator.name, name, n)) return &ops[i].operator;
  return NULL;
}

static OrtStatus *fill(const OrtApi *api, const char *names, const Program *program, Domain *d) {
  TRY(api->CreateCustomOpDomain("dragoman", &d->domain));
  for (size_t n; *names; names += n + 1) {
    n = strcspn(names, " ");
    const Operator *o = operator_named(names, n);
    if (o) TRY(api->CustomOpDomain_Add(d->domain, &o->base));
  }
  if (!program->nodes) return NULL;
  TRY(chain_new(api, program, &d->chain));
  return api->CustomOpDomain_Add(d->domain, chain_operator(d->chain));
}

OrtStatus *dragoman_domain(const OrtApi *api, const char *names, const Program *program, Domain *d) {
  OrtStatus *status = fill(api, names, program, d);
  if (status) dragoman_release_domain(api, d);
  return status;
}

void dragoman_release_domain(const OrtApi *api, Domain *d) {
  if (d->domain) api->ReleaseCustomOpDomain(d->domain);
  chain_free(d->chain);
  *d = (Domain){0};
}

void dragoman_end(void) { threads_end(); }
