// Operators as parts of another one. These functions replace ONNX Runtime's accessors for attributes, inputs and outputs.
#include "chain.h"

#include "call.h"

typedef struct {
  const Operator *operator;
  const int32_t *in, *out;  // values
  int32_t inputs, outputs;
} Link;

struct Chain {
  Operator operator;
  int32_t nodes, inputs, outputs, total;
  Link *links;
  int32_t *values;
  int32_t *last;  // by value: its last node
  char *letters;  // by value: its type, see operator_type
};

enum { RANK = 4 };  // maximum dimensions of outputs

typedef struct {
  void *data;
  size_t size;
  int used;
} Block;

typedef struct {
  void *data;
  const int64_t *shape;
  int64_t own[RANK];
  size_t rank;
  ONNXTensorElementDataType type;
  Block *block;
} Tensor;

// An Instance is a chain in a graph.
typedef struct {
  const Chain *chain;
  OrtAllocator *allocator;
  Tensor *constants;  // by value; set for values that are the same in each run
  Node *nodes[];
} Instance;

// ---- a run ----

typedef struct {
  const Instance *instance;
  OrtKernelContext *context;
  const Link *link;  // in progress
  Tensor *tensors;
  Block *blocks;
  int32_t taken;
} Run;

static const OrtApi *ort;  // ONNX Runtime's own functions

static OrtStatus *input_count(const OrtKernelContext *context, size_t *n) {
  *n = ((const Run *)context)->link->inputs;
  return NULL;
}

static OrtStatus *get(const OrtValue *value, Tensor *t) {
  TRY(ort->GetTensorElementTypeAndShapeDataReference(value, &t->type, &t->shape, &t->rank));
  return ort->GetTensorMutableData((OrtValue *)value, &t->data);
}

static OrtStatus *get_input(const OrtKernelContext *context, size_t i, const OrtValue **value) {
  const Run *r = (const Run *)context;
  int32_t v = r->link->in[i];
  *value = NULL;
  if (v < 0) return NULL;
  Tensor *t = r->tensors + v;
  if (!t->shape) {  // first use of an input of the chain
    const OrtValue *outer;
    TRY(ort->KernelContext_GetInput(r->context, v, &outer));
    TRY(get(outer, t));
  }
  *value = (const OrtValue *)t;
  return NULL;
}

static OrtStatus *type_and_shape(const OrtValue *value, ONNXTensorElementDataType *type, const int64_t **shape, size_t *rank) {
  const Tensor *t = (const Tensor *)value;
  *type = t->type, *shape = t->shape, *rank = t->rank;
  return NULL;
}

static OrtStatus *data_of(OrtValue *value, void **data) {
  *data = ((Tensor *)value)->data;
  return NULL;
}

// block_of returns an unused block of the run, the smallest that is large enough, or allocates one.
static Block *block_of(Run *r, size_t size) {
  Block *best = NULL;
  for (Block *b = r->blocks; b < r->blocks + r->taken; b++)
    if (!b->used && b->size >= size && (!best || b->size < best->size)) best = b;
  if (!best) {
    void *data = r->instance->allocator->Alloc(r->instance->allocator, size);
    if (!data) return NULL;
    best = r->blocks + r->taken++;
    *best = (Block){.data = data, .size = size};
  }
  best->used = 1;
  return best;
}

static size_t size_of(char letter) {
  switch (letter) {
    case 'b': case 'c': return 1;
    case 'h': return 2;
    case 'l': return 8;
    default: return 4;
  }
}

static OrtStatus *get_output(OrtKernelContext *context, size_t i, const int64_t *d, size_t n, OrtValue **value) {
  Run *r = (Run *)context;
  const Chain *chain = r->instance->chain;
  int32_t v = r->link->out[i];
  Tensor *t = r->tensors + v;
  *value = (OrtValue *)t;
  t->shape = t->own, t->rank = n, t->type = operator_type(&chain->operator, chain->letters[v]);
  if (n > RANK) return refuse(ort, "an output of %zu dimensions", n);
  size_t size = size_of(chain->letters[v]);
  for (size_t j = 0; j < n; j++) {
    t->own[j] = d[j];
    if (d[j] < 0 || __builtin_mul_overflow(size, (size_t)d[j], &size)) return refuse(ort, "an output of too many elements");
  }
  if (v < chain->inputs + chain->outputs) {
    OrtValue *outer;
    TRY(ort->KernelContext_GetOutput(r->context, v - chain->inputs, d, n, &outer));
    return ort->GetTensorMutableData(outer, &t->data);
  }
  t->block = block_of(r, size ? size : 1);
  if (!t->block) return fail(ort, ORT_FAIL, "out of memory");
  t->data = t->block->data;
  return NULL;
}

static void release(Run *r, const int32_t *values, int32_t n, int32_t node) {
  for (int32_t i = 0; i < n; i++) {
    if (values[i] < 0 || r->instance->chain->last[values[i]] > node) continue;
    Tensor *t = r->tensors + values[i];
    if (t->block) t->block->used = 0;
    t->block = NULL;
  }
}

static OrtStatus *compute(void *kernel, OrtKernelContext *context) {
  const Instance *instance = kernel;
  const Chain *chain = instance->chain;
  Tensor *tensors = malloc(chain->total * (sizeof *tensors + sizeof(Block)));
  if (!tensors) return fail(ort, ORT_FAIL, "out of memory");
  memcpy(tensors, instance->constants, chain->total * sizeof *tensors);
  Run r = {instance, context, NULL, tensors, (Block *)(tensors + chain->total), 0};
  OrtStatus *status = NULL;
  for (int32_t i = 0; i < chain->nodes && !status; i++) {
    r.link = chain->links + i;
    status = r.link->operator->base.KernelComputeV2(instance->nodes[i], (OrtKernelContext *)&r);
    release(&r, r.link->in, r.link->inputs, i);
    release(&r, r.link->out, r.link->outputs, i);
  }
  for (int32_t i = 0; i < r.taken; i++) instance->allocator->Free(instance->allocator, r.blocks[i].data);
  free(tensors);
  return status;
}

// ---- an instance ----

// An Info is the OrtKernelInfo of a node of a chain.
typedef struct {
  const OrtKernelInfo *info;  // of the chain
  int32_t node;
} Info;

static const char *name_of(const Info *i, const char *name, char full[64]) {
  snprintf(full, 64, "%d.%s", i->node, name);
  return full;
}

static OrtStatus *attribute_int(const OrtKernelInfo *info, const char *name, int64_t *out) {
  const Info *i = (const Info *)info;
  return ort->KernelInfoGetAttribute_int64(i->info, name_of(i, name, (char[64]){0}), out);
}

static OrtStatus *attribute_float(const OrtKernelInfo *info, const char *name, float *out) {
  const Info *i = (const Info *)info;
  return ort->KernelInfoGetAttribute_float(i->info, name_of(i, name, (char[64]){0}), out);
}

static OrtStatus *config_entries(const OrtKernelInfo *info, OrtKeyValuePairs **out) {
  return ort->KernelInfo_GetConfigEntries(((const Info *)info)->info, out);
}

static OrtApi inner;  // ONNX Runtime's API for the nodes of a chain

static void destroy(void *kernel) {
  Instance *instance = kernel;
  for (int32_t i = 0; i < instance->chain->nodes; i++)
    if (instance->nodes[i]) instance->chain->links[i].operator->base.KernelDestroy(instance->nodes[i]);
  if (instance->allocator) ort->ReleaseAllocator(instance->allocator);
  free(instance->constants);
  free(instance);
}

static OrtStatus *create(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info, void **out) {
  const Chain *chain = (const Chain *)op;
  Instance *instance = calloc(1, sizeof *instance + chain->nodes * sizeof *instance->nodes);
  if (!instance) return fail(api, ORT_FAIL, "out of memory");
  instance->chain = chain;
  instance->constants = calloc(chain->total, sizeof *instance->constants);
  OrtStatus *status = instance->constants ? NULL : fail(api, ORT_FAIL, "out of memory");
  if (!status) status = ort->KernelInfoGetAllocator(info, OrtMemTypeDefault, &instance->allocator);
  for (int32_t i = 0; i < chain->inputs && !status; i++) {
    int is_constant;
    const OrtValue *value;
    status = ort->KernelInfoGetConstantInput_tensor(info, i, &is_constant, &value);
    if (!status && is_constant) status = get(value, instance->constants + i);
  }
  for (int32_t i = 0; i < chain->nodes && !status; i++) {
    Info own = {info, i};
    const OrtCustomOp *part = &chain->links[i].operator->base;
    status = part->CreateKernelV2(part, &inner, (const OrtKernelInfo *)&own, (void **)&instance->nodes[i]);
  }
  if (status)
    destroy(instance);
  else
    *out = instance;
  return status;
}

// ---- the operator ----

// note records that node i of a chain uses a value, as an argument whose type is described by a letter.
static OrtStatus *note(Chain *c, int32_t i, int32_t v, char letter) {
  if (v < 0 || v >= c->total) return refuse(ort, "node %d: there is no value %d", i, v);
  letter |= 32;
  if (c->letters[v] && c->letters[v] != letter) return refuse(ort, "node %d: a value is of another type than is wanted", i);
  c->letters[v] = letter, c->last[v] = i;
  return NULL;
}

static OrtStatus *link_up(Chain *c, int32_t i) {
  const Link *link = c->links + i;
  const Operator *o = link->operator;
  if (link->inputs > (int32_t)strlen(o->inputs) || link->outputs != (int32_t)strlen(o->outputs))
    return refuse(ort, "%s takes %zu inputs and has %zu outputs", o->name, strlen(o->inputs), strlen(o->outputs));
  for (int32_t j = 0; o->inputs[j]; j++) {
    int32_t v = j < link->inputs ? link->in[j] : -1;
    if (v >= 0)
      TRY(note(c, i, v, o->inputs[j]));
    else if (o->inputs[j] & 32)
      return refuse(ort, "input %d of %s is missing", j, o->name);
  }
  for (int32_t j = 0; o->outputs[j]; j++) TRY(note(c, i, link->out[j], o->outputs[j]));
  return NULL;
}

static OrtStatus *build(Chain *c, const Program *p) {
  *c = (Chain){.nodes = p->nodes, .inputs = p->inputs, .outputs = p->outputs, .total = p->total,
               .links = calloc(p->nodes, sizeof *c->links), .values = calloc(p->count, sizeof *c->values),
               .last = calloc(p->total, sizeof *c->last), .letters = calloc(p->total, 1)};
  if (!c->links || !c->values || !c->last || !c->letters) return fail(ort, ORT_FAIL, "out of memory");
  memcpy(c->values, p->values, p->count * sizeof *c->values);
  const int32_t *v = c->values;
  const char *name = p->names;
  for (int32_t i = 0; i < c->nodes; i++) {
    size_t n = strcspn(name, " ");
    c->links[i] = (Link){operator_named(name, n), v + 2, v + 2 + v[0], v[0], v[1]};
    if (!c->links[i].operator) return refuse(ort, "there is no operator %.*s", n < 64 ? (int)n : 64, name);
    TRY(link_up(c, i));
    name += n + 1, v += 2 + v[0] + v[1];
  }
  char *types = calloc(p->inputs + p->outputs + 2, 1);
  if (!types) return fail(ort, ORT_FAIL, "out of memory");
  memcpy(types, c->letters, p->inputs);
  memcpy(types + p->inputs + 1, c->letters + p->inputs, p->outputs);
  c->operator = (Operator){.base = OPERATOR(create, destroy, compute), .name = "Chain", .inputs = types, .outputs = types + p->inputs + 1};
  return NULL;
}

OrtStatus *chain_new(const OrtApi *api, const Program *program, Chain **chain) {
  if (ort != api) {
    ort = api, inner = *api;
    inner.KernelContext_GetInputCount = input_count;
    inner.KernelContext_GetInput = get_input;
    inner.KernelContext_GetOutput = get_output;
    inner.GetTensorElementTypeAndShapeDataReference = type_and_shape;
    inner.GetTensorMutableData = data_of;
    inner.KernelInfoGetAttribute_int64 = attribute_int;
    inner.KernelInfoGetAttribute_float = attribute_float;
    inner.KernelInfo_GetConfigEntries = config_entries;
  }
  *chain = calloc(1, sizeof **chain);
  if (!*chain) return fail(api, ORT_FAIL, "out of memory");
  OrtStatus *status = build(*chain, program);
  if (status) {
    chain_free(*chain);
    *chain = NULL;
  }
  return status;
}

const OrtCustomOp *chain_operator(const Chain *chain) { return &chain->operator.base; }

void chain_free(Chain *c) {
  if (!c) return;
  free(c->links), free(c->values), free(c->last), free(c->letters), free((char *)c->operator.inputs);
  free(c);
}
