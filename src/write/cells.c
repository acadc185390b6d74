/* SPDX-License-Identifier: Apache-2.0 */
/* write/cells: cells as CSV has them, quoted where they must be; see csv.h and rows.h. */
#include <stdlib.h>
#include <string.h>

#include "base/formula.h"
#include "write/rows.h"

static bool needs_quotes(const shoal_csv_out *out, const char *bytes, size_t size) {
  if (size == 0) return out->n_columns == 1; /* else the row would be a blank line */
  return memchr(bytes, out->delimiter, size) || memchr(bytes, '"', size) ||
         memchr(bytes, '\n', size) || memchr(bytes, '\r', size);
}

size_t shoal_cell_render(const shoal_csv_out *out, const char *bytes, size_t size, char *to) {
  bool formula = out->quote_formulas && shoal_is_formula(bytes, size);
  size_t at = 0;
  if (!needs_quotes(out, bytes, size)) {
    if (formula) to[at++] = '\'';
    if (size) memcpy(to + at, bytes, size);
    return at + size;
  }
  to[at++] = '"';
  if (formula) to[at++] = '\'';
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
  if (size_bytes > SIZE_MAX / 4) return false; /* GCOVR_EXCL_BR_LINE */
  if (!shoal_grow(&cells->bytes, &cells->capacity,
                  (size_t)start + 2 * size_bytes + SHOAL_CELL_EXTRA + SHOAL_COPY_SLACK, 1))
    return false;
  size_t size = shoal_cell_render(out, bytes, size_bytes, cells->bytes + start);
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

/* ------------------------------------------------------------ cells side by side */

/* Up to so many cells have slots: more would cost memory and gain nothing. */
enum { MOST_SLOTS = 1 << 16 };

static bool make_slots(shoal_ready_column *column) {
  const shoal_cells_out *cells = column->cells;
  column->slots = shoal_alloc_zero(cells->n_values, column->slot_bytes);
  column->sizes = shoal_alloc(cells->n_values, 1);
  if (!column->slots || !column->sizes) return false;
  for (uint32_t v = 0; v < cells->n_values; v++) {
    size_t size = (size_t)(cells->offsets[v + 1] - cells->offsets[v]);
    memcpy(column->slots + (size_t)v * column->slot_bytes, cells->bytes + cells->offsets[v], size);
    column->sizes[v] = (uint8_t)size;
  }
  return true;
}

static bool make_ready(const shoal_csv_out *out, size_t c, shoal_ready_column *column) {
  const shoal_cells_out *cells = &out->columns[c];
  column->cells = cells;
  column->widest = 4; /* a blank, quoted */
  for (uint32_t v = 0; v < cells->n_values; v++) {
    size_t size = (size_t)(cells->offsets[v + 1] - cells->offsets[v]);
    if (size > column->widest) column->widest = size;
  }
  column->star_bytes = (uint8_t)shoal_cell_render(out, "*", 1, column->star);
  column->star[column->star_bytes++] = c + 1 == out->n_columns ? '\n' : out->delimiter;
  if (column->widest > SHOAL_COPY_SLACK || cells->n_values > MOST_SLOTS) return true;
  column->slot_bytes = column->widest <= 16 ? 16 : SHOAL_COPY_SLACK;
  return make_slots(column);
}

/* Where each column's code lies in a packed row, behind the group where rows need it. */
static void place_codes(shoal_rows_out *rows, const shoal_csv_out *out) {
  size_t at = rows->has_group ? sizeof(uint32_t) : 0;
  for (size_t c = 0; c < out->n_columns; c++) {
    shoal_ready_column *column = &rows->columns[c];
    column->place = at;
    if (column->cells->cell_of_group) continue;
    column->code_size = column->cells->column->code_size;
    at += column->code_size;
  }
  rows->packed_bytes = (at + 3) / 4 * 4;
}

bool shoal_rows_out_init(shoal_rows_out *rows, const shoal_csv_out *out, uint32_t n_groups) {
  memset(rows, 0, sizeof *rows);
  rows->out = out;
  rows->columns = shoal_alloc_zero(out->n_columns, sizeof *rows->columns);
  if (!rows->columns) return false;
  for (uint32_t g = 0; g < n_groups && !rows->has_group; g++)
    rows->has_group = out->fate[g] == SHOAL_FATE_BLANK;
  for (size_t c = 0; c < out->n_columns; c++) {
    const shoal_cells_out *cells = &out->columns[c];
    rows->has_group = rows->has_group || cells->cell_of_group || cells->hidden;
    if (!make_ready(out, c, &rows->columns[c])) return false;
    rows->widest += rows->columns[c].widest;
  }
  place_codes(rows, out);
  return true;
}

void shoal_rows_out_reset(shoal_rows_out *rows) {
  for (size_t c = 0; rows->columns && c < rows->out->n_columns; c++) {
    free(rows->columns[c].slots);
    free(rows->columns[c].sizes);
  }
  free(rows->columns);
  memset(rows, 0, sizeof *rows);
}

/* ------------------------------------------------------------ packed rows */

#define PACK(TYPE)                                                                                 \
  for (size_t i = 0; i < n; i++, at += rows->packed_bytes) {                                       \
    TYPE code = ((const TYPE *)codes)[row_of[i]];                                                  \
    memcpy(at, &code, sizeof code);                                                                \
  }

void shoal_rows_pack(const shoal_rows_out *rows, const uint64_t *row_of, size_t n, uint8_t *to) {
  const shoal_csv_out *out = rows->out;
  for (size_t i = 0; rows->has_group && i < n; i++)
    memcpy(to + i * rows->packed_bytes, &out->group_of_row[row_of[i]], sizeof(uint32_t));
  for (size_t c = 0; c < out->n_columns; c++) {
    const shoal_ready_column *column = &rows->columns[c];
    uint8_t *at = to + column->place;
    if (column->cells->cell_of_group) continue;
    const void *codes = column->cells->column->codes;
    switch (column->code_size) {
    case 1: PACK(uint8_t); break;
    case 2: PACK(uint16_t); break;
    default: PACK(uint32_t); break;
    }
  }
}

static inline uint32_t packed_code(const shoal_ready_column *column, const uint8_t *packed) {
  const uint8_t *at = packed + column->place;
  if (column->code_size == 1) return *at;
  uint16_t half;
  uint32_t code;
  if (column->code_size == 4) {
    memcpy(&code, at, sizeof code);
    return code;
  }
  memcpy(&half, at, sizeof half);
  return half;
}

/* A row of whose group nothing depends. */
static char *render_plain(const shoal_rows_out *rows, const uint8_t *packed, char *to) {
  const shoal_ready_column *column = rows->columns, *end = column + rows->out->n_columns;
  for (; column < end; column++) to = shoal_put_cell(column, packed_code(column, packed), to);
  return to;
}

char *shoal_rows_render(const shoal_rows_out *rows, const uint8_t *packed, char *to) {
  if (!rows->has_group) return render_plain(rows, packed, to);
  const shoal_csv_out *out = rows->out;
  uint32_t group;
  memcpy(&group, packed, sizeof group);
  bool blank = out->fate[group] == SHOAL_FATE_BLANK;
  for (size_t c = 0; c < out->n_columns; c++) {
    const shoal_ready_column *column = &rows->columns[c];
    const shoal_cells_out *cells = column->cells;
    if ((blank && cells->generalized) || (cells->hidden && cells->hidden[group]))
      to = shoal_put_star(column, to);
    else if (cells->cell_of_group) to = shoal_put_cell(column, cells->cell_of_group[group], to);
    else to = shoal_put_cell(column, packed_code(column, packed), to);
  }
  return to;
}

/* ------------------------------------------------------------ deliveries */

shoal_status shoal_delivery_hand_over(shoal_delivery *d, shoal_sink *sink, shoal_error *error) {
  d->placed = shoal_sink_reserve(sink, d->rendered.size, &d->offset);
  if (d->placed) return SHOAL_OK;
  return shoal_sink_write(sink, d->rendered.bytes, d->rendered.size, error);
}

shoal_status shoal_delivery_finish(const shoal_delivery *d, const shoal_sink *sink,
                                   shoal_error *error) {
  if (!d->placed) return SHOAL_OK;
  return shoal_sink_write_at(sink, d->offset, d->rendered.bytes, d->rendered.size, error);
}
