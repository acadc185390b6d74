/* SPDX-License-Identifier: Apache-2.0 */
/* write/csv: see csv.h. */
#include "write/csv.h"

#include <stdlib.h>
#include <string.h>

enum {
  STRETCH_ROWS = 32 * 1024,
  MAX_THREADS = 64,
  COPY_SLACK = 16,
  FLUSH_BYTES = 1 << 20,
  TILE_ROWS = 1024, /* packed at a time, while they are in the cache */
  AHEAD = 16        /* rows fetched ahead */
};

/* ------------------------------------------------------------ cells */

static bool needs_quotes(const shoal_csv_out *out, const char *bytes, size_t size) {
  if (size == 0) return out->n_columns == 1; /* else the row would be a blank line */
  return memchr(bytes, out->delimiter, size) || memchr(bytes, '"', size) ||
         memchr(bytes, '\n', size) || memchr(bytes, '\r', size);
}

/* Writes a cell as CSV has it; `to` has room for twice its size and two quotes. */
static size_t render(const shoal_csv_out *out, const char *bytes, size_t size, char *to) {
  if (!needs_quotes(out, bytes, size)) {
    if (size) memcpy(to, bytes, size);
    return size;
  }
  size_t at = 0;
  to[at++] = '"';
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] == '"') to[at++] = '"';
    to[at++] = bytes[i];
  }
  to[at++] = '"';
  return at;
}

bool shoal_cells_out_add(shoal_cells_out *cells, const shoal_csv_out *out, const char *bytes,
                         size_t size_bytes) {
  uint64_t start = cells->n_values ? cells->offsets[cells->n_values] : 0;
  if (size_bytes > SIZE_MAX / 4) return false;
  if (!shoal_grow(&cells->bytes, &cells->capacity, (size_t)start + 2 * size_bytes + 3 + COPY_SLACK,
                  1))
    return false;
  size_t size = render(out, bytes, size_bytes, cells->bytes + start);
  bool last = cells == &out->columns[out->n_columns - 1];
  cells->bytes[start + size] = last ? '\n' : out->delimiter;
  cells->offsets[0] = 0;
  cells->offsets[++cells->n_values] = start + size + 1;
  return true;
}

void shoal_cells_out_reset(shoal_cells_out *cells) {
  free(cells->bytes);
  free(cells->offsets);
  memset(cells, 0, sizeof *cells);
}

/* ------------------------------------------------------------ rows */

/* Rendered bytes of a stretch of rows. */
typedef struct buffer {
  char *bytes;
  size_t size, capacity;
  bool failed;
} buffer;

typedef struct writing {
  const shoal_csv_out *out;
  const uint32_t *order; /* rows to write; NULL: all rows that are not removed, in order */
  uint64_t n_items;      /* of `order`, or rows of the table */
  uint64_t next;         /* first item of the next round */
  size_t widest;         /* bytes a row has at most */
  /*
   * Rows in random order: a row's group and codes side by side, so that it costs one miss of the
   * cache instead of one a column. NULL: codes are taken from the columns.
   */
  uint8_t *packed;
  size_t packed_bytes; /* a row */
  size_t *place;       /* of each column's code in it */
  unsigned n_packers;
  buffer buffers[MAX_THREADS];
} writing;

/* ------------------------------------------------------------ packed rows */

static void pack_rows(const writing *w, uint64_t first, uint64_t end) {
  const shoal_csv_out *out = w->out;
  for (uint64_t row = first; row < end; row++)
    memcpy(w->packed + row * w->packed_bytes, &out->group_of_row[row], sizeof(uint32_t));
  for (size_t c = 0; c < out->n_columns; c++) {
    if (out->columns[c].cell_of_group) continue;
    const shoal_column *column = out->columns[c].column;
    const uint8_t *from = (const uint8_t *)column->codes + first * column->code_size;
    uint8_t *to = w->packed + first * w->packed_bytes + w->place[c];
    for (uint64_t row = first; row < end; row++, from += column->code_size, to += w->packed_bytes)
      memcpy(to, from, column->code_size);
  }
}

static void pack_share(void *user, unsigned i) {
  const writing *w = user;
  uint64_t n = w->out->table->n_rows;
  uint64_t end = n * (i + 1) / w->n_packers;
  for (uint64_t row = n * i / w->n_packers; row < end; row += TILE_ROWS)
    pack_rows(w, row, row + TILE_ROWS < end ? row + TILE_ROWS : end);
}

/* Without the memory for it, rows are written all the same, only slower. */
static void pack(writing *w, const shoal_run *run) {
  const shoal_csv_out *out = w->out;
  w->place = shoal_alloc(out->n_columns, sizeof *w->place);
  if (!w->place) return;
  w->packed_bytes = sizeof(uint32_t);
  for (size_t c = 0; c < out->n_columns; c++) {
    w->place[c] = w->packed_bytes;
    if (!out->columns[c].cell_of_group) w->packed_bytes += out->columns[c].column->code_size;
  }
  w->packed = shoal_alloc((size_t)out->table->n_rows, w->packed_bytes);
  w->n_packers = shoal_run_threads(run);
  if (w->packed) shoal_parallel(w->n_packers, pack_share, w);
}

static inline uint32_t group_at(const writing *w, uint64_t row) {
  if (!w->packed) return w->out->group_of_row[row];
  uint32_t group;
  memcpy(&group, w->packed + row * w->packed_bytes, sizeof group);
  return group;
}

static inline uint32_t code_at(const writing *w, size_t c, uint64_t row) {
  const shoal_column *column = w->out->columns[c].column;
  if (!w->packed) return shoal_column_code(column, row);
  const uint8_t *at = w->packed + row * w->packed_bytes + w->place[c];
  if (column->code_size == 1) return *at;
  uint16_t half;
  uint32_t code;
  if (column->code_size == 4) memcpy(&code, at, sizeof code);
  else {
    memcpy(&half, at, sizeof half);
    code = half;
  }
  return code;
}

/* ------------------------------------------------------------ rendering */

static inline char *copy_cell(char *to, const char *from, size_t size) {
  if (size <= COPY_SLACK) memcpy(to, from, COPY_SLACK);
  else memcpy(to, from, size);
  return to + size;
}

static char *render_row(const writing *w, uint64_t row, bool blank, char *to) {
  const shoal_csv_out *out = w->out;
  uint32_t group = group_at(w, row);
  for (size_t c = 0; c < out->n_columns; c++) {
    const shoal_cells_out *cells = &out->columns[c];
    bool hidden = cells->hidden && cells->hidden[group];
    if (hidden || (blank && cells->generalized)) {
      to += render(out, "*", 1, to);
      *to++ = c + 1 == out->n_columns ? '\n' : out->delimiter;
      continue;
    }
    uint32_t cell = cells->cell_of_group ? cells->cell_of_group[group] : code_at(w, c, row);
    uint64_t from = cells->offsets[cell];
    to = copy_cell(to, cells->bytes + from, (size_t)(cells->offsets[cell + 1] - from));
  }
  return to;
}

static bool append_row(const writing *w, buffer *b, uint64_t row, bool blank) {
  if (!shoal_grow(&b->bytes, &b->capacity, b->size + w->widest + COPY_SLACK, 1)) return false;
  char *end = render_row(w, row, blank, b->bytes + b->size);
  b->size = (size_t)(end - b->bytes);
  return true;
}

static void render_stretch(void *user, unsigned i) {
  writing *w = user;
  buffer *b = &w->buffers[i];
  const shoal_csv_out *out = w->out;
  uint64_t first = w->next + (uint64_t)i * STRETCH_ROWS;
  uint64_t end = first + STRETCH_ROWS < w->n_items ? first + STRETCH_ROWS : w->n_items;
  b->size = 0;
  for (uint64_t item = first; item < end; item++) {
    uint64_t row = w->order ? w->order[item] : item;
    if (w->packed && item + AHEAD < end)
      __builtin_prefetch(w->packed + w->order[item + AHEAD] * w->packed_bytes);
    shoal_fate fate = (shoal_fate)out->fate[group_at(w, row)];
    if (fate == SHOAL_FATE_REMOVE) continue;
    b->failed = !append_row(w, b, row, fate == SHOAL_FATE_BLANK);
    if (b->failed) return;
  }
}

static size_t widest_row(const shoal_csv_out *out) {
  size_t widest = 0;
  for (size_t c = 0; c < out->n_columns; c++) {
    const shoal_cells_out *cells = &out->columns[c];
    uint64_t most = 4; /* a blank, quoted */
    for (uint32_t v = 0; v < cells->n_values; v++) {
      uint64_t size = cells->offsets[v + 1] - cells->offsets[v];
      if (size > most) most = size;
    }
    widest += (size_t)most;
  }
  return widest;
}

static shoal_status write_rows(writing *w, shoal_sink *sink, const shoal_run *run,
                               shoal_error *error) {
  unsigned threads = shoal_run_threads(run);
  for (w->next = 0; w->next < w->n_items;) {
    uint64_t stretches = (w->n_items - w->next + STRETCH_ROWS - 1) / STRETCH_ROWS;
    unsigned n = stretches < threads ? (unsigned)stretches : threads;
    shoal_parallel(n, render_stretch, w);
    for (unsigned i = 0; i < n; i++) {
      if (w->buffers[i].failed) return shoal_fail_memory(error);
      SHOAL_TRY(shoal_sink_write(sink, w->buffers[i].bytes, w->buffers[i].size, error));
    }
    w->next += (uint64_t)n * STRETCH_ROWS;
    uint64_t done = w->next < w->n_items ? w->next : w->n_items;
    SHOAL_TRY(shoal_run_report(run, "write", done, w->n_items, "rows", error));
  }
  return SHOAL_OK;
}

/* Rows that stand for several records, in their order: a row may be written very often. */
static shoal_status write_counted(writing *w, shoal_sink *sink, const shoal_run *run,
                                  shoal_error *error) {
  const shoal_csv_out *out = w->out;
  buffer *b = &w->buffers[0];
  for (uint64_t row = 0; row < out->table->n_rows; row++) {
    shoal_fate fate = (shoal_fate)out->fate[out->group_of_row[row]];
    if (fate == SHOAL_FATE_REMOVE) continue;
    for (uint64_t times = out->table->counts[row]; times; times--) {
      if (!append_row(w, b, row, fate == SHOAL_FATE_BLANK)) return shoal_fail_memory(error);
      if (b->size < FLUSH_BYTES) continue;
      SHOAL_TRY(shoal_sink_write(sink, b->bytes, b->size, error));
      SHOAL_TRY(shoal_run_report(run, "write", row, out->table->n_rows, "rows", error));
      b->size = 0;
    }
  }
  return shoal_sink_write(sink, b->bytes, b->size, error);
}

static uint64_t count_rows(const shoal_csv_out *out) {
  uint64_t n = 0;
  for (uint64_t row = 0; row < out->table->n_rows; row++)
    if (out->fate[out->group_of_row[row]] != SHOAL_FATE_REMOVE)
      n += shoal_table_count(out->table, row);
  return n;
}

/* The rows to write, in random order (Fisher and Yates). */
static uint32_t *shuffle(const shoal_csv_out *out, uint64_t n, shoal_random *random) {
  uint32_t *order = shoal_alloc((size_t)n, sizeof *order);
  if (!order) return NULL;
  uint64_t at = 0;
  for (uint64_t row = 0; row < out->table->n_rows; row++) {
    if (out->fate[out->group_of_row[row]] == SHOAL_FATE_REMOVE) continue;
    for (uint64_t times = shoal_table_count(out->table, row); times; times--)
      order[at++] = (uint32_t)row;
  }
  for (uint64_t i = n; i > 1; i--) {
    uint64_t j = shoal_random_below(random, i);
    uint32_t swap = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swap;
  }
  return order;
}

static shoal_status write_header(const shoal_csv_out *out, shoal_sink *sink, shoal_error *error) {
  shoal_status status = SHOAL_OK;
  for (size_t c = 0; status == SHOAL_OK && c < out->n_columns; c++) {
    const char *name = out->columns[c].column->name;
    size_t size = strlen(name);
    char *cell = shoal_alloc(2 * size + 3, 1);
    if (!cell) return shoal_fail_memory(error);
    size_t end = render(out, name, size, cell);
    cell[end++] = c + 1 == out->n_columns ? '\n' : out->delimiter;
    status = shoal_sink_write(sink, cell, end, error);
    free(cell);
  }
  return status;
}

shoal_status shoal_csv_write(const shoal_csv_out *out, shoal_sink *sink, shoal_random *random,
                             const shoal_run *run, uint64_t *n_rows, shoal_error *error) {
  writing *w = shoal_alloc_zero(1, sizeof *w);
  uint32_t *order = NULL;
  if (!w) return shoal_fail_memory(error);
  w->out = out;
  w->widest = widest_row(out);
  w->n_items = out->table->n_rows;
  w->order = out->order;
  *n_rows = count_rows(out);
  shoal_status status = SHOAL_OK;
  if (random) {
    if (out->table->n_rows > UINT32_MAX || !(order = shuffle(out, *n_rows, random)))
      status = shoal_fail_memory(error);
    w->order = order;
    w->n_items = *n_rows;
    if (status == SHOAL_OK && !out->table->counts) pack(w, run);
  }
  if (status == SHOAL_OK) status = write_header(out, sink, error);
  bool counted = out->table->counts && !order;
  if (status == SHOAL_OK)
    status = counted ? write_counted(w, sink, run, error) : write_rows(w, sink, run, error);
  if (status == SHOAL_OK) status = shoal_sink_finish(sink, error);
  for (unsigned i = 0; i < MAX_THREADS; i++) free(w->buffers[i].bytes);
  free(order);
  free(w->packed);
  free(w->place);
  free(w);
  return status;
}
