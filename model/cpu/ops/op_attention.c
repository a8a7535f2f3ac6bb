// Operators of attention.
#include "call.h"

// heads_of returns the heads of a node's attributes; the default scale is 1/√head_dim.
static Heads heads_of(const Node *k) {
  Heads h = {k->heads, k->head_dim, k->scale ? k->scale : 1 / __builtin_sqrtf((float)k->head_dim), NULL, 0};
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
  kernels->self_attend(a->p, a->h, i % a->h.heads, first, a->offsets[s + 1] - first, a->out, scratch);
}

// SelfAttention, of the encoder: acc [T, 3·d], bias [3·d], offsets int32 [B+1], scale [T], distances [heads, 2·D+1], see Heads,
// optional → [T, d]; sentence b is the tokens offsets[b] to offsets[b+1]-1.
OrtStatus *op_self_attention(void *kernel, OrtKernelContext *context) {
  Node *k = kernel;
  Call c = {k->api, context, k};
  Attention a = {.h = heads_of(k)};
  int64_t d[2] = {ANY, 3 * width_of(k)}, sentences = ANY, longest = 0;
  TRY(input(c, 0, &a.p.acc, d, 2));
  TRY(vector(c, 1, &a.p.bias, d[1]));
  TRY(input(c, 2, &a.offsets, &sentences, 1));
  TRY(vector(c, 3, &a.p.scale, d[0]));
  int64_t distances[2] = {k->heads, ANY};
  TRY(input(c, 4, &a.h.bias, distances, 2));
  a.h.reach = distances[1] / 2;
  if (distances[1] % 2 == 0)
    return refuse(c.api, "%lld distances are not as many on both sides", (long long)distances[1]);
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
  kernels->store_tokens(a->m, a->layer, a->slots[s], 0, a->p, first, 2 * width, 0, a->offsets[s + 1] - first, width);
}

// StoreCross: acc [T, 2·d], bias [2·d], offsets int32 [B+1], slots int32 [B], cross (memory), scale [T], after → int32 [1]. It
// writes keys and values of sentence b to row slots[b] of the memory, in place. `after` and the output have no meaning: they
// order the nodes of a graph.
OrtStatus *op_store_cross(void *kernel, OrtKernelContext *context) {
  Node *k = kernel;
  Call c = {k->api, context, k};
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
      return refuse(c.api, "no room for %d tokens in row %d: the memory has %lld rows of %lld", n, a.slots[s],
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
  kernels->store_tokens(a->m, a->layer, a->rows_of[r], a->positions[r], a->p, r, 3 * width, width, 1, width);
}

// attend_item computes a block of heads for all rows of one sentence.
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
  kernels->attend(a->m, a->layer, a->h, queries, n, from, to, scores);
}

static OrtStatus *attend_all(Call c, Attention *a, int64_t tokens) {
  int64_t width = a->h.heads * a->h.head_dim;
  if (a->groups == 0) return NULL;
  a->rows = 0;
  for (int64_t g = 0; g < a->groups; g++) {
    int64_t n = a->offsets[g + 1] - a->offsets[g];
    a->rows = n > a->rows ? n : a->rows;
  }
  // Many sentences are enough work. A few are split by heads, into no more blocks than threads: a block of few heads leaves lanes
  // empty.
  enum { ENOUGH = 4 };
  a->blocks = c.node->threads < ENOUGH ? c.node->threads : ENOUGH;
  if (a->groups >= ENOUGH || a->groups % a->blocks == 0) a->blocks = 1;
  if (a->blocks > a->h.heads) a->blocks = a->h.heads;
  size_t scratch = a->rows * (sizeof(Query) + width * sizeof(float)) + attend_scratch(a->rows, a->longest) * sizeof(float);
  Task t = {.item = attend_item, .items = a->groups * a->blocks, .scratch = scratch, .arguments = a};
  return run(c, &t, tokens * width);
}

// check_row checks that row r's token and the tokens that it attends to are in the memory.
static OrtStatus *check_row(Call c, const Attention *a, int64_t r) {
  int64_t position = a->positions[r], rows = a->m.rows;
  if (position < 0 || position >= a->m.capacity || position >= a->capacity || a->rows_of[r] < 0 || a->rows_of[r] >= rows)
    return refuse(c.api, "no room for token %lld in row %d: the memory has %lld rows of %lld, the history %lld",
                   (long long)position, a->rows_of[r], (long long)rows, (long long)a->m.capacity, (long long)a->capacity);
  const int32_t *history = a->history + r * a->capacity;
  int bad = 0;  // the loop has no early exit, so it is a few vector instructions
  for (int64_t t = 0; t <= position; t++) bad |= (history[t] < 0) | (history[t] >= rows);
  return bad ? refuse(c.api, "the history of row %lld leaves the %lld rows of the memory", (long long)r, (long long)rows) : NULL;
}

// past reads the inputs 0 to 7 of an operator over decoded tokens, see CachedAttention; acc is [d[0], d[1]].
static OrtStatus *past(Call c, const Node *k, Attention *a, int64_t *d) {
  TRY(input(c, 0, &a->p.acc, d, 2));
  int64_t h[2] = {d[0], ANY};
  a->groups = ANY;
  TRY(vector(c, 1, &a->p.bias, d[1]));
  TRY(vector(c, 2, &a->rows_of, d[0]));
  TRY(vector(c, 3, &a->positions, d[0]));
  TRY(input(c, 4, &a->history, h, 2));
  TRY(input(c, 5, &a->offsets, &a->groups, 1));
  TRY(memory(c, 6, k, &a->m));
  TRY(vector(c, 7, &a->p.scale, d[0]));
  a->capacity = h[1];
  a->groups--;
  TRY(partition(c, a->offsets, a->groups, d[0]));
  for (int64_t r = 0; r < d[0]; r++) TRY(check_row(c, a, r));
  return NULL;
}

// CachedAttention, of the decoder to its decoded tokens: acc [R, 3·d], bias [3·d], rows int32 [R], positions int64 [R], history
// int32 [R, C], groups int32 [S+1], kv (memory), scale [R], distances [D+1, heads], see Heads, optional → [R, d]. Row r writes
// its key and value as token positions[r] of row rows[r] of the memory, in place, and attends to the tokens 0 to positions[r],
// with token t in row history[r, t]. Rows groups[s] to groups[s+1]-1 belong to one sentence: they may attend to one another's
// tokens.
OrtStatus *op_cached_attention(void *kernel, OrtKernelContext *context) {
  Node *k = kernel;
  Call c = {k->api, context, k};
  Attention a = {.h = heads_of(k), .layer = k->layer};
  int64_t d[2] = {ANY, 3 * width_of(k)}, tokens = 0;
  TRY(past(c, k, &a, d));
  int64_t distances[2] = {ANY, k->heads};
  TRY(input(c, 8, &a.h.bias, distances, 2));
  a.h.reach = distances[0] - 1;
  if (distances[0] == 0) return refuse(c.api, "there are no distances");
  for (int64_t r = 0; r < d[0]; r++) {
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
OrtStatus *op_cross_attention(void *kernel, OrtKernelContext *context) {
  Node *k = kernel;
  Call c = {k->api, context, k};
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
      return refuse(c.api, "no source of %d tokens in row %d: the memory has %lld rows of %lld", a.lengths[s], a.slots[s],
                     (long long)a.m.rows, (long long)a.m.capacity);
    a.longest = a.lengths[s] > a.longest ? a.lengths[s] : a.longest;
    tokens += a.lengths[s];
  }
  TRY(output(c, 0, d, 2, &a.out));
  return attend_all(c, &a, tokens);
}

static float *state_at(const Attention *a, int64_t row, int64_t token, int64_t part) {
  const Memory *m = &a->m;
  return (float *)(m->data + (((a->layer * m->rows + row) * 2 + part) * m->capacity + token) * (m->token / 2));
}

// ssru_item computes the rows of a sentence in order: one may continue another.
static void ssru_item(Task *t, int64_t s, void *scratch) {
  const Attention *a = t->arguments;
  int64_t n = a->h.heads * a->h.head_dim, split = a->m.token / 8 < n ? a->m.token / 8 : n;
  (void)scratch;
  for (int64_t r = a->offsets[s]; r < a->offsets[s + 1]; r++) {
    int64_t p = a->positions[r], row = a->rows_of[r], last = p ? a->history[r * a->capacity + p - 1] : 0;
    kernels->ssru_row(a->out + r * n, state_at(a, row, p, 0), state_at(a, row, p, 1), split,
             p ? state_at(a, last, p - 1, 0) : NULL, p ? state_at(a, last, p - 1, 1) : NULL, a->p, r, n);
  }
}

// Ssru, of a decoder without self-attention: acc [R, 2·d], bias [2·d], and rows, positions, history, groups, kv and scale as in
// CachedAttention → [R, d]. Row r continues the state of token positions[r]-1, in row history[r, positions[r]-1] of the memory,
// and writes its own as token positions[r] of row rows[r]. A state is d floats, in the place of keys and, if they do not suffice,
// of values.
OrtStatus *op_ssru(void *kernel, OrtKernelContext *context) {
  Node *k = kernel;
  Call c = {k->api, context, k};
  Attention a = {.h = heads_of(k), .layer = k->layer};
  int64_t d[2] = {ANY, 2 * width_of(k)};
  TRY(past(c, k, &a, d));
  if (a.m.half && width_of(k) % 2) return refuse(c.api, "a state of %lld numbers has no halves", (long long)width_of(k));
  d[1] /= 2;
  TRY(output(c, 0, d, 2, &a.out));
  Task t = {.item = ssru_item, .items = a.groups, .arguments = &a};
  return run(c, &t, d[0] * d[1]);
}
