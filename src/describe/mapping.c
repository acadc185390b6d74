/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe/mapping: what was done to each value and class, as CSV with one line for each:
 *
 *   internal_do_not_publish  attribute  value  label  level  rows  suppressed  noise  label:AGE ...
 *   value                    age        34     [30-39]    1    12           2
 *   class                                                        9           0      0  [30-39]
 *   removed                                                      2           2      0  [90-99]
 *
 * Lines of values exist if a value has one label everywhere: full-domain generalization, and
 * mu-Argus, which writes "*" in some rows (a line of its own, without a level). Groups of rows with
 * equal labels are one class; in local recoding each group is one. Cells are spelled as in the
 * release, and lines are written as they are made.
 */
#include "describe/mapping.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "input/cells.h"
#include "write/sink.h"

enum { BUFFER_BYTES = 1 << 16 };

typedef struct mapping {
  const shoal_context *context;
  const shoal_decision *decision;
  bool styled;
  shoal_csv_plan rules; /* for rendering cells */
  shoal_text lines;     /* not yet written */
  char *cell;           /* room for one */
  size_t capacity;
  shoal_sink *sink;
} mapping;

/* ------------------------------------------------------------ cells and lines */

/* Adds a cell; `commas`: numbers of the release have decimal commas. */
static void add_cell(mapping *m, shoal_label text, bool commas) {
  size_t size = text.size_bytes;
  if (!shoal_grow_wiping(&m->cell, &m->capacity, 3 * size + SHOAL_CELL_EXTRA)) {
    m->lines.failed = true;
    return;
  }
  char *copy = m->cell + 2 * size + SHOAL_CELL_EXTRA;
  if (size) memcpy(copy, text.bytes, size);
  if (commas) shoal_swap_marks(copy, size);
  shoal_text_add_bytes(&m->lines, m->cell, shoal_cell_render(&m->rules, copy, size, m->cell));
}

static void add_name(mapping *m, const char *name) {
  add_cell(m, (shoal_label){name, strlen(name)}, false);
}

static void add_number(mapping *m, uint64_t number) {
  shoal_text_print(&m->lines, "%llu", (unsigned long long)number);
}

static void add_separators(mapping *m, size_t n) {
  for (size_t i = 0; i < n; i++) shoal_text_add_bytes(&m->lines, &m->rules.delimiter, 1);
}

static void add_separator(mapping *m) { add_separators(m, 1); }

static shoal_status flush(mapping *m, size_t at_least, shoal_error *error) {
  if (m->lines.failed) return shoal_fail_memory(error);
  if (m->lines.size_bytes < at_least) return SHOAL_OK;
  SHOAL_TRY(shoal_sink_write(m->sink, m->lines.bytes, m->lines.size_bytes, error));
  shoal_text_cut(&m->lines, 0);
  return SHOAL_OK;
}

static shoal_status end_line(mapping *m, shoal_error *error) {
  shoal_text_add(&m->lines, "\n");
  return flush(m, BUFFER_BYTES, error);
}

static bool has_commas(const mapping *m, size_t q) {
  return m->styled && shoal_cells_have_commas(m->context->policy, m->context->quasi_attributes[q]);
}

/* ------------------------------------------------------------ values */

/* What was done to one value. */
typedef struct value_rows {
  uint32_t group; /* some group that has it */
  uint64_t rows, suppressed;
} value_rows;

static shoal_status write_value(mapping *m, size_t q, uint32_t value, const value_rows *v,
                                bool is_starred, shoal_error *error) {
  const shoal_column *column = m->context->quasi[q];
  const shoal_column_labels *labels = &m->decision->columns[q];
  bool commas = has_commas(m, q);
  shoal_label text;
  text.bytes = shoal_column_value(column, value, &text.size_bytes);
  shoal_text_add(&m->lines, "value");
  add_separator(m);
  add_name(m, column->name);
  add_separator(m);
  add_cell(m, text, commas);
  add_separator(m);
  add_cell(m, shoal_column_label(labels, shoal_column_written_index(labels, v->group)), commas);
  add_separator(m);
  if (!is_starred) add_number(m, m->decision->levels[q]);
  add_separator(m);
  add_number(m, v->rows);
  add_separator(m);
  add_number(m, v->suppressed);
  add_separators(m, 1 + m->decision->n_quasi);
  return end_line(m, error);
}

/* The values of a quasi-identifier: cells that have their label, then those that are "*". */
static shoal_status write_values(mapping *m, size_t q, shoal_error *error) {
  const shoal_decision *d = m->decision;
  const shoal_column_labels *labels = &d->columns[q];
  uint32_t n_values = m->context->quasi[q]->n_values;
  value_rows *of_value = shoal_alloc_zero(n_values, 2 * sizeof *of_value);
  if (!of_value) return shoal_fail_memory(error);
  for (uint32_t g = 0; g < d->n_groups; g++) {
    uint32_t code = shoal_code_at(m->context->frequency->codes[q], g);
    bool is_starred = labels->suppressed && labels->suppressed[g];
    value_rows *v = &of_value[2 * (size_t)code + is_starred];
    v->group = g;
    v->rows += d->rows_of_group[g];
    if (d->action_of_group[g] != SHOAL_ROW_KEEP) v->suppressed += d->rows_of_group[g];
  }
  shoal_status status = SHOAL_OK;
  for (size_t i = 0; i < 2 * (size_t)n_values && status == SHOAL_OK; i++)
    if (of_value[i].rows) status = write_value(m, q, (uint32_t)(i / 2), &of_value[i], i % 2, error);
  free(of_value);
  return status;
}

/* ------------------------------------------------------------ classes */

/* `rows`: without noise rows. The labels are those of `group`, also if its rows are blanked. */
static shoal_status write_class(mapping *m, uint32_t group, uint64_t rows, uint64_t noise,
                                shoal_error *error) {
  static const char *const names[] = {
      [SHOAL_ROW_KEEP] = "class", [SHOAL_ROW_REMOVE] = "removed", [SHOAL_ROW_BLANK] = "blanked"};
  const shoal_decision *d = m->decision;
  uint8_t action = d->action_of_group[group];
  shoal_text_add(&m->lines, names[action]);
  add_separators(m, 5); /* no attribute, value, label and level */
  add_number(m, rows);
  add_separator(m);
  add_number(m, action == SHOAL_ROW_KEEP ? 0 : rows);
  add_separator(m);
  add_number(m, action == SHOAL_ROW_REMOVE ? 0 : noise);
  for (size_t q = 0; q < d->n_quasi; q++) {
    const shoal_column_labels *labels = &d->columns[q];
    add_separator(m);
    add_cell(m, shoal_column_label(labels, shoal_column_written_index(labels, group)),
             has_commas(m, q));
  }
  return end_line(m, error);
}

/* A class: groups with equal labels. */
typedef struct class_rows {
  uint32_t group; /* the first of them */
  uint64_t rows;
} class_rows;

/* Gives each group to the class with its labels, by their numbers. `key` has room for them. */
static bool find_classes(const shoal_decision *d, uint32_t *key, shoal_strings *classes,
                         class_rows **rows) {
  size_t capacity = 0;
  for (uint32_t g = 0; g < d->n_groups; g++) {
    for (size_t q = 0; q < d->n_quasi; q++) key[q] = shoal_column_written_index(&d->columns[q], g);
    uint32_t n = classes->n_strings;
    uint32_t class =
        shoal_strings_intern(classes, (shoal_label){(const char *)key, d->n_quasi * sizeof *key});
    if (class == SHOAL_NONE || !shoal_grow(rows, &capacity, (size_t) class + 1, sizeof **rows))
      return false;
    if (class == n) (*rows)[class] = (class_rows){.group = g};
    (*rows)[class].rows += d->rows_of_group[g];
  }
  return true;
}

static shoal_status write_classes(mapping *m, shoal_error *error) {
  const shoal_decision *d = m->decision;
  if (d->kind == SHOAL_METHOD_CLUSTERS) {
    /* Local recoding: each group is a class, and noise rows are counted by class. */
    for (uint32_t g = 0; g < d->n_groups; g++) {
      uint64_t noise = d->noise_rows ? d->noise_rows[g] : 0;
      SHOAL_TRY(write_class(m, g, d->rows_of_group[g] - noise, noise, error));
    }
    return SHOAL_OK;
  }
  shoal_strings classes;
  if (!shoal_strings_init(&classes)) return shoal_fail_memory(error);
  uint32_t *key = shoal_alloc(d->n_quasi, sizeof *key);
  class_rows *rows = NULL;
  shoal_status status =
      key && find_classes(d, key, &classes, &rows) ? SHOAL_OK : shoal_fail_memory(error);
  assert(rows || !classes.n_strings || status != SHOAL_OK);
  for (uint32_t c = 0; c < classes.n_strings && status == SHOAL_OK; c++)
    status = write_class(m, rows[c].group, rows[c].rows, 0, error);
  free(rows);
  free(key);
  shoal_strings_reset(&classes);
  return status;
}

/* ------------------------------------------------------------ all of it */

static shoal_status write_lines(mapping *m, shoal_error *error) {
  static const char *const names[] = {"internal_do_not_publish",
                                      "attribute",
                                      "value",
                                      "label",
                                      "level",
                                      "rows",
                                      "suppressed",
                                      "noise"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (i) add_separator(m);
    add_name(m, names[i]);
  }
  shoal_text name;
  shoal_text_init(&name);
  for (size_t q = 0; q < m->decision->n_quasi; q++) {
    shoal_text_cut(&name, 0);
    shoal_text_print(&name, "label:%s", m->context->quasi[q]->name);
    add_separator(m);
    if (name.failed) m->lines.failed = true;
    else add_name(m, name.bytes);
  }
  shoal_text_reset(&name);
  SHOAL_TRY(end_line(m, error));
  for (size_t q = 0; m->decision->levels && q < m->decision->n_quasi; q++)
    SHOAL_TRY(write_values(m, q, error));
  SHOAL_TRY(write_classes(m, error));
  SHOAL_TRY(flush(m, 0, error));
  return shoal_sink_finish(m->sink, error);
}

shoal_status shoal_mapping_write(const shoal_release *release, bool styled, int fd,
                                 const char *path, shoal_error *error) {
  const shoal_context *p = &release->context;
  mapping m = {.context = p,
               .decision = &release->decision,
               .styled = styled,
               .rules = {.delimiter = p->table->delimiter,
                         .n_columns = 2, /* no line is one empty cell */
                         .quote_formulas = p->policy->quote_formulas}};
  SHOAL_TRY(shoal_sink_open(fd, path, &m.sink, error));
  shoal_text_init(&m.lines);
  shoal_status status = write_lines(&m, error);
  shoal_wipe_free(m.lines.bytes, m.lines.capacity);
  shoal_wipe_free(m.cell, m.capacity);
  shoal_sink_free(m.sink);
  return status;
}
