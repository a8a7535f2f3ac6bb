// Runs the kernels on its input, for tests that build it for one CPU generation, or with sanitizers:
//
//   kernels exp        float32s → e^x of each
//   kernels to_half    float32s → halves
//   kernels from_half  halves → float32s, each from the scalar and the vector function
//   kernels all        nothing → the results of every kernel on made-up numbers
//
// Every buffer has exactly the size of the kernel's contract, so that a sanitizer detects accesses out of bounds.
#include <stdio.h>
#include <stdlib.h>

#include "generation.h"

static uint32_t seed = 1;

// next returns a number from -2 to 2.
static float next(void) {
  seed = seed * 1664525 + 1013904223;
  return (float)(int32_t)seed * 0x1p-30f;
}

static float *numbers(int64_t n) {
  float *x = malloc(n * sizeof *x);
  for (int64_t i = 0; i < n; i++) x[i] = next();
  return x;
}

static void print(const float *x, int64_t n) { fwrite(x, sizeof *x, n, stdout); }

// print_bytes prints bytes as floats, and frees them.
static void print_bytes(uint8_t *q, int64_t n) {
  for (int64_t i = 0; i < n; i++) print(&(float){q[i]}, 1);
  free(q);
}

static void rows(int64_t n) {
  float *x = numbers(n), *acc = numbers(2 * n), *bias = numbers(n), *gain = numbers(n), *beta = numbers(n);
  float *total = malloc(4 * n), *y = malloc(4 * n), *scratch = malloc(4 * (n + LANES)), scale[2] = {0.5f, 0.25f}, s;
  uint8_t *q = malloc(n), *relu = malloc(n);
  quantize_row(q, &s, x, n, 0);
  print(&s, 1);
  relu_quantize_row(relu, &s, (Product){acc, scale, bias}, 1, scratch, n, 0);
  print(&s, 1);
  add_norm_row(total, y, x, (Product){acc, scale, bias}, 1, gain, beta, 1e-5f, n);
  print(total, n);
  print(y, n);
  for (Activation a = SWISH; a < ACTIVATIONS; a++) {
    activation_quantize_row(q, &s, (Product){acc, scale, bias}, 1, a, scratch, n);
    print(&s, 1);
    print(scratch, n);
  }
  float *both = numbers(2 * n);
  for (Activation a = RELU; a < ACTIVATIONS; a++) {
    gate_row(y, (Product){acc, scale, both}, 0, a, n);
    print(y, n);
  }
  add_rms_norm_row(total, y, x, (Product){acc, scale, bias}, 1, gain, 1e-6f, n);
  print(total, n);
  print(y, n);
  free(both);
  add_norm_row(y, y, x, (Product){acc, scale, bias}, 1, gain, beta, 1e-5f, n);
  print(y, n);
  quantize_row(q, &s, x, n, 0);
  print_bytes(q, n);
  print_bytes(relu, n);
  free(x), free(acc), free(bias), free(gain), free(beta), free(total), free(y), free(scratch);
}

// attention decodes `length` tokens of two beams whose histories cross.
static void attention(int64_t heads, int64_t head_dim, float factor, int64_t length, int half, int64_t reach) {
  Heads h = {heads, head_dim, factor, NULL, reach};
  float *after = NULL, *around = NULL;
  if (reach >= 0) h.bias = after = numbers((reach + 1) * heads), around = numbers((2 * reach + 1) * heads);
  int64_t width = h.heads * h.head_dim, token = width * (half ? 4 : 8), layer = 1;
  Memory m = {malloc(2 * 2 * length * token), 2, length, token, half};
  float *acc = numbers(length * 3 * width), *bias = numbers(3 * width), *scale = numbers(length);
  Product p = {acc, scale, bias};
  for (int row = 0; row < 2; row++) store_tokens(m, layer, row, 0, p, 0, 3 * width, width, length, width);
  int32_t *history = malloc(length * sizeof *history);
  for (int64_t t = 0; t < length; t++) history[t] = next() > 0;
  float *q = numbers(2 * width), *out = malloc(2 * width * sizeof *out);
  Query queries[] = {{q, out, history, 0, length}, {q + width, out + width, NULL, 1, (length + 1) / 2}};
  float *scores = malloc(attend_scratch(2, length) * sizeof *scores);
  for (int64_t first = 0; first < h.heads; first++) attend(m, layer, h, queries, 2, first, first + 1, scores);
  print(out, 2 * width);
  attend(m, layer, h, queries, 2, 0, h.heads, scores);
  print(out, 2 * width);

  float *encoded = malloc(length * width * sizeof *encoded);
  h.bias = around;
  float *scratch = malloc(self_attend_scratch(h, length) * sizeof *scratch);
  for (int64_t head = 0; head < h.heads; head++) self_attend(p, h, head, 0, length, encoded, scratch);
  print(encoded, length * width);
  free(after), free(around), free(m.data), free(acc), free(bias), free(scale), free(history), free(q), free(out), free(scores), free(encoded), free(scratch);
}

static void head(int64_t n, int64_t k, int64_t d) {
  float *acc = numbers(n), *x = numbers(d), *scratch = malloc(best_candidates_scratch(n) * sizeof *scratch);
  uint16_t *table = malloc(n * d * sizeof *table);
  for (int64_t i = 0; i < n * d; i++) table[i] = float_to_half(next());
  Candidate *best = malloc(k * sizeof *best);
  float lse = best_candidates(best, k, acc, 3, n, scratch);
  print(&lse, 1);
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t i = 0; i < k; i++) print((float[]){best[i].logit, best[i].id}, 2);
    lse = rescore(best, k, x, (Table){.halves = table}, pass ? acc : NULL, d, lse);
  }
  free(acc), free(x), free(scratch), free(table), free(best);
}

static void product(int64_t rows, int64_t depth, int64_t width, int half) {
  int64_t panels = (width + PANEL_WIDTH - 1) / PANEL_WIDTH, n = panels * depth * PANEL_WIDTH;
  float *x = numbers(rows * depth), *w = numbers(n), *bias = numbers(width), *y = malloc(rows * width * sizeof *y);
  uint16_t *halves = malloc(n * sizeof *halves);
  for (int64_t i = 0; i < n; i++) halves[i] = float_to_half(w[i]);
  Panels p = {half ? (void *)halves : w, depth, width, half};
  for (Activation a = NO_ACTIVATION; a < ACTIVATIONS; a++) {
    for (int64_t i = 0; i < panels; i++) multiply_panel(y, x, rows, p, i, a ? bias : NULL, a);
    print(y, rows * width);
  }
  float *position = numbers(depth), *embedded = malloc(depth * sizeof *embedded);
  embed_row(embedded, p, (width - 1) / 32 * 32 * p.depth + (width - 1) % 32, 32, 2, position);
  print(embedded, depth);
  embed_row(embedded, p, 0, 32, 2, NULL);
  print(embedded, depth);
  free(x), free(w), free(bias), free(y), free(halves), free(position), free(embedded);
}

static void all(void) {
  int64_t widths[] = {1, 3, 15, 16, 17, 33, 64, 257, 1000}, lengths[] = {1, 2, 15, 16, 17, 50};
  struct { int64_t count, dim; float scale; } heads[] = {{1, 1, 1}, {2, 8, 0.5f}, {3, 11, 0.25f}, {2, 64, 0.125f}, {2, 80, 0.1f}};
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
    rows(widths[i]);
    head(widths[i], widths[i] < 9 ? widths[i] : 9, widths[i]);
  }
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++)
      for (int half = 0; half < 2; half++)
        for (int64_t reach = -1; reach < 60; reach = 4 * reach + 4)
          attention(heads[i].count, heads[i].dim, heads[i].scale, lengths[j], half, reach);
  for (int64_t rows = 1; rows < 16; rows++)
    for (int half = 0; half < 2; half++) {
      product(rows, 1, 1, half);
      product(rows, 17, 45, half);
      product(rows, 64, 96, half);
    }
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "all";
  float x[LANES];
  uint16_t h[LANES];
  if (!strcmp(what, "exp"))
    while (fread(x, sizeof x, 1, stdin)) {
      EACH_PART store(x + p * NATIVE, vexp(load(x + p * NATIVE)));
      print(x, LANES);
    }
  else if (!strcmp(what, "to_half"))
    while (fread(x, sizeof *x, 1, stdin)) {
      *h = float_to_half(*x);
      fwrite(h, sizeof *h, 1, stdout);
    }
  else if (!strcmp(what, "from_half"))
    while (fread(h, sizeof h, 1, stdin)) {
      EACH_PART store(x + p * NATIVE, load_half(h + p * NATIVE));
      for (int i = 0; i < LANES; i++) print((float[]){half_to_float(h[i]), x[i]}, 2);
    }
  else
    all();
}
