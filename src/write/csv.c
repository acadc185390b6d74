/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/csv: in table order, threads render ranges of rows, which are written one after the other.
 * Shuffled (shuffle.h): each thread adds the packed rows of its part of the table to buckets of its
 * own; then threads shuffle and render one bucket each.
 */
#include "write/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/pipeline.h"
#include "base/text.h"
#include "write/render.h"
#include "write/shuffle.h"

enum {
  RANGE_ROWS = 16 * 1024,
  MAX_THREADS = 64,
  FLUSH_BYTES = 1 << 20,
  TILE_ROWS = 512 /* packed at a time, while they are in the cache */
};

/* What one thread works with. */
typedef struct worker {
  shoal_output_chunk chunk;
  uint8_t *tile;       /* packed rows */
  uint32_t *positions; /* the order of a bucket */
  size_t positions_capacity;
  uint8_t *bucket; /* its packed rows */
  size_t bucket_capacity;
} worker;

/* The rows that one thread assigns to buckets. */
typedef struct part {
  uint64_t first_row, end_row, first_record, end_record;
  shoal_buckets buckets;
} part;

typedef struct writing {
  const shoal_csv_plan *out;
  shoal_row_renderer rows;
  shoal_sink *sink;
  const shoal_run *run;
  uint64_t n_items; /* rows in order, or buckets */
  uint64_t n_rows;  /* that are written */
  unsigned n_threads;
  worker workers[MAX_THREADS];
  /* shuffled */
  shoal_shuffle order;
  part parts[MAX_THREADS];
} writing;

/* ------------------------------------------------------------ writing rendered bytes */

static shoal_status hand_over(void *user, unsigned i, uint64_t item, shoal_error *error) {
  writing *w = user;
  (void)item;
  return shoal_output_chunk_write(&w->workers[i].chunk, w->sink, error);
}

static shoal_status finish(void *user, unsigned i, uint64_t item, shoal_error *error) {
  const writing *w = user;
  (void)item;
  return shoal_output_chunk_complete(&w->workers[i].chunk, w->sink, error);
}

static shoal_status report(void *user, uint64_t n_done, shoal_error *error) {
  const writing *w = user;
  uint64_t done = w->n_rows * n_done / w->n_items; /* one of them is done: there are some */
  return shoal_run_report(w->run, "write", done, w->n_rows, "rows", error);
}

static shoal_status take(void *user, unsigned i, uint64_t item, bool *more, shoal_error *error) {
  const writing *w = user;
  (void)i;
  (void)error;
  *more = item < w->n_items;
  return SHOAL_OK;
}

/* ------------------------------------------------------------ in order */

static bool is_released(const shoal_csv_plan *out, uint64_t row) {
  return out->action[out->group_of_row[row]] != SHOAL_ROW_REMOVE;
}

static bool render_tile(const writing *w, worker *self, const uint64_t *row_of, size_t n) {
  shoal_rows_pack(&w->rows, row_of, n, self->tile);
  return shoal_rows_render(&w->rows, self->tile, NULL, n, &self->chunk.rendered);
}

static shoal_status render_range(void *user, unsigned i, uint64_t item, shoal_error *error) {
  const writing *w = user;
  worker *self = &((writing *)user)->workers[i];
  const shoal_csv_plan *out = w->out;
  uint64_t first = item * RANGE_ROWS, left = out->table->n_rows - first, rows[TILE_ROWS];
  uint64_t end = first + (left < RANGE_ROWS ? left : RANGE_ROWS);
  size_t n = 0;
  self->chunk.rendered.size = 0;
  for (uint64_t at = first; at < end; at++) {
    rows[n] = out->order ? out->order[at] : at;
    n += is_released(out, rows[n]);
    if (n < TILE_ROWS && at + 1 < end) continue;
    if (!render_tile(w, self, rows, n)) return shoal_fail_memory(error);
    n = 0;
  }
  return SHOAL_OK;
}

static shoal_status write_in_order(writing *w, shoal_error *error) {
  w->n_items = (w->out->table->n_rows + RANGE_ROWS - 1) / RANGE_ROWS;
  shoal_pipeline line = {w, take, render_range, hand_over, finish, report};
  return shoal_pipeline_run(&line, w->n_threads, error);
}

/* Rows with counts, in table order: a row may be written very often. */
static shoal_status write_counted(writing *w, shoal_error *error) {
  const shoal_csv_plan *out = w->out;
  worker *self = &w->workers[0];
  shoal_bytes *b = &self->chunk.rendered;
  for (uint64_t row = 0; row < out->table->n_rows; row++) {
    if (!is_released(out, row)) continue;
    for (uint64_t times = out->table->counts[row]; times; times--) {
      if (!render_tile(w, self, &row, 1)) return shoal_fail_memory(error);
      if (b->size < FLUSH_BYTES) continue;
      SHOAL_TRY(shoal_sink_write(w->sink, b->bytes, b->size, error));
      SHOAL_TRY(shoal_run_report(w->run, "write", row, out->table->n_rows, "rows", error));
      b->size = 0;
    }
  }
  return shoal_sink_write(w->sink, b->bytes, b->size, error);
}

/* ------------------------------------------------------------ shuffled */

/* Records of a part, some at a time: a row with a count occurs that many times. */
typedef struct tile {
  uint64_t row, times, record; /* what comes next */
  uint64_t row_of[TILE_ROWS];
  uint16_t bucket[TILE_ROWS];
  size_t n;
} tile;

static bool next_tile(const writing *w, const part *p, tile *t) {
  const shoal_table *table = w->out->table;
  t->n = 0;
  while (t->n < TILE_ROWS && t->row < p->end_row) {
    t->row_of[t->n++] = t->row;
    if (++t->times < shoal_table_count(table, t->row)) continue;
    t->row++;
    t->times = 0;
  }
  shoal_shuffle_assign(&w->order, t->record, t->n, t->bucket);
  t->record += t->n;
  return t->n > 0;
}

/* Rows that are released, with their buckets. */
static void drop_removed(const shoal_csv_plan *out, tile *t) {
  size_t kept = 0;
  for (size_t i = 0; i < t->n; i++) {
    t->row_of[kept] = t->row_of[i];
    t->bucket[kept] = t->bucket[i];
    kept += is_released(out, t->row_of[i]);
  }
  t->n = kept;
}

static void assign_part(void *user, unsigned i) {
  writing *w = user;
  part *p = &w->parts[i];
  const uint8_t *packed = w->workers[i].tile;
  size_t size = w->rows.packed_bytes;
  tile t = {.row = p->first_row, .record = p->first_record};
  while (next_tile(w, p, &t)) {
    drop_removed(w->out, &t);
    shoal_rows_pack(&w->rows, t.row_of, t.n, w->workers[i].tile);
    for (size_t j = 0; j < t.n; j++) shoal_buckets_add(&p->buckets, t.bucket[j], packed + j * size);
  }
}

/* The rows of a bucket, from all parts in their order; false: no memory. */
static bool gather_bucket(const writing *w, worker *self, uint32_t bucket, uint32_t *n) {
  uint64_t n_rows = 0;
  for (unsigned i = 0; i < w->n_threads; i++) n_rows += w->parts[i].buckets.buckets[bucket].n_rows;
  if (n_rows >= UINT32_MAX || /* GCOVR_EXCL_BR_LINE */
      !shoal_grow(&self->positions, &self->positions_capacity, (size_t)n_rows + 1,
                  sizeof *self->positions) ||
      !shoal_grow(&self->bucket, &self->bucket_capacity, (size_t)n_rows + 1, w->rows.packed_bytes))
    return false;
  uint8_t *to = self->bucket;
  for (unsigned i = 0; i < w->n_threads; i++)
    to = shoal_buckets_copy(&w->parts[i].buckets, bucket, to);
  *n = (uint32_t)n_rows;
  return true;
}

static shoal_status render_bucket(void *user, unsigned i, uint64_t item, shoal_error *error) {
  const writing *w = user;
  worker *self = &((writing *)user)->workers[i];
  uint32_t n;
  self->chunk.rendered.size = 0;
  if (!gather_bucket(w, self, (uint32_t)item, &n)) return shoal_fail_memory(error);
  shoal_shuffle_permute(&w->order, (uint32_t)item, n, self->positions);
  bool ok = shoal_rows_render(&w->rows, self->bucket, self->positions, n, &self->chunk.rendered);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status write_shuffled(writing *w, shoal_random *random, shoal_error *error) {
  shoal_shuffle_init(&w->order, random, w->out->table->n_records);
  const shoal_table *table = w->out->table;
  for (unsigned i = 0; i < w->n_threads; i++) {
    part *p = &w->parts[i];
    p->first_row = i ? w->parts[i - 1].end_row : 0;
    p->end_row = table->n_rows / w->n_threads * (i + 1);
    if (i + 1 == w->n_threads) p->end_row = table->n_rows;
    p->first_record = p->end_record = i ? w->parts[i - 1].end_record : 0;
    if (!table->counts) p->end_record = p->end_row;
    for (uint64_t row = p->first_row; table->counts && row < p->end_row; row++)
      p->end_record += table->counts[row];
    if (!shoal_buckets_init(&p->buckets, shoal_shuffle_buckets(&w->order),
                            p->end_record - p->first_record, w->rows.packed_bytes))
      return shoal_fail_memory(error);
  }
  shoal_parallel(w->n_threads, assign_part, w);
  w->n_items = shoal_shuffle_buckets(&w->order);
  shoal_pipeline line = {w, take, render_bucket, hand_over, finish, report};
  return shoal_pipeline_run(&line, w->n_threads, error);
}

/* ------------------------------------------------------------ the whole */

/* The number of groups and of rows that will be written: known, or counted. */
static void count_rows(writing *w, uint32_t *n_groups) {
  const shoal_csv_plan *out = w->out;
  *n_groups = out->n_groups;
  for (uint32_t g = 0; g < out->n_groups; g++)
    if (out->action[g] != SHOAL_ROW_REMOVE) w->n_rows += out->rows_of_group[g];
  for (uint64_t row = 0; !out->n_groups && row < out->table->n_rows; row++) {
    if (out->group_of_row[row] >= *n_groups) *n_groups = out->group_of_row[row] + 1;
    if (is_released(out, row)) w->n_rows += shoal_table_count(out->table, row);
  }
}

static bool prepare(writing *w) {
  uint32_t n_groups;
  count_rows(w, &n_groups);
  if (!shoal_row_renderer_init(&w->rows, w->out, n_groups) ||
      !shoal_rows_make_lines(&w->rows, n_groups, w->n_rows))
    return false;
  w->n_threads = shoal_run_threads(w->run);
  for (unsigned i = 0; i < w->n_threads; i++) {
    w->workers[i].tile = shoal_alloc(TILE_ROWS, w->rows.packed_bytes);
    if (!w->workers[i].tile) return false;
  }
  return true;
}

/* Quotes around a name, not quoted yet, that at the file's start would not be read as text. */
static size_t quote_odd_start(char *cell, size_t size) {
  if (!shoal_starts_oddly(cell, size)) return size;
  memmove(cell + 1, cell, size);
  cell[0] = cell[size + 1] = '"';
  return size + 2;
}

shoal_status shoal_csv_write_header(const shoal_csv_plan *out, shoal_sink *sink,
                                    shoal_error *error) {
  shoal_status status = SHOAL_OK;
  for (size_t c = 0; status == SHOAL_OK && c < out->n_columns; c++) {
    const char *name = out->columns[c].column->name;
    size_t size = strlen(name);
    char *cell = shoal_alloc(2 * size + SHOAL_CELL_EXTRA, 1);
    if (!cell) return shoal_fail_memory(error);
    size_t end = shoal_cell_render(out, name, size, cell);
    if (c == 0) end = quote_odd_start(cell, end);
    cell[end++] = c + 1 == out->n_columns ? '\n' : out->delimiter;
    status = shoal_sink_write(sink, cell, end, error);
    free(cell);
  }
  return status;
}

shoal_status shoal_csv_write(const shoal_csv_plan *out, shoal_sink *sink, shoal_random *random,
                             const shoal_run *run, uint64_t *n_rows, shoal_error *error) {
  writing *w = shoal_alloc_zero(1, sizeof *w);
  if (!w) return shoal_fail_memory(error);
  w->out = out;
  w->sink = sink;
  w->run = run;
  shoal_status status = prepare(w) ? SHOAL_OK : shoal_fail_memory(error);
  *n_rows = w->n_rows;
  if (status == SHOAL_OK) status = shoal_csv_write_header(out, sink, error);
  if (status == SHOAL_OK)
    status = random               ? write_shuffled(w, random, error)
             : out->table->counts ? write_counted(w, error)
                                  : write_in_order(w, error);
  if (status == SHOAL_OK) status = shoal_sink_finish(sink, error);
  for (unsigned i = 0; i < MAX_THREADS; i++) {
    free(w->workers[i].chunk.rendered.bytes);
    free(w->workers[i].tile);
    free(w->workers[i].positions);
    free(w->workers[i].bucket);
    shoal_buckets_reset(&w->parts[i].buckets);
  }
  shoal_row_renderer_reset(&w->rows);
  free(w);
  return status;
}
