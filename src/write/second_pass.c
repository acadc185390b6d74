/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/second_pass: blocks of the file go through a pipeline (base/pipeline.h): threads split and
 * render them; in file order they are written, or their rows are added to the buckets of a random
 * order (shuffle.h). A second pipeline shuffles and writes the buckets.
 *
 *   file -> blocks -> cells -> rendered rows -> sink              rows keep their order
 *                                            -> buckets -> sink   rows are shuffled
 */
#include "write/second_pass.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/pipeline.h"
#include "table/count.h"
#include "table/dictionary.h"
#include "table/fold.h"
#include "write/render.h"
#include "write/shuffle.h"
#include "write/spill.h"

enum { TILE_ROWS = 256, MAX_THREADS = 64, FLUSH_BYTES = 256 * 1024 };

/* A rendered row, and the bucket it goes to. */
typedef struct rendered_row {
  uint32_t size_bytes;
  uint16_t bucket;
} rendered_row;

/* One released column that is rendered from its code, or columns that are copied from the file. */
typedef struct column_run {
  size_t column;     /* the first, among the released ones */
  size_t n_copied;   /* columns that are neighbours in the file too; 0: it has codes */
  size_t first_cell; /* its column in the file */
  size_t code_index; /* counted: among the counted columns */
} column_run;

typedef struct worker {
  shoal_block block;
  bool no_quotes; /* cells of the block are bytes of the release, but for carriage returns */
  bool has_return;
  shoal_output_chunk chunk;
  uint32_t *codes;   /* counted: of a tile, row by row */
  uint16_t *buckets; /* of the block's rows */
  size_t buckets_capacity;
  rendered_row *rows;
  size_t n_rows, rows_capacity;
  shoal_bytes waiting; /* the rows of a bucket */
  uint32_t n_waiting;
  uint32_t *positions; /* their order */
  size_t *starts;      /* where each begins */
  size_t positions_capacity, starts_capacity;
} worker;

typedef struct second_pass {
  const shoal_csv_plan *plan;
  const shoal_table *table;
  const shoal_table_source *source;
  const shoal_run *run;
  shoal_sink *sink;
  shoal_row_renderer renderer;
  column_run *runs;
  size_t n_runs, n_copied;
  shoal_blocks blocks;
  /* counted */
  bool is_counted;
  size_t n_coded;                 /* columns that were counted */
  size_t *coded;                  /* which they are */
  shoal_dictionary *dictionaries; /* of them */
  shoal_row_counts *tuples;       /* the counted rows */
  _Atomic uint64_t *seen;         /* by counted row: how often it was met again */
  /* shuffled */
  bool is_shuffled;
  shoal_shuffle shuffle;
  shoal_spill *spill;
  uint64_t n_blocks;
  uint64_t n_rows; /* to be written */
  worker workers[MAX_THREADS];
} second_pass;

bool shoal_csv_needs_second_pass(const shoal_csv_plan *plan) {
  if (shoal_table_is_counted(plan->table)) return true;
  for (size_t c = 0; c < plan->n_columns; c++)
    if (plan->columns[c].column->is_left) return true;
  return false;
}

/* ------------------------------------------------------------ preparing */

/* The dictionary of a counted column: its spellings in the file, or its values by their codes. */
static bool fill_dictionary(const shoal_column *column, shoal_dictionary *d) {
  const struct shoal_spellings *file = column->spellings;
  uint32_t n = file ? file->n_spellings : column->n_values;
  const uint64_t *offsets = file ? file->offsets : column->offsets;
  const char *bytes = file ? file->bytes : column->bytes;
  if (!shoal_dictionary_init(d)) return false;
  for (uint32_t v = 0; v < n; v++)
    if (shoal_dictionary_code(d, bytes + offsets[v], (uint32_t)(offsets[v + 1] - offsets[v]), v) !=
        v)
      return false;
  return true;
}

static bool prepare_counted(second_pass *p) {
  const shoal_table *table = p->table;
  p->coded = shoal_alloc(table->n_columns, sizeof *p->coded);
  p->dictionaries = shoal_alloc_zero(table->n_columns, sizeof *p->dictionaries);
  p->seen = shoal_alloc_zero((size_t)table->n_rows, sizeof *p->seen);
  if (!p->coded || !p->dictionaries || !p->seen) return false;
  for (size_t c = 0; c < table->n_columns; c++) {
    if (!table->columns[c].code_size) continue;
    p->coded[p->n_coded] = c;
    if (!fill_dictionary(&table->columns[c], &p->dictionaries[p->n_coded++])) return false;
  }
  for (unsigned i = 0; i < shoal_run_threads(p->run); i++) {
    p->workers[i].codes = shoal_alloc((p->n_coded + 1) * TILE_ROWS, sizeof(uint32_t));
    if (!p->workers[i].codes) return false;
  }
  p->tuples = shoal_row_counts_new(p->n_coded);
  if (!p->tuples) return false;
  uint32_t *codes = p->workers[0].codes;
  for (uint64_t row = 0; row < table->n_rows; row++) {
    for (size_t i = 0; i < p->n_coded; i++)
      codes[i] = shoal_column_code(&table->columns[p->coded[i]], row);
    if (!shoal_row_counts_add(p->tuples, codes, 1, row)) return false;
  }
  return true;
}

/* Released columns, in their order; neighbours that are copied are one run. */
static bool make_runs(second_pass *p) {
  p->runs = shoal_alloc_zero(p->plan->n_columns, sizeof *p->runs);
  if (!p->runs) return false;
  for (size_t c = 0; c < p->plan->n_columns; c++) {
    const shoal_column *column = p->plan->columns[c].column;
    size_t cell = (size_t)(column - p->table->columns);
    column_run *last = p->n_runs ? &p->runs[p->n_runs - 1] : NULL;
    bool copied = !column->code_size;
    p->n_copied += copied;
    if (copied && last && last->n_copied && last->first_cell + last->n_copied == cell) {
      last->n_copied++;
      continue;
    }
    column_run *run = &p->runs[p->n_runs++];
    *run = (column_run){.column = c, .n_copied = copied, .first_cell = cell};
    while (!copied && p->is_counted && p->coded[run->code_index] != cell) run->code_index++;
  }
  return true;
}

static bool prepare(second_pass *p) {
  const shoal_csv_plan *plan = p->plan;
  if (p->is_counted && !prepare_counted(p)) return false;
  for (uint64_t row = 0; row < p->table->n_rows; row++)
    if (plan->action[plan->group_of_row[row]] != SHOAL_ROW_REMOVE)
      p->n_rows += shoal_table_count(p->table, row);
  return make_runs(p) && shoal_row_renderer_init(&p->renderer, plan, 0); /* it packs no rows */
}

static void reset(second_pass *p) {
  for (unsigned i = 0; i < MAX_THREADS; i++) {
    worker *w = &p->workers[i];
    shoal_block_reset(&w->block);
    free(w->chunk.rendered.bytes);
    free(w->codes);
    free(w->buckets);
    free(w->rows);
    free(w->waiting.bytes);
    free(w->positions);
    free(w->starts);
  }
  for (size_t i = 0; i < p->n_coded; i++) shoal_dictionary_reset(&p->dictionaries[i]);
  shoal_row_counts_free(p->tuples);
  shoal_row_renderer_reset(&p->renderer);
  shoal_blocks_close(&p->blocks);
  shoal_spill_free(p->spill);
  free(p->runs);
  free(p->coded);
  free(p->dictionaries);
  free(p->seen);
}

/* ------------------------------------------------------------ reading */

/* Opens the file and reads its header; both must be as they were. */
static shoal_status open_file(second_pass *p, shoal_error *error) {
  shoal_stamp stamp;
  SHOAL_TRY(shoal_blocks_open(&p->blocks, p->source->path, p->table->name, p->source->encoding,
                              p->source->or_utf8, error));
  if (!shoal_source_stamp(p->blocks.source, &stamp) ||
      !shoal_stamp_equal(&stamp, &p->source->stamp))
    return shoal_table_source_changed(p->table, error);
  if (shoal_run_threads(p->run) > 1) SHOAL_TRY(shoal_source_read_ahead(p->blocks.source, error));
  shoal_table *header = shoal_alloc_zero(1, sizeof *header);
  shoal_status status = SHOAL_OK;
  if (!header || !(header->name = strdup(p->table->name))) status = shoal_fail_memory(error);
  if (status == SHOAL_OK)
    status = shoal_table_take_header(&p->blocks, header, p->table->delimiter, error);
  bool same = status == SHOAL_OK && header->n_columns == p->table->n_columns;
  for (size_t c = 0; same && c < header->n_columns; c++)
    same = strcmp(header->columns[c].name, p->table->columns[c].name) == 0;
  if (status == SHOAL_OK && !same) status = shoal_table_source_changed(p->table, error);
  shoal_table_delete(header);
  return status;
}

static shoal_status read_block(void *user, unsigned i, uint64_t item, bool *more,
                               shoal_error *error) {
  second_pass *p = user;
  *more = shoal_blocks_next(&p->blocks, &p->workers[i].block);
  if (*more) p->n_blocks = item + 1;
  if (*more || p->blocks.status == SHOAL_OK) return SHOAL_OK;
  *error = p->blocks.error; /* the pipeline's own: never NULL */
  return p->blocks.status;
}

/* Splits the block; it must be the one that the first pass met here. */
static shoal_status split_block(const second_pass *p, worker *w, uint64_t item,
                                shoal_error *error) {
  shoal_block *b = &w->block;
  bool same = item < p->source->n_pieces;
  if (same && p->source->piece_hash)
    same = p->source->piece_hash[item] == shoal_hash_bytes(b->bytes, b->size_bytes);
  if (!same) return shoal_table_source_changed(p->table, error);
  w->no_quotes =
      !p->plan->quote_formulas && p->plan->n_columns > 1 && !memchr(b->bytes, '"', b->size_bytes);
  w->has_return = w->no_quotes && memchr(b->bytes, '\r', b->size_bytes);
  shoal_csv_problem problem =
      shoal_csv_split(b->bytes, b->size_bytes, p->blocks.delimiter, p->table->n_columns, &b->cells);
  if (problem.fault == SHOAL_CSV_MEMORY) return shoal_fail_memory(error);
  if (problem.fault != SHOAL_CSV_OK ||
      p->source->piece_start[item + 1] - p->source->piece_start[item] != b->cells.n_rows)
    return shoal_table_source_changed(p->table, error);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ rendering */

/* Columns that are copied: at once where no cell needs quotes, else cell by cell. */
static char *copy_run(const second_pass *p, const worker *w, size_t row, const column_run *run,
                      char *to) {
  const shoal_cells *cells = &w->block.cells;
  const shoal_csv_plan *plan = p->plan;
  size_t first = row * p->table->n_columns + run->first_cell, end = first + run->n_copied;
  const char *from = cells->bytes + cells->begin[first];
  size_t size = cells->end[end - 1] - cells->begin[first];
  char last = run->column + run->n_copied == plan->n_columns ? '\n' : plan->delimiter;
  if (w->no_quotes && !(w->has_return && memchr(from, '\r', size))) {
    memcpy(to, from, size);
    to[size] = last;
    return to + size + 1;
  }
  for (size_t cell = first; cell < end; cell++) {
    to += shoal_cell_render(plan, cells->bytes + cells->begin[cell],
                            cells->end[cell] - cells->begin[cell], to);
    *to++ = plan->delimiter;
  }
  to[-1] = last;
  return to;
}

/* Row `row` of the block, which is row `known` of the table. `codes`: counted; else NULL. */
static bool render_row(const second_pass *p, worker *w, size_t row, uint64_t known,
                       const uint32_t *codes) {
  const shoal_csv_plan *plan = p->plan;
  const shoal_cells *cells = &w->block.cells;
  size_t first = row * p->table->n_columns, last = first + p->table->n_columns - 1;
  size_t copied = (size_t)(cells->end[last] - cells->begin[first]);
  shoal_bytes *b = &w->chunk.rendered;
  char *to = shoal_bytes_room(b, p->renderer.widest + 2 * copied + p->n_copied * SHOAL_CELL_EXTRA);
  if (!to) return false;
  uint32_t group = plan->group_of_row[known];
  bool blank = plan->action[group] == SHOAL_ROW_BLANK;
  for (const column_run *run = p->runs; run < p->runs + p->n_runs; run++) {
    const shoal_column_renderer *column = &p->renderer.columns[run->column];
    const shoal_csv_column *own = column->cells;
    if (run->n_copied) to = copy_run(p, w, row, run, to);
    else if ((blank && own->generalized) || (own->suppressed_cells && own->suppressed_cells[group]))
      to = shoal_put_star(column, to);
    else if (own->cell_of_group) to = shoal_put_cell(column, own->cell_of_group[group], to);
    else
      to = shoal_put_cell(
          column, codes ? codes[run->code_index] : shoal_column_code(own->column, known), to);
  }
  size_t size = (size_t)(to - b->bytes) - b->size;
  b->size += size;
  w->rows[w->n_rows++] = (rendered_row){(uint32_t)size, w->buckets[row]};
  return true;
}

static bool is_released(const second_pass *p, uint64_t row) {
  return p->plan->action[p->plan->group_of_row[row]] != SHOAL_ROW_REMOVE;
}

static shoal_status render_counted_tile(second_pass *p, worker *w, size_t first, size_t n,
                                        shoal_error *error) {
  uint32_t tuples[TILE_ROWS];
  /* Codes of a tile of rows; false: a cell that was not there in the first pass. */
  const shoal_cells *cells = &w->block.cells;
  uint32_t column[TILE_ROWS];
  for (size_t i = 0; i < p->n_coded; i++) {
    size_t cell = first * p->table->n_columns + p->coded[i];
    if (!shoal_dictionary_look_up(&p->dictionaries[i], cells->bytes, cells->begin + cell,
                                  cells->end + cell, p->table->n_columns, n, column))
      return shoal_table_source_changed(p->table, error);
    const struct shoal_spellings *file = p->table->columns[p->coded[i]].spellings;
    for (size_t r = 0; r < n; r++)
      w->codes[r * p->n_coded + i] = file ? file->code_of[column[r]] : column[r];
  }
  shoal_row_counts_find(p->tuples, w->codes, n, tuples);
  for (size_t r = 0; r < n; r++) {
    if (tuples[r] == SHOAL_NONE) return shoal_table_source_changed(p->table, error);
    (void)atomic_fetch_add_explicit(&p->seen[tuples[r]], 1, memory_order_relaxed);
    if (is_released(p, tuples[r]) &&
        !render_row(p, w, first + r, tuples[r], w->codes + r * p->n_coded))
      return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

static shoal_status render_block(void *user, unsigned i, uint64_t item, shoal_error *error) {
  second_pass *p = user;
  worker *w = &p->workers[i];
  SHOAL_TRY(split_block(p, w, item, error));
  uint64_t start = p->source->piece_start[item];
  size_t n = w->block.cells.n_rows;
  if (!shoal_grow(&w->rows, &w->rows_capacity, n + 1, sizeof *w->rows) ||
      !shoal_grow(&w->buckets, &w->buckets_capacity, n + 1, sizeof *w->buckets))
    return shoal_fail_memory(error);
  if (p->is_shuffled) shoal_shuffle_assign(&p->shuffle, start, n, w->buckets);
  else memset(w->buckets, 0, n * sizeof *w->buckets);
  w->n_rows = 0;
  w->chunk.rendered.size = 0;
  for (size_t row = 0; p->is_counted && row < n; row += TILE_ROWS)
    SHOAL_TRY(render_counted_tile(p, w, row, n - row < TILE_ROWS ? n - row : TILE_ROWS, error));
  for (size_t row = 0; !p->is_counted && row < n; row++)
    if (is_released(p, start + row) && !render_row(p, w, row, start + row, NULL))
      return shoal_fail_memory(error);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ writing */

static shoal_status write_block(void *user, unsigned i, uint64_t item, shoal_error *error) {
  second_pass *p = user;
  worker *w = &p->workers[i];
  (void)item;
  if (!p->is_shuffled) return shoal_output_chunk_write(&w->chunk, p->sink, error);
  const char *at = w->chunk.rendered.bytes;
  for (size_t r = 0; r < w->n_rows; r++) {
    SHOAL_TRY(shoal_spill_add(p->spill, w->rows[r].bucket, at, w->rows[r].size_bytes, error));
    at += w->rows[r].size_bytes;
  }
  return SHOAL_OK;
}

static shoal_status complete_block(void *user, unsigned i, uint64_t item, shoal_error *error) {
  const second_pass *p = user;
  (void)item;
  if (p->is_shuffled) return SHOAL_OK;
  return shoal_output_chunk_complete(&p->workers[i].chunk, p->sink, error);
}

static shoal_status report_block(void *user, uint64_t n_done, shoal_error *error) {
  const second_pass *p = user;
  uint64_t done = n_done < p->source->n_pieces ? n_done : p->source->n_pieces;
  return shoal_run_report(p->run, "write", p->source->piece_start[done],
                          p->source->piece_start[p->source->n_pieces], "rows", error);
}

/* Was all of the file met again, every counted row as often as it was counted? */
static shoal_status check_all_met(const second_pass *p, shoal_error *error) {
  bool same = p->n_blocks == p->source->n_pieces && !shoal_source_touched(p->blocks.source);
  for (uint64_t row = 0; same && p->is_counted && row < p->table->n_rows; row++)
    same = atomic_load_explicit(&p->seen[row], memory_order_relaxed) == p->table->counts[row];
  return same ? SHOAL_OK : shoal_table_source_changed(p->table, error);
}

static shoal_status next_bucket(void *user, unsigned i, uint64_t item, bool *more,
                                shoal_error *error) {
  const second_pass *p = user;
  (void)i;
  (void)error;
  *more = item < shoal_shuffle_buckets(&p->shuffle);
  return SHOAL_OK;
}

static shoal_status shuffle_bucket(void *user, unsigned i, uint64_t item, shoal_error *error) {
  second_pass *p = user;
  worker *w = &p->workers[i];
  SHOAL_TRY(shoal_spill_load(p->spill, (uint32_t)item, &w->waiting, &w->n_waiting, error));
  size_t n = w->n_waiting;
  if (!shoal_grow(&w->positions, &w->positions_capacity, n + 1, sizeof *w->positions) ||
      !shoal_grow(&w->starts, &w->starts_capacity, n + 1, sizeof *w->starts))
    return shoal_fail_memory(error);
  size_t at = 0;
  for (size_t r = 0; r < n; r++) {
    uint32_t size;
    w->starts[r] = at;
    memcpy(&size, w->waiting.bytes + at, sizeof size);
    at += sizeof size + size;
  }
  shoal_shuffle_permute(&p->shuffle, (uint32_t)item, w->n_waiting, w->positions);
  return SHOAL_OK;
}

/* Writes the bucket's rows in their order, some at a time: a bucket may be large. */
static shoal_status put_bucket(second_pass *p, worker *w, shoal_error *error) {
  shoal_output_chunk *chunk = &w->chunk;
  shoal_bytes *to = &chunk->rendered;
  uint64_t offset = chunk->offset;
  to->size = 0;
  for (uint32_t r = 0; r < w->n_waiting; r++) {
    uint32_t size;
    const char *row = w->waiting.bytes + w->starts[w->positions[r]];
    memcpy(&size, row, sizeof size);
    if (!shoal_bytes_room(to, size)) return shoal_fail_memory(error);
    memcpy(to->bytes + to->size, row + sizeof size, size);
    to->size += size;
    if (to->size < FLUSH_BYTES && r + 1 < w->n_waiting) continue;
    SHOAL_TRY(chunk->placed ? shoal_sink_write_at(p->sink, offset, to->bytes, to->size, error)
                            : shoal_sink_write(p->sink, to->bytes, to->size, error));
    offset += to->size;
    to->size = 0;
  }
  return SHOAL_OK;
}

static shoal_status write_bucket(void *user, unsigned i, uint64_t item, shoal_error *error) {
  second_pass *p = user;
  worker *w = &p->workers[i];
  (void)item;
  size_t size = w->waiting.size - w->n_waiting * sizeof(uint32_t);
  w->chunk.placed = shoal_sink_reserve(p->sink, size, &w->chunk.offset);
  return w->chunk.placed ? SHOAL_OK : put_bucket(p, w, error);
}

static shoal_status complete_bucket(void *user, unsigned i, uint64_t item, shoal_error *error) {
  second_pass *p = user;
  (void)item;
  return p->workers[i].chunk.placed ? put_bucket(p, &p->workers[i], error) : SHOAL_OK;
}

static shoal_status write_rows(second_pass *p, int spill_fd, shoal_random *random,
                               shoal_error *error) {
  unsigned n_threads = shoal_run_threads(p->run);
  if (!prepare(p)) return shoal_fail_memory(error);
  SHOAL_TRY(open_file(p, error));
  p->is_shuffled = random != NULL;
  if (random) {
    shoal_shuffle_init(&p->shuffle, random, p->table->n_records);
    SHOAL_TRY(shoal_spill_new(spill_fd, shoal_shuffle_buckets(&p->shuffle), &p->spill, error));
  }
  SHOAL_TRY(shoal_csv_write_header(p->plan, p->sink, error));
  shoal_pipeline blocks = {p, read_block, render_block, write_block, complete_block, report_block};
  SHOAL_TRY(shoal_pipeline_run(&blocks, n_threads, error));
  SHOAL_TRY(check_all_met(p, error));
  shoal_pipeline buckets = {p, next_bucket, shuffle_bucket, write_bucket, complete_bucket, NULL};
  if (random) SHOAL_TRY(shoal_pipeline_run(&buckets, n_threads, error));
  return shoal_sink_finish(p->sink, error);
}

shoal_status shoal_csv_write_second_pass(const shoal_csv_plan *plan, shoal_sink *sink, int spill_fd,
                                         shoal_random *random, const shoal_run *run,
                                         uint64_t *n_rows, shoal_error *error) {
  assert(plan->table->source && plan->table->source->path);
  assert(!plan->order); /* only a table with noise rows has one, and that has all its columns */
  second_pass *p = shoal_alloc_zero(1, sizeof *p);
  if (!p) return shoal_fail_memory(error);
  p->plan = plan;
  p->table = plan->table;
  p->source = plan->table->source;
  p->is_counted = shoal_table_is_counted(plan->table);
  p->sink = sink;
  p->run = run;
  shoal_status status = write_rows(p, spill_fd, random, error);
  *n_rows = p->n_rows;
  reset(p);
  free(p);
  return status;
}
