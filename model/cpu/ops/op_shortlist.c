// The operator of lexical shortlists, which have the allowed tokens of a translation for each token of a source.
#include <string.h>

#include "call.h"

static int allow(uint8_t *mask, int64_t id, int64_t width) {
  if (id < 0 || id >= width || mask[id / 8] >> id % 8 & 1) return 0;
  mask[id / 8] |= 1 << id % 8;
  return 1;
}

// Shortlist: ids int64 [T], offsets int32 [B+1], slots int32 [B], starts int64 [S+1], targets int32 [N], allowed uint8 [rows,
// bytes] → int32 [1]. In row slots[b] of allowed, a bit for each of `width` tokens, it sets the tokens that the translation of
// sentence b may have: the `first` ones, targets[starts[w]] to targets[starts[w+1]-1] of each token w of the source, w itself if
// the vocabulary is `shared`, and as many tokens after the first as make their number a multiple of eight, like Marian. If
// allowed has no rows, it does nothing.
OrtStatus *op_shortlist(void *kernel, OrtKernelContext *context) {
  const Node *k = kernel;
  Call c = {k->api, context, k};
  const int64_t *ids, *starts;
  const int32_t *offsets, *slots, *targets;
  uint8_t *allowed;
  int32_t *done;
  int64_t tokens = ANY, sentences = ANY, words = ANY, n = ANY, m[2] = {ANY, ANY}, one = 1;
  TRY(input(c, 0, &ids, &tokens, 1));
  TRY(input(c, 2, &slots, &sentences, 1));
  TRY(vector(c, 1, &offsets, sentences + 1));
  TRY(input(c, 3, &starts, &words, 1));
  TRY(input(c, 4, &targets, &n, 1));
  TRY(input(c, 5, &allowed, m, 2));
  TRY(partition(c, offsets, sentences, tokens));
  TRY(output(c, 0, &one, 1, &done));
  *done = 1;
  if (m[0] > 0 && (k->first > k->width || m[1] * 8 < k->width))
    return refuse(c.api, "%lld bytes do not hold %lld tokens, of which %lld come first", (long long)m[1], (long long)k->width, (long long)k->first);
  for (int64_t s = 0; m[0] > 0 && s < sentences; s++) {
    if (slots[s] < 0 || slots[s] >= m[0]) return refuse(c.api, "row %d is none of %lld", slots[s], (long long)m[0]);
    uint8_t *mask = allowed + slots[s] * m[1];
    int64_t count = 0, next = k->first;
    memset(mask, 0, m[1]);
    for (int64_t id = 0; id < k->first; id++) count += allow(mask, id, k->width);
    for (int64_t t = offsets[s]; t < offsets[s + 1]; t++) {
      int64_t w = ids[t];
      if (k->shared) count += allow(mask, w, k->width);
      if (w < 0 || w + 1 >= words) continue;
      if (starts[w] < 0 || starts[w + 1] > n) return refuse(c.api, "the list of token %lld leaves the %lld targets", (long long)w, (long long)n);
      for (int64_t i = starts[w]; i < starts[w + 1]; i++) count += allow(mask, targets[i], k->width);
    }
    while (count % 8 && next < k->width) count += allow(mask, next++, k->width);
  }
  return NULL;
}
