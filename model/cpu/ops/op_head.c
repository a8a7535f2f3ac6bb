// The operator of the LM head.
#include "call.h"

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
  a->lse[r] = kernels->best_candidates(best, a->proposed, a->acc + r * a->vocab, a->scale ? a->scale[r] : 1, a->vocab,
                              (float *)(best + a->proposed));
  if (a->table) a->lse[r] = kernels->rescore(best, a->proposed, a->x + r * a->width, (Table){.halves = a->table}, 0, a->width, a->lse[r]);
  for (int64_t i = 0; i < a->k; i++) {
    a->val[r * a->k + i] = best[i].logit - a->lse[r];
    a->idx[r * a->k + i] = best[i].id;
  }
}

// BestCandidates: acc [R, V], k int64 [1], scale [R], x [R, d], table float16 [V, d]
// → val float [R, k], idx int64 [R, k], lse float [R]: log-probabilities and ids of
// the best k tokens, best first, and the log-sum-exp of the logits acc·scale. With x
// and table, the logits of the best k + spare are computed again as x·tableᵀ.
OrtStatus *op_best_candidates(void *kernel, OrtKernelContext *context) {
  Node *k = kernel;
  Call c = {k->api, context, k};
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
    return refuse(c.api, "%lld candidates are wanted of %lld tokens", (long long)a.k, (long long)a.vocab);
  if (d[0] > 0 && !a.x != !a.table) return refuse(c.api, "hidden states and embeddings need each other");
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
