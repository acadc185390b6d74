/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table/order: ranks of values, then a counting sort of the rows from the last column to the first.
 * Neighbouring columns whose ranks fit into 16 bits together are one digit of the sort; a column
 * with more values has two digits.
 */
#include "table/order.h"

#include <stdlib.h>
#include <string.h>

#include "table/dictionary.h"

enum { DIGIT_VALUES = 1 << 16 };

/* ------------------------------------------------------------ values */

/* A value to sort: the key of its spelling. */
typedef struct entry {
  uint64_t prefix; /* the first 8 bytes of the key, the first one highest */
  const char *bytes;
  uint32_t size_bytes, code;
} entry;

static int compare_entries(const void *left, const void *right) {
  const entry *a = left, *b = right;
  if (a->prefix != b->prefix) return a->prefix < b->prefix ? -1 : 1;
  uint32_t size = a->size_bytes < b->size_bytes ? a->size_bytes : b->size_bytes;
  int order = size ? memcmp(a->bytes, b->bytes, size) : 0;
  if (order) return order;
  return (a->size_bytes > b->size_bytes) - (a->size_bytes < b->size_bytes);
}

static shoal_label value_of(const shoal_column *column, uint32_t value) {
  shoal_label label;
  label.bytes = shoal_column_value(column, value, &label.size_bytes);
  return label;
}

/*
 * Makes the entries of all values. Keys that are not the spellings themselves are copied to `keys`,
 * unless it is NULL. Returns the size of these; SIZE_MAX: no memory.
 */
static size_t make_entries(const shoal_column *column, entry *entries, char *keys) {
  shoal_text scratch;
  shoal_text_init(&scratch);
  size_t size = 0;
  for (uint32_t v = 0; v < column->n_values; v++) {
    shoal_label value = value_of(column, v);
    shoal_label key = shoal_equality_key(column->equality, value, &scratch);
    bool own = key.bytes == value.bytes;
    entries[v] = (entry){.bytes = own    ? value.bytes
                                  : keys ? keys + size
                                         : NULL,
                         .size_bytes = (uint32_t)key.size_bytes,
                         .code = v};
    for (size_t i = 0; i < 8 && i < key.size_bytes; i++)
      entries[v].prefix |= (uint64_t)(uint8_t)key.bytes[i] << (56 - 8 * i);
    if (own) continue;
    if (keys && key.size_bytes) memcpy(keys + size, key.bytes, key.size_bytes);
    size += key.size_bytes;
  }
  bool failed = scratch.failed;
  shoal_wipe_free(scratch.bytes, scratch.capacity);
  return failed ? SIZE_MAX : size;
}

/* The codes of a column by their keys, ascending; NULL: no memory. */
static uint32_t *sort_values(const shoal_column *column) {
  uint32_t *sorted = shoal_alloc(column->n_values, sizeof *sorted);
  entry *entries = shoal_alloc(column->n_values, sizeof *entries);
  char *keys = NULL;
  size_t size = sorted && entries ? make_entries(column, entries, NULL) : SIZE_MAX;
  bool ok = size != SIZE_MAX;
  if (ok && size) {
    keys = shoal_alloc(size, 1);
    ok = keys && make_entries(column, entries, keys) == size;
  }
  if (ok) {
    qsort(entries, column->n_values, sizeof *entries, compare_entries);
    for (uint32_t v = 0; v < column->n_values; v++) sorted[v] = entries[v].code;
  }
  shoal_wipe_free(entries, entries ? column->n_values * sizeof *entries : 0);
  shoal_wipe_free(keys, keys ? size : 0);
  if (ok) return sorted;
  free(sorted);
  return NULL;
}

/* ------------------------------------------------------------ rows */

/* What sorting works with. */
typedef struct sorting {
  const shoal_table *table;
  uint32_t **rank_of; /* by column, by code; NULL: not chosen */
  uint16_t *digit;    /* by row of the original */
  uint32_t *rows, *next;
  uint32_t *start; /* by value of a digit */
} sorting;

static void sorting_reset(sorting *s) {
  for (size_t c = 0; s->rank_of && c < s->table->n_columns; c++) free(s->rank_of[c]);
  free(s->rank_of);
  free(s->digit);
  free(s->rows);
  free(s->next);
  free(s->start);
}

static bool sorting_init(sorting *s, const shoal_table *table, shoal_random *random) {
  size_t n = (size_t)table->n_rows;
  *s = (sorting){.table = table,
                 .rank_of = shoal_alloc_zero(table->n_columns, sizeof *s->rank_of),
                 .digit = shoal_alloc(n, sizeof *s->digit),
                 .rows = shoal_alloc(n, sizeof *s->rows),
                 .next = shoal_alloc(n, sizeof *s->next),
                 .start = shoal_alloc(DIGIT_VALUES + 1, sizeof *s->start)};
  if (!s->rank_of || !s->digit || !s->rows || !s->next || !s->start) return false;
  for (size_t row = 0; row < n; row++) { /* equal rows stay in this order */
    size_t other = (size_t)shoal_random_below(random, row + 1);
    s->rows[row] = s->rows[other];
    s->rows[other] = (uint32_t)row;
  }
  return true;
}

static void swap_rows(sorting *s) {
  uint32_t *rows = s->rows;
  s->rows = s->next;
  s->next = rows;
}

/* Sorts s->rows by digit, which is below n_values; rows of one digit stay in their order. */
static void sort_by_digit(sorting *s, uint32_t n_values) {
  uint64_t n = s->table->n_rows;
  memset(s->start, 0, (n_values + 1) * sizeof *s->start);
  for (uint64_t row = 0; row < n; row++) s->start[s->digit[row] + 1]++;
  for (uint32_t v = 0; v < n_values; v++) s->start[v + 1] += s->start[v];
  for (uint64_t i = 0; i < n; i++) s->next[s->start[s->digit[s->rows[i]]]++] = s->rows[i];
  swap_rows(s);
}

/* A column of more values than one digit has: the low half of its ranks, then the high half. */
static void sort_by_halves(sorting *s, size_t c) {
  const shoal_column *column = &s->table->columns[c];
  for (unsigned shift = 0; shift <= 16; shift += 16) {
    for (uint64_t row = 0; row < s->table->n_rows; row++)
      s->digit[row] = (uint16_t)(s->rank_of[c][shoal_column_code(column, row)] >> shift);
    sort_by_digit(s, shift ? ((column->n_values - 1) >> shift) + 1 : DIGIT_VALUES);
  }
}

static void sort_rows(sorting *s) {
  uint32_t below = 1; /* values of the digit that is being made */
  for (size_t c = s->table->n_columns; c-- > 0;) {
    uint32_t n = s->table->columns[c].n_values;
    if (!s->rank_of[c] || n < 2) continue;
    if (below > 1 && n > DIGIT_VALUES / below) {
      sort_by_digit(s, below);
      below = 1;
    }
    if (n > DIGIT_VALUES) {
      sort_by_halves(s, c);
      continue;
    }
    /* Adds a column above the digits so far, which are below `below`. */
    const shoal_column *column = &s->table->columns[c];
    const uint32_t *rank_of = s->rank_of[c];
    for (uint64_t row = 0; row < s->table->n_rows; row++) {
      uint32_t low = below > 1 ? s->digit[row] : 0;
      s->digit[row] = (uint16_t)(rank_of[shoal_column_code(column, row)] * below + low);
    }
    below *= n;
  }
  if (below > 1) sort_by_digit(s, below);
}

/* enhanced-pk and others start from the lowest row numbers: these must not be neighbours. */
static void spread_rows(sorting *s) {
  uint64_t n = s->table->n_rows, step = n * 618 / 1000 + 1, at = 0;
  while (shoal_gcd(step, n) > 1) step++;
  for (uint64_t i = 0; i < n; i++) {
    s->next[i] = s->rows[at];
    at = at + step < n ? at + step : (at + step) % n;
  }
  swap_rows(s);
}

static bool copy_codes(const shoal_column *from, const uint32_t *rank_of, const uint32_t *row_of,
                       uint64_t n, shoal_column *to) {
  to->codes = shoal_alloc((size_t)n, from->code_size);
  if (!to->codes) return false;
  for (uint64_t row = 0; row < n; row++) {
    uint32_t code = rank_of[shoal_column_code(from, row_of[row])];
    if (from->code_size == 1) ((uint8_t *)to->codes)[row] = (uint8_t)code;
    else if (from->code_size == 2) ((uint16_t *)to->codes)[row] = (uint16_t)code;
    else ((uint32_t *)to->codes)[row] = code;
  }
  return true;
}

/* ------------------------------------------------------------ all of it */

void shoal_ordered_table_free(shoal_ordered_table *ordered) {
  if (!ordered) return;
  for (size_t c = 0; ordered->code_of && c < ordered->table.n_columns; c++) {
    shoal_column *column = &ordered->table.columns[c];
    if (!ordered->code_of[c]) continue;
    shoal_wipe_free(column->bytes, column->offsets ? column->offsets[column->n_values] : 0);
    free(column->offsets);
    free(column->first_row);
    free(column->is_missing);
    free(column->codes);
    free(ordered->code_of[c]);
  }
  free(ordered->code_of);
  free(ordered->table.columns);
  free(ordered->row_of);
  free(ordered);
}

/* Ranks the values of column c and gives the ordered table its dictionary. */
static bool order_values(shoal_ordered_table *ordered, size_t c, sorting *s) {
  const shoal_column *from = &ordered->original->columns[c];
  shoal_column *to = &ordered->table.columns[c];
  uint32_t *sorted = sort_values(from);
  if (!sorted) return false;
  ordered->code_of[c] = sorted;
  to->codes = NULL;
  to->bytes = NULL;
  to->offsets = to->first_row = NULL;
  to->is_missing = NULL;
  to->spellings = NULL;
  s->rank_of[c] = shoal_alloc(from->n_values, sizeof **s->rank_of);
  if (!s->rank_of[c]) return false;
  for (uint32_t v = 0; v < from->n_values; v++) s->rank_of[c][sorted[v]] = v;
  /* The dictionary of `from` in the order of `sorted`; `to` is a copy of `from` without its arrays.
   */
  size_t n = from->n_values, size = (size_t)from->offsets[n];
  to->bytes = shoal_alloc_zero(size + SHOAL_DICTIONARY_SLACK, 1);
  to->offsets = shoal_alloc_zero(n + 1, sizeof *to->offsets);
  if (from->first_row) to->first_row = shoal_alloc(n, sizeof *to->first_row);
  if (from->is_missing) to->is_missing = shoal_alloc(n, 1);
  if (!to->bytes || !to->offsets || (from->first_row && !to->first_row) ||
      (from->is_missing && !to->is_missing))
    return false;
  for (size_t v = 0; v < n; v++) {
    shoal_label value = value_of(from, sorted[v]);
    if (value.size_bytes) memcpy(to->bytes + to->offsets[v], value.bytes, value.size_bytes);
    to->offsets[v + 1] = to->offsets[v] + value.size_bytes;
    if (from->first_row) to->first_row[v] = from->first_row[sorted[v]];
    if (from->is_missing) to->is_missing[v] = from->is_missing[sorted[v]];
  }
  return true;
}

static bool order(shoal_ordered_table *ordered, const uint8_t *chosen, sorting *s) {
  const shoal_table *original = ordered->original;
  size_t n = original->n_columns;
  ordered->table = *original;
  ordered->table.columns = shoal_alloc(n, sizeof *ordered->table.columns);
  ordered->code_of = shoal_alloc_zero(n, sizeof *ordered->code_of);
  if (!ordered->table.columns || !ordered->code_of) return false;
  memcpy(ordered->table.columns, original->columns, n * sizeof *original->columns);
  for (size_t c = 0; c < n; c++)
    if (chosen[c] && !order_values(ordered, c, s)) return false;
  sort_rows(s);
  spread_rows(s);
  ordered->table.row_of = ordered->row_of = s->rows;
  s->rows = NULL;
  for (size_t c = 0; c < n; c++)
    if (chosen[c] && !copy_codes(&original->columns[c], s->rank_of[c], ordered->row_of,
                                 original->n_rows, &ordered->table.columns[c]))
      return false;
  return true;
}

shoal_status shoal_table_order(const shoal_table *original, const uint8_t *chosen,
                               shoal_random *random, shoal_ordered_table **out,
                               shoal_error *error) {
  sorting s = {.table = original};
  shoal_ordered_table *ordered = shoal_alloc_zero(1, sizeof *ordered);
  if (ordered) ordered->original = original;
  bool ok = ordered && sorting_init(&s, original, random) && order(ordered, chosen, &s);
  sorting_reset(&s);
  if (ok) {
    *out = ordered;
    return SHOAL_OK;
  }
  shoal_ordered_table_free(ordered);
  return shoal_fail_memory(error);
}
