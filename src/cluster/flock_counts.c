/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/flock_counts: enhanced-pk on a few rows. Where distinct values are so scarce that cutting
 * by likeness loses clusters, the paper's algorithm, which looks at the values first, makes them of
 * the same rows. The rows become a table of their own in which groups are the values.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "cluster/flock.h"

typedef struct extract {
  shoal_axes axes;
  shoal_fit fit;
  shoal_count *counts;
  shoal_column *columns; /* by count: one value a group, the last is "missing" */
  uint32_t **codes;      /* by count, by row */
  uint32_t *tuple_of_row;
} extract;

static void reset(extract *x, size_t n_counts) {
  for (size_t d = 0; d < n_counts; d++) {
    if (x->codes) free(x->codes[d]);
    if (x->counts) free(x->counts[d].group_of);
  }
  free(x->codes);
  free(x->counts);
  free(x->columns);
  free(x->tuple_of_row);
}

static bool fill_count(extract *x, const shoal_herd *h, size_t d, const uint32_t *rows,
                       uint32_t n) {
  const shoal_count *whole = &h->fit->counts[d];
  uint32_t groups = h->n_groups[d];
  uint64_t *n_rows = shoal_alloc_zero(groups, sizeof *n_rows);
  shoal_count *count = &x->counts[d];
  *count = *whole;
  count->n_groups = groups;
  x->codes[d] = shoal_alloc(n, sizeof **x->codes);
  count->group_of = shoal_alloc((size_t)groups + 1, sizeof *count->group_of);
  bool ok = n_rows && x->codes[d] && count->group_of;
  if (ok) {
    shoal_spread spread = {.n_rows = n, .descending = n_rows};
    for (uint32_t g = 0; g <= groups; g++) count->group_of[g] = g < groups ? g : SHOAL_NO_GROUP;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t group = h->group[d][rows[i]];
      x->codes[d][i] = group == SHOAL_NO_GROUP ? groups : group;
      if (group != SHOAL_NO_GROUP) n_rows[group]++;
    }
    shoal_spread_sort(&spread, groups);
    count->most = shoal_spread_max_groups(&spread, count->least);
    x->columns[d] = (shoal_column){.name = "", .n_values = groups + 1, .code_size = 4};
    x->columns[d].codes = x->codes[d];
    count->column = &x->columns[d];
  }
  free(n_rows);
  return ok;
}

static bool fill(extract *x, const shoal_herd *h, const uint32_t *rows, uint32_t n) {
  x->counts = shoal_alloc_zero(h->n_counts, sizeof *x->counts);
  x->columns = shoal_alloc_zero(h->n_counts, sizeof *x->columns);
  x->codes = shoal_alloc_zero(h->n_counts, sizeof *x->codes);
  x->tuple_of_row = shoal_alloc(n, sizeof *x->tuple_of_row);
  bool ok = x->counts && x->columns && x->codes && x->tuple_of_row;
  for (size_t d = 0; ok && d < h->n_counts; d++) ok = fill_count(x, h, d, rows, n);
  if (!ok) return false;
  for (uint32_t i = 0; i < n; i++) x->tuple_of_row[i] = h->tuple[rows[i]];
  x->axes = *h->axes;
  x->axes.n_rows = n;
  x->axes.n_tuples = h->n_tuples;
  x->axes.tuple_of_row = x->tuple_of_row;
  x->axes.places = h->places;
  x->fit = *h->fit;
  x->fit.n_rows = n;
  x->fit.counts = x->counts;
  x->fit.n_others = 0;
  return true;
}

bool shoal_flock_by_counts(shoal_herd *h, const uint32_t *rows, uint32_t n, uint32_t *cluster,
                           uint32_t *n_clusters) {
  *n_clusters = 0;
  for (uint32_t i = 0; i < n; i++) h->keys[i] = (uint64_t)h->row[rows[i]] << 32 | i;
  shoal_sort_keys(h->keys, n); /* the table's order decides ties */
  for (uint32_t i = 0; i < n; i++) h->list[i] = rows[(uint32_t)h->keys[i]];
  extract x = {0};
  bool ok = fill(&x, h, h->list, n);
  if (ok && shoal_fit_most_clusters(&x.fit) > 0) {
    shoal_cluster_task task = {.axes = &x.axes, .fit = &x.fit};
    shoal_partition partition;
    ok = shoal_cluster_enhanced_pk(&task, &partition, NULL) == SHOAL_OK;
    for (uint32_t i = 0; ok && i < n; i++)
      cluster[(uint32_t)h->keys[i]] = partition.cluster_of_row[i];
    if (ok) *n_clusters = partition.n_clusters;
    if (ok) shoal_partition_reset(&partition);
  }
  reset(&x, h->n_counts);
  return ok;
}
