/* SPDX-License-Identifier: Apache-2.0 */
/* table/coding: labels of codes, and a column whose extreme numbers or rare values get them. */
#include "table/coding.h"

#include <stdlib.h>
#include <string.h>

#include "base/day.h"
#include "table/fold.h"

static bool same(bool given, shoal_decimal a, shoal_decimal b) {
  return !given || shoal_decimal_compare(a, b) == 0;
}

bool shoal_coding_equal(const shoal_coding *a, const shoal_coding *b) {
  return a->has_top == b->has_top && a->has_bottom == b->has_bottom && a->rare == b->rare &&
         a->dates == b->dates && same(a->has_top, a->top, b->top) &&
         same(a->has_bottom, a->bottom, b->bottom);
}

size_t shoal_coding_label(const shoal_coding *coding, shoal_coded coded, char *out) {
  if (coded == SHOAL_CODED_RARE) {
    memcpy(out, SHOAL_RARE_LABEL, sizeof SHOAL_RARE_LABEL);
    return sizeof SHOAL_RARE_LABEL - 1;
  }
  shoal_decimal code = coded == SHOAL_CODED_TOP ? coding->top : coding->bottom;
  memcpy(out, coded == SHOAL_CODED_TOP ? ">=" : "<=", 2);
  shoal_decimal_print(code.mantissa, code.scale, out + 2);
  return strlen(out);
}

shoal_coded shoal_coding_find(const shoal_coding *coding, const char *bytes, size_t size_bytes) {
  char label[SHOAL_CODE_BYTES];
  if (coding->rare && size_bytes == sizeof SHOAL_RARE_LABEL - 1 &&
      memcmp(bytes, SHOAL_RARE_LABEL, size_bytes) == 0)
    return SHOAL_CODED_RARE;
  if (size_bytes < 3 || bytes[1] != '=') return SHOAL_CODED_NOT;
  shoal_coded coded = bytes[0] == '>'   ? SHOAL_CODED_TOP
                      : bytes[0] == '<' ? SHOAL_CODED_BOTTOM
                                        : SHOAL_CODED_NOT;
  bool given = coded == SHOAL_CODED_TOP      ? coding->has_top
               : coded == SHOAL_CODED_BOTTOM ? coding->has_bottom
                                             : false;
  if (!given || shoal_coding_label(coding, coded, label) != size_bytes) return SHOAL_CODED_NOT;
  return memcmp(label, bytes, size_bytes) == 0 ? coded : SHOAL_CODED_NOT;
}

shoal_number shoal_coding_parse(const shoal_coding *coding, const char *bytes, size_t size_bytes,
                                shoal_decimal *number) {
  if (coding->dates) {
    *number = (shoal_decimal){0, 0};
    return shoal_day_read(bytes, size_bytes, &number->mantissa) ? SHOAL_NUMBER_OK
                                                                : SHOAL_NUMBER_NOT;
  }
  shoal_coded coded = shoal_coding_find(coding, bytes, size_bytes);
  if (coded == SHOAL_CODED_NOT) return shoal_decimal_parse(bytes, size_bytes, number);
  *number = coded == SHOAL_CODED_TOP ? coding->top : coding->bottom;
  return SHOAL_NUMBER_OK;
}

/* ------------------------------------------------------------ a column */

/* Is it the label of rare values, in any spelling that is folded with it? */
static bool is_rare_label(const shoal_column *column, uint32_t value, bool *failed) {
  static const shoal_label rare = {SHOAL_RARE_LABEL, sizeof SHOAL_RARE_LABEL - 1};
  shoal_label label;
  shoal_text scratch;
  shoal_text_init(&scratch);
  label.bytes = shoal_column_value(column, value, &label.size_bytes);
  bool same = shoal_label_equal(shoal_equality_key(column->equality, label, &scratch), rare);
  *failed = *failed || scratch.failed;
  shoal_wipe_free(scratch.bytes, scratch.capacity);
  return same;
}

/* The code that a value is under; `rows`: those that have it. */
static shoal_coded code_of(const shoal_column *column, uint32_t value, uint64_t rows,
                           bool *failed) {
  size_t size_bytes;
  const char *bytes = shoal_column_value(column, value, &size_bytes);
  shoal_decimal number;
  if (shoal_column_missing(column, value)) return SHOAL_CODED_NOT;
  if (column->coding.rare) {
    bool rare = column->collects_rare && rows < column->coding.rare;
    return rare || is_rare_label(column, value, failed) ? SHOAL_CODED_RARE : SHOAL_CODED_NOT;
  }
  if (shoal_coding_parse(&column->coding, bytes, size_bytes, &number) != SHOAL_NUMBER_OK)
    return SHOAL_CODED_NOT;
  const shoal_coding *coding = &column->coding;
  if (coding->has_top && shoal_decimal_compare(number, coding->top) >= 0) return SHOAL_CODED_TOP;
  if (coding->has_bottom && shoal_decimal_compare(number, coding->bottom) <= 0)
    return SHOAL_CODED_BOTTOM;
  return SHOAL_CODED_NOT;
}

/*
 * The code of each value, and whether one has another spelling than the code's label; counts the
 * rows whose number a code hides, and rare values.
 */
static bool find_coded(shoal_column *column, const uint64_t *rows, uint8_t *coded, bool *failed) {
  bool found = false;
  for (uint32_t v = 0; v < column->n_values; v++) {
    size_t size_bytes;
    const char *bytes = shoal_column_value(column, v, &size_bytes);
    coded[v] = (uint8_t)code_of(column, v, rows[v], failed);
    if (coded[v] == SHOAL_CODED_RARE && column->collects_rare) {
      column->n_rare_values++;
      column->n_rare_rows += rows[v];
    }
    if (!coded[v] || shoal_coding_find(&column->coding, bytes, size_bytes)) continue;
    found = true;
    if (coded[v] == SHOAL_CODED_TOP) column->n_top_coded += rows[v];
    if (coded[v] == SHOAL_CODED_BOTTOM) column->n_bottom_coded += rows[v];
  }
  return found;
}

static bool merge_coded(const shoal_table *table, shoal_column *column, const uint8_t *coded,
                        uint32_t *group_of, shoal_label *spelling) {
  char labels[SHOAL_CODED_RARE + 1][SHOAL_CODE_BYTES];
  uint32_t group[SHOAL_CODED_RARE + 1], n_groups = 0;
  for (unsigned c = 0; c <= SHOAL_CODED_RARE; c++) group[c] = SHOAL_NONE;
  for (uint32_t v = 0; v < column->n_values; v++) {
    unsigned c = coded[v];
    if (c && group[c] != SHOAL_NONE) {
      group_of[v] = group[c];
      continue;
    }
    group_of[v] = n_groups;
    spelling[n_groups].bytes = shoal_column_value(column, v, &spelling[n_groups].size_bytes);
    if (c) {
      group[c] = n_groups;
      size_t size_bytes = shoal_coding_label(&column->coding, (shoal_coded)c, labels[c]);
      spelling[n_groups] = (shoal_label){labels[c], size_bytes};
    }
    n_groups++;
  }
  return shoal_column_regroup(table, column, group_of, spelling, n_groups);
}

static bool code_column(const shoal_table *table, shoal_column *column, bool *changed) {
  uint8_t *coded = shoal_alloc(column->n_values, sizeof *coded);
  uint64_t *rows = shoal_column_rows(table, column);
  bool ok = coded && rows, failed = false;
  if (ok && find_coded(column, rows, coded, &failed) && !failed) {
    uint32_t *group_of = shoal_alloc(column->n_values, sizeof *group_of);
    shoal_label *spelling = shoal_alloc(column->n_values, sizeof *spelling);
    ok = group_of && spelling;
    if (ok) ok = merge_coded(table, column, coded, group_of, spelling);
    else free(group_of);
    free(spelling);
    *changed = *changed || ok;
  }
  free(rows);
  free(coded);
  return ok && !failed;
}

shoal_status shoal_table_code(shoal_table *table, shoal_error *error) {
  bool changed = false;
  for (size_t c = 0; c < table->n_columns; c++) {
    shoal_column *column = &table->columns[c];
    if (!column->code_size || !shoal_coding_given(&column->coding)) continue;
    if (!code_column(table, column, &changed)) return shoal_fail_memory(error);
  }
  if (changed && shoal_table_is_counted(table) && !shoal_table_merge_rows(table))
    return shoal_fail_memory(error);
  return SHOAL_OK;
}
