// Products of 8-bit numbers shared by threads, and the operator ProductInt8.
#include "multiply_int8.h"

enum {
  BLOCK_BYTES = 512 << 10,  // of packed rows, about half of a core's second-level cache
  BLOCK_ROWS = 256,
};

Int8Product int8_product(const Node *node) {
  if (node->alpha) return (Int8Product){.unit = 1};  // the offset of 127 in x is left to the bias
  if (node->positive) return (Int8Product){.positive = 1, .unit = 1.0f / 255};
  return (Int8Product){.zero = 128, .unit = 1.0f / 127};
}

OrtStatus *int8_matrix(Call c, size_t i, int64_t depth, Int8Matrix *m) {
  int64_t d[4] = {ANY, (depth + STEP - 1) / STEP, PANEL, STEP}, width[1] = {ANY};
  TRY(input(c, i, &m->panels, d, 4));
  TRY(input(c, i + 1, &m->sums, width, 1));
  TRY(vector(c, i + 2, &m->scale, width[0]));
  m->steps = d[1], m->width = width[0];
  if (d[0] != (m->width + PANEL - 1) / PANEL)
    return refuse(c.api, "%lld outputs are in %lld panels: %lld are wanted", (long long)m->width, (long long)d[0],
                  (long long)((m->width + PANEL - 1) / PANEL));
  if (depth > LARGEST_DEPTH)
    return refuse(c.api, "sums of %lld products do not fit into 32 bits: %d do", (long long)depth, LARGEST_DEPTH);
  return NULL;
}

// A Work is a product in progress.
typedef struct {
  Int8Product *product;
  const Int8Path *path;
  int64_t blocks, parts, units;  // blocks of rows, parts of the matrix, blocks · parts
  int32_t *list;                 // [parts]: the indices of the matrix's parts; null: all
  int64_t most, tiles;           // rows of the largest block; tiles into which these are packed
  int64_t bytes;                 // size of a packed block
  uint8_t *packed;               // [blocks, bytes]
  _Atomic int64_t tile, ready;   // the next tile to pack; the number of packed tiles
  _Atomic int64_t next;          // the next unit
  _Atomic int failed;
} Work;

static int64_t first_row(const Work *w, int64_t block) { return w->product->rows * block / w->blocks; }

// panel_of returns the first panel of a unit.
static int64_t panel_of(const Work *w, int64_t unit) {
  int64_t part = unit % w->parts;
  return (w->list ? w->list[part] : part) * w->product->panels;
}

// run_of moves *panel to the next wanted one, at most to end, and returns the end of the run of wanted panels.
static int64_t run_of(const uint8_t *wanted, int64_t *panel, int64_t end) {
  if (!wanted) return end;
  while (*panel < end && !wanted[*panel]) ++*panel;
  int64_t last = *panel;
  while (last < end && wanted[last]) last++;
  return last;
}

// pack packs all rows together with the other threads, tile by tile, and waits for tiles that other threads have begun.
static void pack(Work *w) {
  const Int8Product *p = w->product;
  int64_t all = w->blocks * w->tiles;
  for (int64_t i; (i = w->tile++) < all; w->ready++) {
    int64_t block = i / w->tiles, tile = i % w->tiles, row = first_row(w, block), n = first_row(w, block + 1) - row;
    if (tile < int8_tiles(w->path, n)) int8_pack(w->path, w->packed + block * w->bytes, p->x + row * p->depth, n, p->depth, tile);
  }
  threads_await(&w->ready, all);
}

static void unit(Work *w, int64_t u, int64_t next, float *floats) {
  Int8Product *p = w->product;
  int64_t block = u / w->parts, row = first_row(w, block), n = first_row(w, block + 1) - row;
  int64_t all = (p->m.width + PANEL - 1) / PANEL, panel = panel_of(w, u), at = panel, after = panel_of(w, next < w->units ? next : u);
  int64_t end = panel + p->panels < all ? panel + p->panels : all;
  int64_t width = (end * PANEL < p->m.width ? end * PANEL : p->m.width) - panel * PANEL;
  Int8Rows rows = {w->path, w->packed + block * w->bytes, n, p->zero, p->unit};
  float *out = p->target ? p->target + row * p->m.width + panel * PANEL : floats;
  run_of(p->wanted, &after, all);
  for (int64_t last = run_of(p->wanted, &at, end); at < end;) {
    int64_t then = last, stop = run_of(p->wanted, &then, end), ahead = then < end ? then : after;
    int8_multiply(rows, p->m, at, last, out + (at - panel) * PANEL, p->target ? p->m.width : width,
                  p->m.panels + ahead * p->m.steps * STEP_BYTES);
    at = then, last = stop;
  }
  if (p->done) p->done(p, out, row, n, panel, width);
}

// A thread takes its next unit before it begins with the present one, so that it can prefetch its weights.
static void thread(void *data, size_t i) {
  (void)i;
  Work *w = data;
  Int8Product *p = w->product;
  pack(w);
  int64_t u = w->next++;
  if (u >= w->units) return;
  float *floats = p->target ? NULL : aligned_take(64, w->most * p->panels * PANEL * sizeof(float));
  if (!p->target && !floats) {
    w->failed = 1;
    return;
  }
  while (u < w->units) {
    int64_t next = w->next++;
    unit(w, u, next, floats);
    u = next;
  }
  aligned_give(floats);
}

// choose lists the parts that have wanted panels, and returns the number of these panels.
static int64_t choose(Work *w, int64_t panels) {
  const Int8Product *p = w->product;
  int64_t parts = 0, count = 0;
  for (int64_t i = 0; i < w->parts; i++) {
    int64_t before = count, end = (i + 1) * p->panels < panels ? (i + 1) * p->panels : panels;
    for (int64_t panel = i * p->panels; panel < end; panel++) count += p->wanted[panel] != 0;
    if (count > before) w->list[parts++] = (int32_t)i;
  }
  w->parts = parts;
  return count;
}

// panels_of returns the number of panels of a unit if its product does not set it: 3, as in the largest tiles, or 2 if the
// threads then finish more evenly. With twos, two threads have 16 of 32 panels each; with threes, one has 18.
static int64_t panels_of(int64_t panels, int64_t blocks, int64_t threads) {
  int64_t twos = blocks * ((panels + 1) / 2), threes = blocks * ((panels + 2) / 3);
  int64_t most_by_twos = (twos + threads - 1) / threads * 2, most_by_threes = (threes + threads - 1) / threads * 3;
  return most_by_twos * 1.05 < most_by_threes ? 2 : 3;
}

OrtStatus *int8_run(Call c, Int8Product *p) {
  // Waking other threads takes longer than SMALL products and, for their weights, the time of WEIGHTS more rows.
  enum { SMALL = 1 << 21, WEIGHTS = 8 };
  if (p->rows == 0 || p->m.width == 0) return NULL;
  if (!pieces_rest()) return fail(c.api, ORT_FAIL, "the run was given up");
  const Int8Path *path = int8_path(p->positive);
  int64_t bytes = p->m.steps * STEP, limit = bytes ? BLOCK_BYTES / bytes : BLOCK_ROWS;
  limit = limit < 8 ? 8 : limit > BLOCK_ROWS ? BLOCK_ROWS : limit;
  Work w = {.product = p, .path = path, .blocks = (p->rows + limit - 1) / limit};
  w.most = (p->rows + w.blocks - 1) / w.blocks, w.tiles = int8_tiles(path, w.most);
  w.bytes = (int8_packed(path, w.most, p->m.steps) + 63) / 64 * 64;
  int64_t panels = (p->m.width + PANEL - 1) / PANEL;
  if (!p->panels) p->panels = panels_of(panels, w.blocks, c.node->threads);
  w.parts = (panels + p->panels - 1) / p->panels;
  if (p->wanted) {
    w.list = malloc(w.parts * sizeof *w.list);
    if (!w.list) return fail(c.api, ORT_FAIL, "out of memory");
    panels = choose(&w, panels);
  }
  w.units = w.blocks * w.parts;
  w.packed = aligned_take(64, w.blocks * w.bytes);
  if (!w.packed)
    w.failed = 1;
  else if ((p->rows + WEIGHTS) * panels * PANEL * p->depth < SMALL || w.units <= 1)
    thread(&w, 0);
  else
    threads_run(c.node->threads, thread, &w, w.units < c.node->threads ? w.units : c.node->threads);
  aligned_give(w.packed);
  free(w.list);
  return w.failed ? fail(c.api, ORT_FAIL, "out of memory") : NULL;
}

// ProductInt8: x uint8 [R, K], panels int8 [⌈N/16⌉, ⌈K/4⌉, 16, 4], sums int32 [N], scale [N] → acc [R, N] = (x -
// zero)·matrix·scale/levels. If `positive` is set, x is the output of ReluQuantize: zero is 0 and levels are 255; otherwise they
// are 128 and 127. With an alpha they are 0 and 1: the offset of 127 in x is left to the bias.
OrtStatus *op_product_int8(void *kernel, OrtKernelContext *context) {
  Node *k = kernel;
  Call c = {k->api, context, k};
  Int8Product p = int8_product(k);
  int64_t d[2] = {ANY, ANY};
  TRY(input(c, 0, &p.x, d, 2));
  p.rows = d[0], p.depth = d[1];
  TRY(int8_matrix(c, 1, p.depth, &p.m));
  d[1] = p.m.width;
  TRY(output(c, 0, d, 2, &p.target));
  return int8_run(c, &p);
}
