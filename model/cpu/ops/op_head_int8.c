// The operator of the LM head in 8 bits.
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "multiply_int8.h"

// TOGETHER panels of logits are processed together: the candidates are found and the exponentials summed while they are in the
// cache. All logits of 80 rows take 41 MB.
enum { TOGETHER = 12 };

// A HeadRow collects the best candidates of a row from all threads. The order of candidates is unique, so the result does not
// depend on the order of threads.
typedef struct {
  pthread_mutex_t lock;  // guards best and count
  int64_t count;
  Candidate *best;      // logits without the row's scale, unless there is a bias
  _Atomic float least;  // lower logits are not among the best
  const uint8_t *allowed;  // a bit for each output; null: all are allowed
} HeadRow;

typedef struct {
  const float *scale, *x, *bias;
  Table table;
  const uint8_t *allowed;  // [slots, bytes]
  const int32_t *groups, *slots;
  const int64_t *wanted;
  const int32_t *order;  // [V]: the token of each output; null: output i is token i
  int64_t vocab, sentences, bytes;
  int64_t width, k, proposed, parts;
  HeadRow *rows;
  ExpSum *sums;  // [rows, parts]
  float *val, *lse;
  int64_t *idx;
} Head;

// scale_of returns the missing factor of the logits of a row's candidates.
static float scale_of(const Head *h, int64_t r) { return h->bias ? 1 : h->scale[r]; }

// The logit of tokens that are not allowed: it contributes nothing to a sum.
static const float never = -1e30f;

// only copies the logits of allowed tokens, one bit of `bits` each, and returns their number.
static int64_t only(float *out, const float *logits, const uint8_t *bits, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i += 8) {
    int64_t end = n - i < 8 ? n : i + 8;
    if (!bits[i / 8])
      for (int64_t j = i; j < end; j++) out[j] = never;
    else
      for (int64_t j = i; j < end; j++) {
        int yes = bits[i / 8] >> (j - i) & 1;
        out[j] = yes ? logits[j] : never;
        count += yes;
      }
  }
  return count;
}

// all reports whether all outputs of a whole unit are allowed.
static int all(const uint8_t *bits) {
  for (int64_t i = 0; i < TOGETHER * PANEL / 8; i++)
    if (bits[i] != 0xff) return 0;
  return 1;
}

// choose marks the panels, of `panels`, in which some sentence has allowed tokens.
static void choose(const Head *h, int64_t rows, uint8_t *wanted, int64_t panels) {
  const uint8_t *before = NULL;
  memset(wanted, 0, panels);
  for (int64_t r = 0; r < rows; r++) {
    const uint8_t *bits = h->rows[r].allowed;
    if (bits == before) continue;
    before = bits;
    for (int64_t i = 0; i < h->bytes && i / 2 < panels; i++) wanted[i / 2] |= bits[i];
  }
}

static void head_unit(Int8Product *p, const float *acc, int64_t first, int64_t n, int64_t panel, int64_t width) {
  Head *h = p->arguments;
  float biased[TOGETHER * PANEL];
  for (int64_t r = first; r < first + n; r++, acc += width) {
    HeadRow *row = h->rows + r;
    ExpSum *part = h->sums + r * h->parts + panel / TOGETHER;
    const float *logits = acc;
    if (h->bias) kernels->add_bias(biased, acc, h->scale[r], h->bias + panel * PANEL, width), logits = biased;
    const uint8_t *bits = row->allowed ? row->allowed + panel * PANEL / 8 : NULL;
    if (bits && !(width == TOGETHER * PANEL && all(bits))) {
      if (!only(biased, logits, bits, width)) continue;
      logits = biased;
    }
    *part = kernels->exp_sum(logits, scale_of(h, r), width);
    if (!(part->peak >= row->least * scale_of(h, r))) continue;
    pthread_mutex_lock(&row->lock);
    row->count = kernels->add_candidates(row->best, row->count, h->proposed, logits, h->order ? h->order + panel * PANEL : NULL, panel * PANEL, width);
    if (row->count == h->proposed) row->least = row->best[h->proposed - 1].logit;
    pthread_mutex_unlock(&row->lock);
  }
}

static void head_row(Task *t, int64_t r, void *scratch) {
  const Head *h = t->arguments;
  HeadRow *row = h->rows + r;
  (void)scratch;
  // The value in place of a candidate: logits are NaN, or fewer tokens are allowed than wanted.
  Candidate none = {row->allowed ? never : NAN, 0};
  while (row->allowed && row->count > 0 && row->best[row->count - 1].logit <= never) row->count--;
  for (int64_t i = 0; i < row->count; i++) {
    row->best[i].logit *= scale_of(h, r);
    int64_t id = row->best[i].id, place = id >= 0 && id < h->vocab ? table_row(h->table, id) : -1;
    if (place >= 0 && place < h->vocab) continue;
    none.logit = NAN, row->count = 0;  // the order is damaged
  }
  for (int64_t i = row->count; i < h->proposed; i++) row->best[i] = none;
  h->lse[r] = kernels->log_sum_exp(h->sums + r * h->parts, h->parts);
  if (h->x) h->lse[r] = kernels->rescore(row->best, row->count, h->x + r * h->width, h->table, h->bias, h->width, h->lse[r]);
  for (int64_t i = 0; i < h->k; i++) {
    h->val[r * h->k + i] = row->best[i].logit - h->lse[r];
    h->idx[r * h->k + i] = row->best[i].id;
  }
}

// head_run computes a head. Its rows begin empty.
static OrtStatus *head_run(Call c, Int8Product *p, Head *h) {
  int64_t panels = (p->m.width + PANEL - 1) / PANEL;
  size_t best = p->rows * h->proposed * sizeof(Candidate), sums = p->rows * h->parts * sizeof(ExpSum), rest = p->rows * sizeof(HeadRow);
  char *memory = malloc(best + sums + rest + panels);
  if (!memory) return fail(c.api, ORT_FAIL, "out of memory");
  h->rows = (HeadRow *)(memory + best + sums), h->sums = (ExpSum *)(memory + best);
  for (int64_t r = 0; r < p->rows; r++) {
    h->rows[r] = (HeadRow){.best = (Candidate *)memory + r * h->proposed, .least = -INFINITY};
    pthread_mutex_init(&h->rows[r].lock, NULL);
    if (!h->allowed) continue;
    int64_t s = 0;
    while (s + 1 < h->sentences && h->groups[s + 1] <= h->wanted[r]) s++;
    h->rows[r].allowed = h->allowed + h->slots[s] * h->bytes;
  }
  if (h->allowed) {
    for (int64_t i = 0; i < p->rows * h->parts; i++) h->sums[i] = (ExpSum){never, 0};
    p->wanted = (uint8_t *)memory + best + sums + rest;
    choose(h, p->rows, (uint8_t *)memory + best + sums + rest, panels);
  }
  OrtStatus *status = int8_run(c, p);
  Task rows = {.item = head_row, .items = p->rows, .arguments = h};
  if (!status) status = run(c, &rows, p->rows * (h->parts + h->proposed * h->width));
  for (int64_t r = 0; r < p->rows; r++) pthread_mutex_destroy(&h->rows[r].lock);
  free(memory);
  return status;
}

// BestCandidatesInt8: q uint8 [R, K], panels, sums and scale of a matrix, and the attribute alpha, as in ProductInt8, row_scale
// [R], k, x, table as in BestCandidates → the outputs of BestCandidates for the product, with an optional bias [V]. Without a table
// the logits of the best are computed again as the product of x and the matrix, in floats. The logits are never all in memory.
//
// allowed uint8 [rows, bytes] has a bit for each output, with groups int32 [S+1], slots int32 [S] and wanted int64 [R], the
// step's rows of q: sentence s, with rows groups[s] to groups[s+1]-1, has only the outputs allowed by row slots[s]. Without
// allowed, or if it has no rows, all are allowed. Panels without an allowed output of any sentence are not computed. order int32
// [V] has the token of each output; without it they are in the order of their ids. It excludes a bias. places int32 [V] has the
// output of each token; an order without a table needs it.
OrtStatus *op_best_candidates_int8(void *kernel, OrtKernelContext *context) {
  Node *node = kernel;
  Call c = {node->api, context, node};
  Head h = {0};
  Int8Product p = int8_product(node);
  p.panels = TOGETHER, p.done = head_unit, p.arguments = &h;
  int64_t d[2] = {ANY, ANY};
  const int64_t *wanted;
  TRY(input(c, 0, &p.x, d, 2));
  p.rows = d[0], p.depth = d[1];
  TRY(int8_matrix(c, 1, p.depth, &p.m));
  TRY(vector(c, 4, &h.scale, p.rows));
  TRY(vector(c, 5, &wanted, 1));
  int64_t x[2] = {p.rows, ANY};
  TRY(input(c, 6, &h.x, x, 2));
  int64_t table[2] = {p.m.width, x[1]};
  TRY(input(c, 7, &h.table.halves, table, 2));
  TRY(vector(c, 8, &h.bias, p.m.width));
  h.width = x[1], h.k = *wanted;
  int64_t allowed[2] = {ANY, ANY}, groups = ANY;
  TRY(input(c, 9, &h.allowed, allowed, 2));
  TRY(input(c, 11, &h.slots, &groups, 1));
  h.sentences = groups;
  TRY(vector(c, 10, &h.groups, groups + 1));
  TRY(vector(c, 12, &h.wanted, p.rows));
  TRY(vector(c, 13, &h.order, p.m.width));
  TRY(vector(c, 14, &h.table.rows, p.m.width));
  h.vocab = p.m.width;
  if (h.order && h.bias) return refuse(c.api, "a head with an order has no bias");
  h.bytes = allowed[1];
  if (h.allowed && allowed[0] == 0) h.allowed = NULL;
  if (h.allowed && p.rows > 0 && (!h.groups || !h.slots || !h.wanted || h.sentences < 1 || h.bytes * 8 < p.m.width))
    return refuse(c.api, "%lld bytes allow tokens of %lld", (long long)h.bytes, (long long)p.m.width);
  for (int64_t s = 0; h.allowed && s < h.sentences; s++)
    if (h.slots[s] < 0 || h.slots[s] >= allowed[0]) return refuse(c.api, "row %d is none of %lld", h.slots[s], (long long)allowed[0]);
  if (h.k < 1 || h.k > p.m.width)
    return refuse(c.api, "%lld candidates are wanted of %lld tokens", (long long)h.k, (long long)p.m.width);
  if (p.rows > 0 && !h.x && h.table.halves) return refuse(c.api, "embeddings need hidden states");
  if (!h.table.halves && h.x && ((h.order && !h.table.rows) || h.width != p.depth))
    return refuse(c.api, "the matrix is no table of embeddings of %lld numbers in the order of the tokens", (long long)h.width);
  h.table.panels = p.m.panels, h.table.scale = p.m.scale;
  h.proposed = h.k;
  if (h.x) h.proposed = node->spare < p.m.width - h.k ? h.k + node->spare : p.m.width;
  h.parts = (p.m.width + TOGETHER * PANEL - 1) / (TOGETHER * PANEL);
  d[1] = h.k;
  TRY(output(c, 0, d, 2, &h.val));
  TRY(output(c, 1, d, 2, &h.idx));
  TRY(output(c, 2, d, 1, &h.lse));
  return p.rows > 0 ? head_run(c, &p, &h) : NULL;
}
