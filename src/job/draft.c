/* SPDX-License-Identifier: Apache-2.0 */
/* job/draft: see draft.h. */
#include "job/draft.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/nearest.h"

/* Rounds of mending in which a class is joined to one other; then to 2, to 4, and so on. */
enum { PATIENT_ROUNDS = 8, MOST_DOUBLINGS = 31 };

void shoal_draft_free(shoal_draft *draft) {
  if (!draft) return;
  free(draft->cluster_of);
  shoal_classes_reset(&draft->clusters);
  free(draft->costs);
  free(draft->spans);
  shoal_labels_reset(&draft->labels);
  free(draft->class_of);
  shoal_classes_reset(&draft->classes);
  free(draft->class_costs);
  free(draft->breaks);
  free(draft->noise);
  free(draft);
}

/* The extents of groups joined as `ids` says. */
static shoal_span *join_extents(const shoal_axes *axes, const shoal_span *from, uint32_t n_from,
                                const uint32_t *ids, uint32_t n) {
  shoal_span *joined = shoal_alloc((size_t)n * axes->n, sizeof *joined);
  if (!joined) return NULL;
  for (size_t i = 0; i < (size_t)n * axes->n; i++) joined[i] = (shoal_span){UINT32_MAX, 0};
  for (uint32_t g = 0; g < n_from; g++)
    shoal_extent_join(axes, joined + (size_t)ids[g] * axes->n, from + (size_t)g * axes->n);
  return joined;
}

/* The class of an invented row. */
static uint32_t class_of_noise(const shoal_draft *draft, const shoal_noise *noise, uint32_t i) {
  return draft->class_of[draft->cluster_of[noise->cluster[i]]];
}

/* Invented rows are judged with their class, but only true ones can be suppressed. */
static shoal_status judge(const shoal_draft_ground *ground, const shoal_noise *noise,
                          shoal_draft *draft, shoal_error *error) {
  const shoal_prepared *p = ground->prepared;
  draft->verdict =
      shoal_judge(&p->demands, p->frequency, &draft->classes, UINT64_MAX, draft->breaks);
  if (!noise->n) return SHOAL_OK;
  draft->noise = shoal_alloc_zero(draft->classes.n_classes, sizeof *draft->noise);
  if (!draft->noise) return shoal_fail_memory(error);
  for (uint32_t i = 0; i < noise->n; i++) {
    uint32_t c = class_of_noise(draft, noise, i);
    draft->noise[c]++;
    draft->verdict.suppressed -= draft->breaks[c];
  }
  return SHOAL_OK;
}

/* From clusters to labels, classes and verdict. */
static shoal_status settle(const shoal_draft_ground *ground, const shoal_noise *noise,
                           shoal_draft *draft, shoal_error *error) {
  uint32_t n_clusters = draft->clusters.n_classes, n_classes;
  draft->class_of = shoal_alloc(n_clusters, sizeof *draft->class_of);
  if (!draft->class_of) return shoal_fail_memory(error);
  SHOAL_TRY(shoal_labels_make(&draft->labels, ground->recoding, draft->spans, n_clusters, error));
  SHOAL_TRY(shoal_labels_unite(&draft->labels, n_clusters, draft->class_of, &n_classes, error));
  SHOAL_TRY(
      shoal_classes_regroup(&draft->clusters, draft->class_of, n_classes, &draft->classes, error));
  draft->class_costs =
      join_extents(ground->axes, draft->costs, n_clusters, draft->class_of, n_classes);
  draft->breaks = shoal_alloc(n_classes, 1);
  if (!draft->class_costs || !draft->breaks) return shoal_fail_memory(error);
  return judge(ground, noise, draft, error);
}

static shoal_status begin(const shoal_draft_ground *ground, const shoal_partition *partition,
                          shoal_draft *draft, shoal_error *error) {
  uint32_t n = partition->n_clusters;
  SHOAL_TRY(shoal_classes_of_rows(ground->prepared->frequency, partition->cluster_of_row, n,
                                  &draft->clusters, error));
  SHOAL_TRY(shoal_classes_add_rows(ground->prepared->frequency, partition->noise.n,
                                   partition->noise.cluster, partition->noise.values,
                                   &draft->clusters, error));
  draft->n_given = n;
  draft->cluster_of = shoal_alloc(n, sizeof *draft->cluster_of);
  draft->costs = shoal_extents_of_rows(ground->axes, partition->cluster_of_row, n);
  draft->spans = shoal_extents_of_rows(&ground->recoding->axes, partition->cluster_of_row, n);
  if (!draft->cluster_of || !draft->costs || !draft->spans) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < n; c++) draft->cluster_of[c] = c;
  return settle(ground, &partition->noise, draft, error);
}

/* ------------------------------------------------------------ mending */

static uint32_t root_of(uint32_t *root, uint32_t c) {
  while (root[c] != c) c = root[c] = root[root[c]];
  return c;
}

/* What one round of mending works with. */
typedef struct joining {
  const shoal_nearest *nearest;
  uint32_t *root;
  uint8_t *joined;
  uint64_t n_partners; /* that a breaking class gets */
} joining;

static void join(joining *j, uint32_t c, uint32_t other) {
  j->root[root_of(j->root, c)] = root_of(j->root, other);
  j->joined[c] = j->joined[other] = 1;
}

/* Every class that breaks the policy is joined to its nearest, unless it was joined already. */
static shoal_status pair_breaking(const shoal_draft_ground *ground, const shoal_draft *draft,
                                  joining *j, shoal_error *error) {
  uint32_t n = draft->classes.n_classes;
  for (uint32_t c = 0; c < n; c++) j->root[c] = c;
  for (uint32_t c = 0; c < n; c++) {
    if (!draft->breaks[c] || j->joined[c]) continue;
    SHOAL_TRY(shoal_run_report(ground->prepared->run, "mend", c, n, "classes", error));
    uint32_t other = shoal_nearest_find(j->nearest, c, NULL); /* there are two or more */
    join(j, c, other);
    for (uint64_t more = 1; more < j->n_partners; more++) {
      other = shoal_nearest_find(j->nearest, c, j->joined);
      if (other == SHOAL_NO_CLASS) break;
      join(j, c, other);
    }
  }
  return SHOAL_OK;
}

/* Clusters of joined classes get one number, all others one each. */
static bool number_clusters(const shoal_draft *draft, uint32_t *root, const uint8_t *joined,
                            uint32_t *ids, uint32_t *n_ids) {
  uint32_t *id_of = shoal_alloc(draft->classes.n_classes, sizeof *id_of);
  if (!id_of) return false;
  memset(id_of, 0xff, draft->classes.n_classes * sizeof *id_of); /* SHOAL_NO_ID */
  *n_ids = 0;
  for (uint32_t g = 0; g < draft->clusters.n_classes; g++) {
    uint32_t c = draft->class_of[g], r = root_of(root, c);
    if (!joined[c]) ids[g] = (*n_ids)++;
    else ids[g] = id_of[r] != SHOAL_NO_ID ? id_of[r] : (id_of[r] = (*n_ids)++);
  }
  free(id_of);
  return true;
}

/* The draft with clusters joined as `ids` says. */
static shoal_status regroup(const shoal_draft_ground *ground, const shoal_draft *draft,
                            const shoal_noise *noise, const uint32_t *ids, uint32_t n,
                            shoal_draft *next, shoal_error *error) {
  uint32_t n_from = draft->clusters.n_classes;
  SHOAL_TRY(shoal_classes_regroup(&draft->clusters, ids, n, &next->clusters, error));
  next->n_given = draft->n_given;
  next->cluster_of = shoal_alloc(draft->n_given, sizeof *next->cluster_of);
  next->costs = join_extents(ground->axes, draft->costs, n_from, ids, n);
  next->spans = join_extents(&ground->recoding->axes, draft->spans, n_from, ids, n);
  if (!next->cluster_of || !next->costs || !next->spans) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < draft->n_given; c++) next->cluster_of[c] = ids[draft->cluster_of[c]];
  return settle(ground, noise, next, error);
}

static shoal_status mend(const shoal_draft_ground *ground, const shoal_noise *noise,
                         const shoal_draft *draft, uint32_t round, shoal_draft *next,
                         shoal_error *error) {
  uint32_t n_classes = draft->classes.n_classes, n = 0;
  uint32_t doublings = round < PATIENT_ROUNDS ? 0 : round - PATIENT_ROUNDS + 1;
  shoal_nearest nearest;
  SHOAL_TRY(shoal_nearest_init(&nearest, ground->axes, draft->class_costs, draft->classes.n_rows,
                               n_classes, error));
  joining j = {.nearest = &nearest,
               .root = shoal_alloc(n_classes, sizeof *j.root),
               .joined = shoal_alloc_zero(n_classes, 1),
               .n_partners = UINT64_C(1)
                             << (doublings < MOST_DOUBLINGS ? doublings : MOST_DOUBLINGS)};
  uint32_t *ids = shoal_alloc(draft->clusters.n_classes, sizeof *ids);
  shoal_status status = j.root && j.joined && ids ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = pair_breaking(ground, draft, &j, error);
  if (status == SHOAL_OK && !number_clusters(draft, j.root, j.joined, ids, &n))
    status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = regroup(ground, draft, noise, ids, n, next, error);
  shoal_nearest_reset(&nearest);
  free(j.root);
  free(j.joined);
  free(ids);
  return status;
}

static shoal_status make(const shoal_draft_ground *ground, const shoal_partition *partition,
                         shoal_draft **out, shoal_error *error) {
  shoal_draft *best = shoal_alloc_zero(1, sizeof *best), *last = best;
  *out = NULL;
  shoal_status status = best ? begin(ground, partition, best, error) : shoal_fail_memory(error);
  for (uint32_t round = 0; status == SHOAL_OK && last->classes.n_classes > 1 &&
                           last->verdict.suppressed > partition->n_given_up;
       round++) {
    shoal_draft *next = shoal_alloc_zero(1, sizeof *next);
    status =
        next ? mend(ground, &partition->noise, last, round, next, error) : shoal_fail_memory(error);
    if (last != best) shoal_draft_free(last);
    last = next;
    if (status != SHOAL_OK || last->verdict.suppressed >= best->verdict.suppressed) continue;
    shoal_draft_free(best);
    best = last;
  }
  if (last != best) shoal_draft_free(last);
  if (status == SHOAL_OK) *out = best;
  else shoal_draft_free(best);
  return status;
}

/* By class: clusters of the algorithm in it, counted up to 2. */
static uint8_t *count_given(const shoal_draft *draft) {
  uint8_t *n_given = shoal_alloc_zero(draft->classes.n_classes, 1);
  for (uint32_t g = 0; n_given && g < draft->n_given; g++) {
    uint8_t *n = &n_given[draft->class_of[draft->cluster_of[g]]];
    if (*n < 2) (*n)++;
  }
  return n_given;
}

/* Takes out the invented rows of classes that break the policy, and of those that are more than one
 * cluster, which may have the value that a row was invented for. *any: there were some. */
static shoal_status drop_noise(const shoal_draft *draft, shoal_noise *noise, bool *any,
                               shoal_error *error) {
  uint32_t kept = 0;
  *any = false;
  if (!noise->n) return SHOAL_OK;
  uint8_t *n_given = count_given(draft);
  if (!n_given) return shoal_fail_memory(error);
  for (uint32_t i = 0; i < noise->n; i++) {
    uint32_t c = class_of_noise(draft, noise, i);
    if (draft->breaks[c] || n_given[c] > 1) continue;
    noise->cluster[kept] = noise->cluster[i];
    noise->like[kept] = noise->like[i];
    memmove(noise->values + kept * noise->n_columns, noise->values + i * noise->n_columns,
            noise->n_columns * sizeof *noise->values);
    kept++;
  }
  free(n_given);
  *any = kept < noise->n;
  noise->n = kept;
  return SHOAL_OK;
}

shoal_status shoal_draft_make(const shoal_draft_ground *ground, shoal_partition *partition,
                              shoal_draft **out, shoal_error *error) {
  bool again = true;
  SHOAL_TRY(make(ground, partition, out, error));
  while (again) {
    shoal_status status = drop_noise(*out, &partition->noise, &again, error);
    if (status == SHOAL_OK && !again) return SHOAL_OK;
    shoal_draft_free(*out);
    *out = NULL;
    SHOAL_TRY(status);
    SHOAL_TRY(make(ground, partition, out, error));
  }
  return SHOAL_OK;
}
