/* SPDX-License-Identifier: Apache-2.0 */
/* model/shared: what several models use; see types.h. */
#include <stdio.h>
#include <stdlib.h>

#include "model/types.h"

bool shoal_is_monotone(const shoal_demand *demand) {
  (void)demand;
  return true;
}

bool shoal_is_not_monotone(const shoal_demand *demand) {
  (void)demand;
  return false;
}

double shoal_required_count(const shoal_demand *demand) { return (double)demand->count[0]; }

double shoal_required_number(const shoal_demand *demand) {
  return shoal_decimal_double(demand->number[0]);
}

/* The 256-bit product of two 128-bit numbers, from their halves. */
typedef struct wide {
  shoal_uint128 high, low;
} wide;

static wide multiply(shoal_uint128 a, shoal_uint128 b) {
  shoal_uint128 a1 = a >> 64, a0 = (uint64_t)a, b1 = b >> 64, b0 = (uint64_t)b;
  shoal_uint128 low = a0 * b0, cross = a1 * b0, other = a0 * b1;
  shoal_uint128 middle = (low >> 64) + (uint64_t)cross + (uint64_t)other;
  wide product = {.high = a1 * b1 + (cross >> 64) + (other >> 64) + (middle >> 64),
                  .low = middle << 64 | (uint64_t)low};
  return product;
}

int shoal_compare_products(shoal_uint128 a, shoal_uint128 a2, shoal_uint128 b, shoal_uint128 b2) {
  wide x = multiply(a, a2), y = multiply(b, b2);
  if (x.high != y.high) return x.high > y.high ? 1 : -1;
  return (x.low > y.low) - (x.low < y.low);
}

uint64_t shoal_most_distinct(const shoal_demand *demand, const shoal_spread *spread) {
  return shoal_spread_max_groups(spread, demand->count[0]);
}

/* Condition 1: p is at most the number of distinct values in the table. */
void shoal_explain_distinct(const shoal_demand *demand, const shoal_spread *spread,
                            const char *attribute, char *out, size_t capacity) {
  if (spread->n_distinct == 0) {
    (void)snprintf(out, capacity, "every value of '%s' is missing: there is nothing to vary",
                   attribute);
    return;
  }
  (void)snprintf(out, capacity,
                 "p is %llu, but '%s' has only %zu distinct value%s in the whole table (first "
                 "necessary condition): lower p to %zu or less",
                 (unsigned long long)demand->count[0], attribute, spread->n_distinct,
                 spread->n_distinct == 1 ? "" : "s", spread->n_distinct);
}

static int descending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x < y) - (x > y);
}

void shoal_sort_descending(uint64_t *items, size_t n) {
  if (n > 1) qsort(items, n, sizeof *items, descending);
}

void shoal_frequencies_init(shoal_frequencies *f, const shoal_value_view *view) {
  f->rows =
      view->n <= sizeof f->few / sizeof *f->few ? f->few : shoal_alloc(view->n, sizeof *f->rows);
  f->n = 0;
  f->sum = 0;
  f->failed = !f->rows;
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows;
  while (!f->failed && shoal_view_next(view, &at, &value, &n_rows)) {
    f->rows[f->n++] = n_rows;
    f->sum += n_rows;
  }
  if (!f->failed) shoal_sort_descending(f->rows, f->n);
}

void shoal_frequencies_reset(shoal_frequencies *f) {
  if (f->rows != f->few) free(f->rows);
}

uint64_t shoal_view_valued(const shoal_value_view *view) {
  size_t at = 0;
  uint32_t value;
  uint64_t n_rows, sum = 0;
  while (shoal_view_next(view, &at, &value, &n_rows)) sum += n_rows;
  return sum;
}

shoal_status shoal_lacks(const shoal_demand *demand, const shoal_model_context *context,
                         const char *what, shoal_error *error) {
  return shoal_policy_fail(context->policy, demand->mark, error, "%s on '%s' needs %s",
                           demand->type->name, context->sensitive->column->name, what);
}
