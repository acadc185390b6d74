/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/fold: groups the values of a column by key, chooses the spelling of each group, rewrites
 * dictionary and codes, and merges counted rows that became equal. A column in which every value is
 * its own key, as most are, stays as it is.
 */
#include "table/fold.h"

#include <stdlib.h>
#include <string.h>

#include "table/count.h"
#include "table/dictionary.h"

void shoal_spellings_free(struct shoal_spellings *spellings) {
  if (!spellings) return;
  shoal_wipe_free(spellings->bytes, (size_t)spellings->offsets[spellings->n_spellings]);
  free(spellings->offsets);
  free(spellings->code_of);
  free(spellings);
}

void shoal_folded_free(struct shoal_folded *folded) {
  if (!folded) return;
  shoal_wipe_free(folded->bytes,
                  folded->offsets ? (size_t)folded->offsets[folded->n_spellings] : 0);
  free(folded->offsets);
  free(folded->value_of);
  free(folded->codes);
  free(folded);
}

void shoal_spelled_rows_free(struct shoal_spelled_rows *spelled) {
  if (!spelled) return;
  free(spelled->row_of);
  free(spelled->counts);
  free(spelled);
}

static shoal_label value_of(const shoal_column *column, uint32_t value) {
  shoal_label label;
  label.bytes = shoal_column_value(column, value, &label.size_bytes);
  return label;
}

uint64_t *shoal_column_rows(const shoal_table *table, const shoal_column *column) {
  uint64_t *rows = shoal_alloc_zero(column->n_values, sizeof *rows);
  for (uint64_t row = 0; rows && row < table->n_rows; row++)
    rows[shoal_column_code(column, row)] += shoal_table_count(table, row);
  return rows;
}

/* ------------------------------------------------------------ groups of equal values */

/* The values of a column in groups of equal ones, numbered by first appearance. */
typedef struct grouping {
  uint32_t *group_of; /* by value */
  uint32_t n_groups;
} grouping;

static bool group_values(const shoal_column *column, shoal_equality equality, grouping *groups) {
  shoal_values values;
  if (!shoal_values_init(&values, equality)) return false;
  groups->group_of = shoal_alloc(column->n_values, sizeof *groups->group_of);
  bool ok = groups->group_of != NULL;
  for (uint32_t v = 0; ok && v < column->n_values; v++) {
    groups->group_of[v] = shoal_values_intern(&values, value_of(column, v));
    ok = groups->group_of[v] != SHOAL_NONE;
  }
  groups->n_groups =
      equality == SHOAL_EQUAL_BYTES ? values.spellings.n_strings : values.keys.n_strings;
  shoal_values_reset(&values);
  if (ok) return true;
  free(groups->group_of);
  groups->group_of = NULL;
  return false;
}

/* Is every value its own key? Then no two are equal. Most columns end here, without hashing. */
static bool all_are_keys(const shoal_column *column, shoal_equality equality, bool *failed) {
  shoal_text scratch;
  shoal_text_init(&scratch);
  bool same = true;
  for (uint32_t v = 0; same && v < column->n_values; v++) {
    shoal_label value = value_of(column, v);
    same = shoal_label_equal(value, shoal_equality_key(equality, value, &scratch));
  }
  *failed = scratch.failed;
  shoal_wipe_free(scratch.bytes, scratch.capacity);
  return same;
}

/* ------------------------------------------------------------ one spelling */

/* Is spelling a to be kept rather than b? */
static bool is_better(const shoal_column *column, const uint64_t *rows, uint32_t a, uint32_t b) {
  if (rows[a] != rows[b]) return rows[a] > rows[b];
  shoal_label x = value_of(column, a), y = value_of(column, b);
  if (x.size_bytes != y.size_bytes) return x.size_bytes < y.size_bytes;
  return memcmp(x.bytes, y.bytes, x.size_bytes) < 0; /* empty ones are equal, and one value */
}

/* The spelling that each group keeps; NULL: no memory. */
static shoal_label *choose_spellings(const shoal_table *table, const shoal_column *column,
                                     const grouping *groups) {
  uint64_t *rows = shoal_column_rows(table, column);
  uint32_t *chosen = shoal_alloc(groups->n_groups, sizeof *chosen);
  shoal_label *spelling = shoal_alloc(groups->n_groups, sizeof *spelling);
  if (rows && chosen && spelling) {
    memset(chosen, 0xff, groups->n_groups * sizeof *chosen); /* SHOAL_NONE */
    for (uint32_t v = 0; v < column->n_values; v++) {
      uint32_t *best = &chosen[groups->group_of[v]];
      if (*best == SHOAL_NONE || is_better(column, rows, v, *best)) *best = v;
    }
    for (uint32_t g = 0; g < groups->n_groups; g++) spelling[g] = value_of(column, chosen[g]);
  } else {
    free(spelling);
    spelling = NULL;
  }
  free(chosen);
  free(rows);
  return spelling;
}

/* The dictionary of the groups: as that of the column, with the chosen spellings. */
typedef struct folded_values {
  char *bytes;
  uint64_t *offsets, *first_row;
  uint8_t *is_missing;
} folded_values;

static void folded_free(folded_values *to, uint64_t size_bytes) {
  shoal_wipe_free(to->bytes, (size_t)size_bytes);
  free(to->offsets);
  free(to->first_row);
  free(to->is_missing);
}

static bool fill_folded(const shoal_column *column, const grouping *groups,
                        const shoal_label *spelling, folded_values *to) {
  uint64_t size = 0;
  for (uint32_t g = 0; g < groups->n_groups; g++) size += spelling[g].size_bytes;
  *to = (folded_values){.bytes = shoal_alloc_zero((size_t)size + SHOAL_DICTIONARY_SLACK, 1),
                        .offsets =
                            shoal_alloc_zero((size_t)groups->n_groups + 1, sizeof *to->offsets),
                        .first_row = shoal_alloc(groups->n_groups, sizeof *to->first_row)};
  if (column->is_missing) to->is_missing = shoal_alloc_zero(groups->n_groups, 1);
  if (!to->bytes || !to->offsets || !to->first_row || (column->is_missing && !to->is_missing)) {
    folded_free(to, 0);
    return false;
  }
  for (uint32_t g = 0; g < groups->n_groups; g++) {
    shoal_label value = spelling[g];
    if (value.size_bytes) memcpy(to->bytes + to->offsets[g], value.bytes, value.size_bytes);
    to->offsets[g + 1] = to->offsets[g] + value.size_bytes;
  }
  for (uint32_t v = column->n_values; v-- > 0;) { /* the first value of a group comes last */
    to->first_row[groups->group_of[v]] = column->first_row[v];
    if (shoal_column_missing(column, v)) to->is_missing[groups->group_of[v]] = 1;
  }
  return true;
}

static void *copy_of(const void *items, size_t n, size_t size) {
  void *copy = shoal_alloc(n, size);
  if (copy && n) memcpy(copy, items, n * size);
  return copy;
}

/* Remembers the spelling of each row. False: no memory. */
static bool remember_rows(const shoal_table *table, shoal_column *column,
                          const uint32_t *group_of) {
  struct shoal_folded *folded = shoal_alloc_zero(1, sizeof *folded);
  if (!folded) return false;
  size_t n = column->n_values;
  folded->n_spellings = column->n_values;
  folded->code_size = column->code_size;
  folded->bytes = copy_of(column->bytes, (size_t)column->offsets[n], 1);
  folded->offsets = copy_of(column->offsets, n + 1, sizeof *folded->offsets);
  folded->value_of = copy_of(group_of, n, sizeof *folded->value_of);
  folded->codes = copy_of(column->codes, (size_t)table->n_rows, column->code_size);
  if (folded->bytes && folded->offsets && folded->value_of && folded->codes) {
    column->folded = folded;
    return true;
  }
  shoal_folded_free(folded);
  return false;
}

/* Of a counted table, before its rows are merged. False: no memory. */
static bool remember_counts(shoal_table *table) {
  struct shoal_spelled_rows *spelled = table->spelled = shoal_alloc_zero(1, sizeof *spelled);
  if (!spelled) return false;
  spelled->n = table->n_rows;
  spelled->row_of = shoal_alloc((size_t)table->n_rows, sizeof *spelled->row_of);
  spelled->counts = copy_of(table->counts, (size_t)table->n_rows, sizeof *spelled->counts);
  if (!spelled->row_of || !spelled->counts) return false;
  for (uint64_t row = 0; row < table->n_rows; row++) spelled->row_of[row] = (uint32_t)row;
  return true;
}

/* How the file spells the values: remembered by `old`, or known since they were merged before. */
static void keep_spellings(const shoal_table *table, shoal_column *column, grouping *groups,
                           struct shoal_spellings *old) {
  struct shoal_spellings *known = column->spellings;
  *old =
      (struct shoal_spellings){column->n_values, column->bytes, column->offsets, groups->group_of};
  if (known)
    for (uint32_t s = 0; s < known->n_spellings; s++)
      known->code_of[s] = old->code_of[known->code_of[s]];
  if (column->folded)
    for (uint32_t s = 0; s < column->folded->n_spellings; s++)
      column->folded->value_of[s] = old->code_of[column->folded->value_of[s]];
  groups->group_of = NULL;
  if (shoal_table_is_counted(table) && !known) column->spellings = old;
  else shoal_spellings_free(old);
}

/* Replaces the column's dictionary; takes groups->group_of and the contents of `to`. */
static bool replace_values(const shoal_table *table, shoal_column *column, grouping *groups,
                           folded_values *to) {
  struct shoal_spellings *old = shoal_alloc(1, sizeof *old);
  if (!old) return false;
  const uint32_t *map = groups->group_of;
  for (uint64_t row = 0; row < table->n_rows; row++) {
    uint32_t code = map[shoal_column_code(column, row)];
    if (column->code_size == 1) ((uint8_t *)column->codes)[row] = (uint8_t)code;
    else if (column->code_size == 2) ((uint16_t *)column->codes)[row] = (uint16_t)code;
    else ((uint32_t *)column->codes)[row] = code;
  }
  keep_spellings(table, column, groups, old);
  free(column->is_missing);
  free(column->first_row);
  column->n_values = groups->n_groups;
  column->bytes = to->bytes;
  column->offsets = to->offsets;
  column->first_row = to->first_row;
  column->is_missing = to->is_missing;
  return true;
}

/* Takes groups->group_of if it succeeds. */
static bool regroup(const shoal_table *table, shoal_column *column, grouping *groups,
                    const shoal_label *spelling) {
  folded_values to;
  if (!fill_folded(column, groups, spelling, &to)) return false;
  if (replace_values(table, column, groups, &to)) return true;
  folded_free(&to, to.offsets[groups->n_groups]);
  return false;
}

bool shoal_column_regroup(const shoal_table *table, shoal_column *column, uint32_t *group_of,
                          const shoal_label *spelling, uint32_t n_groups) {
  grouping groups = {group_of, n_groups};
  bool ok = regroup(table, column, &groups, spelling);
  if (!ok) free(group_of);
  return ok;
}

static bool merge_spellings(const shoal_table *table, shoal_column *column, shoal_equality equality,
                            bool *merged) {
  grouping groups = {0};
  bool failed;
  if (all_are_keys(column, equality, &failed)) return true;
  if (failed || !group_values(column, equality, &groups)) return false;
  bool ok = true;
  if (groups.n_groups < column->n_values) {
    shoal_label *spelling = choose_spellings(table, column, &groups);
    struct shoal_folded *folded = NULL;
    ok = spelling && remember_rows(table, column, groups.group_of);
    if (ok) { /* its values are numbered already */
      folded = column->folded;
      column->folded = NULL;
      ok = regroup(table, column, &groups, spelling);
      column->folded = folded;
    }
    free(spelling);
    *merged = *merged || ok;
  }
  free(groups.group_of);
  return ok;
}

/* Marks values that equal a spelling of a missing one. */
static bool mark_missing(shoal_column *column, shoal_equality equality, const char *const *missing,
                         size_t n_missing) {
  shoal_values values;
  bool failed = false;
  if (!n_missing) return true;
  if (!shoal_values_init(&values, equality)) return false;
  for (size_t m = 0; !failed && m < n_missing; m++)
    failed =
        shoal_values_intern(&values, (shoal_label){missing[m], strlen(missing[m])}) == SHOAL_NONE;
  for (uint32_t v = 0; !failed && v < column->n_values; v++) {
    if (shoal_values_find(&values, value_of(column, v), &failed) == SHOAL_NONE) continue;
    if (!column->is_missing) column->is_missing = shoal_alloc_zero(column->n_values, 1);
    failed = failed || !column->is_missing;
    if (!failed) column->is_missing[v] = 1;
  }
  shoal_values_reset(&values);
  return !failed;
}

/* ------------------------------------------------------------ rows of a counted table */

bool shoal_table_merge_rows(shoal_table *table) {
  size_t width = 0;
  for (size_t c = 0; c < table->n_columns; c++) width += table->columns[c].code_size > 0;
  shoal_row_counts *tuples = shoal_row_counts_new(width);
  uint32_t *codes = shoal_alloc(width, sizeof *codes);
  uint32_t *now = shoal_alloc((size_t)table->n_rows, sizeof *now);
  bool ok = tuples && codes && now;
  for (uint64_t row = 0; ok && row < table->n_rows; row++) {
    size_t at = 0;
    for (size_t c = 0; c < table->n_columns; c++)
      if (table->columns[c].code_size) codes[at++] = shoal_column_code(&table->columns[c], row);
    uint32_t before = tuples->n;
    ok = shoal_row_counts_add(tuples, codes, table->counts[row], table->first_row[row]);
    if (ok) shoal_row_counts_find(tuples, codes, 1, &now[row]);
    if (!ok || tuples->n == before || before == row) continue;
    for (size_t c = 0; c < table->n_columns; c++) { /* a kept row moves up */
      const shoal_column *column = &table->columns[c];
      char *all = column->codes;
      if (column->code_size)
        memcpy(all + (size_t)before * column->code_size, all + row * column->code_size,
               column->code_size);
    }
  }
  if (ok) {
    /* Merged rows: those of before have these numbers now. */
    for (uint64_t i = 0; table->spelled && i < table->spelled->n; i++)
      table->spelled->row_of[i] = now[table->spelled->row_of[i]];
    table->n_rows = tuples->n;
    memcpy(table->counts, tuples->counts, tuples->n * sizeof *table->counts);
    memcpy(table->first_row, tuples->first_position, tuples->n * sizeof *table->first_row);
  }
  free(codes);
  free(now);
  shoal_row_counts_free(tuples);
  return ok;
}

/* The spelling of each group: all its values have one. NULL: no memory. */
static shoal_label *spellings_of(const shoal_column *column, const grouping *groups) {
  shoal_label *spelling = shoal_alloc(groups->n_groups, sizeof *spelling);
  for (uint32_t v = 0; spelling && v < column->n_values; v++)
    spelling[groups->group_of[v]] = value_of(column, v);
  return spelling;
}

shoal_status shoal_column_respell(shoal_table *table, shoal_column *column, char *bytes,
                                  uint64_t *offsets, uint8_t *is_missing, shoal_error *error) {
  shoal_column respelled = *column;
  respelled.bytes = bytes;
  respelled.offsets = offsets;
  respelled.is_missing = is_missing;
  grouping groups = {0};
  folded_values to;
  if (!group_values(&respelled, SHOAL_EQUAL_BYTES, &groups)) return shoal_fail_memory(error);
  bool merged = groups.n_groups < column->n_values;
  shoal_label *spelling = spellings_of(&respelled, &groups);
  bool ok = spelling && fill_folded(&respelled, &groups, spelling, &to);
  if (ok && !replace_values(table, column, &groups, &to)) {
    folded_free(&to, to.offsets[groups.n_groups]);
    ok = false;
  }
  free(spelling);
  free(groups.group_of);
  if (ok && merged && shoal_table_is_counted(table)) ok = shoal_table_merge_rows(table);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_table_fold(shoal_table *table, const shoal_equality *equality_of,
                              const char *const *missing, size_t n_missing, shoal_error *error) {
  bool merged = false;
  for (size_t c = 0; c < table->n_columns; c++) {
    shoal_column *column = &table->columns[c];
    column->equality = equality_of[c];
    if (equality_of[c] == SHOAL_EQUAL_BYTES || !column->code_size) continue;
    if (!merge_spellings(table, column, equality_of[c], &merged) ||
        !mark_missing(column, equality_of[c], missing, n_missing))
      return shoal_fail_memory(error);
  }
  if (merged && shoal_table_is_counted(table) &&
      (!remember_counts(table) || !shoal_table_merge_rows(table)))
    return shoal_fail_memory(error);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ spellings of some rows */

static uint32_t spelling_at(const struct shoal_folded *folded, uint64_t row) {
  shoal_column codes = {.codes = folded->codes, .code_size = folded->code_size};
  return shoal_column_code(&codes, row);
}

/* Rows of each spelling; NULL: no memory. */
static uint64_t *count_spellings(const shoal_table *table, const struct shoal_folded *folded,
                                 const uint8_t *in) {
  const struct shoal_spelled_rows *spelled = table->spelled;
  uint64_t *rows = shoal_alloc_zero(folded->n_spellings, sizeof *rows);
  if (!rows) return NULL;
  uint64_t n = spelled ? spelled->n : table->n_rows;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t row = spelled ? spelled->row_of[i] : i;
    uint64_t count = spelled ? spelled->counts[i] : shoal_table_count(table, row);
    if (in[row]) rows[spelling_at(folded, i)] += count;
  }
  return rows;
}

/* Is it a spelling of the value, rather than what a code stands for? */
static bool spells(const shoal_column *column, shoal_label spelling, uint32_t value,
                   shoal_text *scratch, shoal_text *other) {
  shoal_label own = shoal_equality_key(column->equality, value_of(column, value), scratch);
  return shoal_label_equal(own, shoal_equality_key(column->equality, spelling, other));
}

shoal_label *shoal_folded_best(const shoal_table *table, const shoal_column *column,
                               const uint8_t *in) {
  const struct shoal_folded *folded = column->folded;
  const shoal_column all = {.bytes = folded->bytes, .offsets = folded->offsets};
  uint64_t *rows = count_spellings(table, folded, in);
  uint32_t *chosen = shoal_alloc(column->n_values, sizeof *chosen);
  shoal_label *best = shoal_alloc(column->n_values, sizeof *best);
  shoal_text scratch, other;
  shoal_text_init(&scratch);
  shoal_text_init(&other);
  bool ok = rows && chosen && best;
  if (ok) memset(chosen, 0xff, column->n_values * sizeof *chosen); /* SHOAL_NONE */
  for (uint32_t s = 0; ok && s < folded->n_spellings; s++) {
    uint32_t *of = &chosen[folded->value_of[s]];
    if (rows[s] && spells(column, value_of(&all, s), folded->value_of[s], &scratch, &other) &&
        (*of == SHOAL_NONE || is_better(&all, rows, s, *of)))
      *of = s;
  }
  for (uint32_t v = 0; ok && v < column->n_values; v++)
    best[v] = chosen[v] == SHOAL_NONE ? (shoal_label){NULL, SIZE_MAX} : value_of(&all, chosen[v]);
  ok = ok && !scratch.failed && !other.failed;
  shoal_wipe_free(scratch.bytes, scratch.capacity);
  shoal_wipe_free(other.bytes, other.capacity);
  free(rows);
  free(chosen);
  if (ok) return best;
  free(best);
  return NULL;
}

struct shoal_folded *shoal_folded_expand(const shoal_table *table,
                                         const struct shoal_folded *folded) {
  struct shoal_folded *all = shoal_alloc_zero(1, sizeof *all);
  if (!all) return NULL;
  size_t n = folded->n_spellings, size = folded->code_size;
  all->n_spellings = folded->n_spellings;
  all->code_size = folded->code_size;
  all->bytes = copy_of(folded->bytes, (size_t)folded->offsets[n], 1);
  all->offsets = copy_of(folded->offsets, n + 1, sizeof *all->offsets);
  all->value_of = copy_of(folded->value_of, n, sizeof *all->value_of);
  char *to = all->codes = shoal_alloc((size_t)table->n_records, size);
  for (uint64_t row = 0; to && row < table->n_rows; row++)
    for (uint64_t times = table->counts[row]; times; times--, to += size)
      memcpy(to, (const char *)folded->codes + row * size, size);
  if (all->bytes && all->offsets && all->value_of && all->codes) return all;
  shoal_folded_free(all);
  return NULL;
}

/* ------------------------------------------------------------ variants */

/* Counts the values that share their key with another one, and their rows if `n_rows` is given. */
static bool count_shared(const shoal_column *column, shoal_equality equality, const uint64_t *rows,
                         uint64_t *n_values, uint64_t *n_rows) {
  grouping groups = {0};
  bool failed;
  if (all_are_keys(column, equality, &failed)) return true;
  if (failed || !group_values(column, equality, &groups)) return false;
  uint32_t *sizes = shoal_alloc_zero(groups.n_groups, sizeof *sizes);
  for (uint32_t v = 0; sizes && v < column->n_values; v++)
    sizes[groups.group_of[v]] += !shoal_column_missing(column, v);
  for (uint32_t v = 0; sizes && v < column->n_values; v++) {
    if (shoal_column_missing(column, v) || sizes[groups.group_of[v]] < 2) continue;
    ++*n_values;
    if (n_rows) *n_rows += rows[v];
  }
  bool ok = sizes != NULL;
  free(sizes);
  free(groups.group_of);
  return ok;
}

bool shoal_column_variants(const shoal_table *table, const shoal_column *column,
                           shoal_variants *variants) {
  *variants = (shoal_variants){0};
  if (!count_shared(column, SHOAL_EQUAL_FOLDED, NULL, &variants->n_values, NULL)) return false;
  if (!variants->n_values) return true;
  uint64_t n_values = 0, *rows = shoal_column_rows(table, column);
  bool ok = rows && count_shared(column, SHOAL_EQUAL_FOLDED, rows, &n_values, &variants->n_rows) &&
            count_shared(column, SHOAL_EQUAL_CASE, NULL, &variants->n_case, NULL) &&
            count_shared(column, SHOAL_EQUAL_SPACE, NULL, &variants->n_space, NULL) &&
            count_shared(column, SHOAL_EQUAL_UNICODE, NULL, &variants->n_unicode, NULL);
  free(rows);
  return ok;
}
