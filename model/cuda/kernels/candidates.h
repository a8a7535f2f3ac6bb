// Kernels of the LM head for one type T of activations. The including file
// defines T, NAME, LOAD and STORE.

// better offers the list the keys below a limit.
DEVICE void NAME(better)(u64 *list, const u64 *keys, u64 limit) {
  u64 below[EACH];
  LANES(l) OF(below, l) = OF(keys, l) < limit ? OF(keys, l) : 0;
  offer(list, below);
}

// logits that a lane of PartialCandidates loads before it uses the first
#undef AHEAD
#define AHEAD 8

// finite_or_0 returns the reference for exponents: -inf minus -inf would be
// NaN.
DEVICE float NAME(finite_or_0)(float top) { return top == -INFINITE ? 0 : top; }

DEVICE void NAME(partial_candidates)(const struct partial_args *a, i64 unit) {
  const i64 r = unit / a->chunks, first = unit % a->chunks * VOCAB_CHUNK;
  const i64 end = first + VOCAB_CHUNK < a->vocab ? first + VOCAB_CHUNK : a->vocab;
  const T *logits = (const T *)a->logits + r * a->vocab;
  float most[EACH], sum[EACH], v[AHEAD * EACH];
  u64 keys[EACH], list[EACH], limit = ~0ull;
  LANES(l) OF(most, l) = -INFINITE, OF(sum, l) = 0;
  for (i32 page = 0; page < a->pages; page++) {
    LANES(l) OF(list, l) = 0;
    for (i64 at = first; at < end; at += AHEAD * WARP) {
      ELEMENTS(e, AHEAD, end - at) LANES(l) {
        const i64 i = at + e * WARP + l;
        OF(v + e * EACH, l) = i >= end ? -INFINITE : a->bias ? LOAD(logits[i]) + a->bias[i] : LOAD(logits[i]);
      }
      if (page == 0) LANES(l) {
        float top = OF(most, l);
        ELEMENTS(e, AHEAD, end - at) top = fmaxf(top, OF(v + e * EACH, l));
        float total = OF(sum, l) * expf(OF(most, l) - NAME(finite_or_0)(top));
        ELEMENTS(e, AHEAD, end - at) total += expf(OF(v + e * EACH, l) - NAME(finite_or_0)(top));
        OF(most, l) = top, OF(sum, l) = total;
      }
      ELEMENTS(e, AHEAD, end - at) {
        LANES(l) {
          const i64 i = at + e * WARP + l;
          OF(keys, l) = i < end ? sort_key(OF(v + e * EACH, l), (u32)i) : 0;
        }
        NAME(better)(list, keys, limit);
      }
    }
    LANES(l) a->keys[(unit * a->pages + page) * WARP + l] = (i64)OF(list, l);
    limit = lane_key(list, WARP - 1);
  }
  const float top = warp_max(most);
  LANES(l) OF(sum, l) *= expf(OF(most, l) - NAME(finite_or_0)(top));
  const float total = warp_sum(sum);
  LANES(l) if (l == 0) a->stats[unit * 2] = top, a->stats[unit * 2 + 1] = total;
}

// log_sum_exp combines the sums of all chunks.
DEVICE float NAME(log_sum_exp)(const float *stats, i32 chunks) {
  float most[EACH], sum[EACH];
  LANES(l) {
    float top = -INFINITE;
    for (i32 c = l; c < chunks; c += WARP) top = fmaxf(top, stats[2 * c]);
    OF(most, l) = top;
  }
  const float top = warp_max(most);
  LANES(l) {
    float total = 0;
    for (i32 c = l; c < chunks; c += WARP) total += stats[2 * c + 1] * expf(stats[2 * c] - top);
    OF(sum, l) = total;
  }
  return top + logf(warp_sum(sum));
}

DEVICE void NAME(merge_candidates)(const struct merge_args *a, i64 r) {
  const i32 n = a->chunks * a->pages;
  const i64 *parts = a->parts + r * n * WARP;
  const float lse = NAME(log_sum_exp)(a->stats + r * a->chunks * 2, a->chunks);
  u64 all[AHEAD * EACH], list[EACH], limit = ~0ull;
  for (i32 page = 0; page < a->pages; page++) {
    LANES(l) OF(list, l) = 0;
    for (i32 at = 0; at < n; at += AHEAD) {
      ELEMENTS(e, AHEAD, (n - at) * WARP) LANES(l) OF(all + e * EACH, l) = at + e < n ? (u64)parts[(i64)(at + e) * WARP + l] : 0;
      ELEMENTS(e, AHEAD, (n - at) * WARP) NAME(better)(list, all + e * EACH, limit);
    }
    limit = lane_key(list, WARP - 1);
    LANES(l) a->keys[(r * a->pages + page) * WARP + l] = (i64)OF(list, l);
  }
  LANES(l) if (l == 0) a->lse[r] = lse;
}

DEVICE void NAME(rescore)(const struct rescore_args *a, i64 unit) {
  const i64 r = unit / (WARP * a->pages);
  const u64 key = (u64)a->keys[unit];
  float dot[EACH];
  LANES(l) OF(dot, l) = 0;
  if (key && a->pages == 1) {
    const T *hidden = (const T *)a->hidden + r * a->width, *row = (const T *)a->table + (i64)key_id(key) * a->width;
    for (i32 first = 0; first < a->width; first += AHEAD * WARP)
      ELEMENTS(e, AHEAD, a->width - first) LANES(l) {
        const i32 i = first + e * WARP + l;
        if (i < a->width) OF(dot, l) += LOAD(hidden[i]) * LOAD(row[i]);
      }
  }
  float logit = warp_sum(dot);
  if (key && a->bias) logit += a->bias[key_id(key)];
  LANES(l) if (l == 0) a->rescored[unit] = (i64)(key && a->pages == 1 ? sort_key(logit, key_id(key)) : key);
}

DEVICE void NAME(best_candidates)(const struct best_args *a, i64 r) {
  const i32 n = WARP * a->pages;
  i32 *best = a->best + r * (2 * n + 1);
  const float lse = a->lse[r];
  u64 keys[EACH], list[EACH];
  for (i32 page = 0; page < a->pages; page++) {
    LANES(l) OF(keys, l) = (u64)a->keys[r * n + page * WARP + l], OF(list, l) = 0;
    offer(list, keys);
    LANES(l) {
      const u64 key = OF(list, l);
      best[page * WARP + l] = (i32)bits_of(key ? key_logit(key) - lse : -INFINITE);
      best[n + page * WARP + l] = key ? (i32)key_id(key) : -1;
    }
  }
  LANES(l) if (l == 0) best[2 * n] = (i32)bits_of(lse);
}
