/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group/classes_rows: classes made from the rows, for any grouping of them: the distinct tuples of
 * a frequency set, or the clusters of local recoding.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "group/frequency.h"

/* The rows and their classes. */
typedef struct rows_view {
  const shoal_table *table;
  const uint32_t *class_of_row;
  uint32_t n_classes;
} rows_view;

static bool fill_set(const rows_view *rows, const shoal_column *column, uint64_t **out) {
  uint64_t bit[64] = {0};
  for (uint32_t v = 0; v < column->n_values; v++)
    bit[v] = shoal_column_missing(column, v) ? 0 : UINT64_C(1) << v;
  uint64_t *set = shoal_alloc_table(rows->n_classes, sizeof *set);
  if (!set) return false;
  *out = set;
  assert(column->code_size == 1); /* up to 64 values */
  const uint8_t *codes = column->codes;
  for (uint64_t row = 0; row < rows->table->n_rows; row++)
    set[rows->class_of_row[row]] |= bit[codes[row]];
  return true;
}

/* Rows of each pair (class, value). */
static bool count_pairs(const rows_view *rows, const shoal_column *column, shoal_ids *pairs,
                        uint64_t **n_rows) {
  size_t capacity = 0;
  for (uint64_t row = 0; row < rows->table->n_rows; row++) {
    uint64_t key =
        (uint64_t)rows->class_of_row[row] * column->n_values + shoal_column_code(column, row);
    uint32_t known = pairs->n_ids, id = shoal_ids_insert(pairs, key);
    if (id == SHOAL_NONE || !shoal_grow(n_rows, &capacity, (size_t)id + 1, sizeof **n_rows))
      return false;
    if (id == known) (*n_rows)[id] = 0;
    (*n_rows)[id] += shoal_table_count(rows->table, row);
  }
  return true;
}

static bool fill_histogram(const rows_view *rows, const shoal_column *column,
                           shoal_histogram *histogram) {
  shoal_ids pairs;
  if (!shoal_ids_init(&pairs, rows->n_classes)) return false;
  uint64_t *n_rows = NULL;
  bool ok = count_pairs(rows, column, &pairs, &n_rows);
  uint32_t *class_of = ok ? shoal_alloc(pairs.n_ids, sizeof *class_of) : NULL;
  uint32_t *value = ok ? shoal_alloc(pairs.n_ids, sizeof *value) : NULL;
  ok = class_of && value;
  for (uint32_t e = 0; ok && e < pairs.n_ids; e++) {
    class_of[e] = (uint32_t)(pairs.of_id[e] / column->n_values);
    value[e] = (uint32_t)(pairs.of_id[e] % column->n_values);
  }
  histogram->n_values = column->n_values;
  ok = ok && shoal_histogram_from_entries(histogram, rows->n_classes, column->n_values, pairs.n_ids,
                                          class_of, value, n_rows);
  free(class_of);
  free(value);
  free(n_rows);
  shoal_ids_reset(&pairs);
  return ok;
}

static bool fill_capped(const rows_view *rows, const shoal_column *column, uint32_t cap,
                        const uint64_t *class_rows, shoal_histogram *histogram) {
  shoal_capped_lists lists;
  if (!shoal_capped_lists_init(&lists, rows->n_classes, cap, class_rows)) return false;
  for (uint64_t row = 0; row < rows->table->n_rows; row++) {
    uint32_t value = shoal_column_code(column, row);
    if (!shoal_column_missing(column, value))
      shoal_capped_lists_add(&lists, rows->class_of_row[row], value);
  }
  shoal_capped_lists_take(&lists, column->n_values, histogram);
  return true;
}

static bool fill_values(const shoal_frequency_set *f, const rows_view *rows,
                        shoal_classes *classes) {
  for (size_t s = 0; s < f->n_tracked; s++) {
    if (f->track[s] == SHOAL_TRACK_SET && !fill_set(rows, f->tracked[s], &classes->sets[s]))
      return false;
    if (f->track[s] == SHOAL_TRACK_HISTOGRAM &&
        !fill_histogram(rows, f->tracked[s], &classes->histograms[s]))
      return false;
    uint32_t cap = shoal_track_cap(f->track[s]);
    if (cap && !fill_capped(rows, f->tracked[s], cap, classes->n_rows, &classes->histograms[s]))
      return false;
  }
  return true;
}

static bool fill(const shoal_frequency_set *f, const rows_view *rows, shoal_classes *classes) {
  if (!shoal_classes_init(classes, rows->n_classes, f->n_tracked)) return false;
  /* Sizes, and the tuple of each class's first row. */
  const uint32_t *tuple_of_row = f->tuple_of_row;
  for (uint64_t row = rows->table->n_rows; row-- > 0;) {
    uint32_t c = rows->class_of_row[row];
    classes->tuple[c] = tuple_of_row[row];
    classes->n_rows[c] += shoal_table_count(rows->table, row);
  }
  return fill_values(f, rows, classes);
}

/* Sizes that were counted during grouping are not counted again. */
shoal_status shoal_classes_of_tuples(shoal_frequency_set *f, shoal_error *error) {
  if (!f->base.n_rows)
    return shoal_classes_of_rows(f, f->tuple_of_row, f->n_tuples, &f->base, error);
  rows_view rows = {f->table, f->tuple_of_row, f->n_tuples};
  bool ok =
      shoal_classes_init(&f->base, f->n_tuples, f->n_tracked) && fill_values(f, &rows, &f->base);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_classes_of_rows(const shoal_frequency_set *frequency,
                                   const uint32_t *class_of_row, uint32_t n_classes,
                                   shoal_classes *classes, shoal_error *error) {
  rows_view rows = {frequency->table, class_of_row, n_classes};
  memset(classes, 0, sizeof *classes);
  if (fill(frequency, &rows, classes)) return SHOAL_OK;
  shoal_classes_reset(classes);
  return shoal_fail_memory(error);
}

/* ------------------------------------------------------------ exact numbers */

bool shoal_rows_by_class(const shoal_table *table, const uint32_t *class_of_row, uint32_t n_classes,
                         uint64_t **sorted, uint64_t **end) {
  uint64_t n_rows = table->n_rows, before = 0;
  *sorted = shoal_alloc((size_t)n_rows, sizeof **sorted);
  *end = shoal_alloc_zero(n_classes, sizeof **end);
  if (!*sorted || !*end) return false;
  for (uint64_t row = 0; row < n_rows; row++) (*end)[class_of_row[row]]++;
  for (uint32_t c = 0; c < n_classes; c++) {
    uint64_t n = (*end)[c];
    (*end)[c] = before; /* the start; filling makes it the end */
    before += n;
  }
  for (uint64_t row = 0; row < n_rows; row++) (*sorted)[(*end)[class_of_row[row]]++] = row;
  return true;
}

/* Values seen in a class are marked with its number + 1. NULL: no memory. */
static uint32_t *count_distinct(const shoal_column *column, const uint64_t *sorted,
                                const uint64_t *end, uint32_t n_classes) {
  uint32_t *seen_in = shoal_alloc_zero(column->n_values, sizeof *seen_in);
  uint32_t *distinct = shoal_alloc_zero(n_classes, sizeof *distinct);
  uint64_t i = 0;
  for (uint32_t c = 0; seen_in && distinct && c < n_classes; c++) {
    for (; i < end[c]; i++) {
      uint32_t value = shoal_column_code(column, sorted[i]);
      distinct[c] += seen_in[value] != c + 1 && !shoal_column_missing(column, value);
      seen_in[value] = c + 1;
    }
  }
  if (!seen_in) {
    free(distinct);
    distinct = NULL;
  }
  free(seen_in);
  return distinct;
}

shoal_status shoal_classes_count_distinct(const shoal_frequency_set *f,
                                          const uint32_t *class_of_row, shoal_classes *classes,
                                          shoal_error *error) {
  uint64_t *sorted = NULL, *end = NULL;
  bool any = false, ok = true;
  for (size_t s = 0; s < f->n_tracked; s++) any = any || shoal_track_cap(f->track[s]);
  if (!any || classes->distinct) return SHOAL_OK;
  classes->distinct = shoal_alloc_zero(f->n_tracked, sizeof *classes->distinct);
  ok = classes->distinct &&
       shoal_rows_by_class(f->table, class_of_row, classes->n_classes, &sorted, &end);
  for (size_t s = 0; ok && s < f->n_tracked; s++) {
    if (!shoal_track_cap(f->track[s])) continue;
    classes->distinct[s] = count_distinct(f->tracked[s], sorted, end, classes->n_classes);
    ok = classes->distinct[s] != NULL;
  }
  free(sorted);
  free(end);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* ------------------------------------------------------------ rows that are not in the table */

static void add_to_set(const shoal_column *column, uint32_t n, const uint32_t *class_of,
                       const uint32_t *values, size_t width, uint64_t *set) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t value = values[i * width];
    if (!shoal_column_missing(column, value)) set[class_of[i]] |= UINT64_C(1) << value;
  }
}

static bool add_to_histogram(uint32_t n_classes, uint32_t n, const uint32_t *class_of,
                             const uint32_t *values, size_t width, shoal_histogram *histogram) {
  size_t known = histogram->start[n_classes];
  uint32_t *classes = shoal_alloc(known + n, sizeof *classes);
  uint32_t *value = shoal_alloc(known + n, sizeof *value);
  uint64_t *n_rows = shoal_alloc(known + n, sizeof *n_rows);
  shoal_histogram grown = {.n_values = histogram->n_values};
  bool ok = classes && value && n_rows;
  for (uint32_t c = 0; ok && c < n_classes; c++)
    for (size_t e = histogram->start[c]; e < histogram->start[c + 1]; e++) {
      classes[e] = c;
      value[e] = histogram->value[e];
      n_rows[e] = histogram->n_rows[e];
    }
  for (uint32_t i = 0; ok && i < n; i++) {
    classes[known + i] = class_of[i];
    value[known + i] = values[i * width];
    n_rows[known + i] = 1;
  }
  ok = ok && shoal_histogram_from_entries(&grown, n_classes, grown.n_values, known + n, classes,
                                          value, n_rows);
  shoal_histogram *unused = ok ? histogram : &grown;
  free(unused->start);
  free(unused->value);
  free(unused->n_rows);
  if (ok) *histogram = grown;
  free(classes);
  free(value);
  free(n_rows);
  return ok;
}

shoal_status shoal_classes_add_rows(const shoal_frequency_set *f, uint32_t n,
                                    const uint32_t *class_of, const uint32_t *values,
                                    shoal_classes *classes, shoal_error *error) {
  if (!n) return SHOAL_OK;
  for (uint32_t i = 0; i < n; i++) classes->n_rows[class_of[i]]++;
  for (size_t s = 0; s < f->n_tracked; s++) {
    if (classes->sets[s])
      add_to_set(f->tracked[s], n, class_of, values + s, f->n_tracked, classes->sets[s]);
    if (classes->histograms[s].start &&
        !add_to_histogram(classes->n_classes, n, class_of, values + s, f->n_tracked,
                          &classes->histograms[s]))
      return shoal_fail_memory(error);
  }
  return SHOAL_OK;
}
