/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/again: see again.h. Blocks of the file go down a line (base/line.h): threads split and
 * render them; in order they are written, or their rows thrown into the spool's buckets. Buckets
 * go down a second line, to be shuffled and written. What was counted is counted once more: only
 * if every distinct row stands in the file as often as before is the release one of this table.
 */
#include "write/again.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/line.h"
#include "table/count.h"
#include "table/dictionary.h"
#include "write/order.h"
#include "write/spool.h"

enum { TILE_ROWS = 256, MAX_THREADS = 64 };

/* A row that was rendered, and where it is to go. */
typedef struct rendered_row {
  uint32_t size_bytes;
  uint16_t bucket;
} rendered_row;

typedef struct worker {
  shoal_block block;
  shoal_delivery delivery;
  uint32_t *codes;   /* of a tile, row by row */
  uint16_t *buckets; /* of a block's rows */
  size_t buckets_capacity;
  rendered_row *rows;
  size_t n_rows, rows_capacity;
  shoal_bytes spooled; /* a bucket */
  uint32_t *places;    /* its order */
  size_t *starts;      /* of its rows */
  size_t places_capacity, starts_capacity;
} worker;

typedef struct again {
  const shoal_csv_out *out;
  const shoal_table *table;
  const shoal_run *run;
  shoal_sink *sink;
  shoal_rows_out rows;
  shoal_blocks blocks;
  size_t width;                   /* counted columns */
  size_t *columns;                /* which they are */
  shoal_dictionary *dictionaries; /* of them */
  size_t *code_at;                /* by released column: which of them it is; SIZE_MAX: none */
  shoal_counted *tuples;          /* the counted rows */
  _Atomic uint64_t *seen;         /* by counted row */
  bool shuffled;
  shoal_order order;
  shoal_spool *spool;
  uint64_t n_blocks;
  uint64_t n_rows; /* to be written */
  worker workers[MAX_THREADS];
} again;

/* ------------------------------------------------------------ what was counted */

/* The dictionary of a counted column: the same codes as in the first pass. */
static bool fill_dictionary(const shoal_column *column, shoal_dictionary *d) {
  if (!shoal_dictionary_init(d)) return false;
  for (uint32_t v = 0; v < column->n_values; v++) {
    size_t size;
    const char *value = shoal_column_value(column, v, &size);
    if (shoal_dictionary_code(d, value, (uint32_t)size, v) != v) return false;
  }
  return true;
}

static bool fill_tuples(again *a, uint32_t *codes) {
  for (uint64_t row = 0; row < a->table->n_rows; row++) {
    for (size_t i = 0; i < a->width; i++)
      codes[i] = shoal_column_code(&a->table->columns[a->columns[i]], row);
    if (!shoal_counted_add(a->tuples, codes, 1, row)) return false;
  }
  return true;
}

static bool allocate_workers(again *a) {
  for (unsigned i = 0; i < shoal_run_threads(a->run); i++) {
    shoal_block_init(&a->workers[i].block);
    a->workers[i].codes = shoal_alloc((a->width + 1) * TILE_ROWS, sizeof(uint32_t));
    if (!a->workers[i].codes) return false;
  }
  return true;
}

static bool prepare(again *a) {
  const shoal_table *table = a->table;
  a->columns = shoal_alloc(table->n_columns, sizeof *a->columns);
  a->dictionaries = shoal_alloc_zero(table->n_columns, sizeof *a->dictionaries);
  a->code_at = shoal_alloc(a->out->n_columns, sizeof *a->code_at);
  a->seen = shoal_alloc_zero((size_t)table->n_rows, sizeof *a->seen);
  if (!a->columns || !a->dictionaries || !a->code_at || !a->seen) return false;
  for (size_t c = 0; c < table->n_columns; c++) {
    if (!table->columns[c].code_size) continue;
    a->columns[a->width] = c;
    if (!fill_dictionary(&table->columns[c], &a->dictionaries[a->width++])) return false;
  }
  for (size_t c = 0; c < a->out->n_columns; c++) {
    a->code_at[c] = SIZE_MAX;
    for (size_t i = 0; i < a->width; i++)
      if (&table->columns[a->columns[i]] == a->out->columns[c].column) a->code_at[c] = i;
  }
  for (uint64_t row = 0; row < table->n_rows; row++)
    if (a->out->fate[a->out->group_of_row[row]] != SHOAL_FATE_REMOVE)
      a->n_rows += table->counts[row];
  a->tuples = shoal_counted_new(a->width);
  return a->tuples && allocate_workers(a) && fill_tuples(a, a->workers[0].codes) &&
         shoal_rows_out_init(&a->rows, a->out, 0); /* rows are rendered at once, never packed */
}

static void reset(again *a) {
  for (unsigned i = 0; i < MAX_THREADS; i++) {
    worker *w = &a->workers[i];
    shoal_block_reset(&w->block);
    free(w->delivery.rendered.bytes);
    free(w->codes);
    free(w->buckets);
    free(w->rows);
    free(w->spooled.bytes);
    free(w->places);
    free(w->starts);
  }
  for (size_t i = 0; i < a->width; i++) shoal_dictionary_reset(&a->dictionaries[i]);
  shoal_counted_free(a->tuples);
  shoal_rows_out_reset(&a->rows);
  shoal_blocks_close(&a->blocks);
  shoal_spool_free(a->spool);
  free(a->columns);
  free(a->dictionaries);
  free(a->code_at);
  free(a->seen);
}

/* ------------------------------------------------------------ the file, once more */

/* Opens the file and takes its header off; both must be as they were. */
static shoal_status open_again(again *a, shoal_error *error) {
  const shoal_origin *origin = a->table->origin;
  shoal_stamp stamp;
  SHOAL_TRY(shoal_blocks_open(&a->blocks, origin->path, a->table->name, error));
  if (!shoal_source_stamp(a->blocks.source, &stamp) || !shoal_stamp_equal(&stamp, &origin->stamp))
    return shoal_origin_changed(a->table, error);
  if (shoal_run_threads(a->run) > 1) SHOAL_TRY(shoal_source_read_ahead(a->blocks.source, error));
  shoal_table *header = shoal_alloc_zero(1, sizeof *header);
  shoal_status status = SHOAL_OK;
  if (!header || !(header->name = strdup(a->table->name))) status = shoal_fail_memory(error);
  if (status == SHOAL_OK)
    status = shoal_table_take_header(&a->blocks, header, a->table->delimiter, error);
  bool same = status == SHOAL_OK && header->n_columns == a->table->n_columns;
  for (size_t c = 0; same && c < header->n_columns; c++)
    same = strcmp(header->columns[c].name, a->table->columns[c].name) == 0;
  if (status == SHOAL_OK && !same) status = shoal_origin_changed(a->table, error);
  shoal_table_free(header);
  return status;
}

static shoal_status take_block(void *user, unsigned i, uint64_t item, bool *more,
                               shoal_error *error) {
  again *a = user;
  *more = shoal_blocks_next(&a->blocks, &a->workers[i].block);
  if (*more) a->n_blocks = item + 1;
  if (*more || a->blocks.status == SHOAL_OK) return SHOAL_OK;
  *error = a->blocks.error; /* the line's own: never NULL */
  return a->blocks.status;
}

/* A cell that is released as it is. */
static char *put_raw(const again *a, const worker *w, size_t c, size_t row, char *to) {
  const shoal_cells *cells = &w->block.cells;
  size_t column = (size_t)(a->out->columns[c].column - a->table->columns);
  size_t cell = row * a->table->n_columns + column;
  to += shoal_cell_render(a->out, cells->bytes + cells->begin[cell],
                          cells->end[cell] - cells->begin[cell], to);
  *to++ = c + 1 == a->out->n_columns ? '\n' : a->out->delimiter;
  return to;
}

/* Bytes that the row can have at most. */
static size_t room_for(const again *a, const worker *w, size_t row) {
  const shoal_cells *cells = &w->block.cells;
  size_t room = a->rows.widest;
  for (size_t c = 0; c < a->out->n_columns; c++) {
    if (a->code_at[c] != SIZE_MAX) continue;
    size_t cell =
        row * a->table->n_columns + (size_t)(a->out->columns[c].column - a->table->columns);
    room += 2 * (size_t)(cells->end[cell] - cells->begin[cell]) + SHOAL_CELL_EXTRA;
  }
  return room;
}

static bool render_row(const again *a, worker *w, size_t row, const uint32_t *codes,
                       uint32_t group) {
  shoal_bytes *b = &w->delivery.rendered;
  char *to = shoal_bytes_room(b, room_for(a, w, row));
  if (!to) return false;
  bool blank = a->out->fate[group] == SHOAL_FATE_BLANK;
  for (size_t c = 0; c < a->out->n_columns; c++) {
    const shoal_ready_column *column = &a->rows.columns[c];
    const shoal_cells_out *cells = column->cells;
    if ((blank && cells->generalized) || (cells->hidden && cells->hidden[group]))
      to = shoal_put_star(column, to);
    else if (a->code_at[c] == SIZE_MAX) to = put_raw(a, w, c, row, to);
    else to = shoal_put_cell(column, codes[a->code_at[c]], to);
  }
  size_t size = (size_t)(to - b->bytes) - b->size;
  b->size += size;
  w->rows[w->n_rows++] = (rendered_row){(uint32_t)size, w->buckets[row]};
  return true;
}

/* Codes of a tile of rows; false: a cell that was not there in the first pass. */
static bool encode_tile(const again *a, const worker *w, size_t first, size_t n) {
  const shoal_cells *cells = &w->block.cells;
  uint32_t column[TILE_ROWS];
  for (size_t i = 0; i < a->width; i++) {
    size_t cell = first * a->table->n_columns + a->columns[i];
    if (!shoal_dictionary_look_up(&a->dictionaries[i], cells->bytes, cells->begin + cell,
                                  cells->end + cell, a->table->n_columns, n, column))
      return false;
    for (size_t r = 0; r < n; r++) w->codes[r * a->width + i] = column[r];
  }
  return true;
}

static shoal_status render_tile(again *a, worker *w, size_t first, size_t n, shoal_error *error) {
  uint32_t tuples[TILE_ROWS];
  if (!encode_tile(a, w, first, n)) return shoal_origin_changed(a->table, error);
  shoal_counted_find(a->tuples, w->codes, n, tuples);
  for (size_t r = 0; r < n; r++) {
    const uint32_t *codes = w->codes + r * a->width;
    uint32_t tuple = tuples[r];
    if (tuple == SHOAL_NO_TUPLE) return shoal_origin_changed(a->table, error);
    (void)atomic_fetch_add_explicit(&a->seen[tuple], 1, memory_order_relaxed);
    uint32_t group = a->out->group_of_row[tuple];
    if (a->out->fate[group] == SHOAL_FATE_REMOVE) continue;
    if (!render_row(a, w, first + r, codes, group)) return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}

static shoal_status render_block(void *user, unsigned i, uint64_t item, shoal_error *error) {
  again *a = user;
  worker *w = &a->workers[i];
  const shoal_origin *origin = a->table->origin;
  shoal_csv_problem problem =
      shoal_csv_split(w->block.bytes, w->block.size_bytes, a->blocks.delimiter, a->table->n_columns,
                      &w->block.cells);
  size_t n = w->block.cells.n_rows;
  if (problem.fault == SHOAL_CSV_MEMORY ||
      !shoal_grow(&w->rows, &w->rows_capacity, n + 1, sizeof *w->rows) ||
      !shoal_grow(&w->buckets, &w->buckets_capacity, n + 1, sizeof *w->buckets))
    return shoal_fail_memory(error);
  if (problem.fault != SHOAL_CSV_OK || item >= origin->n_pieces ||
      origin->piece_start[item + 1] - origin->piece_start[item] != n)
    return shoal_origin_changed(a->table, error);
  if (a->shuffled) shoal_order_throw(&a->order, origin->piece_start[item], n, w->buckets);
  else memset(w->buckets, 0, n * sizeof *w->buckets);
  w->n_rows = 0;
  w->delivery.rendered.size = 0;
  for (size_t row = 0; row < n; row += TILE_ROWS)
    SHOAL_TRY(render_tile(a, w, row, n - row < TILE_ROWS ? n - row : TILE_ROWS, error));
  return SHOAL_OK;
}

static shoal_status spool_block(void *user, unsigned i, uint64_t item, shoal_error *error) {
  again *a = user;
  const worker *w = &a->workers[i];
  const char *at = w->delivery.rendered.bytes;
  (void)item;
  for (size_t r = 0; r < w->n_rows; r++) {
    SHOAL_TRY(shoal_spool_add(a->spool, w->rows[r].bucket, at, w->rows[r].size_bytes, error));
    at += w->rows[r].size_bytes;
  }
  return SHOAL_OK;
}

static shoal_status report_block(void *user, uint64_t n_done, shoal_error *error) {
  const again *a = user;
  const shoal_origin *origin = a->table->origin;
  uint64_t done = n_done < origin->n_pieces ? n_done : origin->n_pieces;
  return shoal_run_report(a->run, "write", origin->piece_start[done],
                          origin->piece_start[origin->n_pieces], "rows", error);
}

/* Every counted row must have been met as often as it was counted. */
static shoal_status compare_counts(const again *a, shoal_error *error) {
  bool same = a->n_blocks == a->table->origin->n_pieces && !shoal_source_touched(a->blocks.source);
  for (uint64_t row = 0; same && row < a->table->n_rows; row++)
    same = atomic_load_explicit(&a->seen[row], memory_order_relaxed) == a->table->counts[row];
  return same ? SHOAL_OK : shoal_origin_changed(a->table, error);
}

/* ------------------------------------------------------------ what goes out */

static shoal_status hand_over(void *user, unsigned i, uint64_t item, shoal_error *error) {
  again *a = user;
  (void)item;
  return shoal_delivery_hand_over(&a->workers[i].delivery, a->sink, error);
}

static shoal_status finish(void *user, unsigned i, uint64_t item, shoal_error *error) {
  const again *a = user;
  (void)item;
  return shoal_delivery_finish(&a->workers[i].delivery, a->sink, error);
}

static shoal_status take_bucket(void *user, unsigned i, uint64_t item, bool *more,
                                shoal_error *error) {
  const again *a = user;
  (void)i;
  (void)error;
  *more = item < shoal_order_buckets(&a->order);
  return SHOAL_OK;
}

static shoal_status shuffle_bucket(void *user, unsigned i, uint64_t item, shoal_error *error) {
  const again *a = user;
  worker *w = &((again *)user)->workers[i];
  shoal_bytes *to = &w->delivery.rendered;
  uint32_t n;
  SHOAL_TRY(shoal_spool_load(a->spool, (uint32_t)item, &w->spooled, &n, error));
  to->size = 0;
  if (!shoal_grow(&w->places, &w->places_capacity, (size_t)n + 1, sizeof *w->places) ||
      !shoal_grow(&w->starts, &w->starts_capacity, (size_t)n + 1, sizeof *w->starts) ||
      !shoal_bytes_room(to, w->spooled.size))
    return shoal_fail_memory(error);
  size_t at = 0;
  uint32_t size;
  for (uint32_t r = 0; r < n; r++) {
    w->starts[r] = at;
    memcpy(&size, w->spooled.bytes + at, sizeof size);
    at += sizeof size + size;
  }
  shoal_order_shuffle(&a->order, (uint32_t)item, n, w->places);
  for (uint32_t r = 0; r < n; r++) {
    const char *row = w->spooled.bytes + w->starts[w->places[r]];
    memcpy(&size, row, sizeof size);
    memcpy(to->bytes + to->size, row + sizeof size, size);
    to->size += size;
  }
  return SHOAL_OK;
}

static shoal_status write_again(again *a, int spool_fd, shoal_random *random, shoal_error *error) {
  unsigned n_threads = shoal_run_threads(a->run);
  if (!prepare(a)) return shoal_fail_memory(error);
  SHOAL_TRY(open_again(a, error));
  a->shuffled = random != NULL;
  if (random) {
    shoal_order_init(&a->order, random, a->table->n_records);
    SHOAL_TRY(shoal_spool_new(spool_fd, shoal_order_buckets(&a->order), &a->spool, error));
  }
  SHOAL_TRY(shoal_csv_write_header(a->out, a->sink, error));
  shoal_line blocks = {a,
                       take_block,
                       render_block,
                       random ? spool_block : hand_over,
                       random ? NULL : finish,
                       report_block};
  SHOAL_TRY(shoal_line_run(&blocks, n_threads, error));
  SHOAL_TRY(compare_counts(a, error));
  shoal_line buckets = {a, take_bucket, shuffle_bucket, hand_over, finish, NULL};
  if (random) SHOAL_TRY(shoal_line_run(&buckets, n_threads, error));
  return shoal_sink_finish(a->sink, error);
}

shoal_status shoal_csv_write_again(const shoal_csv_out *out, shoal_sink *sink, int spool_fd,
                                   shoal_random *random, const shoal_run *run, uint64_t *n_rows,
                                   shoal_error *error) {
  again *a = shoal_alloc_zero(1, sizeof *a);
  if (!a) return shoal_fail_memory(error);
  a->out = out;
  a->table = out->table;
  a->sink = sink;
  a->run = run;
  shoal_status status = write_again(a, spool_fd, random, error);
  *n_rows = a->n_rows;
  reset(a);
  free(a);
  return status;
}
