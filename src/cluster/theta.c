/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta: theta-sensitive k-anonymity (Khan et al. 2020, Algorithm 1, read as in
 * docs/reading-the-papers.md R17-R19): classes that satisfy every other demand, then swaps of rows
 * between them, invented rows where that is allowed, and merging for what is left. Rows are never
 * changed: they only change classes, before these are generalized.
 */
#include "cluster/theta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Rounds of merging that do not help: one of many rows, none where most of these fail. */
enum { MANY_ROWS = 1 << 16, MOST_IDLE_MERGES = 3, MOST_UNITING = 8 };

/* ------------------------------------------------------------ the start */

static int compare_rows(const void *a, const void *b, void *user) {
  const shoal_axes *axes = user;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  const uint32_t *of_x = shoal_axes_row(axes, x), *of_y = shoal_axes_row(axes, y);
  for (size_t q = 0; q < axes->n; q++)
    if (of_x[q] != of_y[q]) return of_x[q] < of_y[q] ? -1 : 1;
  return (x > y) - (x < y);
}

shoal_status shoal_theta_sorted(const shoal_cluster_task *task, shoal_partition *partition,
                                shoal_error *error) {
  uint32_t n = (uint32_t)task->axes->n_rows, k = (uint32_t)task->fit->k;
  if (k == 0) k = 1; /* nobody asked for more */
  memset(partition, 0, sizeof *partition);
  uint32_t *rows = shoal_alloc(n, sizeof *rows);
  partition->cluster_of_row = shoal_alloc(n, sizeof *rows);
  if (!rows || !partition->cluster_of_row) {
    free(rows);
    shoal_partition_reset(partition);
    return shoal_fail_memory(error);
  }
  for (uint32_t r = 0; r < n; r++) rows[r] = r;
  qsort_r(rows, n, sizeof *rows, compare_rows, (void *)task->axes);
  partition->n_clusters = n < k ? 1 : n / k;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t c = i / k;
    partition->cluster_of_row[rows[i]] = c < partition->n_clusters ? c : partition->n_clusters - 1;
  }
  free(rows);
  return SHOAL_OK;
}

/* flock's classes on every demand but theta. */
static shoal_status start_from_flock(const shoal_cluster_task *task, shoal_partition *partition,
                                     shoal_error *error) {
  shoal_fit rest = *task->fit;
  rest.n_others = 0;
  rest.monotone = true;
  rest.others = shoal_alloc(task->fit->n_others, sizeof *rest.others);
  if (!rest.others) return shoal_fail_memory(error);
  for (size_t i = 0; i < task->fit->n_others; i++) {
    const shoal_demand *demand = task->fit->others[i];
    if (shoal_demand_is_theta(demand)) continue;
    rest.others[rest.n_others++] = demand;
    rest.monotone = rest.monotone && demand->type->monotone(demand);
  }
  shoal_cluster_task start = *task;
  start.fit = &rest;
  shoal_status status = shoal_cluster_flock(&start, partition, error);
  free(rest.others);
  return status;
}

/* ------------------------------------------------------------ the steps */

/* Rows in classes that break a demand and are not given up. */
static uint64_t count_failing(const shoal_theta *t) {
  uint64_t n = 0;
  for (uint32_t c = 0; c < t->n_classes; c++)
    if (t->fails[c]) n += shoal_theta_size(t, c);
  return n;
}

static bool copy_noise(const shoal_noise *from, shoal_noise *to) {
  size_t n = from->n, width = from->n_columns;
  *to = (shoal_noise){.n_columns = width,
                      .cluster = shoal_alloc(n, sizeof *to->cluster),
                      .like = shoal_alloc(n, sizeof *to->like),
                      .values = shoal_alloc(n * width, sizeof *to->values)};
  if (!to->cluster || !to->like || !to->values) return false;
  to->n = from->n;
  if (!n) return true;
  memcpy(to->cluster, from->cluster, n * sizeof *to->cluster);
  memcpy(to->like, from->like, n * sizeof *to->like);
  memcpy(to->values, from->values, n * width * sizeof *to->values);
  return true;
}

static void say_more(shoal_partition *partition, uint64_t n, const char *one, const char *many) {
  size_t at = strlen(partition->why);
  if (n)
    (void)snprintf(partition->why + at, sizeof partition->why - at, ", %llu %s",
                   (unsigned long long)n, n == 1 ? one : many);
}

static void say_why(const shoal_theta *t, shoal_partition *partition) {
  if (!t->n_aims) {
    (void)snprintf(partition->why, sizeof partition->why,
                   "the policy asks for no theta-sensitive: classes are as they started");
    return;
  }
  (void)snprintf(partition->why, sizeof partition->why, "%llu swap%s of rows between classes",
                 (unsigned long long)t->n_swaps, t->n_swaps == 1 ? "" : "s");
  say_more(partition, t->noise.n, "row invented", "rows invented");
  say_more(partition, t->n_united, "class united with one of equal labels",
           "classes united with others of equal labels");
  say_more(partition, t->n_merged, "class merged into others", "classes merged into others");
}

/* The classes as they are now. */
static shoal_status hand_over(const shoal_theta *t, shoal_partition *partition,
                              shoal_error *error) {
  shoal_noise_reset(&partition->noise);
  if (!copy_noise(&t->noise, &partition->noise)) return shoal_fail_memory(error);
  for (uint32_t slot = 0; slot < t->n_rows; slot++)
    partition->cluster_of_row[t->rows[slot]] = t->class_of[slot];
  partition->n_clusters = t->n_classes;
  partition->n_given_up = t->n_given_up + count_failing(t);
  partition->noise_short = t->noise_short;
  say_why(t, partition);
  return SHOAL_OK;
}

/* Swaps change labels: classes may become alike by them. */
static shoal_status mend_classes(shoal_theta *t, shoal_error *error) {
  bool any = true;
  for (int round = 0; any && round < MOST_UNITING; round++) {
    SHOAL_TRY(shoal_theta_swap(t, error));
    SHOAL_TRY(shoal_theta_unite(t, &any, error));
  }
  return t->noise.n < t->task->most_noise ? shoal_theta_add_noise(t, error) : SHOAL_OK;
}

/* All rows as one class, where nothing else is left. */
static shoal_status try_whole(shoal_theta *t, shoal_partition *best, shoal_error *error) {
  if (!shoal_judging_fits(&t->all, t->rows, t->n_rows))
    return t->all.failed ? shoal_fail_memory(error) : SHOAL_OK;
  shoal_partition_reset(best);
  return shoal_partition_whole(best, t->n_rows, error);
}

/*
 * Merging may also go too far: the state with the fewest rows in failing classes counts. Of many
 * rows, merging ends where it hardly helps: each round costs as much as all before it.
 */
static shoal_status merge_while_it_helps(shoal_theta *t, shoal_partition *best,
                                         shoal_error *error) {
  bool many = t->n_rows > MANY_ROWS;
  uint64_t least = count_failing(t);
  int most_idle = many ? least <= t->n_rows / 2 : MOST_IDLE_MERGES;
  for (int idle = 0; least && idle < most_idle; idle++) {
    bool any;
    SHOAL_TRY(shoal_theta_merge(t, &any, error));
    if (!any || (many && least > t->n_rows / 8 && count_failing(t) >= least)) break;
    SHOAL_TRY(mend_classes(t, error));
    uint64_t failing = count_failing(t);
    if (failing >= least) continue;
    if (!many || failing < least - least / 4) idle = -1;
    least = failing;
    SHOAL_TRY(hand_over(t, best, error));
  }
  return SHOAL_OK;
}

static shoal_status work(shoal_theta *t, shoal_partition *best, shoal_error *error) {
  if (t->n_aims) SHOAL_TRY(mend_classes(t, error));
  SHOAL_TRY(hand_over(t, best, error));
  if (t->n_aims) SHOAL_TRY(merge_while_it_helps(t, best, error));
  bool none = best->n_given_up > t->task->most_suppressed || best->n_given_up == t->n_rows;
  return none ? try_whole(t, best, error) : SHOAL_OK;
}

shoal_status shoal_theta_mend(const shoal_cluster_task *task, shoal_partition *partition,
                              shoal_error *error) {
  shoal_theta t;
  SHOAL_TRY(shoal_theta_init(&t, task, partition, error));
  shoal_status status = work(&t, partition, error);
  shoal_theta_reset(&t);
  return status;
}

shoal_status shoal_cluster_theta(const shoal_cluster_task *task, shoal_partition *partition,
                                 shoal_error *error) {
  SHOAL_TRY(task->start == SHOAL_START_SORTED ? shoal_theta_sorted(task, partition, error)
                                              : start_from_flock(task, partition, error));
  shoal_status status = shoal_theta_mend(task, partition, error);
  if (status != SHOAL_OK) shoal_partition_reset(partition);
  return status;
}
