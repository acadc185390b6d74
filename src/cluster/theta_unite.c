/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/theta_unite: classes that will be released with equal labels are one class for whoever
 * reads the release (docs/reading-the-papers.md R23), and one that theta must hold for. Where such
 * classes pass together they may stay apart; where they do not, or where one of them fails or has
 * invented rows, they become one here, while swaps and invented rows can still mend it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/recode.h"
#include "cluster/theta.h"

/* Classes by the labels that they would get. */
typedef struct alike {
  uint32_t *group_of;        /* by class */
  uint32_t *first, *members; /* by group: its first member; n_groups + 1 */
  uint32_t n_groups;
  uint8_t *unites; /* by group */
  uint8_t *noisy;  /* by class: it has invented rows */
  uint32_t *ids;   /* by class: its number once all is united */
} alike;

static void alike_reset(alike *a) {
  free(a->group_of);
  free(a->first);
  free(a->members);
  free(a->unites);
  free(a->noisy);
  free(a->ids);
}

static bool alike_init(alike *a, uint32_t n) {
  *a = (alike){.group_of = shoal_alloc(n, sizeof *a->group_of),
               .first = shoal_alloc_zero((size_t)n + 1, sizeof *a->first),
               .members = shoal_alloc(n, sizeof *a->members),
               .unites = shoal_alloc_zero(n, 1),
               .noisy = shoal_alloc_zero(n, 1),
               .ids = shoal_alloc(n, sizeof *a->ids)};
  return a->group_of && a->first && a->members && a->unites && a->noisy && a->ids;
}

static shoal_status group_by_labels(const shoal_theta *t, alike *a, shoal_error *error) {
  const shoal_recoding *recoding = t->task->recoding;
  shoal_labels labels = {0};
  for (uint32_t slot = 0; slot < t->n_rows; slot++) t->trial[t->rows[slot]] = t->class_of[slot];
  shoal_span *extents = shoal_extents_of_rows(&recoding->axes, t->trial, t->n_classes);
  if (!extents) return shoal_fail_memory(error);
  shoal_status status = shoal_labels_make(&labels, recoding, extents, t->n_classes, error);
  if (status == SHOAL_OK)
    status = shoal_labels_unite(&labels, t->n_classes, a->group_of, &a->n_groups, error);
  shoal_labels_reset(&labels);
  free(extents);
  return status;
}

static void list_members(const shoal_theta *t, alike *a) {
  for (uint32_t c = 0; c < t->n_classes; c++) a->first[a->group_of[c] + 1]++;
  for (uint32_t g = 0; g < a->n_groups; g++) a->first[g + 1] += a->first[g];
  for (uint32_t c = 0; c < t->n_classes; c++) a->members[a->first[a->group_of[c]]++] = c;
  for (uint32_t g = a->n_groups; g > 0; g--) a->first[g] = a->first[g - 1];
  a->first[0] = 0;
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
  return !shoal_judging_fits(&t->all, t->trial, n);
}

/* Whatever was decided on a class that is about to change is taken back. */
static void reopen(shoal_theta *t, const alike *a) {
  shoal_noise *noise = &t->noise;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < noise->n; i++) a->noisy[noise->cluster[i]] = 1;
  for (uint32_t i = 0; i < noise->n; i++) {
    if (a->unites[a->group_of[noise->cluster[i]]]) continue;
    noise->cluster[kept] = noise->cluster[i];
    noise->like[kept] = noise->like[i];
    memmove(noise->values + kept * noise->n_columns, noise->values + i * noise->n_columns,
            noise->n_columns * sizeof *noise->values);
    kept++;
  }
  noise->n = kept;
  for (uint32_t c = 0; c < t->n_classes; c++) {
    if (!t->closed[c] || !a->unites[a->group_of[c]]) continue;
    t->closed[c] = 0;
    if (!a->noisy[c]) t->n_given_up -= shoal_theta_size(t, c);
  }
}

/* Numbers ascend where they first appear. */
static uint32_t number_classes(const shoal_theta *t, alike *a) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < t->n_classes; c++) {
    uint32_t g = a->group_of[c], leader = a->members[a->first[g]];
    a->ids[c] = a->unites[g] && leader != c ? a->ids[leader] : n++;
  }
  return n;
}

static shoal_status unite(shoal_theta *t, alike *a, bool *any, shoal_error *error) {
  SHOAL_TRY(group_by_labels(t, a, error));
  list_members(t, a);
  for (uint32_t g = 0; g < a->n_groups; g++) {
    a->unites[g] = must_unite(t, a, g);
    *any = *any || a->unites[g];
  }
  if (t->all.failed) return shoal_fail_memory(error);
  if (!*any) return SHOAL_OK;
  reopen(t, a);
  uint32_t n = number_classes(t, a);
  t->n_united += t->n_classes - n;
  return shoal_theta_regroup(t, a->ids, n, error);
}

shoal_status shoal_theta_unite(shoal_theta *t, bool *any, shoal_error *error) {
  alike a;
  *any = false;
  if (!t->task->recoding) return SHOAL_OK;
  shoal_status status =
      alike_init(&a, t->n_classes) ? unite(t, &a, any, error) : shoal_fail_memory(error);
  alike_reset(&a);
  return status;
}
