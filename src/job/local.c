/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/local: a release by local recoding: clusters of rows, each generalized by itself (Truta,
 * Campan & Meyer 2007), the classes that equal labels make of them, judged again and mended
 * (docs/reading-the-papers.md R23), and what the report says of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "job/draft.h"
#include "job/release.h"
#include "measure/local.h"
#include "write/csv.h"

/* What clustering works with. */
typedef struct ground {
  shoal_fit fit;
  shoal_axes axes;
  shoal_recode_rule *rules;
  shoal_recoding recoding;
  shoal_partition partition;
  shoal_draft *draft;
} ground;

static void reset(ground *g) {
  shoal_draft_free(g->draft);
  shoal_partition_reset(&g->partition);
  shoal_recoding_reset(&g->recoding);
  shoal_axes_reset(&g->axes);
  shoal_fit_reset(&g->fit);
  free(g->rules);
}

/* ------------------------------------------------------------ settings */

/* What the policy says of lattices and of other algorithms has no meaning here. */
static shoal_status check_settings(shoal_release *release, const shoal_local_algorithm *algorithm,
                                   shoal_error *error) {
  const shoal_policy *policy = release->prepared.policy;
  shoal_result *result = release->result;
  if (policy->satisfies.text && strcmp(policy->satisfies.text, "classes") != 0)
    return shoal_policy_fail(policy, policy->satisfies.mark, error,
                             "method.satisfies is about nodes of the lattice, and %s is local "
                             "recoding: remove it",
                             algorithm->name);
  if (policy->n_prefer)
    SHOAL_TRY(shoal_result_warn(result, error,
                                "'prefer' was not used: it chooses among nodes of the lattice, and "
                                "%s is local recoding",
                                algorithm->name));
  if (policy->objective.text && !algorithm->has_aim)
    SHOAL_TRY(shoal_result_warn(result, error, "'objective' was not used: %s follows none",
                                algorithm->name));
  if (policy->noise_allowed && strcmp(algorithm->name, "theta") != 0)
    SHOAL_TRY(shoal_result_warn(result, error, "'noise' was not used: it is for theta, not %s",
                                algorithm->name));
  if (policy->has_start && strcmp(algorithm->name, "theta") != 0)
    SHOAL_TRY(shoal_result_warn(result, error, "'start' was not used: it is for theta, not %s",
                                algorithm->name));
  if (policy->has_cuts && strcmp(algorithm->name, "mondrian") != 0)
    SHOAL_TRY(shoal_result_warn(result, error, "'cuts' was not used: it is for mondrian, not %s",
                                algorithm->name));
  return SHOAL_OK;
}

static shoal_status make_rules(const shoal_prepared *p, ground *g, shoal_error *error) {
  g->rules = shoal_alloc(p->n_quasi, sizeof *g->rules);
  if (!g->rules) return shoal_fail_memory(error);
  for (size_t q = 0; q < p->n_quasi; q++) {
    const shoal_attribute *attribute = p->quasi_attributes[q];
    g->rules[q] = (shoal_recode_rule){.interval = attribute->type == SHOAL_TYPE_NUMBER &&
                                                  !attribute->recode_hierarchy,
                                      .snap = attribute->snap};
  }
  return SHOAL_OK;
}

/* What theta may invent, and the seed of it: the policy's, or one that nobody can guess. */
static shoal_status allow_noise(const shoal_prepared *p, shoal_cluster_task *task,
                                shoal_error *error) {
  const shoal_policy *policy = p->policy;
  if (!policy->noise_allowed) return SHOAL_OK;
  uint64_t room = UINT32_MAX - p->table->n_records; /* rows of the release are counted in 32 bits */
  task->most_noise = shoal_amount_rows(policy->noise, p->table->n_records);
  if (task->most_noise > room) task->most_noise = room;
  task->seed = policy->seed;
  shoal_random random;
  if (policy->has_seed) return SHOAL_OK;
  if (!shoal_random_entropy(&random))
    return shoal_fail(error, SHOAL_FAILED,
                      "the system gives no randomness for invented rows: give a seed");
  task->seed = shoal_random_next(&random);
  return SHOAL_OK;
}

static shoal_status cluster(const shoal_prepared *p, const shoal_method *method, ground *g,
                            shoal_error *error) {
  SHOAL_TRY(shoal_fit_init(&g->fit, &p->demands, &p->tracked, p->table,
                           p->policy->weights_inverse ? SHOAL_FIT_INVERSE : SHOAL_FIT_GIVEN,
                           error));
  SHOAL_TRY(shoal_method_check_reach(method, p->policy, &g->fit, error));
  SHOAL_TRY(make_rules(p, g, error));
  SHOAL_TRY(shoal_recoding_init(&g->recoding, p->frequency, g->rules, error));
  shoal_frequency costed = *p->frequency;
  if (method->local->costs_as_released) costed.hierarchies = g->recoding.hierarchies;
  SHOAL_TRY(shoal_axes_init(&g->axes, &costed, p->weighted ? p->weights : NULL,
                            method->local_objective->kind, error));
  shoal_cluster_task task = {
      .axes = &g->axes,
      .fit = &g->fit,
      .aim = method->local_objective->aim,
      .effort = p->policy->effort,
      .relaxed = p->policy->relaxed_cuts,
      .start = p->policy->sorted_start ? SHOAL_START_SORTED : SHOAL_START_FLOCK,
      .recoding = &g->recoding,
      .most_suppressed = shoal_amount_rows(p->policy->max_suppression, p->table->n_records),
      .run = p->run};
  SHOAL_TRY(allow_noise(p, &task, error));
  return method->local->run(&task, &g->partition, error);
}

/* ------------------------------------------------------------ the verdict */

/* The first demand that a class breaks: there is one. */
static const shoal_demand *broken_demand(const shoal_prepared *p, const shoal_draft *draft) {
  for (uint32_t c = 0; c < draft->classes.n_classes; c++)
    for (size_t i = 0; draft->breaks[c] && i < p->demands.n_items; i++)
      if (!shoal_demand_holds(&p->demands.items[i], p->frequency, &draft->classes, c, NULL))
        return &p->demands.items[i];
  return p->demands.items;
}

/* Whether rows may be invented is asked only of theta. */
static const char *advise_noise(const shoal_prepared *p, const char *algorithm,
                                const shoal_partition *partition) {
  const shoal_policy *policy = p->policy;
  if (strcmp(algorithm, "theta") != 0) return "";
  if (!policy->noise_allowed || !shoal_amount_rows(policy->noise, p->table->n_records))
    return ", or rows to be invented (method.noise)";
  return partition->noise_short ? ", or more rows to be invented (method.noise)" : "";
}

/* Breaking classes that merging could not mend are suppressed, if the policy allows so many. */
static shoal_status check_verdict(const shoal_prepared *p, const char *algorithm, const ground *g,
                                  uint64_t limit, shoal_error *error) {
  const shoal_draft *draft = g->draft;
  const shoal_verdict *verdict = &draft->verdict;
  uint64_t n_breaking = draft->classes.n_classes - verdict->n_classes;
  if (verdict->suppressed <= limit && verdict->n_classes > 0) return SHOAL_OK;
  const shoal_demand *demand = broken_demand(p, draft);
  bool on = demand->sensitive != SHOAL_NO_ATTRIBUTE;
  const char *attribute = on ? p->sensitive[demand->sensitive].column->name : "";
  if (verdict->n_classes == 0)
    return shoal_fail(error, SHOAL_REFUSED,
                      "%s finds no classes that satisfy the policy: even all rows as one class "
                      "break %s%s%s; ask for less",
                      algorithm, demand->type->name, on ? " on " : "", attribute);
  return shoal_fail(error, SHOAL_REFUSED,
                    "%s finds no classes that all satisfy the policy: at best %llu of %llu rows "
                    "stay in classes that break %s%s%s (%llu class%s), and %llu may be suppressed; "
                    "ask for less, or allow more rows to be suppressed%s",
                    algorithm, (unsigned long long)verdict->suppressed,
                    (unsigned long long)p->table->n_records, demand->type->name, on ? " on " : "",
                    attribute, (unsigned long long)n_breaking, n_breaking == 1 ? "" : "es",
                    (unsigned long long)limit, advise_noise(p, algorithm, &g->partition));
}

static bool all_stars(const shoal_labels *labels, uint32_t c) {
  for (size_t q = 0; q < labels->n; q++) {
    shoal_label label = shoal_strings_get(&labels->strings[q], labels->of_group[q][c]);
    if (!shoal_label_equal(label, (shoal_label){"*", 1})) return false;
  }
  return true;
}

static shoal_status decide_fates(shoal_release *release, const shoal_draft *draft,
                                 shoal_error *error) {
  uint32_t n = draft->classes.n_classes;
  uint8_t *stars = shoal_alloc(n, 1), suppressed_fate;
  release->fate_of_group = shoal_alloc(n, 1);
  shoal_status status = stars && release->fate_of_group ? SHOAL_OK : shoal_fail_memory(error);
  for (uint32_t c = 0; status == SHOAL_OK && c < n; c++) stars[c] = all_stars(&draft->labels, c);
  if (status == SHOAL_OK)
    status = shoal_release_suppress(release, &draft->classes, draft->breaks, stars,
                                    &suppressed_fate, error);
  for (uint32_t c = 0; status == SHOAL_OK && c < n; c++)
    release->fate_of_group[c] = draft->breaks[c] ? suppressed_fate : SHOAL_FATE_KEEP;
  free(stars);
  return status;
}

/* The release keeps classes and labels; the draft goes. */
static shoal_status keep_classes(shoal_release *release, ground *g, shoal_error *error) {
  const shoal_draft *draft = g->draft;
  const shoal_noise *noise = &g->partition.noise;
  uint64_t n_rows = release->prepared.table->n_rows;
  release->class_of_row = shoal_alloc((size_t)n_rows + noise->n, sizeof *release->class_of_row);
  if (!release->class_of_row) return shoal_fail_memory(error);
  for (uint64_t row = 0; row < n_rows; row++)
    release->class_of_row[row] =
        draft->class_of[draft->cluster_of[g->partition.cluster_of_row[row]]];
  for (uint32_t i = 0; i < noise->n; i++)
    release->class_of_row[n_rows + i] = draft->class_of[draft->cluster_of[noise->cluster[i]]];
  SHOAL_TRY(shoal_release_add_noise(release, noise, error));
  release->group_of_row = release->class_of_row;
  release->labels = draft->labels;
  memset(&g->draft->labels, 0, sizeof g->draft->labels);
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the report */

static uint32_t labels_in_use(const shoal_draft *draft, size_t q, uint8_t *seen) {
  uint32_t used = 0;
  memset(seen, 0, draft->labels.strings[q].n_strings);
  for (uint32_t c = 0; c < draft->classes.n_classes; c++) {
    uint32_t label = draft->labels.of_group[q][c];
    if (!draft->breaks[c] && !seen[label]) used += seen[label] = 1;
  }
  return used;
}

static shoal_status report_attributes(shoal_release *release, const shoal_draft *draft,
                                      const double *loss, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_result *result = release->result;
  uint8_t *seen = shoal_alloc(draft->clusters.n_classes, 1); /* a cluster has one label */
  result->attributes = shoal_arena_alloc(&result->arena, p->n_quasi, sizeof *result->attributes);
  bool ok = seen && result->attributes;
  for (size_t q = 0; ok && q < p->n_quasi; q++)
    result->attributes[q] = (shoal_attribute_outcome){.name = result->quasi[q],
                                                      .height = result->heights[q],
                                                      .n_before = p->quasi[q]->n_values,
                                                      .n_after = labels_in_use(draft, q, seen),
                                                      .loss = loss[q]};
  free(seen);
  return ok ? SHOAL_OK : shoal_fail_memory(error);
}

/* How many released clusters there are of each size. */
static shoal_status report_cluster_sizes(shoal_result *result, const shoal_draft *draft,
                                         shoal_error *error) {
  uint64_t most = 0;
  for (uint32_t c = 0; c < draft->clusters.n_classes; c++)
    if (draft->clusters.n_rows[c] > most) most = draft->clusters.n_rows[c];
  uint64_t *n_of_size = shoal_alloc_zero((size_t)most + 1, sizeof *n_of_size);
  if (!n_of_size) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < draft->clusters.n_classes; c++)
    n_of_size[draft->clusters.n_rows[c]] += !draft->breaks[draft->class_of[c]];
  size_t n = 0;
  for (uint64_t size = 0; size <= most; size++) n += n_of_size[size] > 0;
  shoal_cluster_size *sizes = shoal_arena_alloc(&result->arena, n, sizeof *sizes);
  for (uint64_t size = 0; sizes && size <= most; size++)
    if (n_of_size[size])
      sizes[result->n_cluster_sizes++] = (shoal_cluster_size){size, n_of_size[size]};
  free(n_of_size);
  result->cluster_sizes = sizes;
  return sizes ? SHOAL_OK : shoal_fail_memory(error);
}

/* What the algorithm says of its clusters, and how many of them were merged afterwards. */
static shoal_status report_why(shoal_result *result, const ground *g, shoal_error *error) {
  uint32_t merged = g->partition.n_clusters - g->draft->clusters.n_classes;
  char why[320], note[100] = "";
  if (merged)
    (void)snprintf(note, sizeof note, "%s%u cluster%s merged into others to satisfy the policy",
                   *g->partition.why ? "; " : "", merged, merged == 1 ? " was" : "s were");
  (void)snprintf(why, sizeof why, "%s%s", g->partition.why, note);
  if (!*why) return SHOAL_OK;
  result->why = shoal_result_string(result, why, strlen(why));
  return result->why ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status report(shoal_release *release, const shoal_method *method, const ground *g,
                           shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  const shoal_draft *draft = g->draft;
  shoal_result *result = release->result;
  double *loss = shoal_alloc(p->n_quasi, sizeof *loss);
  if (!loss) return shoal_fail_memory(error);
  shoal_utility u = shoal_local_measure(&g->axes, &g->recoding, &draft->classes, draft->class_costs,
                                        draft->breaks, draft->noise, p->demands.k, loss);
  shoal_release_measures(result, &u);
  shoal_sizes_measure(&draft->clusters, draft->class_of, draft->breaks, p->demands.k,
                      &result->dm_clusters, &result->avg_clusters);
  for (uint32_t c = 0; c < draft->clusters.n_classes; c++)
    result->clusters += !draft->breaks[draft->class_of[c]];
  result->local = true;
  result->max_suppression = shoal_amount_rows(p->policy->max_suppression, p->table->n_records);
  if (method->local->has_aim) result->objective = method->local_objective->name;
  if (method->local->has_effort) result->effort = p->policy->effort;
  shoal_status status = report_attributes(release, draft, loss, error);
  free(loss);
  SHOAL_TRY(status);
  SHOAL_TRY(report_why(result, g, error));
  SHOAL_TRY(report_cluster_sizes(result, draft, error));
  SHOAL_TRY(
      shoal_result_released(result, p, &draft->classes, draft->breaks, &draft->verdict, error));
  result->noise = g->partition.noise.n;
  if (p->policy->noise_allowed)
    result->max_noise = shoal_amount_rows(p->policy->noise, p->table->n_records);
  result->output_rows += result->noise;
  return SHOAL_OK;
}

static shoal_status make(shoal_release *release, const shoal_method *method, ground *g,
                         shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  SHOAL_TRY(check_settings(release, method->local, error));
  SHOAL_TRY(cluster(p, method, g, error));
  shoal_draft_ground from = {p, &g->axes, &g->recoding};
  SHOAL_TRY(shoal_draft_make(&from, &g->partition, &g->draft, error));
  SHOAL_TRY(check_verdict(p, method->local->name, g,
                          shoal_amount_rows(p->policy->max_suppression, p->table->n_records),
                          error));
  SHOAL_TRY(report(release, method, g, error));
  SHOAL_TRY(decide_fates(release, g->draft, error));
  return keep_classes(release, g, error);
}

/* What was grouped goes too: rows are written by their classes, and the verifier has its room. */
shoal_status shoal_release_by_clusters(shoal_release *release, const shoal_method *method,
                                       shoal_error *error) {
  ground g = {0};
  shoal_status status = make(release, method, &g, error);
  reset(&g);
  shoal_frequency_free(release->prepared.frequency);
  release->prepared.frequency = NULL;
  return status;
}
