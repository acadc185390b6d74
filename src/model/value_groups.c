/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model/value_groups: reads the categories of sensitive values, from lists in the policy or from a
 * file, and counts groups of values in classes.
 */
#include "model/value_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/sort.h"
#include "read/csv.h"
#include "read/source.h"

enum { MAX_FILE_BYTES = 64 << 20, FEW = 64 };

/* ------------------------------------------------------------ categories */

/*
 * Categories while they are read. Values that the data lacks are skipped; with `all`, they get the
 * numbers after those of the column.
 */
typedef struct reading {
  shoal_values values;   /* a value's number is its code */
  uint32_t *category_of; /* by number; UINT32_MAX: none yet */
  size_t capacity;
  bool all;
} reading;

/* Puts a value into a category. *other: one that already has it, or UINT32_MAX. False: no memory.
 */
static bool put(reading *r, shoal_label name, uint32_t category, uint32_t *other) {
  uint32_t known = r->values.spellings.n_strings;
  bool failed = false;
  uint32_t value =
      r->all ? shoal_values_intern(&r->values, name) : shoal_values_find(&r->values, name, &failed);
  *other = UINT32_MAX;
  if (value == SHOAL_NONE) return !failed && !r->all;
  if (value == known) {
    if (!shoal_grow(&r->category_of, &r->capacity, (size_t)known + 1, sizeof *r->category_of))
      return false;
    r->category_of[known] = UINT32_MAX;
  }
  if (r->category_of[value] == UINT32_MAX) r->category_of[value] = category;
  else if (r->category_of[value] != category) *other = r->category_of[value];
  return true;
}

/* The column's values: a value's number is its code. False: no memory. */
static bool intern_values(shoal_values *values, shoal_equality equality,
                          const shoal_column *column) {
  if (!shoal_values_init(values, equality)) return false;
  for (uint32_t v = 0; v < column->n_values; v++) {
    shoal_label value;
    value.bytes = shoal_column_value(column, v, &value.size_bytes);
    if (shoal_values_intern(values, value) != v) return false;
  }
  return true;
}

/* Two spellings of one value in two categories are an error, as in a file. */
static shoal_status read_lists(reading *r, const shoal_policy *policy,
                               const shoal_attribute *attribute, shoal_error *error) {
  const shoal_categories *categories = &attribute->categories;
  for (size_t c = 0; c < categories->n_lists; c++) {
    for (size_t i = 0; categories->lists[c][i]; i++) {
      const char *name = categories->lists[c][i];
      uint32_t other;
      if (!put(r, (shoal_label){name, strlen(name)}, (uint32_t)c, &other))
        return shoal_fail_memory(error);
      if (other != UINT32_MAX)
        return shoal_policy_fail(policy, attribute->mark, error,
                                 "categories of '%s': two spellings of one value are in the "
                                 "categories %u and %zu; remove one",
                                 attribute->name, other + 1, c + 1);
    }
  }
  return SHOAL_OK;
}

/* Rows `value;category`; categories are numbered by first appearance. */
static shoal_status read_rows(reading *into, const char *file, const shoal_cells *cells,
                              uint32_t *n_categories, shoal_error *error) {
  shoal_strings names;
  if (!shoal_strings_init(&names)) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  for (size_t r = 0; status == SHOAL_OK && r < cells->n_rows; r++) {
    shoal_location location = {.file = file, .row = r + 1};
    size_t first = r ? cells->row_end[r - 1] : 0, n = cells->row_end[r] - first;
    if (n == 1 && cells->begin[first] == cells->end[first]) continue; /* a blank line */
    if (n != 2) {
      status = shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                             "has %zu cell%s: give a value and its category", n, n == 1 ? "" : "s");
      break;
    }
    shoal_label name = {cells->bytes + cells->begin[first + 1],
                        cells->end[first + 1] - cells->begin[first + 1]};
    uint32_t category = shoal_strings_intern(&names, name);
    shoal_label cell = {cells->bytes + cells->begin[first],
                        cells->end[first] - cells->begin[first]};
    uint32_t other = UINT32_MAX;
    if (category == SHOAL_NONE || !put(into, cell, category, &other))
      status = shoal_fail_memory(error);
    else if (other != UINT32_MAX)
      status = shoal_fail_at(
          error, SHOAL_BAD_INPUT, &location,
          "a row above already puts this value into another category: remove one row");
  }
  *n_categories = names.n_strings;
  shoal_strings_reset(&names);
  return status;
}

static shoal_status read_file(reading *into, const char *file, uint32_t *n_categories,
                              shoal_error *error) {
  char *bytes;
  size_t size;
  SHOAL_TRY(shoal_source_slurp_text(file, MAX_FILE_BYTES, &bytes, &size, error));
  size_t start = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  if (size == start) {
    free(bytes);
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = file},
                         "is empty: give rows 'value;category'");
  }
  char delimiter = shoal_csv_side_delimiter(bytes + start, size - start);
  shoal_cells cells;
  shoal_cells_init(&cells);
  shoal_csv_problem problem = shoal_csv_split(bytes + start, size - start, delimiter, 0, &cells);
  shoal_status status = SHOAL_OK;
  if (problem.fault == SHOAL_CSV_MEMORY) {
    status = shoal_fail_memory(error);
  } else if (problem.fault != SHOAL_CSV_OK) {
    char why[256];
    shoal_csv_explain(problem, 2, why, sizeof why);
    shoal_location location = {.file = file, .row = problem.row + 1};
    status = shoal_fail_at(error, SHOAL_BAD_INPUT, &location, "%s", why);
  } else {
    status = read_rows(into, file, &cells, n_categories, error);
  }
  shoal_cells_reset(&cells);
  free(bytes);
  return status;
}

/* Every value of the data must have a category or be missing. */
static shoal_status check_complete(const shoal_policy *policy, const shoal_table *table,
                                   const shoal_sensitive *sensitive, uint32_t *category_of,
                                   shoal_error *error) {
  const shoal_column *column = sensitive->column;
  for (uint32_t v = 0; v < column->n_values; v++) {
    if (shoal_column_missing(column, v)) category_of[v] = UINT32_MAX;
    else if (category_of[v] == UINT32_MAX) {
      unsigned long long row = column->first_row ? (unsigned long long)column->first_row[v] + 1 : 0;
      const char *file = sensitive->attribute->categories.file;
      return shoal_policy_fail(policy, sensitive->attribute->mark, error,
                               "categories of '%s'%s%s lack a value of %s, first in row %llu: "
                               "add it to a category, or list it under data.missing",
                               column->name, file ? " in " : "", file ? file : "", table->name,
                               row);
    }
  }
  return SHOAL_OK;
}

static shoal_status read_categories(reading *r, const shoal_policy *policy,
                                    const shoal_sensitive *sensitive, uint32_t *n_categories,
                                    shoal_error *error) {
  const shoal_categories *categories = &sensitive->attribute->categories;
  const shoal_column *column = sensitive->column;
  shoal_equality equality = shoal_policy_equality(policy, sensitive->attribute);
  if (!intern_values(&r->values, equality, column) ||
      !shoal_grow(&r->category_of, &r->capacity, (size_t)column->n_values + 1,
                  sizeof *r->category_of))
    return shoal_fail_memory(error);
  memset(r->category_of, 0xff, column->n_values * sizeof *r->category_of);
  *n_categories = (uint32_t)categories->n_lists;
  SHOAL_TRY(shoal_policy_find_file(policy, sensitive->attribute, categories->file, error));
  return categories->file ? read_file(r, categories->file, n_categories, error)
                          : read_lists(r, policy, sensitive->attribute, error);
}

shoal_status shoal_value_categories(const shoal_policy *policy, const shoal_table *table,
                                    const shoal_sensitive *sensitive, uint32_t **category_of,
                                    uint32_t *n_categories, shoal_error *error) {
  reading r = {0};
  *category_of = NULL;
  shoal_status status = read_categories(&r, policy, sensitive, n_categories, error);
  if (status == SHOAL_OK) status = check_complete(policy, table, sensitive, r.category_of, error);
  shoal_values_reset(&r.values);
  if (status == SHOAL_OK) *category_of = r.category_of;
  else free(r.category_of);
  return status;
}

shoal_status shoal_listed_values(const shoal_policy *policy, const shoal_sensitive *sensitive,
                                 shoal_values *values, shoal_error *error) {
  reading r = {.all = true};
  uint32_t n_categories;
  shoal_status status = read_categories(&r, policy, sensitive, &n_categories, error);
  free(r.category_of);
  if (status == SHOAL_OK) *values = r.values;
  else shoal_values_reset(&r.values);
  return status;
}

shoal_status shoal_categories_prepare(shoal_requirement *requirement,
                                      const shoal_model_context *context, shoal_error *error) {
  const shoal_categories *categories = &context->sensitive->attribute->categories;
  if (!categories->file && !categories->n_lists)
    return shoal_lacks(requirement, context,
                       "'categories', such as 'categories: [[HIV, Cancer], [Flu]]'", error);
  shoal_value_groups *groups = shoal_alloc_zero(1, sizeof *groups);
  if (!groups) return shoal_fail_memory(error);
  requirement->own = groups;
  SHOAL_TRY(shoal_value_categories(context->policy, context->table, context->sensitive,
                                   &groups->group_of, &groups->n_groups, error));
  return shoal_value_frequencies_groups(context->table, context->sensitive->column,
                                        groups->group_of, groups->n_groups, &groups->frequencies,
                                        error);
}

/* ------------------------------------------------------------ parts of models */

void shoal_value_groups_release(void *own) {
  shoal_value_groups *groups = own;
  if (!groups) return;
  free(groups->group_of);
  free(groups->frequencies.descending);
  free(groups);
}

const shoal_value_frequencies *
shoal_value_groups_frequencies(const shoal_requirement *requirement) {
  return &((const shoal_value_groups *)requirement->own)->frequencies;
}

bool shoal_value_groups_distinct(const shoal_requirement *requirement, shoal_distinct *out) {
  const shoal_value_groups *groups = requirement->own;
  *out = (shoal_distinct){requirement->count[0], groups->group_of, groups->n_groups};
  return true;
}

/* ------------------------------------------------------------ groups in a class */

/* Distinct groups in a class; stops at `enough`. 0 if an allocation fails. */
static uint64_t count_groups(const shoal_requirement *requirement, const shoal_value_view *view,
                             uint64_t enough) {
  const shoal_value_groups *groups = requirement->own;
  uint64_t seen_bits = 0, n_distinct = 0;
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows;
  uint8_t *seen = groups->n_groups > FEW ? shoal_alloc_zero(groups->n_groups, 1) : NULL;
  if (shoal_requirement_failed(requirement, groups->n_groups > FEW && !seen)) return 0;
  while (n_distinct < enough && shoal_view_next(view, &at, &value, &n_rows)) {
    uint32_t group = groups->group_of[value];
    bool known = seen ? seen[group] : seen_bits >> group & 1;
    if (known) continue;
    if (seen) seen[group] = 1;
    else seen_bits |= UINT64_C(1) << group;
    n_distinct++;
  }
  free(seen);
  return n_distinct;
}

bool shoal_value_groups_hold(const shoal_requirement *requirement, const shoal_class_view *view) {
  return count_groups(requirement, &view->values, requirement->count[0]) >= requirement->count[0];
}

double shoal_value_groups_reached(const shoal_requirement *requirement,
                                  const shoal_class_view *view) {
  return (double)count_groups(requirement, &view->values, UINT64_MAX);
}

/* Rows of each group in a class. Zeroed arrays of n_groups; `few` if they are small. */
typedef struct group_rows {
  uint64_t few_rows[FEW], *rows;
  uint8_t few_seen[FEW], *seen;
} group_rows;

/* False: no memory. */
static bool group_rows_init(group_rows *g, uint32_t n_groups) {
  bool few = n_groups <= FEW;
  memset(g, 0, sizeof *g);
  g->rows = few ? g->few_rows : shoal_alloc_zero(n_groups, sizeof *g->rows);
  g->seen = few ? g->few_seen : shoal_alloc_zero(n_groups, 1);
  return g->rows && g->seen;
}

static void group_rows_reset(group_rows *g) {
  if (g->rows != g->few_rows) free(g->rows);
  if (g->seen != g->few_seen) free(g->seen);
}

shoal_group_tally shoal_value_groups_tally(const shoal_value_groups *groups,
                                           const shoal_value_view *view) {
  shoal_group_tally tally = {.min_rows = UINT64_MAX};
  group_rows of;
  tally.failed = !group_rows_init(&of, groups->n_groups);
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows;
  while (!tally.failed && shoal_view_next(view, &at, &value, &n_rows)) {
    uint32_t group = groups->group_of[value];
    tally.n_distinct += !of.seen[group];
    tally.sum_of_ranks += group;
    of.seen[group] = 1;
    of.rows[group] += n_rows;
  }
  for (uint32_t g = 0; !tally.failed && g < groups->n_groups; g++) {
    if (!of.seen[g]) continue;
    if (of.rows[g] < tally.min_rows) tally.min_rows = of.rows[g];
    if (of.rows[g] > tally.max_rows) tally.max_rows = of.rows[g];
  }
  group_rows_reset(&of);
  return tally;
}

/*
 * Rows to add or remove until all of n groups (ascending) have `low` rows or one more. Up to
 * max_removed groups may be removed as a whole.
 */
static uint64_t imbalance_at(const uint64_t *rows, size_t n, uint64_t low, size_t max_removed) {
  uint64_t sum = 0;
  for (size_t g = 0; g < n; g++) {
    uint64_t lacking = rows[g] < low ? low - rows[g] : 0;
    if (rows[g] > low + 1) sum += rows[g] - low - 1;
    else sum += g < max_removed && lacking > rows[g] ? rows[g] : lacking;
  }
  return sum;
}

/*
 * Rows to add or remove until the groups differ by at most one row, and there are min_groups. A
 * group that is missing must become as large as the others.
 */
static uint64_t imbalance_of(const shoal_value_groups *groups, const shoal_value_view *view,
                             size_t min_groups, bool *failed) {
  group_rows of;
  uint64_t least = 0, n_rows;
  *failed = !group_rows_init(&of, groups->n_groups);
  uint32_t value;
  for (size_t at = 0; !*failed && shoal_view_next(view, &at, &value, &n_rows);)
    of.rows[groups->group_of[value]] += n_rows;
  size_t n = 0;
  for (uint32_t g = 0; !*failed && g < groups->n_groups; g++)
    if (of.rows[g]) of.rows[n++] = of.rows[g];
  while (n && n < min_groups && n < groups->n_groups) of.rows[n++] = 0;
  if (n) {
    shoal_sort_u64(of.rows, n);
    least = UINT64_MAX;
  }
  for (size_t g = 0; g < n; g++) { /* the best `low` is a group's number of rows, or 1 */
    uint64_t low = of.rows[g] ? of.rows[g] : 1;
    uint64_t rows = imbalance_at(of.rows, n, low, n > min_groups ? n - min_groups : 0);
    if (rows < least) least = rows;
  }
  group_rows_reset(&of);
  return least;
}

double shoal_balanced_deficit(const shoal_requirement *requirement, const shoal_class_view *view) {
  const shoal_model_type *type = requirement->type;
  double gap = type->required(requirement) - type->reached(requirement, view);
  bool failed;
  size_t min_groups = type->groups ? (size_t)requirement->count[0] : 1; /* p counts groups */
  uint64_t imbalance = imbalance_of(requirement->own, &view->values, min_groups, &failed);
  (void)shoal_requirement_failed(requirement, failed);
  return (double)imbalance + (gap > 0 ? gap : 0);
}

bool shoal_group_tally_is_balanced(const shoal_group_tally *tally) {
  return tally->n_distinct == 0 || tally->max_rows - tally->min_rows <= 1;
}
