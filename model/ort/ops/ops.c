#include "ops.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

// Kernel is a node of a graph: an operator with its attributes.
typedef struct {
  const OrtApi *api;
  int64_t layer, heads, head_dim, spare;
} Kernel;

// Op is an operator. ONNX Runtime hands our callbacks the OrtCustomOp, which is
// its first member.
typedef struct {
  OrtCustomOp base;
  const char *name;
  const char *inputs, *outputs;  // a letter per argument, see type_of; capital: optional
  const char *attributes;        // a letter per attribute, see create
  OrtStatusPtr (*compute)(void *kernel, OrtKernelContext *context);
} Op;

#define TRY(call)                   \
  do {                              \
    OrtStatus *status_ = (call);    \
    if (status_) return status_;    \
  } while (0)

static OrtStatus *fail(const OrtApi *api, OrtErrorCode code, const char *message) {
  return api->CreateStatus(code, message);
}

// invalid is the error for arguments that an operator refuses; it takes what printf does.
__attribute__((format(printf, 2, 3))) static OrtStatus *invalid(const OrtApi *api, const char *format, ...) {
  char message[256];
  va_list numbers;
  va_start(numbers, format);
  vsnprintf(message, sizeof message, format, numbers);
  va_end(numbers);
  return fail(api, ORT_INVALID_ARGUMENT, message);
}

// ---- arguments ----

typedef struct {
  const OrtApi *api;
  OrtKernelContext *context;
} Call;

enum { ANY = -1 };  // a dimension that may have any size

// input gives the data of an input, null where an optional one is left out. The
// input must have n dimensions of the sizes d; those that are ANY are filled in.
static OrtStatus *input(Call c, size_t i, void *data, int64_t *d, size_t n) {
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
  if (rank != n) return invalid(c.api, "input %zu has %zu dimensions: %zu are wanted", i, rank, n);
  for (size_t j = 0; j < n; j++) {
    if (d[j] == ANY) d[j] = shape[j];
    if (d[j] != shape[j])
      return invalid(c.api, "dimension %zu of input %zu is %lld: %lld is wanted", j, i, (long long)shape[j], (long long)d[j]);
  }
  return c.api->GetTensorMutableData((OrtValue *)value, (void **)data);
}

// vector is input for one dimension of size n.
static OrtStatus *vector(Call c, size_t i, void *data, int64_t n) { return input(c, i, data, &n, 1); }

static OrtStatus *output(Call c, size_t i, const int64_t *d, size_t n, void *data) {
  OrtValue *value;
  TRY(c.api->KernelContext_GetOutput(c.context, i, d, n, &value));
  return c.api->GetTensorMutableData(value, (void **)data);
}

static int64_t width_of(const Kernel *k) { return k->heads * k->head_dim; }

// memory describes the input that holds keys and values.
static OrtStatus *memory(Call c, size_t i, const Kernel *k, Memory *m) {
  int64_t d[4] = {ANY, ANY, ANY, ANY}, width = width_of(k);
  TRY(input(c, i, &m->data, d, 4));
  m->rows = d[1], m->capacity = d[2], m->token = d[3];
  m->half = m->token == 4 * width;
  if (!m->half && m->token != 8 * width)
    return invalid(c.api, "the memory has %lld bytes per token: %lld in half or %lld in single precision are wanted",
                   (long long)m->token, (long long)(4 * width), (long long)(8 * width));
  if (k->layer >= d[0])
    return invalid(c.api, "the memory has %lld layers, layer %lld is wanted", (long long)d[0], (long long)k->layer);
  return NULL;
}

// partition checks that n groups share the rows without gaps: group i has the rows
// offsets[i] to offsets[i+1]-1.
static OrtStatus *partition(Call c, const int32_t *offsets, int64_t n, int64_t rows) {
  int ok = n >= 0 && offsets[0] == 0 && offsets[n] == rows;
  for (int64_t i = 0; ok && i < n; i++) ok = offsets[i] <= offsets[i + 1];
  return ok ? NULL : invalid(c.api, "the offsets of %lld groups do not rise from 0 to %lld", (long long)n, (long long)rows);
}

// ---- work in parallel ----

// A Task is work that is the same for every item. Items are handed out in parts.
typedef struct Task Task;
struct Task {
  void (*item)(Task *task, int64_t i, void *scratch);
  int64_t items, parts;
  size_t scratch;  // bytes that the items of a part share, one after the other
  int failed;      // scratch could not be had
  const void *arguments;
};

static void part(void *data, size_t p) {
  Task *t = data;
  void *scratch = NULL;
  if (t->scratch && posix_memalign(&scratch, 64, t->scratch)) {
    t->failed = 1;
    return;
  }
  int64_t first = t->items * (int64_t)p / t->parts, end = t->items * (int64_t)(p + 1) / t->parts;
  for (int64_t i = first; i < end; i++) t->item(t, i, scratch);
  free(scratch);
}

// run does a task; elements is the number of floats that it touches, by which small
// tasks stay on this thread: to wake others takes longer than these.
static OrtStatus *run(Call c, Task *t, int64_t elements) {
  enum { SMALL = 1 << 15, PARTS = 16 };
  if (t->items == 0) return NULL;
  if (elements < SMALL || t->items == 1) {
    t->parts = 1;
    part(t, 0);
  } else {
    t->parts = t->items < PARTS ? t->items : PARTS;
    TRY(c.api->KernelContext_ParallelFor(c.context, part, t->parts, 0, t));
  }
  if (t->failed) return fail(c.api, ORT_FAIL, "out of memory");
  return NULL;
}

// ---- operators ----

typedef struct {
  Product p;
  const float *x, *gain, *beta;
  float *total, *y, *scale;
  uint8_t *q;
  int64_t width;
} Rows;

static void quantize_item(Task *t, int64_t r, void *scratch) {
  const Rows *a = t->arguments;
  (void)scratch;
  quantize_row(a->q + r * a->width, a->scale + r, a->x + r * a->width, a->width);
}

// Quantize: x [R, N] → q uint8 [R, N], scale [R]; x ≈ (q - 128)·scale/127.
static OrtStatus *quantize(void *kernel, OrtKernelContext *context) {
  Call c = {((Kernel *)kernel)->api, context};
  Rows a = {0};
  int64_t d[2] = {ANY, ANY};
  TRY(input(c, 0, &a.x, d, 2));
  TRY(output(c, 0, d, 2, &a.q));
  TRY(output(c, 1, d, 1, &a.scale));
  a.width = d[1];
  Task t = {.item = quantize_item, .items = d[0], .arguments = &a};
  return run(c, &t, d[0] * d[1]);
}

static void relu_quantize_item(Task *t, int64_t r, void *scratch) {
  const Rows *a = t->arguments;
  relu_quantize_row(a->q + r * a->width, a->scale + r, a->p, r, scratch, a->width);
}

// ReluQuantize: acc [R, N], bias [N], scale [R] → q uint8 [R, N], scale [R];
// max(0, acc·scale + bias) ≈ q·scale/255.
static OrtStatus *relu_quantize(void *kernel, OrtKernelContext *context) {
  Call c = {((Kernel *)kernel)->api, context};
  Rows a = {0};
  int64_t d[2] = {ANY, ANY};
  TRY(input(c, 0, &a.p.acc, d, 2));
  TRY(vector(c, 1, &a.p.bias, d[1]));
  TRY(vector(c, 2, &a.p.scale, d[0]));
  TRY(output(c, 0, d, 2, &a.q));
  TRY(output(c, 1, d, 1, &a.scale));
  a.width = d[1];
  Task t = {.item = relu_quantize_item, .items = d[0], .scratch = d[1] * sizeof(float), .arguments = &a};
  return run(c, &t, d[0] * d[1]);
}

static const float epsilon = 1e-5f;

static void add_norm_item(Task *t, int64_t r, void *scratch) {
  const Rows *a = t->arguments;
  float *y = a->y ? a->y + r * a->width : scratch;
  add_norm_row(a->total + r * a->width, y, a->x + r * a->width, a->p, r, a->gain, a->beta, epsilon, a->width);
  if (a->q) quantize_row(a->q + r * a->width, a->scale + r, y, a->width);
}

static OrtStatus *add_norm_any(Kernel *k, OrtKernelContext *context, int quantized) {
  Call c = {k->api, context};
  Rows a = {0};
  int64_t d[2] = {ANY, ANY};
  TRY(input(c, 0, &a.x, d, 2));
  TRY(vector(c, 1, &a.gain, d[1]));
  TRY(vector(c, 2, &a.beta, d[1]));
  TRY(input(c, 3, &a.p.acc, d, 2));
  TRY(vector(c, 4, &a.p.bias, d[1]));
  TRY(vector(c, 5, &a.p.scale, d[0]));
  if (a.p.acc && !a.p.bias) return invalid(c.api, "a product needs a bias");
  TRY(output(c, 0, d, 2, &a.total));
  if (quantized) {
    TRY(output(c, 1, d, 2, &a.q));
    TRY(output(c, 2, d, 1, &a.scale));
  } else {
    TRY(output(c, 1, d, 2, &a.y));
  }
  a.width = d[1];
  Task t = {.item = add_norm_item, .items = d[0], .scratch = quantized ? d[1] * sizeof(float) : 0, .arguments = &a};
  return run(c, &t, d[0] * d[1]);
}

// AddNorm: x [R, N], gain, beta [N], and acc [R, N], bias [N], scale [R], which may
// be left out → total [R, N] = x + acc·scale + bias, y [R, N], its layer norm.
static OrtStatus *add_norm(void *kernel, OrtKernelContext *context) { return add_norm_any(kernel, context, 0); }

// AddNormQuantize: as AddNorm, with y as q uint8 [R, N], scale [R].
static OrtStatus *add_norm_quantize(void *kernel, OrtKernelContext *context) {
  return add_norm_any(kernel, context, 1);
}

static Heads heads_of(const Kernel *k) {
  Heads h = {k->heads, k->head_dim, 1 / __builtin_sqrtf((float)k->head_dim)};
  return h;
}

typedef struct {
  Product p;
  Heads h;
  Memory m;
  int64_t layer, groups, blocks, longest, rows;
  const int32_t *offsets, *rows_of, *history, *slots, *lengths;
  const int64_t *positions;
  int64_t capacity;
  float *out;
} Attention;

static void self_attention_item(Task *t, int64_t i, void *scratch) {
  const Attention *a = t->arguments;
  int64_t s = i / a->h.heads, first = a->offsets[s];
  self_attend(a->p, a->h, i % a->h.heads, first, a->offsets[s + 1] - first, a->out, scratch);
}

// SelfAttention, of the encoder: acc [T, 3·d], bias [3·d], offsets int32 [B+1],
// scale [T] → [T, d]; sentence b is the tokens offsets[b] to offsets[b+1]-1.
static OrtStatus *self_attention(void *kernel, OrtKernelContext *context) {
  Kernel *k = kernel;
  Call c = {k->api, context};
  Attention a = {.h = heads_of(k)};
  int64_t d[2] = {ANY, 3 * width_of(k)}, sentences = ANY, longest = 0;
  TRY(input(c, 0, &a.p.acc, d, 2));
  TRY(vector(c, 1, &a.p.bias, d[1]));
  TRY(input(c, 2, &a.offsets, &sentences, 1));
  TRY(vector(c, 3, &a.p.scale, d[0]));
  sentences--;
  TRY(partition(c, a.offsets, sentences, d[0]));
  for (int64_t s = 0; s < sentences; s++) {
    int64_t n = a.offsets[s + 1] - a.offsets[s];
    longest = n > longest ? n : longest;
  }
  d[1] /= 3;
  TRY(output(c, 0, d, 2, &a.out));
  Task t = {.item = self_attention_item, .items = sentences * k->heads,
            .scratch = self_attend_scratch(a.h, longest) * sizeof(float), .arguments = &a};
  return run(c, &t, d[0] * d[1] * longest);
}

static void store_cross_item(Task *t, int64_t s, void *scratch) {
  const Attention *a = t->arguments;
  (void)scratch;
  int64_t width = a->h.heads * a->h.head_dim, first = a->offsets[s];
  store_tokens(a->m, a->layer, a->slots[s], 0, a->p, first, 2 * width, 0, a->offsets[s + 1] - first, width);
}

// StoreCross: acc [T, 2·d], bias [2·d], offsets int32 [B+1], slots int32 [B], cross
// (memory), scale [T], after → int32 [1]. It writes keys and values of sentence b to
// row slots[b] of the memory, which is changed in place. `after` and the output,
// which mean nothing, tie the nodes of a graph together.
static OrtStatus *store_cross(void *kernel, OrtKernelContext *context) {
  Kernel *k = kernel;
  Call c = {k->api, context};
  Attention a = {.h = heads_of(k), .layer = k->layer};
  int64_t d[2] = {ANY, 2 * width_of(k)}, sentences = ANY, one = 1;
  int32_t *done;
  TRY(input(c, 0, &a.p.acc, d, 2));
  TRY(vector(c, 1, &a.p.bias, d[1]));
  TRY(input(c, 3, &a.slots, &sentences, 1));
  TRY(vector(c, 2, &a.offsets, sentences + 1));
  TRY(memory(c, 4, k, &a.m));
  TRY(vector(c, 5, &a.p.scale, d[0]));
  TRY(partition(c, a.offsets, sentences, d[0]));
  for (int64_t s = 0; s < sentences; s++) {
    int n = a.offsets[s + 1] - a.offsets[s];
    if (a.slots[s] < 0 || a.slots[s] >= a.m.rows || n > a.m.capacity)
      return invalid(c.api, "no room for %d tokens in row %d: the memory has %lld rows of %lld", n, a.slots[s],
                     (long long)a.m.rows, (long long)a.m.capacity);
  }
  TRY(output(c, 0, &one, 1, &done));
  *done = 1;
  Task t = {.item = store_cross_item, .items = sentences, .arguments = &a};
  return run(c, &t, d[0] * d[1]);
}

static void store_past_item(Task *t, int64_t r, void *scratch) {
  const Attention *a = t->arguments;
  (void)scratch;
  int64_t width = a->h.heads * a->h.head_dim;
  store_tokens(a->m, a->layer, a->rows_of[r], a->positions[r], a->p, r, 3 * width, width, 1, width);
}

// attend_item does a block of heads for all rows of one sentence.
static void attend_item(Task *t, int64_t i, void *scratch) {
  const Attention *a = t->arguments;
  int64_t group = i / a->blocks, block = i % a->blocks, width = a->h.heads * a->h.head_dim;
  int64_t first = a->offsets[group], n = a->offsets[group + 1] - first, cross = a->slots != NULL;
  int64_t from = a->h.heads * block / a->blocks, to = a->h.heads * (block + 1) / a->blocks;
  int64_t stride = cross ? width : 3 * width;
  Query *queries = scratch;
  float *q = (float *)(queries + a->rows), *scores = q + a->rows * width;
  for (int64_t w = 0; w < n; w++) {
    int64_t r = first + w;
    float scale = (a->p.scale ? a->p.scale[r] : 1);
    for (int64_t j = from * a->h.head_dim; j < to * a->h.head_dim; j++)
      q[w * width + j] = (a->p.acc[r * stride + j] * scale + a->p.bias[j]) * a->h.scale;
    queries[w] = (Query){q + w * width, a->out + r * width, cross ? NULL : a->history + r * a->capacity,
                         cross ? a->slots[group] : 0, cross ? a->lengths[group] : a->positions[r] + 1};
  }
  attend(a->m, a->layer, a->h, queries, n, from, to, scores);
}

static OrtStatus *attend_all(Call c, Attention *a, int64_t tokens) {
  int64_t width = a->h.heads * a->h.head_dim;
  if (a->groups == 0) return NULL;
  a->rows = 0;
  for (int64_t g = 0; g < a->groups; g++) {
    int64_t n = a->offsets[g + 1] - a->offsets[g];
    a->rows = n > a->rows ? n : a->rows;
  }
  // A few sentences are split by heads, many are work enough.
  enum { ENOUGH = 4 };
  a->blocks = a->groups >= ENOUGH ? 1 : (ENOUGH + a->groups - 1) / a->groups;
  if (a->blocks > a->h.heads) a->blocks = a->h.heads;
  size_t scratch = a->rows * (sizeof(Query) + width * sizeof(float)) + attend_scratch(a->rows, a->longest) * sizeof(float);
  Task t = {.item = attend_item, .items = a->groups * a->blocks, .scratch = scratch, .arguments = a};
  return run(c, &t, tokens * width);
}

// check_row checks that row r's token and those that it attends to are in the memory.
static OrtStatus *check_row(Call c, const Attention *a, int64_t r) {
  int64_t position = a->positions[r], rows = a->m.rows;
  if (position < 0 || position >= a->m.capacity || position >= a->capacity || a->rows_of[r] < 0 || a->rows_of[r] >= rows)
    return invalid(c.api, "no room for token %lld in row %d: the memory has %lld rows of %lld, the history %lld",
                   (long long)position, a->rows_of[r], (long long)rows, (long long)a->m.capacity, (long long)a->capacity);
  const int32_t *history = a->history + r * a->capacity;
  int bad = 0;  // the loop has no way out, so it is a few vector instructions
  for (int64_t t = 0; t <= position; t++) bad |= (history[t] < 0) | (history[t] >= rows);
  return bad ? invalid(c.api, "the history of row %lld leaves the %lld rows of the memory", (long long)r, (long long)rows) : NULL;
}

// CachedAttention, of the decoder to what it has decoded: acc [R, 3·d], bias [3·d],
// rows int32 [R], positions int64 [R], history int32 [R, C], groups int32 [S+1], kv
// (memory), scale [R] → [R, d]. Row r writes its key and value as token
// positions[r] of row rows[r] of the memory, in place, and attends to the tokens 0
// to positions[r], of which token t lies in row history[r, t]. Rows groups[s] to
// groups[s+1]-1 belong to one sentence: they may attend to one another's tokens.
static OrtStatus *cached_attention(void *kernel, OrtKernelContext *context) {
  Kernel *k = kernel;
  Call c = {k->api, context};
  Attention a = {.h = heads_of(k), .layer = k->layer};
  int64_t d[2] = {ANY, 3 * width_of(k)}, tokens = 0;
  TRY(input(c, 0, &a.p.acc, d, 2));
  int64_t h[2] = {d[0], ANY};
  a.groups = ANY;
  TRY(vector(c, 1, &a.p.bias, d[1]));
  TRY(vector(c, 2, &a.rows_of, d[0]));
  TRY(vector(c, 3, &a.positions, d[0]));
  TRY(input(c, 4, &a.history, h, 2));
  TRY(input(c, 5, &a.offsets, &a.groups, 1));
  TRY(memory(c, 6, k, &a.m));
  TRY(vector(c, 7, &a.p.scale, d[0]));
  a.capacity = h[1];
  a.groups--;
  TRY(partition(c, a.offsets, a.groups, d[0]));
  for (int64_t r = 0; r < d[0]; r++) {
    TRY(check_row(c, &a, r));
    int64_t n = a.positions[r] + 1;
    a.longest = n > a.longest ? n : a.longest;
    tokens += n;
  }
  d[1] /= 3;
  TRY(output(c, 0, d, 2, &a.out));
  Task t = {.item = store_past_item, .items = d[0], .arguments = &a};
  TRY(run(c, &t, d[0] * d[1]));
  return attend_all(c, &a, tokens);
}

// CrossAttention, of the decoder to the source: acc [R, d], bias [d], groups int32
// [S+1], slots, lengths int32 [S], cross (memory), scale [R] → [R, d]. The rows of
// sentence s attend to the first lengths[s] tokens of row slots[s] of the memory.
static OrtStatus *cross_attention(void *kernel, OrtKernelContext *context) {
  Kernel *k = kernel;
  Call c = {k->api, context};
  Attention a = {.h = heads_of(k), .layer = k->layer};
  int64_t d[2] = {ANY, width_of(k)}, tokens = 0;
  a.groups = ANY;
  TRY(input(c, 0, &a.p.acc, d, 2));
  TRY(vector(c, 1, &a.p.bias, d[1]));
  TRY(input(c, 3, &a.slots, &a.groups, 1));
  TRY(vector(c, 2, &a.offsets, a.groups + 1));
  TRY(vector(c, 4, &a.lengths, a.groups));
  TRY(memory(c, 5, k, &a.m));
  TRY(vector(c, 6, &a.p.scale, d[0]));
  TRY(partition(c, a.offsets, a.groups, d[0]));
  for (int64_t s = 0; s < a.groups; s++) {
    if (a.lengths[s] < 1 || a.lengths[s] > a.m.capacity || a.slots[s] < 0 || a.slots[s] >= a.m.rows)
      return invalid(c.api, "no source of %d tokens in row %d: the memory has %lld rows of %lld", a.lengths[s], a.slots[s],
                     (long long)a.m.rows, (long long)a.m.capacity);
    a.longest = a.lengths[s] > a.longest ? a.lengths[s] : a.longest;
    tokens += a.lengths[s];
  }
  TRY(output(c, 0, d, 2, &a.out));
  return attend_all(c, &a, tokens);
}

typedef struct {
  const float *acc, *scale, *x;
  const uint16_t *table;
  int64_t vocab, width, k, proposed;
  float *val, *lse;
  int64_t *idx;
} Best;

static void best_item(Task *t, int64_t r, void *scratch) {
  const Best *a = t->arguments;
  Candidate *best = scratch;
  a->lse[r] = best_candidates(best, a->proposed, a->acc + r * a->vocab, a->scale ? a->scale[r] : 1, a->vocab,
                              (float *)(best + a->proposed));
  if (a->table) rescore(best, a->proposed, a->x + r * a->width, a->table, a->width);
  for (int64_t i = 0; i < a->k; i++) {
    a->val[r * a->k + i] = best[i].logit - a->lse[r];
    a->idx[r * a->k + i] = best[i].id;
  }
}

// BestCandidates: acc [R, V], k int64 [1], scale [R], x [R, d], table float16 [V, d]
// → val float [R, k], idx int64 [R, k], lse float [R]: log-probabilities and ids of
// the best k tokens, best first, and the log-sum-exp of the logits acc·scale. With x
// and table, the logits of the best k + spare are computed again as x·tableᵀ.
static OrtStatus *best(void *kernel, OrtKernelContext *context) {
  Kernel *k = kernel;
  Call c = {k->api, context};
  Best a = {0};
  int64_t d[2] = {ANY, ANY};
  const int64_t *wanted;
  TRY(input(c, 0, &a.acc, d, 2));
  int64_t x[2] = {d[0], ANY};
  TRY(vector(c, 1, &wanted, 1));
  TRY(vector(c, 2, &a.scale, d[0]));
  TRY(input(c, 3, &a.x, x, 2));
  int64_t table[2] = {d[1], x[1]};
  TRY(input(c, 4, &a.table, table, 2));
  a.vocab = d[1], a.width = x[1], a.k = *wanted;
  if (a.k < 1 || a.k > a.vocab)
    return invalid(c.api, "%lld candidates are wanted of %lld tokens", (long long)a.k, (long long)a.vocab);
  if (d[0] > 0 && !a.x != !a.table) return invalid(c.api, "hidden states and embeddings need each other");
  a.proposed = a.k;
  if (a.table) a.proposed = k->spare < a.vocab - a.k ? a.k + k->spare : a.vocab;
  d[1] = a.k;
  TRY(output(c, 0, d, 2, &a.val));
  TRY(output(c, 1, d, 2, &a.idx));
  TRY(output(c, 2, d, 1, &a.lse));
  Task task = {.item = best_item, .items = d[0], .arguments = &a,
               .scratch = a.proposed * sizeof(Candidate) + best_candidates_scratch(a.vocab) * sizeof(float)};
  return run(c, &task, d[0] * a.vocab);
}

// ---- registration ----

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
    status = invalid(api, "attributes out of range: layer %lld, %lld heads of %lld, %lld spare", (long long)k->layer,
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
    OP("Quantize", "f", "bf", "", quantize),
    OP("ReluQuantize", "fff", "bf", "", relu_quantize),
    OP("AddNorm", "fffFFF", "ff", "", add_norm),
    OP("AddNormQuantize", "fffFFF", "fbf", "", add_norm_quantize),
    OP("SelfAttention", "ffiF", "f", "hd", self_attention),
    OP("StoreCross", "ffiibFI", "i", "lhd", store_cross),
    OP("CachedAttention", "ffiliibF", "f", "lhd", cached_attention),
    OP("CrossAttention", "ffiiibF", "f", "lhd", cross_attention),
    OP("BestCandidates", "flFFH", "flf", "s", best),
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
void dragoman_release_domain(const OrtApi *api, OrtCustomOpDomain *domain) { api->ReleaseCustomOpDomain(domain); }
const char *dragoman_message(const OrtApi *api, OrtStatus *status) { return api->GetErrorMessage(status); }
void dragoman_release_status(const OrtApi *api, OrtStatus *status) { api->ReleaseStatus(status); }
