/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/class_repair: rounds of merging. Each labels and judges all clusters anew; classes to
 * merge are united in a disjoint-set forest, with the nearest class as partner
 * (cluster/nearest.h).
 */
#include "decide/class_repair.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/nearest.h"

/* Rounds in which a violating class is merged with one other; then with 2, with 4, and so on. */
enum { SINGLE_ROUNDS = 8, MAX_DOUBLINGS = 31 };

void shoal_labelled_clusters_free(shoal_labelled_clusters *labelled) {
  if (!labelled) return;
  free(labelled->cluster_of);
  shoal_classes_reset(&labelled->clusters);
  free(labelled->boxes);
  free(labelled->class_of);
  free(labelled->class_boxes);
  shoal_decision_reset(&labelled->decision);
  free(labelled);
}

/* The boxes of groups joined by `ids`. */
static shoal_span *join_boxes(const shoal_axes *axes, const shoal_span *from, uint32_t n_from,
                              const uint32_t *ids, uint32_t n) {
  size_t size = axes->n_spans;
  shoal_span *joined = shoal_alloc((size_t)n * size, sizeof *joined);
  if (!joined) return NULL;
  for (size_t i = 0; i < n; i++) shoal_box_clear(axes, joined + i * size);
  for (uint32_t g = 0; g < n_from; g++)
    shoal_box_join(axes, joined + ids[g] * size, from + g * size);
  return joined;
}

/* The class of a cluster of the algorithm. */
static uint32_t class_of_given(const shoal_labelled_clusters *labelled, uint32_t g) {
  return labelled->class_of[labelled->cluster_of[g]];
}

/* From clusters to labels, classes and verdict. */
static shoal_status finalize(const shoal_labelled_clusters_inputs *inputs, const shoal_noise *noise,
                             shoal_labelled_clusters *labelled, shoal_error *error) {
  shoal_decision *d = &labelled->decision;
  uint32_t n_clusters = labelled->clusters.n_classes, n_classes;
  labelled->class_of = shoal_alloc(n_clusters, sizeof *labelled->class_of);
  if (!labelled->class_of) return shoal_fail_memory(error);
  SHOAL_TRY(shoal_class_labels_make(&d->labels, inputs->axes, labelled->boxes, n_clusters, error));
  uint32_t n_kept = n_clusters - labelled->leaves_out;
  SHOAL_TRY(shoal_class_labels_unite(&d->labels, n_kept, labelled->class_of, &n_classes, error));
  if (labelled->leaves_out) { /* a class never has a higher number than a cluster: there is room */
    for (size_t q = 0; q < d->labels.n; q++)
      d->labels.of_group[q][n_classes] = d->labels.of_group[q][n_kept];
    labelled->class_of[n_kept] = n_classes++;
  }
  d->leaves_out = labelled->leaves_out;
  SHOAL_TRY(shoal_classes_regroup(&labelled->clusters, labelled->class_of, n_classes, &d->classes,
                                  error));
  labelled->class_boxes =
      join_boxes(inputs->axes, labelled->boxes, n_clusters, labelled->class_of, n_classes);
  if (noise->n) d->noise_rows = shoal_alloc_zero(n_classes, sizeof *d->noise_rows);
  if (!labelled->class_boxes || (noise->n && !d->noise_rows)) return shoal_fail_memory(error);
  for (uint32_t i = 0; i < noise->n; i++)
    d->noise_rows[class_of_given(labelled, noise->cluster[i])]++;
  return shoal_decision_judge(d, inputs->context, error);
}

static shoal_status begin(const shoal_labelled_clusters_inputs *inputs,
                          const shoal_partition *partition, shoal_labelled_clusters *labelled,
                          shoal_error *error) {
  uint32_t n = partition->n_clusters;
  SHOAL_TRY(shoal_classes_of_rows(inputs->context->frequency, partition->cluster_of_row, n,
                                  &labelled->clusters, error));
  SHOAL_TRY(shoal_classes_add_rows(inputs->context->frequency, partition->noise.n,
                                   partition->noise.cluster, partition->noise.values,
                                   &labelled->clusters, error));
  labelled->n_given = n;
  labelled->leaves_out = partition->n_single > 0;
  labelled->cluster_of = shoal_alloc(n, sizeof *labelled->cluster_of);
  labelled->boxes = shoal_boxes_of_rows(inputs->axes, partition->cluster_of_row, n);
  if (!labelled->cluster_of || !labelled->boxes) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < n; c++) labelled->cluster_of[c] = c;
  return finalize(inputs, &partition->noise, labelled, error);
}

/* ------------------------------------------------------------ repair */

/* One round: which classes are joined. */
typedef struct joining {
  shoal_nearest nearest;
  uint32_t *root;  /* by class: a disjoint-set forest */
  uint8_t *joined; /* by class: 1 if it is joined to another */
} joining;

static void join(joining *j, uint32_t c, uint32_t other) {
  j->root[shoal_find_root(j->root, c)] = shoal_find_root(j->root, other);
  j->joined[c] = j->joined[other] = 1;
}

/* Joins every class that violates to its n_partners nearest, unless it was joined already. */
static shoal_status join_violating(const shoal_labelled_clusters_inputs *inputs,
                                   const shoal_decision *d, uint64_t n_partners, joining *j,
                                   shoal_error *error) {
  uint32_t n = d->classes.n_classes;
  assert(n > 1);
  for (uint32_t c = 0; c < n; c++) j->root[c] = c;
  for (uint32_t c = 0; c < n; c++) {
    if (!d->violates[c] || j->joined[c]) continue;
    SHOAL_TRY(shoal_run_report(inputs->context->run, "repair", c, n, "classes", error));
    join(j, c, shoal_nearest_class(&j->nearest, c, NULL));
    for (uint64_t i = 1; i < n_partners; i++) {
      uint32_t other = shoal_nearest_class(&j->nearest, c, j->joined);
      if (other == SHOAL_NONE) break;
      join(j, c, other);
    }
  }
  return SHOAL_OK;
}

/* Numbers clusters: those of joined classes share one number. False: no memory. */
static bool number_clusters(const shoal_labelled_clusters *labelled, joining *j, uint32_t *ids,
                            uint32_t *n_ids) {
  uint32_t n_classes = labelled->decision.classes.n_classes;
  uint32_t *id_of = shoal_alloc(n_classes, sizeof *id_of);
  if (!id_of) return false;
  memset(id_of, 0xff, n_classes * sizeof *id_of); /* SHOAL_NONE */
  *n_ids = 0;
  for (uint32_t g = 0; g < labelled->clusters.n_classes; g++) {
    uint32_t c = labelled->class_of[g], r = shoal_find_root(j->root, c);
    if (!j->joined[c]) ids[g] = (*n_ids)++;
    else ids[g] = id_of[r] != SHOAL_NONE ? id_of[r] : (id_of[r] = (*n_ids)++);
  }
  free(id_of);
  return true;
}

/* `labelled` with its clusters joined by `ids`, labelled and judged again. */
static shoal_status regroup(const shoal_labelled_clusters_inputs *inputs,
                            const shoal_labelled_clusters *labelled, const shoal_noise *noise,
                            const uint32_t *ids, uint32_t n, shoal_labelled_clusters *next,
                            shoal_error *error) {
  uint32_t n_from = labelled->clusters.n_classes;
  SHOAL_TRY(shoal_classes_regroup(&labelled->clusters, ids, n, &next->clusters, error));
  next->n_given = labelled->n_given;
  next->cluster_of = shoal_alloc(labelled->n_given, sizeof *next->cluster_of);
  next->boxes = join_boxes(inputs->axes, labelled->boxes, n_from, ids, n);
  if (!next->cluster_of || !next->boxes) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < labelled->n_given; c++)
    next->cluster_of[c] = ids[labelled->cluster_of[c]];
  return finalize(inputs, noise, next, error);
}

static shoal_status repair(const shoal_labelled_clusters_inputs *inputs, const shoal_noise *noise,
                           const shoal_labelled_clusters *labelled, uint32_t round,
                           shoal_labelled_clusters *next, shoal_error *error) {
  const shoal_decision *d = &labelled->decision;
  uint32_t n_classes = d->classes.n_classes, n = 0;
  uint32_t doublings = round < SINGLE_ROUNDS ? 0 : round - SINGLE_ROUNDS + 1;
  uint64_t n_partners = UINT64_C(1) << (doublings < MAX_DOUBLINGS ? doublings : MAX_DOUBLINGS);
  joining j = {0};
  SHOAL_TRY(shoal_nearest_init(&j.nearest, inputs->axes, labelled->class_boxes, d->classes.n_rows,
                               n_classes, error));
  j.root = shoal_alloc(n_classes, sizeof *j.root);
  j.joined = shoal_alloc_zero(n_classes, 1);
  uint32_t *ids = shoal_alloc(labelled->clusters.n_classes, sizeof *ids);
  shoal_status status = j.root && j.joined && ids ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = join_violating(inputs, d, n_partners, &j, error);
  if (status == SHOAL_OK && !number_clusters(labelled, &j, ids, &n))
    status = shoal_fail_memory(error);
  if (status == SHOAL_OK) status = regroup(inputs, labelled, noise, ids, n, next, error);
  shoal_nearest_reset(&j.nearest);
  free(j.root);
  free(j.joined);
  free(ids);
  return status;
}

static shoal_status make(const shoal_labelled_clusters_inputs *inputs,
                         const shoal_partition *partition, shoal_labelled_clusters **out,
                         shoal_error *error) {
  shoal_labelled_clusters *best = shoal_alloc_zero(1, sizeof *best), *last = best;
  *out = NULL;
  shoal_status status = best ? begin(inputs, partition, best, error) : shoal_fail_memory(error);
  for (uint32_t round = 0;
       status == SHOAL_OK && !last->leaves_out && last->decision.classes.n_classes > 1 &&
       last->decision.judged.suppressed > partition->n_abandoned;
       round++) {
    shoal_labelled_clusters *next = shoal_alloc_zero(1, sizeof *next);
    status = next ? repair(inputs, &partition->noise, last, round, next, error)
                  : shoal_fail_memory(error);
    if (last != best) shoal_labelled_clusters_free(last);
    last = next;
    if (status != SHOAL_OK || last->decision.judged.suppressed >= best->decision.judged.suppressed)
      continue;
    shoal_labelled_clusters_free(best);
    best = last;
  }
  if (last != best) shoal_labelled_clusters_free(last);
  if (status == SHOAL_OK) *out = best;
  else shoal_labelled_clusters_free(best);
  return status;
}

/*
 * Removes noise rows of classes that violate, and of classes with more than one of the algorithm's
 * clusters: they may have the value that a row was added for. *any: there were some.
 */
static shoal_status drop_noise(const shoal_labelled_clusters *labelled, shoal_noise *noise,
                               bool *any, shoal_error *error) {
  uint32_t n = noise->n;
  *any = false;
  if (!n) return SHOAL_OK;
  uint32_t *n_given = shoal_alloc_zero(labelled->decision.classes.n_classes, sizeof *n_given);
  uint8_t *kept = shoal_alloc(labelled->n_given, 1);
  bool ok = n_given && kept;
  for (uint32_t g = 0; ok && g < labelled->n_given; g++) n_given[class_of_given(labelled, g)]++;
  for (uint32_t g = 0; ok && g < labelled->n_given; g++) {
    uint32_t c = class_of_given(labelled, g);
    kept[g] = !labelled->decision.violates[c] && n_given[c] == 1;
  }
  if (ok) shoal_noise_keep(noise, kept);
  free(n_given);
  free(kept);
  *any = noise->n < n;
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

shoal_status shoal_labelled_clusters_make(const shoal_labelled_clusters_inputs *inputs,
                                          shoal_partition *partition, shoal_labelled_clusters **out,
                                          shoal_error *error) {
  bool again = true;
  SHOAL_TRY(make(inputs, partition, out, error));
  while (again) {
    shoal_status status = drop_noise(*out, &partition->noise, &again, error);
    if (status == SHOAL_OK && !again) return SHOAL_OK;
    shoal_labelled_clusters_free(*out);
    *out = NULL;
    SHOAL_TRY(status);
    SHOAL_TRY(make(inputs, partition, out, error));
  }
  return SHOAL_OK;
}
