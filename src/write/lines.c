/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write/lines: whole lines of a release, ready to be copied; see rows.h. Where a release has few
 * different lines, each is rendered once, and a row is the number of its line. Lines are numbered
 * by what the row's group looks like (groups whose generalized cells are the same bytes are one
 * look), and within it by the row's codes in the other columns, as digits of a number.
 */
#include <stdlib.h>

#include "table/dictionary.h"
#include "write/rows.h"

enum {
  MOST_LINE_BYTES = 256, /* a longer one is rendered cell by cell */
  MOST_BYTES = 8 << 20,  /* of all lines: they should stay in the cache */
  ROWS_A_LINE = 8        /* fewer rows do not pay for it */
};

static bool is_of_group(const shoal_cells_out *cells) {
  return cells->cell_of_group || cells->code_of_group.words;
}

/* What has been found out on the way to ready lines. */
typedef struct making {
  shoal_rows_out *rows;
  uint32_t n_groups;
  uint64_t most;          /* lines */
  uint32_t lines_a_look;  /* combinations of codes in columns that the group does not choose */
  shoal_dictionary looks; /* generalized cells, one behind the other, to the number of the look */
  uint32_t *group_of_look;
  size_t group_of_look_capacity;
  char *text; /* room for a row */
} making;

/* How many lines a look has, and the factor of each such column; false: too many, or too long. */
static bool count_lines(making *m, uint64_t n_rows) {
  shoal_rows_out *rows = m->rows;
  if (rows->widest > MOST_LINE_BYTES) return false;
  rows->lines.line_bytes = (rows->widest + SHOAL_LINE_STEP - 1) / SHOAL_LINE_STEP * SHOAL_LINE_STEP;
  m->most = MOST_BYTES / rows->lines.line_bytes;
  if (n_rows / ROWS_A_LINE < m->most) m->most = n_rows / ROWS_A_LINE;
  uint64_t n = 1;
  for (size_t c = 0; c < rows->out->n_columns; c++) {
    const shoal_cells_out *cells = &rows->out->columns[c];
    if (is_of_group(cells)) continue;
    if (cells->generalized || cells->hidden) return false; /* not by its code alone */
    rows->columns[c].factor = (uint32_t)n;
    n *= cells->n_values;
    if (n - 1 >= m->most) return false; /* none is too many as well */
  }
  m->lines_a_look = (uint32_t)n;
  return n_rows / ROWS_A_LINE >= m->n_groups;
}

static char *put_group_cell(const shoal_rows_out *rows, size_t c, uint32_t group, char *to) {
  const shoal_cells_out *cells = &rows->out->columns[c];
  bool blank = cells->generalized && rows->out->fate[group] == SHOAL_FATE_BLANK;
  if (blank || (cells->hidden && cells->hidden[group]))
    return shoal_put_star(&rows->columns[c], to);
  uint32_t cell = cells->cell_of_group ? cells->cell_of_group[group]
                                       : shoal_code_at(cells->code_of_group, group);
  return shoal_put_cell(&rows->columns[c], cell, to);
}

/* Looks of all groups; *few is false where they have too many lines. False: no memory. */
static bool find_looks(making *m, bool *few) {
  const shoal_rows_out *rows = m->rows;
  for (uint32_t g = 0; g < m->n_groups; g++) {
    if (rows->out->fate[g] == SHOAL_FATE_REMOVE) continue;
    char *to = m->text;
    for (size_t c = 0; c < rows->out->n_columns; c++)
      if (is_of_group(&rows->out->columns[c])) to = put_group_cell(rows, c, g, to);
    uint32_t look = shoal_dictionary_code(&m->looks, m->text, (uint32_t)(to - m->text), 0);
    if (look == SHOAL_NO_CODE || !shoal_grow(&m->group_of_look, &m->group_of_look_capacity,
                                             (size_t)look + 1, sizeof *m->group_of_look))
      return false;
    *few = m->looks.n_values <= m->most / m->lines_a_look;
    if (!*few) return true;
    m->group_of_look[look] = g;
    rows->lines.of_group[g] = look * m->lines_a_look;
  }
  return true;
}

/* The line's codes are the digits of its number within the look. */
static void render_line(const shoal_rows_out *rows, uint32_t group, uint32_t number,
                        uint32_t line) {
  char text[MOST_LINE_BYTES + SHOAL_COPY_SLACK] = {0}, *at = text;
  for (size_t c = 0; c < rows->out->n_columns; c++) {
    const shoal_cells_out *cells = &rows->out->columns[c];
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
  shoal_lines_out *lines = &m->rows->lines;
  size_t n_lines = (size_t)m->looks.n_values * m->lines_a_look;
  lines->texts = shoal_alloc_zero(n_lines, lines->line_bytes);
  lines->sizes = shoal_alloc(n_lines, sizeof *lines->sizes);
  if (!lines->texts || !lines->sizes) return false;
  uint32_t line = 0;
  for (uint32_t look = 0; look < m->looks.n_values; look++)
    for (uint32_t number = 0; number < m->lines_a_look; number++)
      render_line(m->rows, m->group_of_look[look], number, line++);
  m->rows->packed_bytes = sizeof(uint32_t);
  return true;
}

bool shoal_rows_make_lines(shoal_rows_out *rows, uint32_t n_groups, uint64_t n_rows) {
  making m = {.rows = rows, .n_groups = n_groups};
  if (!count_lines(&m, n_rows)) return true;
  bool few = true;
  bool ok = shoal_dictionary_init(&m.looks);
  m.text = shoal_alloc(rows->widest + SHOAL_COPY_SLACK + SHOAL_DICTIONARY_SLACK, 1);
  rows->lines.of_group = shoal_alloc_zero(n_groups, sizeof *rows->lines.of_group);
  ok = ok && m.text && rows->lines.of_group && find_looks(&m, &few);
  if (ok && few) ok = render_lines(&m);
  shoal_dictionary_reset(&m.looks);
  free(m.group_of_look);
  free(m.text);
  return ok;
}

/* ------------------------------------------------------------ rows as numbers of lines */

#define ADD_CODES(TYPE)                                                                            \
  for (size_t i = 0; i < n; i++) lines[i] += factor * (uint32_t)((const TYPE *)codes)[row_of[i]]

void shoal_rows_number(const shoal_rows_out *rows, const uint64_t *row_of, size_t n,
                       uint32_t *lines) {
  const shoal_csv_out *out = rows->out;
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
    uint32_t line = numbers[places ? places[i] : i];                                               \
    if (i + AHEAD < n) {                                                                           \
      const char *ahead = texts + (size_t)numbers[places ? places[i + AHEAD] : i + AHEAD] *        \
                                      ((STEPS)*SHOAL_LINE_STEP);                                   \
      for (int s = 0; s < (STEPS); s++) __builtin_prefetch(ahead + s * SHOAL_LINE_STEP);           \
    }                                                                                              \
    memcpy(to, texts + (size_t)line * ((STEPS)*SHOAL_LINE_STEP), (STEPS)*SHOAL_LINE_STEP);         \
    to += rows->lines.sizes[line];                                                                 \
  }

char *shoal_rows_copy_lines(const shoal_rows_out *rows, const uint32_t *numbers,
                            const uint32_t *places, size_t n, char *to) {
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
