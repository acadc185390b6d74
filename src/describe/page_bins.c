/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe/page_bins: a quasi-identifier of a local release before and after. Its labels overlap,
 * and they were made for the rows of their class: the original's rows counted by them would only
 * repeat the release. Both are counted by the same bins instead:
 *
 *   numbers   [20-29] [30-39] ...    about ten, of a round width
 *   trees     the labels of the lowest level above the values that has at most 20
 *
 * Before is the number of original rows with a value of the bin. After divides each released row
 * evenly over the values that its label covers, as measure/distributions does.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/day.h"
#include "describe/page.h"
#include "measure/pair.h"

enum { MAX_NUMBER_BINS = 10, MAX_TREE_BINS = 20, BIN_BYTES = 80 };

/* The column in both tables. */
typedef struct binner {
  const shoal_release *release;
  size_t q;
  shoal_column labels; /* of the release; owned */
  uint64_t *rows;      /* of the release, by label */
  shoal_domain domain;
  uint64_t *before; /* by position */
  double *after;    /* by position, n_positions + 1 */
  uint32_t *bin_of; /* by position */
  shoal_label_count *bins;
  size_t n_bins;
} binner;

static void binner_reset(binner *b) {
  shoal_domain_reset(&b->domain);
  free(b->labels.bytes);
  free(b->labels.offsets);
  free(b->rows);
  free(b->before);
  free(b->after);
  free(b->bin_of);
}

/* The labels and the released rows of each; the last label is "*", if no other is. */
static bool count_labels(binner *b) {
  const shoal_decision *d = &b->release->decision;
  const shoal_column_labels *column = &d->columns[b->q];
  shoal_strings strings;
  if (!shoal_strings_init(&strings)) return false;
  bool ok = true;
  for (uint32_t i = 0; ok && i <= column->n_labels; i++)
    ok = shoal_strings_intern(&strings, shoal_column_label(column, i)) != SHOAL_NONE;
  b->labels.name = b->release->context.quasi[b->q]->name;
  if (ok) shoal_strings_take(&strings, &b->labels.bytes, &b->labels.offsets, &b->labels.n_values);
  shoal_strings_reset(&strings);
  b->rows = shoal_alloc_zero((size_t)column->n_labels + 1, sizeof *b->rows);
  if (!ok || !b->rows) return false;
  for (uint32_t g = 0; g < d->n_groups; g++) {
    bool blank = d->action_of_group[g] == SHOAL_ROW_BLANK;
    if (d->action_of_group[g] != SHOAL_ROW_REMOVE)
      b->rows[blank ? column->star : shoal_column_written_index(column, g)] += d->rows_of_group[g];
  }
  return true;
}

static bool count_positions(binner *b) {
  const shoal_context *p = &b->release->context;
  const shoal_column *column = p->quasi[b->q];
  uint32_t n = b->domain.n_positions;
  b->before = shoal_alloc_zero(n, sizeof *b->before);
  b->after = shoal_alloc_zero((size_t)n + 1, sizeof *b->after);
  b->bin_of = shoal_alloc_zero(n, sizeof *b->bin_of);
  if (!b->before || !b->after || !b->bin_of) return false;
  for (uint64_t row = 0; row < p->table->n_rows; row++) {
    uint32_t code = shoal_column_code(column, row);
    b->before[shoal_domain_position(&b->domain, 0, code)] += shoal_table_count(p->table, row);
  }
  shoal_labels_spread(&b->domain, b->rows, b->after);
  return true;
}

/* ------------------------------------------------------------ numbers */

/* 1, 2 or 5 times a power of ten. Whole numbers are never alone in a bin: it would show a value. */
static double choose_width(double range, bool whole) {
  double least = range / MAX_NUMBER_BINS;
  double width = least > 0 ? pow(10, floor(log10(least))) : 1;
  if (width < least) width *= 2;
  if (width < least) width *= 2.5;
  if (width < least) width *= 2;
  return whole && width < 2 ? 2 : width;
}

static bool all_whole(const shoal_domain *domain) {
  for (uint32_t position = 0; position < domain->n_positions; position++) {
    double number = shoal_decimal_double(domain->numbers[position]);
    if (!domain->position_missing[position] && number != floor(number)) return false;
  }
  return true;
}

/* 0.3 is in bin 3 of width 0.1, although the quotient is slightly below 3. */
static double bin_at(double number, double width) { return floor(number / width + 1e-9); }

/* The last bin has missing values. */
static bool make_number_bins(binner *b) {
  const shoal_domain *domain = &b->domain;
  bool whole = all_whole(domain), any = domain->all.has_low;
  double least = shoal_decimal_double(domain->all.low);
  double most = shoal_decimal_double(domain->all.high);
  double width = choose_width(most - least, whole), first = bin_at(least, width);
  b->n_bins = any ? (size_t)(bin_at(most, width) - first) + 2 : 1;
  b->bins = shoal_alloc_zero(b->n_bins, sizeof *b->bins);
  if (!b->bins) return false;
  for (uint32_t position = 0; position < domain->n_positions; position++) {
    double bin = bin_at(shoal_decimal_double(domain->numbers[position]), width) - first;
    bool inside = any && bin >= 0 && bin + 1 < (double)b->n_bins; /* not only a leaf of the tree */
    b->bin_of[position] =
        domain->position_missing[position] || !inside ? (uint32_t)b->n_bins - 1 : (uint32_t)bin;
  }
  for (size_t i = 0; i + 1 < b->n_bins; i++) {
    char label[BIN_BYTES];
    double low = (first + (double)i) * width, end = low + width;
    int size = snprintf(label, sizeof label, whole ? "[%.0f-%.0f]" : "[%.10g-%.10g)", low,
                        whole ? end - 1 : end);
    if (b->domain.attribute->coding.dates) {
      char from[SHOAL_DAY_BYTES], to[SHOAL_DAY_BYTES];
      shoal_day_print((int64_t)low, from);
      shoal_day_print((int64_t)end - 1, to);
      size = snprintf(label, sizeof label, "[%s to %s]", from, to);
    }
    const char *kept = shoal_result_string(b->release->result, label, (size_t)size);
    if (!kept) return false;
    b->bins[i].label = (shoal_label){kept, (size_t)size};
  }
  static const char missing[] = "(missing)";
  b->bins[b->n_bins - 1].label = (shoal_label){missing, sizeof missing - 1};
  return true;
}

/* ------------------------------------------------------------ trees */

/* Is every value of the original released, alone or in a set? Then bins may be values. */
static bool releases_values(const binner *b) {
  for (uint32_t position = 0; position < b->domain.n_positions; position++) {
    bool found = !b->before[position];
    for (uint32_t code = 0; !found && code < b->labels.n_values; code++) {
      const shoal_label_span *span = shoal_domain_span(&b->domain, 0, code);
      bool lists = span->set || span->n_positions == 1;
      found = b->rows[code] && lists && shoal_domain_holds(&b->domain, span, position);
    }
    if (!found) return false;
  }
  return true;
}

static bool make_tree_bins(binner *b) {
  const shoal_hierarchy *tree = b->domain.hierarchy;
  uint32_t top = tree->n_levels - 1, l = 1;
  while (l + 1 < top && tree->levels[l].n_labels > MAX_TREE_BINS) l++;
  if (top == 1 && b->domain.n_positions <= MAX_TREE_BINS && releases_values(b)) l = 0;
  const shoal_level *level = &tree->levels[l];
  b->n_bins = level->n_labels;
  b->bins = shoal_alloc_zero(b->n_bins, sizeof *b->bins);
  if (!b->bins) return false;
  for (uint32_t position = 0; position < b->domain.n_positions; position++)
    b->bin_of[position] = level->of_leaf[b->domain.leaf_at[position]];
  for (uint32_t t = 0; t < level->n_labels; t++) {
    size_t size;
    const char *label = shoal_level_label(level, t, &size);
    const char *kept = shoal_result_string(b->release->result, label, size);
    if (!kept) return false;
    b->bins[t].label = (shoal_label){kept, strlen(kept)};
  }
  return true;
}

/* Sets: one bin per value, or one for all. */
static bool make_set_bins(binner *b) {
  uint32_t n = b->domain.n_positions;
  bool single = n <= MAX_TREE_BINS && releases_values(b);
  b->n_bins = single ? n : 1;
  b->bins = shoal_alloc_zero(b->n_bins, sizeof *b->bins);
  for (uint32_t position = 0; b->bins && position < b->n_bins; position++) {
    size_t size = 1;
    const char *value = "*";
    if (single) value = shoal_column_value(&b->domain.values, b->domain.leaf_at[position], &size);
    const char *kept = shoal_result_string(b->release->result, value, size);
    if (!kept) return false;
    b->bins[position].label = (shoal_label){kept, strlen(kept)};
    if (single) b->bin_of[position] = position;
  }
  return b->bins;
}

/* ------------------------------------------------------------ all */

static bool fill_bins(binner *b) {
  double *after = shoal_alloc_zero(b->n_bins, sizeof *after);
  if (!after) return false;
  for (uint32_t position = 0; position < b->domain.n_positions; position++) {
    b->bins[b->bin_of[position]].before += b->before[position];
    after[b->bin_of[position]] += b->after[position];
  }
  for (size_t i = 0; i < b->n_bins; i++) b->bins[i].after = (uint64_t)floor(after[i] + 0.5);
  free(after);
  return true;
}

static shoal_status make_bins(binner *b, shoal_error *error) {
  const shoal_context *p = &b->release->context;
  const shoal_attribute *attribute = p->quasi_attributes[b->q];
  if (!count_labels(b)) return shoal_fail_memory(error);
  shoal_source_column raw = {p->table, p->quasi[b->q]}, released = {p->table, &b->labels};
  shoal_domain_request request = {.policy = p->policy,
                                  .attribute = attribute,
                                  .released = &released,
                                  .n_released = 1,
                                  .raw = &raw,
                                  .n_raw = 1,
                                  .complete = true,
                                  .local = true};
  SHOAL_TRY(shoal_domain_init(&b->domain, &request, error));
  if (!count_positions(b)) return shoal_fail_memory(error);
  bool numbers =
      attribute->type == SHOAL_TYPE_NUMBER && !attribute->recode_hierarchy && b->domain.is_number;
  bool ok = numbers                               ? make_number_bins(b)
            : shoal_attribute_has_sets(attribute) ? make_set_bins(b)
                                                  : b->domain.hierarchy && make_tree_bins(b);
  return ok && fill_bins(b) ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_html_report_bins(const shoal_release *release, size_t q,
                                    shoal_label_count **bins, size_t *n_bins, shoal_error *error) {
  binner b = {.release = release, .q = q};
  shoal_status status = make_bins(&b, error);
  binner_reset(&b);
  if (status != SHOAL_OK) {
    free(b.bins);
    return status;
  }
  *bins = b.bins;
  *n_bins = b.n_bins;
  return SHOAL_OK;
}
