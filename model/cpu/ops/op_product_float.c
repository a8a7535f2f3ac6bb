// Operators on matrices in panels: products of floats, and embeddings.
#include "call.h"

// panels describes the input with a matrix of the node's width.
static OrtStatus *panels(Call c, const Node *k, size_t i, int64_t depth, int half, Panels *w) {
  int64_t d[3] = {ANY, depth, PANEL_WIDTH};
  TRY(input(c, i, &w->data, d, 3));
  w->depth = d[1], w->width = k->width, w->half = half;
  if (d[0] != (k->width + PANEL_WIDTH - 1) / PANEL_WIDTH)
    return refuse(c.api, "input %zu has %lld panels: they do not make %lld columns", i, (long long)d[0], (long long)k->width);
  return NULL;
}

typedef struct {
  float *y;
  const float *x, *bias;
  Panels w;
  int64_t rows;
  Activation activation;
} Multiply;

static void multiply_item(Task *t, int64_t panel, void *scratch) {
  const Multiply *a = t->arguments;
  (void)scratch;
  kernels->multiply_panel(a->y, a->x, a->rows, a->w, panel, a->bias, a->activation);
}

static OrtStatus *multiply(const Node *k, OrtKernelContext *context, int half, int biased) {
  Call c = {k->api, context, k};
  Multiply a = {.activation = k->activation};
  int64_t d[2] = {ANY, ANY};
  TRY(input(c, 0, &a.x, d, 2));
  TRY(panels(c, k, 1, d[1], half, &a.w));
  if (biased) TRY(vector(c, 2, &a.bias, k->width));
  a.rows = d[0];
  d[1] = k->width;
  TRY(output(c, 0, d, 2, &a.y));
  Task t = {.item = multiply_item, .items = a.rows ? (k->width + PANEL_WIDTH - 1) / PANEL_WIDTH : 0, .arguments = &a};
  // Reading four floats here takes the time that other operators take for one.
  return run(c, &t, a.w.depth * a.w.width * (4 + a.rows) / 16);
}

// Product: x [R, K], w [P, K, 32] → y [R, N] = x·w, with w being N columns in panels.
OrtStatus *op_product_f32(void *kernel, OrtKernelContext *context) { return multiply(kernel, context, 0, 0); }
OrtStatus *op_product_f16(void *kernel, OrtKernelContext *context) { return multiply(kernel, context, 1, 0); }

// ProductActivation: x [R, K], w [P, K, 32], bias [N] → y [R, N] = activation(x·w + bias); ProductRelu has no attribute for it.
OrtStatus *op_product_activation_f32(void *kernel, OrtKernelContext *context) { return multiply(kernel, context, 0, 1); }
OrtStatus *op_product_activation_f16(void *kernel, OrtKernelContext *context) { return multiply(kernel, context, 1, 1); }

typedef struct {
  float *y;
  const float *positions;
  const int64_t *ids, *pos;
  Panels table;
  int64_t step;  // from a number of a token to its next: 1 if tokens have rows
  float scale;
} Embed;

static void embed_item(Task *t, int64_t r, void *scratch) {
  const Embed *a = t->arguments;
  int64_t d = a->table.depth, id = a->ids[r], step = a->step;
  (void)scratch;
  kernels->embed_row(a->y + r * d, a->table, id / step * step * d + id % step, step, a->scale, a->positions ? a->positions + a->pos[r] * d : NULL);
}

// check_tokens checks that tokens have embeddings, and positions too, if there are any.
static OrtStatus *check_tokens(Call c, const int64_t *ids, int64_t rows, int64_t tokens, const float *table, const int64_t *pos, int64_t positions) {
  if (rows > 0 && !table != !pos) return refuse(c.api, "positions and their table need each other");
  for (int64_t r = 0; r < rows; r++)
    if (ids[r] < 0 || ids[r] >= tokens || (pos && (pos[r] < 0 || pos[r] >= positions)))
      return refuse(c.api, "no embedding of token %lld at position %lld: there are %lld tokens, %lld positions",
                    (long long)ids[r], (long long)(pos ? pos[r] : 0), (long long)tokens, (long long)positions);
  return NULL;
}

static OrtStatus *embed(const Node *k, OrtKernelContext *context, int half, int rowwise) {
  Call c = {k->api, context, k};
  Embed a = {.scale = k->scale, .step = rowwise ? 1 : PANEL_WIDTH};
  int64_t rows = ANY, d[2] = {ANY, k->width};
  if (rowwise) {
    TRY(input(c, 0, &a.table.data, d, 2));
    a.table = (Panels){a.table.data, d[1], d[0], half};
  } else {
    TRY(panels(c, k, 0, ANY, half, &a.table));
  }
  d[0] = ANY, d[1] = a.table.depth;
  TRY(input(c, 1, &a.ids, &rows, 1));
  TRY(input(c, 2, &a.positions, d, 2));
  TRY(vector(c, 3, &a.pos, rows));
  TRY(check_tokens(c, a.ids, rows, a.table.width, a.positions, a.pos, d[0]));
  d[0] = rows;
  TRY(output(c, 0, d, 2, &a.y));
  Task t = {.item = embed_item, .items = rows, .arguments = &a};
  return run(c, &t, rows * d[1]);
}

typedef struct {
  float *y;
  const float *positions;
  Table table;
  const int64_t *ids, *pos;
  int64_t width;
  float scale;
} EmbedInt8;

static void embed_int8_item(Task *t, int64_t r, void *scratch) {
  const EmbedInt8 *a = t->arguments;
  int64_t row = table_row(a->table, a->ids[r]);
  (void)scratch;
  kernels->embed_int8_row(a->y + r * a->width, a->table.panels, a->table.scale[row] * a->scale, row,
                 a->positions ? a->positions + a->pos[r] * a->width : NULL, a->width);
}

// EmbedInt8: panels int8 [⌈N/16⌉, ⌈d/4⌉, 16, 4] and scale [N] of a matrix, ids int64 [R], positions [L, d], pos int64 [R], places
// int32 [N] → y [R, d], like Embed; the attribute width is d. places has the row of each token; without it token i is row i.
OrtStatus *op_embed_int8(void *kernel, OrtKernelContext *context) {
  const Node *k = kernel;
  Call c = {k->api, context, k};
  EmbedInt8 a = {.scale = k->scale, .width = k->width};
  int64_t tokens = ANY, rows = ANY, d[2] = {ANY, k->width};
  TRY(input(c, 1, &a.table.scale, &tokens, 1));
  int64_t p[4] = {(tokens + 15) / 16, (k->width + 3) / 4, 16, 4};
  TRY(input(c, 0, &a.table.panels, p, 4));
  TRY(input(c, 2, &a.ids, &rows, 1));
  TRY(input(c, 3, &a.positions, d, 2));
  TRY(vector(c, 4, &a.pos, rows));
  TRY(vector(c, 5, &a.table.rows, tokens));
  TRY(check_tokens(c, a.ids, rows, tokens, a.positions, a.pos, d[0]));
  for (int64_t r = 0; r < rows; r++) {
    int64_t row = table_row(a.table, a.ids[r]);
    if (row < 0 || row >= tokens) return refuse(c.api, "token %lld is row %lld of %lld", (long long)a.ids[r], (long long)row, (long long)tokens);
  }
  int64_t y[2] = {rows, k->width};
  TRY(output(c, 0, y, 2, &a.y));
  Task t = {.item = embed_int8_item, .items = rows, .arguments = &a};
  return run(c, &t, rows * k->width);
}

// Embed: table [P, d, 32], ids int64 [R], positions [L, d], pos int64 [R] → y [R, d] = table[ids]·scale + positions[pos], with
// the columns of the table being N tokens. The last two are optional. EmbedRows: table float16 [N, d]; the attribute width is d.
OrtStatus *op_embed_f32(void *kernel, OrtKernelContext *context) { return embed(kernel, context, 0, 0); }
OrtStatus *op_embed_f16(void *kernel, OrtKernelContext *context) { return embed(kernel, context, 1, 0); }
OrtStatus *op_embed_rows(void *kernel, OrtKernelContext *context) { return embed(kernel, context, 1, 1); }
