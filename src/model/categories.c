/* SPDX-License-Identifier: Apache-2.0 */
/* model/categories: see categories.h. Categories come from inline lists or from a file. */
#include "model/categories.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "hierarchy/strings.h"
#include "read/csv.h"
#include "read/source.h"

enum { MAX_FILE_BYTES = 64 << 20, FEW = 64 };

/* Values of the column by their bytes: hash -> value, checked byte by byte. */
typedef struct value_finder {
  const shoal_column *column;
  shoal_ids hashes; /* of the values, by value; equal hashes share the first id */
  uint32_t *value_of_id;
} value_finder;

static void finder_reset(value_finder *f) {
  shoal_ids_reset(&f->hashes);
  free(f->value_of_id);
}

static bool finder_init(value_finder *f, const shoal_column *column) {
  memset(f, 0, sizeof *f);
  f->column = column;
  f->value_of_id = shoal_alloc(column->n_values, sizeof *f->value_of_id);
  bool ok = shoal_ids_init(&f->hashes, column->n_values) && f->value_of_id;
  for (uint32_t v = 0; ok && v < column->n_values; v++) {
    size_t size;
    const char *bytes = shoal_column_value(column, v, &size);
    uint64_t key = shoal_hash_bytes(bytes, size);
    while (shoal_ids_find(&f->hashes, key) != SHOAL_NO_ID) key++; /* another value's */
    uint32_t id = shoal_ids_insert(&f->hashes, key);
    ok = id != SHOAL_NO_ID;
    if (ok) f->value_of_id[id] = v;
  }
  return ok;
}

/* The value with these bytes, or UINT32_MAX. */
static uint32_t finder_find(const value_finder *f, const char *bytes, size_t size) {
  for (uint64_t key = shoal_hash_bytes(bytes, size);; key++) {
    uint32_t id = shoal_ids_find(&f->hashes, key);
    if (id == SHOAL_NO_ID) return UINT32_MAX;
    size_t value_size;
    const char *value = shoal_column_value(f->column, f->value_of_id[id], &value_size);
    if (value_size == size && memcmp(value, bytes, size) == 0) return f->value_of_id[id];
  }
}

static void from_lists(const value_finder *finder, const shoal_categories *categories,
                       uint32_t *category_of) {
  for (size_t c = 0; c < categories->n_lists; c++) {
    for (size_t i = 0; categories->lists[c][i]; i++) {
      const char *name = categories->lists[c][i];
      uint32_t value = finder_find(finder, name, strlen(name));
      if (value != UINT32_MAX) category_of[value] = (uint32_t)c;
    }
  }
}

/* Rows `value;category`; categories are numbered by first appearance. */
static shoal_status from_rows(const value_finder *finder, const char *file,
                              const shoal_cells *cells, uint32_t *category_of,
                              uint32_t *n_categories, shoal_error *error) {
  shoal_strings names;
  if (!shoal_strings_init(&names)) return shoal_fail_memory(error);
  shoal_status status = SHOAL_OK;
  for (size_t r = 0; status == SHOAL_OK && r < cells->n_rows; r++) {
    shoal_place place = {.file = file, .row = r + 1};
    size_t first = r ? cells->row_end[r - 1] : 0, n = cells->row_end[r] - first;
    if (n == 1 && cells->begin[first] == cells->end[first]) continue; /* a blank line */
    if (n != 2) {
      status = shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                             "has %zu cell%s: give a value and its category", n, n == 1 ? "" : "s");
      break;
    }
    shoal_label name = {cells->bytes + cells->begin[first + 1],
                        cells->end[first + 1] - cells->begin[first + 1]};
    uint32_t category = shoal_strings_intern(&names, name);
    uint32_t value = finder_find(finder, cells->bytes + cells->begin[first],
                                 cells->end[first] - cells->begin[first]);
    if (category == SHOAL_NO_ID) status = shoal_fail_memory(error);
    else if (value != UINT32_MAX && category_of[value] != UINT32_MAX &&
             category_of[value] != category)
      status = shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                             "its value stands above already, in another category: remove one row");
    else if (value != UINT32_MAX) category_of[value] = category;
  }
  *n_categories = names.n_strings;
  shoal_strings_reset(&names);
  return status;
}

static shoal_status from_file(const value_finder *finder, const char *file, uint32_t *category_of,
                              uint32_t *n_categories, shoal_error *error) {
  char *bytes;
  size_t size;
  SHOAL_TRY(shoal_source_slurp(file, MAX_FILE_BYTES, &bytes, &size, error));
  size_t start = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  if (size == start) {
    free(bytes);
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_place){.file = file},
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
    shoal_place place = {.file = file, .row = problem.row + 1};
    status = shoal_fail_at(error, SHOAL_BAD_INPUT, &place, "%s", why);
  } else {
    status = from_rows(finder, file, &cells, category_of, n_categories, error);
  }
  shoal_cells_reset(&cells);
  free(bytes);
  return status;
}

/* Every value of the data has a category, or is missing. */
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

shoal_status shoal_value_categories(const shoal_policy *policy, const shoal_table *table,
                                    const shoal_sensitive *sensitive, uint32_t **category_of,
                                    uint32_t *n_categories, shoal_error *error) {
  const shoal_categories *categories = &sensitive->attribute->categories;
  const shoal_column *column = sensitive->column;
  value_finder finder;
  bool ok = finder_init(&finder, column);
  *category_of = shoal_alloc(column->n_values, sizeof **category_of);
  shoal_status status = ok && *category_of ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) {
    memset(*category_of, 0xff, column->n_values * sizeof **category_of);
    *n_categories = (uint32_t)categories->n_lists;
    if (categories->file)
      status = from_file(&finder, categories->file, *category_of, n_categories, error);
    else from_lists(&finder, categories, *category_of);
  }
  if (status == SHOAL_OK) status = check_complete(policy, table, sensitive, *category_of, error);
  finder_reset(&finder);
  if (status != SHOAL_OK) {
    free(*category_of);
    *category_of = NULL;
  }
  return status;
}

void shoal_categories_release(void *own) {
  shoal_category_map *map = own;
  if (!map) return;
  free(map->category_of);
  free(map->spread.descending);
  free(map);
}

shoal_status shoal_categories_prepare(shoal_demand *demand, const shoal_model_context *context,
                                      shoal_error *error) {
  const shoal_categories *categories = &context->sensitive->attribute->categories;
  if (!categories->file && !categories->n_lists)
    return shoal_lacks(demand, context, "'categories': give the attribute some", error);
  shoal_category_map *map = shoal_alloc_zero(1, sizeof *map);
  if (!map) return shoal_fail_memory(error);
  demand->own = map;
  SHOAL_TRY(shoal_value_categories(context->policy, context->table, context->sensitive,
                                   &map->category_of, &map->n_categories, error));
  return shoal_spread_groups(context->table, context->sensitive->column, map->category_of,
                             map->n_categories, &map->spread, error);
}

shoal_category_tally shoal_categories_tally(const shoal_category_map *map,
                                            const shoal_value_view *view) {
  shoal_category_tally tally = {.least = UINT64_MAX};
  uint64_t few_rows[FEW] = {0};
  uint8_t few_seen[FEW] = {0};
  bool few = map->n_categories <= FEW;
  uint64_t *rows = few ? few_rows : shoal_alloc_zero(map->n_categories, sizeof *rows);
  uint8_t *seen = few ? few_seen : shoal_alloc_zero(map->n_categories, 1);
  tally.failed = !rows || !seen;
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows;
  while (!tally.failed && shoal_view_next(view, &at, &value, &n_rows)) {
    uint32_t category = map->category_of[value];
    tally.n_distinct += !seen[category];
    tally.sum_of_ranks += category;
    seen[category] = 1;
    rows[category] += n_rows;
  }
  for (uint32_t c = 0; !tally.failed && c < map->n_categories; c++) {
    if (!seen[c]) continue;
    if (rows[c] < tally.least) tally.least = rows[c];
    if (rows[c] > tally.most) tally.most = rows[c];
  }
  if (!few) {
    free(rows);
    free(seen);
  }
  return tally;
}

bool shoal_categories_balanced(const shoal_category_tally *tally) {
  return tally->n_distinct == 0 || tally->most - tally->least <= 1;
}

bool shoal_categories_are_balanced(const shoal_demand *demand, shoal_distinct *groups) {
  const shoal_category_map *map = demand->own;
  *groups = (shoal_distinct){demand->count[0], map->category_of, map->n_categories};
  return true;
}
