/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/render: cells and rows as CSV bytes. If a release has few different lines, each is rendered
 * once, and a row is the number of its line:
 *
 *   line = first line of the group's text + sum of code * factor over the columns that the group
 *          does not determine
 *
 * Groups whose generalized cells are the same bytes share their text and lines.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "table/dictionary.h"
#include "write/render.h"

static bool needs_quotes(const shoal_csv_plan *out, const char *bytes, size_t size) {
  if (size == 0) return out->n_columns == 1; /* else the row would be a blank line */
  return memchr(bytes, out->delimiter, size) || memchr(bytes, '"', size) ||
         memchr(bytes, '\n', size) || memchr(bytes, '\r', size);
}

size_t shoal_cell_render(const shoal_csv_plan *out, const char *bytes, size_t size, char *to) {
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

bool shoal_csv_column_add(shoal_csv_column *cells, const shoal_csv_plan *out, const char *bytes,
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

void shoal_csv_column_reset(shoal_csv_column *cells) {
  free(cells->bytes);
  free(cells->offsets);
  shoal_strings_reset(&cells->replaced);
  memset(cells, 0, sizeof *cells);
}

/* ------------------------------------------------------------ slots */

/* Columns of more cells have no slots, which would cost memory and gain nothing. */
enum { MAX_SLOTS = 1 << 16 };

static bool make_slots(shoal_column_renderer *column) {
  const shoal_csv_column *cells = column->cells;
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

static bool make_ready(const shoal_csv_plan *out, size_t c, shoal_column_renderer *column) {
  const shoal_csv_column *cells = &out->columns[c];
  column->cells = cells;
  column->widest = 4; /* a blank, quoted */
  for (uint32_t v = 0; v < cells->n_values; v++) {
    size_t size = (size_t)(cells->offsets[v + 1] - cells->offsets[v]);
    if (size > column->widest) column->widest = size;
  }
  column->star_bytes = (uint8_t)shoal_cell_render(out, "*", 1, column->star);
  column->star[column->star_bytes++] = c + 1 == out->n_columns ? '\n' : out->delimiter;
  if (column->widest > SHOAL_COPY_SLACK || cells->n_values > MAX_SLOTS) return true;
  column->slot_bytes = column->widest <= 16 ? 16 : SHOAL_COPY_SLACK;
  return make_slots(column);
}

bool shoal_row_renderer_init(shoal_row_renderer *rows, const shoal_csv_plan *out,
                             uint32_t n_groups) {
  memset(rows, 0, sizeof *rows);
  rows->out = out;
  rows->columns = shoal_alloc_zero(out->n_columns, sizeof *rows->columns);
  if (!rows->columns) return false;
  for (uint32_t g = 0; g < n_groups && !rows->has_group; g++)
    rows->has_group = out->action[g] == SHOAL_ROW_BLANK;
  for (size_t c = 0; c < out->n_columns; c++) {
    const shoal_csv_column *cells = &out->columns[c];
    rows->has_group = rows->has_group || cells->cell_of_group || cells->suppressed_cells;
    if (!make_ready(out, c, &rows->columns[c])) return false;
    rows->widest += rows->columns[c].widest;
  }
  /* The position of each column's code in a packed row, after the group if there is one. */
  size_t at = rows->has_group ? sizeof(uint32_t) : 0;
  for (size_t c = 0; c < out->n_columns; c++) {
    shoal_column_renderer *column = &rows->columns[c];
    column->position = at;
    if (column->cells->cell_of_group) continue;
    column->code_size = column->cells->column->code_size;
    at += column->code_size;
  }
  rows->packed_bytes = (at + 3) / 4 * 4;
  return true;
}

void shoal_row_renderer_reset(shoal_row_renderer *rows) {
  for (size_t c = 0; rows->columns && c < rows->out->n_columns; c++) {
    free(rows->columns[c].slots);
    free(rows->columns[c].sizes);
  }
  free(rows->columns);
  free(rows->lines.texts);
  free(rows->lines.sizes);
  free(rows->lines.of_group);
  memset(rows, 0, sizeof *rows);
}

/* ------------------------------------------------------------ packed rows */

#define PACK(TYPE)                                                                                 \
  for (size_t i = 0; i < n; i++, at += rows->packed_bytes) {                                       \
    TYPE code = ((const TYPE *)codes)[row_of[i]];                                                  \
    memcpy(at, &code, sizeof code);                                                                \
  }

void shoal_rows_pack(const shoal_row_renderer *rows, const uint64_t *row_of, size_t n,
                     uint8_t *to) {
  const shoal_csv_plan *out = rows->out;
  if (rows->lines.texts) {
    shoal_rows_number(rows, row_of, n, (uint32_t *)(void *)to);
    return;
  }
  for (size_t i = 0; rows->has_group && i < n; i++)
    memcpy(to + i * rows->packed_bytes, &out->group_of_row[row_of[i]], sizeof(uint32_t));
  for (size_t c = 0; c < out->n_columns; c++) {
    const shoal_column_renderer *column = &rows->columns[c];
    uint8_t *at = to + column->position;
    if (column->cells->cell_of_group) continue;
    const void *codes = column->cells->column->codes;
    switch (column->code_size) {
    case 1: PACK(uint8_t); break;
    case 2: PACK(uint16_t); break;
    default: PACK(uint32_t); break;
    }
  }
}

static inline uint32_t packed_code(const shoal_column_renderer *column, const uint8_t *packed) {
  const uint8_t *at = packed + column->position;
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

static char *render_row(const shoal_row_renderer *rows, const uint8_t *packed, char *to) {
  if (!rows->has_group) {
    /* A row without cells that depend on its group. */
    const shoal_column_renderer *column = rows->columns, *end = column + rows->out->n_columns;
    for (; column < end; column++) to = shoal_put_cell(column, packed_code(column, packed), to);
    return to;
  }
  const shoal_csv_plan *out = rows->out;
  uint32_t group;
  memcpy(&group, packed, sizeof group);
  bool blank = out->action[group] == SHOAL_ROW_BLANK;
  for (size_t c = 0; c < out->n_columns; c++) {
    const shoal_column_renderer *column = &rows->columns[c];
    const shoal_csv_column *cells = column->cells;
    if ((blank && cells->generalized) ||
        (cells->suppressed_cells && cells->suppressed_cells[group]))
      to = shoal_put_star(column, to);
    else if (cells->cell_of_group) to = shoal_put_cell(column, cells->cell_of_group[group], to);
    else to = shoal_put_cell(column, packed_code(column, packed), to);
  }
  return to;
}

bool shoal_rows_render(const shoal_row_renderer *rows, const uint8_t *packed,
                       const uint32_t *positions, size_t n, shoal_bytes *b) {
  if (rows->lines.texts) {
    char *to = shoal_bytes_room(b, n * rows->widest + rows->lines.line_bytes);
    if (!to) return false;
    const uint32_t *numbers = (const uint32_t *)(const void *)packed;
    b->size = (size_t)(shoal_rows_copy_lines(rows, numbers, positions, n, to) - b->bytes);
    return true;
  }
  for (size_t i = 0; i < n; i++) {
    char *to = shoal_bytes_room(b, rows->widest);
    if (!to) return false;
    to = render_row(rows, packed + (positions ? positions[i] : i) * rows->packed_bytes, to);
    b->size = (size_t)(to - b->bytes);
  }
  return true;
}

/* ------------------------------------------------------------ output chunks */

shoal_status shoal_output_chunk_write(shoal_output_chunk *d, shoal_sink *sink, shoal_error *error) {
  d->placed = shoal_sink_reserve(sink, d->rendered.size, &d->offset);
  if (d->placed) return SHOAL_OK;
  return shoal_sink_write(sink, d->rendered.bytes, d->rendered.size, error);
}

shoal_status shoal_output_chunk_complete(const shoal_output_chunk *d, const shoal_sink *sink,
                                         shoal_error *error) {
  if (!d->placed) return SHOAL_OK;
  return shoal_sink_write_at(sink, d->offset, d->rendered.bytes, d->rendered.size, error);
}

/* ------------------------------------------------------------ prerendered lines */

enum {
  MAX_LINE_BYTES = 256, /* a longer one is rendered cell by cell */
  MAX_BYTES = 8 << 20,  /* of all lines: they should stay in the cache */
  ROWS_A_LINE = 8       /* fewer rows do not pay for it */
};

static bool is_of_group(const shoal_csv_column *cells) {
  return cells->cell_of_group || cells->code_of_group.words;
}

/* State while lines are prerendered. A text is what all groups with the same cells have. */
typedef struct making {
  shoal_row_renderer *rows;
  uint32_t n_groups;
  uint64_t most;           /* lines */
  uint32_t lines_per_text; /* combinations of codes in columns that the group does not choose */
  shoal_dictionary texts;  /* generalized cells, concatenated, to the number of the text */
  uint32_t *group_of_text;
  size_t group_of_text_capacity;
  char *text; /* room for a row */
} making;

/* The number of lines per text, and the factor of each column; false: too many or too long. */
static bool count_lines(making *m, uint64_t n_rows) {
  shoal_row_renderer *rows = m->rows;
  if (rows->widest > MAX_LINE_BYTES) return false;
  rows->lines.line_bytes = (rows->widest + SHOAL_LINE_STEP - 1) / SHOAL_LINE_STEP * SHOAL_LINE_STEP;
  m->most = MAX_BYTES / rows->lines.line_bytes;
  if (n_rows / ROWS_A_LINE < m->most) m->most = n_rows / ROWS_A_LINE;
  uint64_t n = 1;
  for (size_t c = 0; c < rows->out->n_columns; c++) {
    const shoal_csv_column *cells = &rows->out->columns[c];
    if (is_of_group(cells)) continue;
    if (cells->generalized || cells->suppressed_cells) return false; /* not by its code alone */
    rows->columns[c].factor = (uint32_t)n;
    n *= cells->n_values;
    if (n - 1 >= m->most) return false; /* none is too many as well */
  }
  m->lines_per_text = (uint32_t)n;
  return n_rows / ROWS_A_LINE >= m->n_groups;
}

static char *put_group_cell(const shoal_row_renderer *rows, size_t c, uint32_t group, char *to) {
  const shoal_csv_column *cells = &rows->out->columns[c];
  bool blank = cells->generalized && rows->out->action[group] == SHOAL_ROW_BLANK;
  if (blank || (cells->suppressed_cells && cells->suppressed_cells[group]))
    return shoal_put_star(&rows->columns[c], to);
  uint32_t cell = cells->cell_of_group ? cells->cell_of_group[group]
                                       : shoal_code_at(cells->code_of_group, group);
  return shoal_put_cell(&rows->columns[c], cell, to);
}

/* Texts of all groups; *few is false if they have too many lines. False: no memory. */
static bool find_texts(making *m, bool *few) {
  const shoal_row_renderer *rows = m->rows;
  for (uint32_t g = 0; g < m->n_groups; g++) {
    if (rows->out->action[g] == SHOAL_ROW_REMOVE) continue;
    char *to = m->text;
    for (size_t c = 0; c < rows->out->n_columns; c++)
      if (is_of_group(&rows->out->columns[c])) to = put_group_cell(rows, c, g, to);
    uint32_t text = shoal_dictionary_code(&m->texts, m->text, (uint32_t)(to - m->text), 0);
    if (text == SHOAL_NONE || !shoal_grow(&m->group_of_text, &m->group_of_text_capacity,
                                          (size_t)text + 1, sizeof *m->group_of_text))
      return false;
    *few = m->texts.n_values <= m->most / m->lines_per_text;
    if (!*few) return true;
    m->group_of_text[text] = g;
    rows->lines.of_group[g] = text * m->lines_per_text;
  }
  return true;
}

/* The line's codes are the digits of its number within the text. */
static void render_line(const shoal_row_renderer *rows, uint32_t group, uint32_t number,
                        uint32_t line) {
  char text[MAX_LINE_BYTES + SHOAL_COPY_SLACK] = {0}, *at = text;
  for (size_t c = 0; c < rows->out->n_columns; c++) {
    const shoal_csv_column *cells = &rows->out->columns[c];
    if (is_of_group(cells)) at = put_group_cell(rows, c, group, at);
    else
      at =
          shoal_put_cell(&rows->columns[c], number / rows->columns[c].factor % cells->n_values, at);
  }
  size_t size = (size_t)(at - text);
  memcpy(rows->lines.texts + line * rows->lines.line_bytes, text, size);
  rows->lines.sizes[line] = (uint16_t)size;
}

static bool render_lines(const making *m) {
  shoal_prerendered_lines *lines = &m->rows->lines;
  size_t n_lines = (size_t)m->texts.n_values * m->lines_per_text;
  lines->texts = shoal_alloc_zero(n_lines, lines->line_bytes);
  lines->sizes = shoal_alloc(n_lines, sizeof *lines->sizes);
  if (!lines->texts || !lines->sizes) return false;
  uint32_t line = 0;
  for (uint32_t text = 0; text < m->texts.n_values; text++)
    for (uint32_t number = 0; number < m->lines_per_text; number++)
      render_line(m->rows, m->group_of_text[text], number, line++);
  m->rows->packed_bytes = sizeof(uint32_t);
  return true;
}

bool shoal_rows_make_lines(shoal_row_renderer *rows, uint32_t n_groups, uint64_t n_rows) {
  making m = {.rows = rows, .n_groups = n_groups};
  if (!count_lines(&m, n_rows)) return true;
  bool few = true;
  bool ok = shoal_dictionary_init(&m.texts);
  m.text = shoal_alloc(rows->widest + SHOAL_COPY_SLACK + SHOAL_DICTIONARY_SLACK, 1);
  rows->lines.of_group = shoal_alloc_zero(n_groups, sizeof *rows->lines.of_group);
  ok = ok && m.text && rows->lines.of_group && find_texts(&m, &few);
  if (ok && few) ok = render_lines(&m);
  shoal_dictionary_reset(&m.texts);
  free(m.group_of_text);
  free(m.text);
  return ok;
}

/* ------------------------------------------------------------ rows as numbers of lines */

#define ADD_CODES(TYPE)                                                                            \
  for (size_t i = 0; i < n; i++) lines[i] += factor * (uint32_t)((const TYPE *)codes)[row_of[i]]

void shoal_rows_number(const shoal_row_renderer *rows, const uint64_t *row_of, size_t n,
                       uint32_t *lines) {
  const shoal_csv_plan *out = rows->out;
  for (size_t i = 0; i < n; i++) lines[i] = rows->lines.of_group[out->group_of_row[row_of[i]]];
  for (size_t c = 0; c < out->n_columns; c++) {
    if (is_of_group(&out->columns[c])) continue;
    uint32_t factor = rows->columns[c].factor;
    const void *codes = out->columns[c].column->codes;
    switch (out->columns[c].column->code_size) {
    case 1: ADD_CODES(uint8_t); break;
    case 2: ADD_CODES(uint16_t); break;
    default: ADD_CODES(uint32_t); break;
    }
  }
}

/* Copies whole steps, a number that the compiler knows: what is too much is overwritten next. */
#define COPY_LINES(STEPS)                                                                          \
  for (size_t i = 0; i < n; i++) {                                                                 \
    uint32_t line = numbers[positions ? positions[i] : i];                                         \
    if (i + AHEAD < n) {                                                                           \
      const char *ahead = texts + (size_t)numbers[positions ? positions[i + AHEAD] : i + AHEAD] *  \
                                      ((STEPS)*SHOAL_LINE_STEP);                                   \
      for (int s = 0; s < (STEPS); s++) __builtin_prefetch(ahead + s * SHOAL_LINE_STEP);           \
    }                                                                                              \
    memcpy(to, texts + (size_t)line * ((STEPS)*SHOAL_LINE_STEP), (STEPS)*SHOAL_LINE_STEP);         \
    to += rows->lines.sizes[line];                                                                 \
  }

char *shoal_rows_copy_lines(const shoal_row_renderer *rows, const uint32_t *numbers,
                            const uint32_t *positions, size_t n, char *to) {
  enum { AHEAD = 12 };
  const char *texts = rows->lines.texts;
  switch (rows->lines.line_bytes / SHOAL_LINE_STEP) {
  case 1: COPY_LINES(1); break;
  case 2: COPY_LINES(2); break;
  case 3: COPY_LINES(3); break;
  default: COPY_LINES(4); break;
  }
  return to;
}
