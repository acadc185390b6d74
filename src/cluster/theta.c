/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta: theta-sensitive k-anonymity (Khan et al. 2020, Algorithm 1, read as in
 * docs/reading-the-papers.md R17-R19). Starts from classes that satisfy every other requirement,
 * swaps rows between them, adds noise rows if allowed, and merges the rest. Rows never change: they
 * change classes before these are generalized.
 *
 * Classes that will be released with equal labels are one class to a reader of the release (R23),
 * and theta must hold for it. If such classes pass together, they may stay separate. If they do
 * not, or if one of them fails or has noise rows, they are united while swaps and noise rows can
 * still help.
 */
#include "cluster/theta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MANY_ROWS = 1 << 16, /* above it, merging ends as soon as it hardly helps */
  MAX_IDLE_MERGES = 3, /* rounds of merging that do not help */
  MAX_UNITING = 8      /* rounds of swapping and uniting */
};

/* ------------------------------------------------------------ first classes */

static int compare_rows(const void *a, const void *b, void *user) {
  const shoal_axes *axes = user;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  const uint32_t *of_x = shoal_axes_row(axes, x), *of_y = shoal_axes_row(axes, y);
  for (size_t q = 0; q < axes->n; q++)
    if (of_x[q] != of_y[q]) return of_x[q] < of_y[q] ? -1 : 1;
  return (x > y) - (x < y);
}

/* Runs of k rows sorted by quasi-identifiers; the last takes the remainder. */
static shoal_status start_sorted(const shoal_cluster_task *task, shoal_partition *partition,
                                 shoal_error *error) {
  shoal_ranges ranges;
  SHOAL_TRY(shoal_ranges_init(&ranges, task->axes->n_rows, error));
  qsort_r(ranges.rows, ranges.n_rows, sizeof *ranges.rows, compare_rows, (void *)task->axes);
  uint64_t k = task->required->k;
  for (uint64_t i = k; i + k <= ranges.n_rows; i += k) ranges.starts[i] = 1;
  shoal_status status = shoal_ranges_partition(&ranges, partition, error);
  shoal_ranges_reset(&ranges);
  return status;
}

/* flock's classes on every requirement except theta. */
static shoal_status start_from_flock(const shoal_cluster_task *task, shoal_partition *partition,
                                     shoal_error *error) {
  shoal_cluster_requirements rest;
  if (!shoal_theta_rest(task->required, &rest)) return shoal_fail_memory(error);
  shoal_cluster_task start = *task;
  start.required = &rest;
  shoal_status status = shoal_cluster_flock(&start, partition, error);
  free(rest.others);
  return status;
}

/* ------------------------------------------------------------ classes of equal labels */

/* Classes grouped by the labels that they would get. */
typedef struct alike {
  shoal_arena arena;
  uint32_t *group_of; /* by class */
  uint32_t *first;    /* by group: its first member; n_groups + 1 entries */
  uint32_t *members;
  uint32_t n_groups;
  uint8_t *noisy; /* by class: it has noise rows */
  uint8_t *stays; /* by class: it is not united */
  uint32_t *ids;  /* by class: its new number */
} alike;

static bool alike_init(alike *a, uint32_t n) {
  return SHOAL_ARENA_ARRAY(&a->arena, a->group_of, n) &&
         SHOAL_ARENA_ARRAY(&a->arena, a->first, (size_t)n + 1) &&
         SHOAL_ARENA_ARRAY(&a->arena, a->members, n) &&
         SHOAL_ARENA_ZEROED(&a->arena, a->noisy, n) && SHOAL_ARENA_ARRAY(&a->arena, a->stays, n) &&
         SHOAL_ARENA_ARRAY(&a->arena, a->ids, n);
}

static shoal_status group_by_labels(const shoal_theta *t, alike *a, shoal_error *error) {
  shoal_class_labels labels;
  SHOAL_TRY(shoal_class_labels_make(&labels, t->axes, t->box, t->n_classes, error));
  shoal_status status =
      shoal_class_labels_unite(&labels, t->n_classes, a->group_of, &a->n_groups, error);
  shoal_class_labels_reset(&labels);
  return status;
}

/* Must the classes of a group become one? */
static bool must_unite(shoal_theta *t, const alike *a, uint32_t g) {
  uint32_t n = 0;
  if (a->first[g + 1] - a->first[g] < 2) return false;
  for (uint32_t i = a->first[g]; i < a->first[g + 1]; i++) {
    uint32_t c = a->members[i], size = shoal_theta_size(t, c);
    if (t->fails[c] || t->closed[c]) return true;
    memcpy(t->trial + n, shoal_theta_rows(t, c), size * sizeof *t->trial);
    n += size;
  }
  return !shoal_requirement_checker_satisfies(&t->all, t->trial, n);
}

/* Reopens closed classes that are about to change, and removes their noise rows. */
static void reopen(shoal_theta *t, const alike *a) {
  for (uint32_t i = 0; i < t->noise.n; i++) a->noisy[t->noise.cluster[i]] = 1;
  for (uint32_t c = 0; c < t->n_classes; c++) {
    if (!t->closed[c] || a->stays[c]) continue;
    t->closed[c] = 0;
    if (!a->noisy[c]) t->n_abandoned -= shoal_theta_size(t, c);
  }
  shoal_noise_keep(&t->noise, a->stays);
}

static shoal_status unite_groups(shoal_theta *t, alike *a, bool *any, shoal_error *error) {
  SHOAL_TRY(group_by_labels(t, a, error));
  shoal_sort_by_group(NULL, t->n_classes, a->group_of, a->n_groups, a->first, a->members);
  for (uint32_t g = 0; g < a->n_groups; g++) {
    bool unites = must_unite(t, a, g);
    for (uint32_t i = a->first[g]; i < a->first[g + 1]; i++) a->stays[a->members[i]] = !unites;
    *any = *any || unites;
  }
  if (t->all.failed) return shoal_fail_memory(error);
  if (!*any) return SHOAL_OK;
  reopen(t, a);
  uint32_t n = 0;
  for (uint32_t c = 0; c < t->n_classes; c++) { /* in order of first appearance */
    uint32_t leader = a->members[a->first[a->group_of[c]]];
    a->ids[c] = a->stays[c] || leader == c ? n++ : a->ids[leader];
  }
  t->n_united += t->n_classes - n;
  return shoal_theta_regroup(t, a->ids, n, error);
}

/* Unites classes that would get equal labels and cannot stay separate. *any: there were some. */
static shoal_status unite(shoal_theta *t, bool *any, shoal_error *error) {
  alike a = {0};
  *any = false;
  shoal_status status =
      alike_init(&a, t->n_classes) ? unite_groups(t, &a, any, error) : shoal_fail_memory(error);
  shoal_arena_reset(&a.arena);
  return status;
}

/* ------------------------------------------------------------ the result */

/* Rows in classes that break a requirement and are not given up. */
static uint64_t count_failing(const shoal_theta *t) {
  uint64_t n = 0;
  for (uint32_t c = 0; c < t->n_classes; c++)
    if (t->fails[c]) n += shoal_theta_size(t, c);
  return n;
}

static bool copy_noise(const shoal_noise *from, shoal_noise *to) {
  bool ok = true;
  *to = (shoal_noise){.n_columns = from->n_columns};
  for (uint32_t i = 0; ok && i < from->n; i++)
    ok = shoal_noise_add(to, from->cluster[i], from->like[i], from->values + i * from->n_columns);
  return ok;
}

static void append_count(shoal_partition *partition, uint64_t n, const char *one,
                         const char *many) {
  size_t at = strlen(partition->why);
  if (n)
    (void)snprintf(partition->why + at, sizeof partition->why - at, ", %llu %s",
                   (unsigned long long)n, n == 1 ? one : many);
}

static void describe(const shoal_theta *t, shoal_partition *partition) {
  if (!t->n_targets) {
    (void)snprintf(partition->why, sizeof partition->why,
                   "the policy asks for no theta-sensitive: classes are as they started");
    return;
  }
  (void)snprintf(partition->why, sizeof partition->why, "%llu swap%s of rows between classes",
                 (unsigned long long)t->n_swaps, t->n_swaps == 1 ? "" : "s");
  append_count(partition, t->noise.n, "row invented", "rows invented");
  append_count(partition, t->n_united, "class united with one of equal labels",
               "classes united with others of equal labels");
  append_count(partition, t->n_merged, "class merged into others", "classes merged into others");
}

/* Stores the current classes. */
static shoal_status store(const shoal_theta *t, shoal_partition *partition, shoal_error *error) {
  shoal_noise_reset(&partition->noise);
  if (!copy_noise(&t->noise, &partition->noise)) return shoal_fail_memory(error);
  for (uint32_t slot = 0; slot < t->n_rows; slot++)
    partition->cluster_of_row[t->rows[slot]] = t->class_of[slot];
  partition->n_clusters = t->n_classes;
  partition->n_abandoned = t->n_abandoned + count_failing(t);
  partition->noise_short = t->noise_short;
  describe(t, partition);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ all steps */

/* Swaps change labels, and classes may become alike by them. */
static shoal_status repair_classes(shoal_theta *t, shoal_error *error) {
  bool any = true;
  for (int round = 0; any && round < MAX_UNITING; round++) {
    SHOAL_TRY(shoal_theta_swap(t, error));
    SHOAL_TRY(unite(t, &any, error));
  }
  return t->noise.n < t->task->max_noise ? shoal_theta_add_noise(t, error) : SHOAL_OK;
}

/* All rows as one class, the last resort. */
static shoal_status try_whole(shoal_theta *t, shoal_partition *best, shoal_error *error) {
  if (!shoal_requirement_checker_satisfies(&t->all, t->rows, t->n_rows))
    return t->all.failed ? shoal_fail_memory(error) : SHOAL_OK;
  shoal_partition_reset(best);
  return shoal_partition_whole(best, t->n_rows, error);
}

/*
 * Merging may go too far, so the state with the fewest rows in failing classes is stored. A round
 * costs as much as all steps before it: with many rows, merging ends when it hardly helps, and is
 * not tried if most rows fail.
 */
static shoal_status merge_while_it_helps(shoal_theta *t, shoal_partition *best,
                                         shoal_error *error) {
  bool many = t->n_rows > MANY_ROWS;
  uint64_t least = count_failing(t);
  int max_idle = many ? least <= t->n_rows / 2 : MAX_IDLE_MERGES;
  for (int idle = 0; least && idle < max_idle; idle++) {
    bool any;
    SHOAL_TRY(shoal_theta_merge(t, &any, error));
    if (!any || (many && least > t->n_rows / 8 && count_failing(t) >= least)) break;
    SHOAL_TRY(repair_classes(t, error));
    uint64_t failing = count_failing(t);
    if (failing >= least) continue;
    if (!many || failing < least - least / 4) idle = -1;
    least = failing;
    SHOAL_TRY(store(t, best, error));
  }
  return SHOAL_OK;
}

static shoal_status work(shoal_theta *t, shoal_partition *best, shoal_error *error) {
  if (t->n_targets) SHOAL_TRY(repair_classes(t, error));
  SHOAL_TRY(store(t, best, error));
  if (t->n_targets) SHOAL_TRY(merge_while_it_helps(t, best, error));
  bool none = best->n_abandoned > t->task->max_suppressed || best->n_abandoned == t->n_rows;
  return none ? try_whole(t, best, error) : SHOAL_OK;
}

/* theta after its start: changes `partition` in place by swaps, noise rows and merges. */
static shoal_status repair(const shoal_cluster_task *task, shoal_partition *partition,
                           shoal_error *error) {
  shoal_theta t;
  SHOAL_TRY(shoal_theta_init(&t, task, partition, error));
  shoal_status status = work(&t, partition, error);
  shoal_theta_reset(&t);
  return status;
}

shoal_status shoal_cluster_theta(const shoal_cluster_task *task, shoal_partition *partition,
                                 shoal_error *error) {
  SHOAL_TRY(task->start == SHOAL_START_SORTED ? start_sorted(task, partition, error)
                                              : start_from_flock(task, partition, error));
  shoal_status status = repair(task, partition, error);
  if (status != SHOAL_OK) shoal_partition_reset(partition);
  return status;
}
