/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/cover_same: labels that are spelled differently and mean the same, such as "=< 40" and
 * "=<40", "[20-30]" and "20-30", "*" and "**". Rows that differ only in such labels are one class:
 * nobody can tell the people in them apart.
 */
#include <stdlib.h>

#include "measure/cover_parts.h"

typedef struct ranged {
  shoal_range range;
  uint32_t code;
} ranged;

/* An end that is not there comes before all others; any order of the rest will do. */
static int compare_ends(bool has_a, shoal_decimal a, bool open_a, bool has_b, shoal_decimal b,
                        bool open_b) {
  if (has_a != has_b) return has_a ? 1 : -1;
  int order = has_a ? shoal_decimal_compare(a, b) : 0;
  return order ? order : (int)open_a - (int)open_b;
}

static int compare_ranges(const shoal_range *a, const shoal_range *b) {
  int order = compare_ends(a->has_low, a->low, a->low_open, b->has_low, b->low, b->low_open);
  if (order) return order;
  return compare_ends(a->has_high, a->high, a->high_open, b->has_high, b->high, b->high_open);
}

static int by_range(const void *a, const void *b) {
  const ranged *x = a, *y = b;
  int order = compare_ranges(&x->range, &y->range);
  return order ? order : (x->code > y->code) - (x->code < y->code);
}

bool shoal_labels_find_same(shoal_released_labels *released) {
  uint32_t n = released->column->n_values, n_ranged = 0, star = UINT32_MAX;
  ranged *items = shoal_alloc(n, sizeof *items);
  if (!items) return false;
  for (uint32_t code = 0; code < n; code++) {
    shoal_cover *cover = &released->covers[code];
    cover->same_as = code;
    if (cover->everything) {
      if (star == UINT32_MAX) star = code;
      cover->same_as = star;
    } else if (cover->is_range && cover->spelled_range) {
      items[n_ranged++] = (ranged){cover->range, code};
    }
  }
  if (n_ranged > 1) qsort(items, n_ranged, sizeof *items, by_range);
  for (uint32_t i = 1; i < n_ranged; i++)
    if (compare_ranges(&items[i].range, &items[i - 1].range) == 0)
      released->covers[items[i].code].same_as = released->covers[items[i - 1].code].same_as;
  free(items);
  return true;
}
