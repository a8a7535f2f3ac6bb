// The best candidates of a row of logits.
#ifndef DRAGOMAN_HEAD_H
#define DRAGOMAN_HEAD_H

#include "vec.h"

INLINE int better(float a, int64_t a_id, float b, int64_t b_id) { return a > b || (a == b && a_id < b_id); }

// insert inserts a candidate into the sorted list of at most k, and returns its new length.
INLINE int64_t insert(Candidate *best, int64_t count, int64_t k, float logit, int64_t id) {
  if (count == k) {
    if (!better(logit, id, best[k - 1].logit, best[k - 1].id)) return count;
    count--;
  }
  int64_t i = count;
  for (; i > 0 && better(logit, id, best[i - 1].logit, best[i - 1].id); i--) best[i] = best[i - 1];
  best[i] = (Candidate){logit, id};
  return count + 1;
}

// kth_largest returns the k-th largest of n floats, or -inf if there are fewer; sorted has room for n floats.
INLINE float kth_largest(const float *x, int64_t n, int64_t k, float *sorted) {
  if (k > n) return -INFINITY;
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    if (count == k && !(x[i] > sorted[k - 1])) continue;
    int64_t j = count < k ? count++ : k - 1;
    for (; j > 0 && x[i] > sorted[j - 1]; j--) sorted[j] = sorted[j - 1];
    sorted[j] = x[i];
  }
  return sorted[k - 1];
}

// largest_of returns the largest of n floats.
INLINE float largest_of(const float *x, int64_t n) {
  float peak = x[0];
  int64_t i = 0;
  if (n >= NATIVE) {
    vf m = load(x);
    for (i = NATIVE; i + NATIVE <= n; i += NATIVE) m = vmax(load(x + i), m);
    peak = largest(m);
  }
  for (; i < n; i++) peak = x[i] > peak ? x[i] : peak;
  return peak;
}

// sum_of_exps returns the sum of e^(acc·scale - peak) of n logits.
INLINE float sum_of_exps(const float *acc, float scale, float peak, int64_t n) {
  float total = 0;
  vf lanes[PARTS] = {};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) EACH_PART lanes[p] += vexp(load(acc + i + p * NATIVE) * scale - peak);
  for (; i < n; i++) total += fexp(acc[i] * scale - peak);
  return total + sum(lanes);
}

// Logits are searched in blocks. A block whose largest logit is below the k-th largest of all blocks' has none of the k best: at
// least k logits are above.
static float best_candidates(Candidate *best, int64_t k, const float *acc, float scale, int64_t n, float *scratch) {
  int64_t blocks = (n + BLOCK - 1) / BLOCK;
  float *peaks = scratch;
  for (int64_t b = 0; b < blocks; b++) {
    int64_t i = b * BLOCK;
    peaks[b] = largest_of(acc + i, n - i < BLOCK ? n - i : BLOCK);
  }
  float least = kth_largest(peaks, blocks, k, scratch + blocks);

  int64_t count = 0;
  for (int64_t b = 0; b < blocks; b++) {
    if (peaks[b] < least) continue;
    for (int64_t i = b * BLOCK; i < (b + 1) * BLOCK && i < n; i++)
      if (acc[i] >= least) count = insert(best, count, k, acc[i], i);
  }
  for (; count < k; count++) best[count] = (Candidate){NAN, 0};  // if logits are NaN
  for (int64_t i = 0; i < k; i++) best[i].logit *= scale;
  float peak = best[0].logit;
  return peak + logf(sum_of_exps(acc, scale, peak, n));
}

static ExpSum exp_sum(const float *acc, float scale, int64_t n) {
  float peak = largest_of(acc, n) * scale;
  return (ExpSum){peak, sum_of_exps(acc, scale, peak, n)};
}

static float log_sum_exp(const ExpSum *parts, int64_t n) {
  float peak = parts[0].peak, total = 0;
  for (int64_t i = 1; i < n; i++) peak = parts[i].peak > peak ? parts[i].peak : peak;
  for (int64_t i = 0; i < n; i++) total += parts[i].sum * fexp(parts[i].peak - peak);
  return peak + logf(total);
}

static int64_t add_candidates(Candidate *best, int64_t count, int64_t k, const float *acc, const int32_t *ids, int64_t first, int64_t n) {
  for (int64_t begin = 0; begin < n; begin += NATIVE) {
    int64_t end = n - begin < NATIVE ? n : begin + NATIVE;
    if (count == k && end - begin == NATIVE && !(largest(load(acc + begin)) >= best[k - 1].logit)) continue;
    for (int64_t i = begin; i < end; i++)
      if (count < k || acc[i] >= best[k - 1].logit) count = insert(best, count, k, acc[i], ids ? ids[i] : first + i);
  }
  return count;
}

static void add_bias(float *out, const float *acc, float scale, const float *bias, int64_t n) { linear(out, acc, scale, bias, n); }

// dot_int8 returns the inner product of x [n] and row id of an 8-bit matrix in panels, without the row's scale.
INLINE float dot_int8(const float *x, const int8_t *panels, int64_t id, int64_t n) {
  const int8_t *row = int8_row(panels, id, n);
  float sums[4] = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4, row += 64)
    for (int64_t j = 0; j < 4; j++) sums[j] += x[i + j] * row[j];
  for (int64_t j = 0; i + j < n; j++) sums[j] += x[i + j] * row[j];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

INLINE float table_logit(const float *x, Table t, int64_t id, int64_t d) {
  int64_t row = table_row(t, id);
  return t.halves ? dot_half(x, t.halves + id * d, d) : dot_int8(x, t.panels, row, d) * t.scale[row];
}

static void table_logits(float *out, const int32_t *tokens, int64_t n, const float *x, Table t, int64_t d) {
  for (int64_t i = 0; i < n; i++) out[i] = table_logit(x, t, tokens[i], d);
}

static float rescore(Candidate *best, int64_t k, const float *x, Table t, const float *bias, int64_t d, float lse) {
  float before[CORRECTED], after[CORRECTED], peak = lse;
  int64_t n = k < CORRECTED ? k : CORRECTED;
  for (int64_t i = 0; i < k; i++) {
    int64_t id = best[i].id;
    Candidate c = {table_logit(x, t, id, d), id};
    if (bias) c.logit += bias[c.id];
    if (i < n) {
      before[i] = best[i].logit, after[i] = c.logit;
      if (!(after[i] <= peak)) peak = after[i];
    }
    int64_t j = i;
    for (; j > 0 && better(c.logit, c.id, best[j - 1].logit, best[j - 1].id); j--) best[j] = best[j - 1];
    best[j] = c;
  }
  if (n == 0) return lse;
  float rest = fexp(lse - peak), sum = 0;
  for (int64_t i = 0; i < n; i++) rest -= fexp(before[i] - peak), sum += fexp(after[i] - peak);
  return peak + logf(sum + (rest < 0 ? 0 : rest));
}

#endif
