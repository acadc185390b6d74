/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/page_labels: how the rows spread over the labels of a released column, before and after.
 * Before means: the label that the row's class or node gives it, whether it was released or not.
 * Full-domain it is counted tuple by tuple, locally class by class, and values row by row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/page.h"
#include "write/csv.h"

static const shoal_label STAR = {"*", 1};

/* Tallies of one column, with a place for "*", which blanked and suppressed cells get. */
typedef struct tallies {
  shoal_tally *items;
  size_t n, star;
} tallies;

static bool reserve(tallies *t, size_t n) {
  t->items = shoal_alloc_zero(n + 1, sizeof *t->items);
  t->n = n + 1;
  t->star = n;
  if (t->items) t->items[n].label = STAR;
  return t->items != NULL;
}

static void name_label(tallies *t, size_t i, shoal_label label) {
  t->items[i].label = label;
  if (shoal_label_equal(label, STAR)) t->star = i;
}

/* ------------------------------------------------------------ full-domain */

static bool tally_tuples(const shoal_release *release, size_t q, tallies *t) {
  const shoal_prepared *p = &release->prepared;
  const shoal_frequency *f = p->frequency;
  const shoal_level *level = &p->hierarchies[q]->levels[release->levels[q]];
  if (!reserve(t, level->n_labels)) return false;
  for (uint32_t i = 0; i < level->n_labels; i++) {
    shoal_label label;
    label.bytes = shoal_level_label(level, i, &label.size_bytes);
    name_label(t, i, label);
  }
  for (uint32_t tuple = 0; tuple < f->n_tuples; tuple++) {
    uint64_t n = f->base.n_rows[tuple];
    uint32_t label = level->of_leaf[shoal_code_at(f->codes[q], tuple)];
    uint8_t fate = release->fate_of_group[tuple];
    bool star = fate == SHOAL_FATE_BLANK || (release->hidden && release->hidden[q][tuple]);
    t->items[label].before += n;
    if (fate != SHOAL_FATE_REMOVE) t->items[star ? t->star : label].after += n;
  }
  return true;
}

/* ------------------------------------------------------------ local */

/* Rows of each class: of the table, and with invented ones. */
typedef struct class_rows {
  uint64_t *before, *after;
  uint32_t n;
} class_rows;

static bool count_class_rows(const shoal_release *release, class_rows *rows) {
  uint64_t n_true = release->prepared.table->n_rows;
  uint64_t n = release->written ? release->written->n_rows : n_true;
  for (uint64_t row = 0; row < n; row++)
    if (release->class_of_row[row] >= rows->n) rows->n = release->class_of_row[row] + 1;
  rows->before = shoal_alloc_zero(rows->n, sizeof *rows->before);
  rows->after = shoal_alloc_zero(rows->n, sizeof *rows->after);
  if (!rows->before || !rows->after) return false;
  for (uint64_t row = 0; row < n; row++) {
    uint32_t c = release->class_of_row[row];
    rows->before[c] += row < n_true;
    rows->after[c] += release->fate_of_group[c] != SHOAL_FATE_REMOVE;
  }
  return true;
}

static bool tally_classes(const shoal_release *release, size_t q, const class_rows *rows,
                          tallies *t) {
  const shoal_strings *strings = &release->labels.strings[q];
  if (!reserve(t, strings->n_strings)) return false;
  for (uint32_t i = 0; i < strings->n_strings; i++) name_label(t, i, shoal_strings_get(strings, i));
  for (uint32_t c = 0; c < rows->n; c++) {
    uint32_t label = release->labels.of_group[q][c];
    t->items[label].before += rows->before[c];
    bool star = release->fate_of_group[c] == SHOAL_FATE_BLANK;
    t->items[star ? t->star : label].after += rows->after[c];
  }
  return true;
}

/* ------------------------------------------------------------ values as they are */

static bool tally_values(const shoal_release *release, size_t column, tallies *t) {
  const shoal_table *table = release->written ? release->written : release->prepared.table;
  const shoal_column *from = &table->columns[column];
  uint64_t n_true = release->prepared.table->n_rows;
  t->items = shoal_alloc_zero(from->n_values, sizeof *t->items);
  t->n = from->n_values;
  if (!t->items) return false;
  for (uint32_t v = 0; v < from->n_values; v++)
    t->items[v].label.bytes = shoal_column_value(from, v, &t->items[v].label.size_bytes);
  for (uint64_t row = 0; row < table->n_rows; row++) {
    shoal_tally *tally = &t->items[shoal_column_code(from, row)];
    uint64_t n = shoal_table_count(table, row);
    if (row < n_true) tally->before += n;
    if (release->fate_of_group[release->group_of_row[row]] != SHOAL_FATE_REMOVE) tally->after += n;
  }
  return true;
}

/* ------------------------------------------------------------ widths */

/* How wide the released intervals of a number are, row by row. */
static shoal_status tell_widths(shoal_result *result, const tallies *t, shoal_page_attribute *a,
                                shoal_error *error) {
  double least = 0, most = 0, sum = 0, low, high;
  uint64_t n_rows = 0;
  for (size_t i = 0; i < t->n; i++) {
    const shoal_tally *tally = &t->items[i];
    if (!tally->after || !shoal_page_interval(tally->label, &low, &high)) continue;
    double width = high - low;
    if (!n_rows || width < least) least = width;
    if (!n_rows || width > most) most = width;
    sum += width * (double)tally->after;
    n_rows += tally->after;
  }
  if (!n_rows || most <= 0) return SHOAL_OK;
  char words[160];
  if (least < most)
    (void)snprintf(words, sizeof words,
                   "%.6g to %.6g wide, on average %.4g (upper end minus lower end, row by row)",
                   least, most, sum / (double)n_rows);
  else (void)snprintf(words, sizeof words, "%.6g wide (upper end minus lower end)", most);
  a->widths = shoal_result_string(result, words, strlen(words));
  return a->widths ? SHOAL_OK : shoal_fail_memory(error);
}

/* ------------------------------------------------------------ all columns */

static bool is_number(const shoal_policy *policy, const char *name) {
  const shoal_attribute *attribute = shoal_policy_attribute(policy, name);
  return attribute && attribute->type == SHOAL_TYPE_NUMBER;
}

bool shoal_page_shows(const shoal_release *release, const shoal_page *page, size_t column) {
  const shoal_table *table = release->written ? release->written : release->prepared.table;
  return page->columns[column].released && table->columns[column].codes;
}

static shoal_status describe(shoal_release *release, shoal_page *page, size_t column, size_t q,
                             const class_rows *rows, shoal_page_attribute *a, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_result *result = release->result;
  const shoal_page_column *named = &page->columns[column];
  bool quasi = p->roles[column] == SHOAL_ROLE_QUASI;
  bool numeric = is_number(p->policy, p->table->columns[column].name);
  *a = (shoal_page_attribute){.name = named->name,
                              .role = named->role,
                              .done = named->done,
                              .outcome = quasi ? &result->attributes[q] : NULL};
  tallies t = {0};
  bool ok = !quasi                  ? tally_values(release, column, &t)
            : release->class_of_row ? tally_classes(release, q, rows, &t)
                                    : tally_tuples(release, q, &t);
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK)
    status = shoal_page_choose(result, t.items, t.n, page->k, numeric, a, error);
  if (status == SHOAL_OK && quasi && numeric) status = tell_widths(result, &t, a, error);
  free(t.items);
  return status;
}

shoal_status shoal_page_attributes(shoal_release *release, shoal_page *page, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  page->attributes =
      shoal_arena_alloc(&release->result->arena, p->table->n_columns, sizeof *page->attributes);
  class_rows rows = {0};
  bool ok = page->attributes && (!release->class_of_row || count_class_rows(release, &rows));
  shoal_status status = ok ? SHOAL_OK : shoal_fail_memory(error);
  size_t q = 0;
  for (size_t c = 0; status == SHOAL_OK && c < p->table->n_columns; c++) {
    if (!shoal_page_shows(release, page, c)) continue;
    status = describe(release, page, c, q, &rows, &page->attributes[page->n_attributes], error);
    if (status == SHOAL_OK) page->n_attributes++;
    q += p->roles[c] == SHOAL_ROLE_QUASI;
  }
  free(rows.before);
  free(rows.after);
  return status;
}
