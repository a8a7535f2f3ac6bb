// The operator of the LM head in 8 bits.
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "multiply_int8.h"

// TOGETHER panels of logits are processed together: the candidates are found and the exponentials summed while they are in the
// cache. All logits of 80 rows take 41 MB.
enum { TOGETHER = 12 };

// About so many panels, or all of a small vocabulary, are samples: of a head with an order, the mass of the outputs that are not
// allowed is estimated from the samples that have no allowed output, without the one with the largest mass, which a single likely
// output decides. Without that mass the log-probabilities of steps would not compare with each other, and beams would change.
enum { SAMPLES = 240 };

// A panel with fewer allowed outputs of a sentence than FEW is not computed for all rows: a source has pieces all over the
// vocabulary. The logits of these outputs are products of x and the table.
enum { FEW = 4 };

// A Mask has the outputs that the translation of a sentence may have.
typedef struct {
  const uint8_t *bits;  // a bit for each output
  int64_t excluded;     // number of outputs that are not allowed
  int32_t *tokens;      // [few]: of allowed outputs in panels with FEW
  int64_t few;          // number of these tokens
} Mask;

// A HeadRow collects the best candidates of a row from all threads. The order of candidates is unique, so the result does not
// depend on the order of threads.
typedef struct {
  pthread_mutex_t lock;  // guards best and count
  int64_t count;
  Candidate *best;      // logits without the row's scale, unless there is a bias
  _Atomic float least;  // lower logits are not among the best
  Mask *mask;           // null: all outputs are allowed
  ExpSum *samples;      // [h->samples]: of sampled panels, or of no output
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
  int64_t samples, stride;  // every stride-th panel is a sample; 0: none is
  Mask *masks;              // [sentences]
  HeadRow *rows;
  ExpSum *sums;  // [rows, parts]
  float *val, *lse;
  int64_t *idx;
} Head;

// scale_of returns the missing factor of the logits of a row's candidates.
static float scale_of(const Head *h, int64_t r) { return h->bias ? 1 : h->scale[r]; }

// The logit of tokens that are not allowed: it contributes nothing to a sum.
static const float never = -1e30f;

// bits_of returns the bits of a panel.
static unsigned bits_of(const Head *h, const uint8_t *bits, int64_t panel) {
  int64_t width = h->vocab - panel * PANEL;
  unsigned low = bits[2 * panel], high = width > 8 ? bits[2 * panel + 1] : 0, both = low | high << 8;
  return width < PANEL ? both & ((1u << width) - 1) : both;
}

// are_few reports whether a panel with these bits has outputs of Mask.tokens.
static int are_few(const Head *h, unsigned bits) { return h->samples && h->table.halves && bits && __builtin_popcount(bits) < FEW; }

// only copies the logits of allowed outputs of the panels from `panel` on, without those of Mask.tokens, and returns their number.
static int64_t only(const Head *h, float *out, const float *logits, const uint8_t *mask, int64_t panel, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i += PANEL, panel++) {
    int64_t end = n - i < PANEL ? n : i + PANEL;
    unsigned bits = bits_of(h, mask, panel);
    if (are_few(h, bits)) bits = 0;
    if (bits == (1u << PANEL) - 1)
      memcpy(out + i, logits + i, PANEL * sizeof *out);
    else
      for (int64_t j = i; j < end; j++) out[j] = bits >> (j - i) & 1 ? logits[j] : never;
    count += __builtin_popcount(bits);
  }
  return count;
}

// all reports whether all bytes of the bits of a whole unit have a value.
static int all(const uint8_t *bits, uint8_t value) {
  for (int64_t i = 0; i < TOGETHER * PANEL / 8; i++)
    if (bits[i] != value) return 0;
  return 1;
}

// is_sample reports whether a panel is a sample for rows with a mask.
static int is_sample(const Head *h, const uint8_t *bits, int64_t panel) {
  return h->samples && panel % h->stride == h->stride / 2 && (panel + 1) * PANEL <= h->vocab && !bits_of(h, bits, panel);
}

// choose marks the panels, of `panels`, that a mask wants, and finds its tokens.
static void choose(const Head *h, Mask *m, uint8_t *wanted, int64_t panels) {
  m->excluded = h->vocab;
  for (int64_t p = 0; p < panels; p++) {
    uint64_t four = 0;
    if (p % 4 == 0 && (p + 4) * PANEL <= h->vocab) {
      memcpy(&four, m->bits + 2 * p, sizeof four);
      if (!four || !~four) {  // as most of a vocabulary
        if (four) memset(wanted + p, 1, 4), m->excluded -= 4 * PANEL;
        p += 3;
        continue;
      }
    }
    unsigned bits = bits_of(h, m->bits, p);
    m->excluded -= __builtin_popcount(bits);
    if (!are_few(h, bits)) {
      wanted[p] |= bits != 0;
      continue;
    }
    for (int i = 0; i < PANEL; i++)
      if (bits >> i & 1) m->tokens[m->few++] = h->order[p * PANEL + i];
  }
  for (int64_t i = 0; i < h->samples; i++) {
    int64_t panel = i * h->stride + h->stride / 2;
    wanted[panel] |= is_sample(h, m->bits, panel);
  }
}

// sample sums up the sampled panels of a unit.
static void sample(const Head *h, HeadRow *row, const float *logits, float scale, int64_t panel, int64_t width) {
  for (int64_t i = 0; i < width / PANEL; i++)
    if (is_sample(h, row->mask->bits, panel + i)) row->samples[(panel + i) / h->stride] = kernels->exp_sum(logits + i * PANEL, scale, PANEL);
}

// add_excluded returns the log-sum-exp of all outputs, given that of the allowed ones.
static float add_excluded(const Head *h, HeadRow *row, float lse) {
  int64_t count = 0, top = 0;
  for (int64_t i = 0; i < h->samples; i++) {
    ExpSum s = row->samples[i];
    if (!(s.sum > 0)) continue;
    row->samples[count++] = s;
    ExpSum best = row->samples[top];
    if (s.peak + logf(s.sum) > best.peak + logf(best.sum)) top = count - 1;
  }
  if (count < 2) return lse;
  row->samples[top] = (ExpSum){never, 0};
  float rest = kernels->log_sum_exp(row->samples, count) + logf((float)row->mask->excluded / ((count - 1) * PANEL));
  float peak = rest > lse ? rest : lse;
  return peak + logf(expf(rest - peak) + expf(lse - peak));
}

static void head_unit(Int8Product *p, const float *acc, int64_t first, int64_t n, int64_t panel, int64_t width) {
  Head *h = p->arguments;
  float biased[TOGETHER * PANEL];
  for (int64_t r = first; r < first + n; r++, acc += width) {
    HeadRow *row = h->rows + r;
    ExpSum *part = h->sums + r * h->parts + panel / TOGETHER;
    const float *logits = acc;
    if (h->bias) kernels->add_bias(biased, acc, h->scale[r], h->bias + panel * PANEL, width), logits = biased;
    const uint8_t *bits = row->mask ? row->mask->bits : NULL, *part_bits = bits ? bits + panel * PANEL / 8 : NULL;
    int whole = bits && width == TOGETHER * PANEL;
    if (bits && !(whole && all(part_bits, 0xff))) {
      if (h->samples) sample(h, row, logits, scale_of(h, r), panel, width);
      if (whole && all(part_bits, 0)) continue;
      if (!only(h, biased, logits, bits, panel, width)) continue;
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

// add_few adds the outputs of Mask.tokens to the candidates, and returns lse with theirs. few has room for their logits.
static float add_few(const Head *h, int64_t r, float *few, float lse) {
  HeadRow *row = h->rows + r;
  int64_t n = row->mask->few;
  if (n == 0) return lse;
  for (int64_t i = 0; i < n; i++)
    if (row->mask->tokens[i] < 0 || row->mask->tokens[i] >= h->vocab) return NAN;  // the order is damaged
  float scale = scale_of(h, r) > 0 ? scale_of(h, r) : 1;
  kernels->table_logits(few, row->mask->tokens, n, h->x + r * h->width, h->table, h->width);
  ExpSum sums[2] = {{lse, 1}, kernels->exp_sum(few, 1, n)};
  for (int64_t i = 0; i < n; i++) few[i] /= scale;
  row->count = kernels->add_candidates(row->best, row->count, h->proposed, few, row->mask->tokens, 0, n);
  return kernels->log_sum_exp(sums, 2);
}

static void head_row(Task *t, int64_t r, void *scratch) {
  const Head *h = t->arguments;
  HeadRow *row = h->rows + r;
  h->lse[r] = kernels->log_sum_exp(h->sums + r * h->parts, h->parts);
  if (row->mask) h->lse[r] = add_few(h, r, scratch, h->lse[r]);
  // The value in place of a candidate: logits are NaN, or fewer tokens are allowed than wanted.
  Candidate none = {row->mask ? never : NAN, 0};
  while (row->mask && row->count > 0 && row->best[row->count - 1].logit <= never) row->count--;
  for (int64_t i = 0; i < row->count; i++) {
    row->best[i].logit *= scale_of(h, r);
    int64_t id = row->best[i].id, place = id >= 0 && id < h->vocab ? table_row(h->table, id) : -1;
    if (place >= 0 && place < h->vocab) continue;
    none.logit = NAN, row->count = 0;  // the order is damaged
  }
  for (int64_t i = row->count; i < h->proposed; i++) row->best[i] = none;
  if (row->mask && h->samples) h->lse[r] = add_excluded(h, row, h->lse[r]);
  if (h->x) h->lse[r] = kernels->rescore(row->best, row->count, h->x + r * h->width, h->table, h->bias, h->width, h->lse[r]);
  for (int64_t i = 0; i < h->k; i++) {
    h->val[r * h->k + i] = row->best[i].logit - h->lse[r];
    h->idx[r * h->k + i] = row->best[i].id;
  }
}

// mask_rows gives rows their masks, marks the wanted panels, and returns the most tokens of a mask. tokens has room for FEW - 1 in
// each panel of each sentence.
static int64_t mask_rows(Head *h, int64_t rows, uint8_t *wanted, int64_t panels, int32_t *tokens) {
  int64_t sentence = -1, most = 0;
  memset(wanted, 0, panels);
  for (int64_t r = 0; r < rows; r++) {
    int64_t s = sentence < 0 || h->wanted[r] < h->groups[sentence] ? 0 : sentence;
    while (s + 1 < h->sentences && h->groups[s + 1] <= h->wanted[r]) s++;
    Mask *m = h->masks + s;
    if (s != sentence) {
      *m = (Mask){.bits = h->allowed + h->slots[s] * h->bytes, .tokens = tokens + s * panels * (FEW - 1)};
      choose(h, m, wanted, panels);
      most = m->few > most ? m->few : most;
    }
    sentence = s;
    h->rows[r].mask = m;
  }
  return most;
}

// head_run computes a head. Its rows begin empty.
static OrtStatus *head_run(Call c, Int8Product *p, Head *h) {
  int64_t panels = (p->m.width + PANEL - 1) / PANEL;
  if (h->order && h->allowed) {
    h->stride = panels < 2 * SAMPLES ? 1 : panels / SAMPLES;
    h->samples = (panels - h->stride / 2 + h->stride - 1) / h->stride;
  }
  size_t best = p->rows * h->proposed * sizeof(Candidate), sums = p->rows * (h->parts + h->samples) * sizeof(ExpSum);
  size_t rest = p->rows * sizeof(HeadRow), masks = h->allowed ? h->sentences * sizeof(Mask) : 0;
  size_t tokens = h->samples ? h->sentences * panels * (FEW - 1) * sizeof(int32_t) : 0;
  char *memory = malloc(best + sums + rest + masks + tokens + panels);
  if (!memory) return fail(c.api, ORT_FAIL, "out of memory");
  h->rows = (HeadRow *)(memory + best + sums), h->sums = (ExpSum *)(memory + best), h->masks = (Mask *)(memory + best + sums + rest);
  for (int64_t r = 0; r < p->rows; r++) {
    h->rows[r] = (HeadRow){.best = (Candidate *)memory + r * h->proposed, .least = -INFINITY, .samples = h->sums + p->rows * h->parts + r * h->samples};
    pthread_mutex_init(&h->rows[r].lock, NULL);
  }
  Task rows = {.item = head_row, .items = p->rows, .arguments = h};
  if (h->allowed) {
    for (int64_t i = 0; i < p->rows * (h->parts + h->samples); i++) h->sums[i] = (ExpSum){never, 0};
    uint8_t *wanted = (uint8_t *)memory + best + sums + rest + masks + tokens;
    p->wanted = wanted;
    rows.scratch = mask_rows(h, p->rows, wanted, panels, (int32_t *)(memory + best + sums + rest + masks)) * sizeof(float);
  }
  OrtStatus *status = int8_run(c, p);
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
