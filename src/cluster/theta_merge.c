/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta_merge: what neither swaps nor invented rows could mend. A class is joined to a near
 * one, preferably one with which it satisfies every demand, else to the nearest, or given up to be
 * suppressed, whichever loses less (docs/reading-the-papers.md R19). Near are the classes that
 * stand near in the order, and of these the ones whose rows lose least by it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/work.h"
#include "cluster/theta.h"

enum { REACH = 32, MOST_TRIED = 8 };

typedef struct partner {
  uint64_t cost;
  uint32_t class;
} partner;

/* What all rows of two classes lose more once they are one. */
static uint64_t joining_cost(const shoal_theta *t, uint32_t a, uint32_t b) {
  const shoal_span *of_a = shoal_theta_extent(t, a), *of_b = shoal_theta_extent(t, b);
  uint64_t together = 0, size_a = shoal_theta_size(t, a), size_b = shoal_theta_size(t, b);
  for (size_t q = 0; q < t->axes->n; q++)
    together +=
        shoal_axis_loss(&t->axes->items[q], of_a[q].lo < of_b[q].lo ? of_a[q].lo : of_b[q].lo,
                        of_a[q].hi > of_b[q].hi ? of_a[q].hi : of_b[q].hi);
  return size_a * (together - shoal_extent_loss(t->axes, of_a)) +
         size_b * (together - shoal_extent_loss(t->axes, of_b));
}

/* Suppressed rows lose everything that is left of them. */
static uint64_t giving_up_cost(const shoal_theta *t, uint32_t c) {
  uint64_t full = 0;
  for (size_t q = 0; q < t->axes->n; q++) full += t->axes->items[q].full;
  return shoal_theta_size(t, c) * (full - shoal_extent_loss(t->axes, shoal_theta_extent(t, c)));
}

static bool may_give_up(const shoal_theta *t, uint32_t c) {
  return shoal_theta_size(t, c) <= t->task->most_suppressed - t->n_given_up;
}

static void note_partner(const shoal_theta *t, uint32_t c, uint32_t other, partner *near,
                         unsigned *n) {
  if (t->closed[other]) return;
  partner found = {joining_cost(t, c, other), other};
  unsigned at = *n;
  while (at > 0 && found.cost < near[at - 1].cost) at--;
  if (at == MOST_TRIED) return;
  unsigned last = *n < MOST_TRIED ? (*n)++ : MOST_TRIED - 1;
  memmove(near + at + 1, near + at, (last - at) * sizeof *near);
  near[at] = found;
}

static bool fits_with(shoal_theta *t, uint32_t a, uint32_t b) {
  uint32_t size_a = shoal_theta_size(t, a), size_b = shoal_theta_size(t, b);
  memcpy(t->trial, shoal_theta_rows(t, a), size_a * sizeof *t->trial);
  memcpy(t->trial + size_a, shoal_theta_rows(t, b), size_b * sizeof *t->trial);
  return shoal_judging_fits(&t->all, t->trial, (size_t)size_a + size_b);
}

/* The nearest class with which it would pass, else the nearest; false: there is none at all. */
static bool find_partner(shoal_theta *t, uint32_t c, partner *found) {
  partner near[MOST_TRIED];
  unsigned n = 0;
  for (uint32_t step = 1; step <= t->n_classes && (step <= REACH || n == 0); step++) {
    if (c >= step) note_partner(t, c, c - step, near, &n);
    if (step < t->n_classes - c) note_partner(t, c, c + step, near, &n);
  }
  for (unsigned i = 0; i < n; i++) {
    *found = near[i];
    if (fits_with(t, c, near[i].class)) return true;
  }
  if (n) *found = near[0];
  return n;
}

static uint32_t root_of(uint32_t *root, uint32_t c) {
  while (root[c] != c) c = root[c] = root[root[c]];
  return c;
}

static void give_up(shoal_theta *t, uint32_t c) {
  t->closed[c] = 1;
  t->fails[c] = 0;
  t->n_given_up += shoal_theta_size(t, c);
}

static shoal_status pair_failing(shoal_theta *t, uint32_t *root, uint8_t *joined, bool *any,
                                 shoal_error *error) {
  for (uint32_t c = 0; c < t->n_classes; c++) {
    if (!t->fails[c] || joined[c]) continue;
    SHOAL_TRY(shoal_run_report(t->task->run, "mend", c, t->n_classes, "classes", error));
    partner near;
    bool found = find_partner(t, c, &near);
    if (may_give_up(t, c) && (!found || giving_up_cost(t, c) < near.cost)) {
      give_up(t, c);
      *any = true;
    } else if (found) {
      root[root_of(root, c)] = root_of(root, near.class);
      joined[c] = joined[near.class] = 1;
      *any = true;
    }
  }
  return t->all.failed ? shoal_fail_memory(error) : SHOAL_OK;
}

shoal_status shoal_theta_merge(shoal_theta *t, bool *any, shoal_error *error) {
  uint32_t *root = shoal_alloc(t->n_classes, sizeof *root), n = 0;
  uint32_t *group = shoal_alloc(t->n_classes, sizeof *group);
  uint8_t *joined = shoal_alloc_zero(t->n_classes, 1);
  *any = false;
  shoal_status status = root && group && joined ? SHOAL_OK : shoal_fail_memory(error);
  for (uint32_t c = 0; status == SHOAL_OK && c < t->n_classes; c++) root[c] = c;
  if (status == SHOAL_OK) status = pair_failing(t, root, joined, any, error);
  if (status == SHOAL_OK && *any) {
    memset(group, 0xff, t->n_classes * sizeof *group);
    for (uint32_t c = 0; c < t->n_classes; c++) { /* in the order of their first class */
      uint32_t r = root_of(root, c);
      if (group[r] == UINT32_MAX) group[r] = n++;
    }
    for (uint32_t c = 0; c < t->n_classes; c++) group[c] = group[root_of(root, c)];
    t->n_merged += t->n_classes - n;
    status = shoal_theta_regroup(t, group, n, error);
  }
  free(root);
  free(group);
  free(joined);
  return status;
}
