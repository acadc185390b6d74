/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/domain_sets: labels that are sets of values (hierarchy/set_label.h), as positions. Only
 * columns of the kind "sets" have them; there a label that can be read as a set is one, also if a
 * value of the data looks the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "measure/domain_parts.h"

/* Finds the leaves of elements. */
typedef struct set_reader {
  shoal_domain *domain;
  shoal_values leaves; /* by number: a leaf */
  char *scratch;
  size_t scratch_bytes;
  uint32_t *positions; /* of the current label */
  size_t capacity;
  bool failed; /* no memory */
} set_reader;

static bool set_reader_init(set_reader *r, shoal_domain *domain, shoal_equality equality) {
  *r = (set_reader){.domain = domain};
  if (!shoal_values_init(&r->leaves, equality)) return false;
  for (uint32_t leaf = 0; leaf < domain->n_leaves; leaf++)
    if (shoal_values_intern(&r->leaves, shoal_domain_leaf(domain, leaf)) == SHOAL_NONE)
      return false;
  return true;
}

static void set_reader_reset(set_reader *r) {
  shoal_values_reset(&r->leaves);
  free(r->scratch);
  free(r->positions);
}

/* Reads the known elements into r->positions; returns their number. *all: no other elements. */
static uint32_t read_elements(set_reader *r, shoal_label label, bool *all) {
  shoal_label element;
  uint32_t n = 0;
  *all = true;
  if (!shoal_grow(&r->scratch, &r->scratch_bytes, label.size_bytes, 1)) r->failed = true;
  for (size_t at = 0; !r->failed && shoal_set_label_next(label, &at, r->scratch, &element);) {
    uint32_t leaf = shoal_values_find(&r->leaves, element, &r->failed);
    if (leaf == SHOAL_NONE) {
      *all = false;
      continue;
    }
    if (!shoal_grow(&r->positions, &r->capacity, (size_t)n + 1, sizeof *r->positions)) {
      r->failed = true;
      break;
    }
    r->positions[n++] = r->domain->position_of[leaf];
  }
  if (n > 1) shoal_sort_u32(r->positions, n);
  uint32_t distinct = 0;
  for (uint32_t i = 0; i < n; i++)
    if (!i || r->positions[i] != r->positions[i - 1]) r->positions[distinct++] = r->positions[i];
  return distinct;
}

static void read_set(set_reader *r, shoal_label label, bool complete, shoal_domain_set *set) {
  bool all;
  *set = (shoal_domain_set){.is_set = shoal_is_set_label(label)};
  if (!set->is_set) return;
  uint32_t n = read_elements(r, label, &all);
  if (r->failed) return;
  if (complete) set->is_set = n > 0; /* otherwise it is a value that looks like a set */
  if (!n || (!all && !complete)) return;
  uint32_t *positions = shoal_arena_alloc(&r->domain->sets, n, sizeof *positions);
  if (!positions) {
    r->failed = true;
    return;
  }
  memcpy(positions, r->positions, n * sizeof *positions);
  set->positions = positions;
  set->n = n;
}

bool shoal_domain_find_sets(shoal_domain *domain, const shoal_column *column,
                            shoal_equality equality, bool complete, shoal_domain_set *sets) {
  set_reader r;
  bool ok = set_reader_init(&r, domain, equality);
  for (uint32_t code = 0; ok && code < column->n_values; code++) {
    shoal_label label;
    label.bytes = shoal_column_value(column, code, &label.size_bytes);
    read_set(&r, label, complete, &sets[code]);
    ok = !r.failed;
  }
  set_reader_reset(&r);
  return ok;
}

bool shoal_domain_set_holds(const shoal_label_span *span, uint32_t position) {
  uint32_t low = 0, high = span->n_positions;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (span->set[middle] == position) return true;
    if (span->set[middle] < position) low = middle + 1;
    else high = middle;
  }
  return false;
}

/* ------------------------------------------------------------ losses */

/* (values - 1) / (all values - 1), both of the original if there is one. */
double shoal_domain_set_loss(const shoal_domain *domain, uint32_t n_original,
                             const shoal_label_span *span) {
  uint32_t all = n_original ? n_original : domain->n_positions, n = 0;
  if (all < 2) return 0;
  if (span->everything) return 1;
  for (uint32_t i = 0; span->set && i < span->n_positions; i++)
    n += !n_original || domain->leaf_at[span->set[i]] < n_original;
  for (uint32_t p = span->lo; !span->set && span->n_positions && p <= span->hi; p++)
    n += shoal_domain_holds(domain, span, p) && (!n_original || domain->leaf_at[p] < n_original);
  return n ? (double)(n - 1) / (double)(all - 1) : 0;
}

/* ------------------------------------------------------------ sets with one meaning */

static const uint32_t *positions_of(const shoal_label_span *span) {
  return span->set ? span->set : &span->lo;
}

static int by_positions(const void *a, const void *b, void *user) {
  const shoal_label_span *spans = user;
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const shoal_label_span *x = &spans[i], *y = &spans[j];
  if (x->n_positions != y->n_positions) return x->n_positions < y->n_positions ? -1 : 1;
  const uint32_t *of_x = positions_of(x), *of_y = positions_of(y);
  for (uint32_t p = 0; p < x->n_positions; p++)
    if (of_x[p] != of_y[p]) return of_x[p] < of_y[p] ? -1 : 1;
  return (i > j) - (i < j);
}

static bool have_same_positions(const shoal_label_span *x, const shoal_label_span *y) {
  return x->n_positions == y->n_positions &&
         memcmp(positions_of(x), positions_of(y), x->n_positions * sizeof *x->set) == 0;
}

bool shoal_sets_find_same(shoal_released_labels *released) {
  uint32_t n = released->column->n_values, n_items = 0;
  shoal_label_span *spans = released->spans;
  bool any = false;
  for (uint32_t code = 0; code < n && !any; code++) any = spans[code].set != NULL;
  if (!any) return true;
  uint32_t *items = shoal_alloc(n, sizeof *items);
  if (!items) return false;
  for (uint32_t code = 0; code < n; code++)
    if (!spans[code].everything && (spans[code].set || spans[code].n_positions == 1))
      items[n_items++] = code;
  if (n_items > 1) qsort_r(items, n_items, sizeof *items, by_positions, spans);
  for (uint32_t i = 1; i < n_items; i++)
    if (have_same_positions(&spans[items[i]], &spans[items[i - 1]]))
      spans[items[i]].same_as = spans[items[i - 1]].same_as;
  free(items);
  return true;
}

/* ------------------------------------------------------------ values that a label adds */

shoal_status shoal_set_add_values(const shoal_policy *policy, shoal_label label,
                                  shoal_values *known, shoal_missing_mark *mark, void *user,
                                  shoal_error *error) {
  char *scratch = shoal_alloc(label.size_bytes, 1);
  shoal_label element;
  shoal_status status = scratch ? SHOAL_OK : shoal_fail_memory(error);
  for (size_t at = 0; status == SHOAL_OK && shoal_set_label_next(label, &at, scratch, &element);) {
    uint32_t value = shoal_values_intern(known, element);
    bool missing = false;
    for (size_t i = 0; i < policy->n_missing; i++)
      missing = missing || (strlen(policy->missing[i]) == element.size_bytes &&
                            memcmp(policy->missing[i], element.bytes, element.size_bytes) == 0);
    status = value == SHOAL_NONE ? shoal_fail_memory(error) : mark(user, value, missing, error);
  }
  free(scratch);
  return status;
}
