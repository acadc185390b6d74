/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/clusters: a decision by local recoding. An algorithm of cluster/ partitions the rows,
 * each cluster is generalized separately (Truta, Campan & Meyer 2007), and clusters with equal
 * labels become one class. Classes that violate the policy are merged (class_repair.h). If too many
 * rows still violate it, or the algorithm does not know all models, rows are exchanged between
 * clusters (cluster/exchange.c). Noise rows, if any, are appended to a copy of the table.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "decide/class_repair.h"
#include "decide/risks.h"

/* What clustering works with. */
typedef struct inputs {
  shoal_cluster_requirements required;
  shoal_axes axes;
  shoal_partition partition;
  shoal_labelled_clusters *labelled;
} inputs;

static void reset(inputs *g) {
  shoal_labelled_clusters_free(g->labelled);
  shoal_partition_reset(&g->partition);
  shoal_axes_reset(&g->axes);
  shoal_cluster_requirements_reset(&g->required);
}

/* ------------------------------------------------------------ clustering */

/* Settings for nodes of the lattice, or for another local algorithm, have no effect here. */
static shoal_status check_settings(const shoal_policy *policy,
                                   const shoal_local_algorithm *algorithm, shoal_result *result,
                                   shoal_error *error) {
  const char *const theta = "it is for theta, not ";
  const struct {
    bool unused;
    const char *setting, *before, *after; /* the algorithm's name */
  } settings[] = {
      {policy->n_prefer > 0, "prefer", "it chooses among nodes of the lattice, and ",
       " is local recoding"},
      {policy->objective.text && !algorithm->has_objective, "objective", "", " follows none"},
      {policy->noise_allowed && !algorithm->has_noise, "noise", theta, ""},
      {policy->has_start && !algorithm->has_start, "start", theta, ""},
      {policy->has_cuts && !algorithm->has_cuts, "cuts", "it is for mondrian, not ", ""},
  };
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    if (settings[i].unused)
      SHOAL_TRY(shoal_result_warn(result, error, "'%s' was not used: %s%s%s", settings[i].setting,
                                  settings[i].before, algorithm->name, settings[i].after));
  return SHOAL_OK;
}

/* Everything that clustering works with. */
static shoal_status prepare(const shoal_context *p, const shoal_method *method, inputs *g,
                            shoal_cluster_task *task, shoal_error *error) {
  SHOAL_TRY(shoal_cluster_requirements_init(
      &g->required, &p->requirements, &p->tracked, p->table,
      p->policy->weights_inverse ? SHOAL_WEIGHTS_INVERSE : SHOAL_WEIGHTS_GIVEN, error));
  SHOAL_TRY(shoal_method_check_support(method, p->policy, &g->required, error));
  SHOAL_TRY(shoal_axes_init(&g->axes, p->frequency, p->quasi_attributes,
                            p->weighted ? p->weights : NULL, method->local_objective->kind, error));
  *task = (shoal_cluster_task){
      .axes = &g->axes,
      .required = &g->required,
      .objective = method->local_objective->objective,
      .effort = p->policy->effort,
      .relaxed = p->policy->relaxed_cuts,
      .start = p->policy->sorted_start ? SHOAL_START_SORTED : SHOAL_START_FLOCK,
      .max_suppressed = shoal_amount_rows(p->policy->max_suppression, p->table->n_records),
      .run = p->run};
  /* The limit of noise rows, and their seed: the policy's, or a random one. */
  const shoal_policy *policy = p->policy;
  if (!policy->noise_allowed) return SHOAL_OK;
  uint64_t room = UINT32_MAX - p->table->n_records; /* rows of the release are counted in 32 bits */
  task->max_noise = shoal_amount_rows(policy->noise, p->table->n_records);
  if (task->max_noise > room) task->max_noise = room;
  task->seed = policy->seed;
  if (policy->has_seed) return SHOAL_OK;
  shoal_random random;
  if (!shoal_random_entropy(&random))
    return shoal_fail(error, SHOAL_FAILED,
                      "the system gives no randomness for noise rows: give a seed");
  task->seed = shoal_random_next(&random);
  return SHOAL_OK;
}

/* Clusters by size and counts alone; then rows are exchanged until the other models hold. */
static shoal_status cluster_by_exchange(const shoal_cluster_task *task,
                                        const shoal_local_algorithm *algorithm,
                                        shoal_partition *partition, shoal_error *error) {
  shoal_cluster_requirements first = *task->required;
  shoal_cluster_task first_task = *task;
  first.n_others = 0;
  first.monotone = true;
  first_task.required = &first;
  first_task.max_noise = 0;
  SHOAL_TRY(algorithm->run(&first_task, partition, error));
  return shoal_cluster_exchange(task, partition, error);
}

/* Clusters the rows and makes classes of the clusters, into g->partition and g->labelled. */
static shoal_status cluster(const shoal_context *p, const shoal_method *method,
                            const shoal_cluster_task *task, bool by_exchange, inputs *g,
                            shoal_error *error) {
  shoal_labelled_clusters_inputs from = {p, &g->axes};
  SHOAL_TRY(by_exchange ? cluster_by_exchange(task, method->local, &g->partition, error)
                        : method->local->run(task, &g->partition, error));
  return shoal_labelled_clusters_make(&from, &g->partition, &g->labelled, error);
}

/* A second attempt, by exchange. The one that suppresses fewer rows is kept. */
static shoal_status try_exchange(const shoal_context *p, const shoal_method *method,
                                 const shoal_cluster_task *task, inputs *g, shoal_error *error) {
  shoal_partition first = g->partition;
  shoal_labelled_clusters *labelled = g->labelled;
  g->partition = (shoal_partition){0};
  g->labelled = NULL;
  shoal_status status = cluster(p, method, task, true, g, error);
  if (status != SHOAL_OK ||
      g->labelled->decision.judged.suppressed >= labelled->decision.judged.suppressed) {
    shoal_partition second = g->partition;
    shoal_labelled_clusters *second_labelled = g->labelled;
    g->partition = first;
    g->labelled = labelled;
    first = second;
    labelled = second_labelled;
  }
  shoal_labelled_clusters_free(labelled);
  shoal_partition_reset(&first);
  return status;
}

/* ------------------------------------------------------------ refusal */

/* The first requirement that a class violates: there is one. */
static const shoal_requirement *violated_requirement(const shoal_decision *d,
                                                     const shoal_context *p) {
  const shoal_labelling labelling = shoal_decision_labelling(d);
  const shoal_requirement *found = p->requirements.items;
  uint32_t first = d->classes.n_classes; /* the first class that violates one */
  uint8_t *broken = shoal_alloc(first, 1);
  for (size_t i = 0; broken && i < p->requirements.n_items; i++) {
    const shoal_requirement *requirement = &p->requirements.items[i];
    if (shoal_requirement_violating(&p->requirements, requirement, p->frequency, &d->classes,
                                    &labelling, NULL, broken, NULL) != SHOAL_OK)
      break;
    uint32_t c = 0;
    while (c < first && !(d->violates[c] && broken[c])) c++;
    if (c < first) found = requirement;
    first = c;
  }
  free(broken);
  return found;
}

static const char *advise_noise(const shoal_decision *d, const shoal_context *p,
                                const shoal_local_algorithm *algorithm) {
  const shoal_policy *policy = p->policy;
  if (!algorithm->has_noise) return "";
  if (!policy->noise_allowed || !shoal_amount_rows(policy->noise, p->table->n_records))
    return ", or noise rows (method.noise)";
  return d->noise_short ? ", or more noise rows (method.noise)" : "";
}

static shoal_status refuse(const shoal_decision *d, const shoal_context *p,
                           const shoal_method *method, shoal_error *error) {
  const char *algorithm = method->name;
  uint64_t n_violating = d->classes.n_classes - d->judged.n_classes;
  const shoal_requirement *requirement = violated_requirement(d, p);
  bool on = requirement->sensitive != SHOAL_NO_ATTRIBUTE;
  const char *attribute = on ? p->sensitive[requirement->sensitive].column->name : "";
  if (d->judged.n_classes == 0)
    return shoal_fail(error, SHOAL_REFUSED,
                      "%s found no release: all rows as one class violate %s%s%s; this is no proof "
                      "that there is none; "
                      "relax the policy",
                      algorithm, requirement->type->name, on ? " on " : "", attribute);
  return shoal_fail(error, SHOAL_REFUSED,
                    "%s found no release: at best %llu of %llu rows are in classes that violate "
                    "%s%s%s (%llu class%s), and %llu may be suppressed; relax the policy, or allow "
                    "more suppressed rows%s",
                    algorithm, (unsigned long long)d->judged.suppressed,
                    (unsigned long long)p->table->n_records, requirement->type->name,
                    on ? " on " : "", attribute, (unsigned long long)n_violating,
                    n_violating == 1 ? "" : "es", (unsigned long long)d->max_suppressed,
                    advise_noise(d, p, method->local));
}

/* ------------------------------------------------------------ the decision */

/* From rows and codes of the ordered table to those of the original. */
static shoal_status restore_order(const shoal_context *p, shoal_decision *d, shoal_noise *noise,
                                  shoal_error *error) {
  const shoal_ordered_table *ordered = p->ordered;
  uint64_t n_rows = p->table->n_rows;
  uint32_t *class_of = shoal_alloc((size_t)n_rows + noise->n, sizeof *class_of);
  if (!class_of) return shoal_fail_memory(error);
  for (uint64_t row = 0; row < n_rows; row++) class_of[ordered->row_of[row]] = d->class_of_row[row];
  for (uint32_t i = 0; i < noise->n; i++) {
    class_of[n_rows + i] = d->class_of_row[n_rows + i];
    noise->like[i] = ordered->row_of[noise->like[i]];
    uint32_t *values = noise->values + (size_t)i * noise->n_columns;
    for (size_t s = 0; s < noise->n_columns; s++)
      values[s] = ordered->code_of[p->tracked.columns[s] - p->table->columns][values[s]];
  }
  free(d->class_of_row);
  d->group_of_row = d->class_of_row = class_of;
  d->rows = ordered->original;
  return SHOAL_OK;
}

/* Takes classes and labels from `labelled`. Borrows nothing from the frequency set. */
static shoal_status decide(const shoal_context *p, inputs *g, shoal_decision *d,
                           shoal_error *error) {
  const shoal_labelled_clusters *labelled = g->labelled;
  shoal_noise *noise = &g->partition.noise;
  uint64_t n_rows = p->table->n_rows;
  *d = labelled->decision;
  memset(&g->labelled->decision, 0, sizeof g->labelled->decision);
  SHOAL_TRY(shoal_decision_init(d, SHOAL_METHOD_CLUSTERS, p, NULL, error));
  d->refuse = refuse;
  d->noise_short = g->partition.noise_short;
  d->n_groups = d->classes.n_classes;
  d->class_of_row = shoal_alloc((size_t)n_rows + noise->n, sizeof *d->class_of_row);
  d->rows_of_class = shoal_alloc(d->n_groups, sizeof *d->rows_of_class);
  d->loss = shoal_alloc(p->n_quasi, sizeof *d->loss);
  if (!d->class_of_row || !d->rows_of_class || !d->loss) return shoal_fail_memory(error);
  memcpy(d->rows_of_class, d->classes.n_rows, d->n_groups * sizeof *d->rows_of_class);
  d->rows_of_group = d->rows_of_class;
  d->group_of_row = d->class_of_row;
  for (uint64_t row = 0; row < n_rows; row++)
    d->class_of_row[row] =
        labelled->class_of[labelled->cluster_of[g->partition.cluster_of_row[row]]];
  for (uint32_t i = 0; i < noise->n; i++)
    d->class_of_row[n_rows + i] = labelled->class_of[labelled->cluster_of[noise->cluster[i]]];
  if (p->ordered) SHOAL_TRY(restore_order(p, d, noise, error));
  assert(d->labels.n == p->n_quasi);
  for (size_t q = 0; q < p->n_quasi; q++)
    shoal_decision_set_labels(d, q, &d->labels.strings[q], d->labels.of_group[q]);
  shoal_released released = {&d->classes, d->violates, d->noise_rows};
  shoal_box_losses(&g->axes, labelled->class_boxes, &released, d->loss);
  return noise->n ? shoal_decision_extend(d, p, noise, p->run, error) : SHOAL_OK;
}

/* ------------------------------------------------------------ the report */

/* The number of released clusters of each size. */
static shoal_status report_cluster_sizes(shoal_result *result, const inputs *g,
                                         const shoal_decision *d, shoal_error *error) {
  const shoal_labelled_clusters *labelled = g->labelled;
  shoal_clusters_report *report = &result->release.clusters;
  uint64_t max_size = 0;
  for (uint32_t c = 0; c < labelled->clusters.n_classes; c++)
    if (labelled->clusters.n_rows[c] > max_size) max_size = labelled->clusters.n_rows[c];
  uint64_t *n_of_size = shoal_alloc_zero((size_t)max_size + 1, sizeof *n_of_size);
  if (!n_of_size) return shoal_fail_memory(error);
  for (uint32_t c = 0; c < labelled->clusters.n_classes; c++) {
    bool kept = !d->violates[labelled->class_of[c]];
    n_of_size[labelled->clusters.n_rows[c]] += kept;
    report->clusters += kept;
  }
  size_t n = 0;
  for (uint64_t size = 0; size <= max_size; size++) n += n_of_size[size] > 0;
  shoal_cluster_size *sizes = shoal_arena_alloc(&result->arena, n, sizeof *sizes);
  for (uint64_t size = 0; sizes && size <= max_size; size++)
    if (n_of_size[size])
      sizes[report->n_cluster_sizes++] = (shoal_cluster_size){size, n_of_size[size]};
  free(n_of_size);
  report->cluster_sizes = sizes;
  return sizes ? SHOAL_OK : shoal_fail_memory(error);
}

/* The algorithm's note on its clusters, and how many of them were merged afterwards. */
static shoal_status report_why(shoal_result *result, const inputs *g, shoal_error *error) {
  uint32_t merged = g->partition.n_clusters - g->labelled->clusters.n_classes;
  char why[320], note[100] = "";
  if (merged)
    (void)snprintf(note, sizeof note, "%s%u cluster%s merged into others to satisfy the policy",
                   *g->partition.why ? "; " : "", merged, merged == 1 ? " was" : "s were");
  (void)snprintf(why, sizeof why, "%s%s", g->partition.why, note);
  if (!*why) return SHOAL_OK;
  result->release.clusters.why = shoal_result_string(result, why, strlen(why));
  return result->release.clusters.why ? SHOAL_OK : shoal_fail_memory(error);
}

static shoal_status run(const shoal_context *p, const shoal_method *method, inputs *g,
                        shoal_decision *d, shoal_result *result, shoal_error *error) {
  shoal_cluster_task task;
  SHOAL_TRY(check_settings(p->policy, method->local, result, error));
  SHOAL_TRY(prepare(p, method, g, &task, error));
  bool by_exchange = g->required.n_others && method->local->supports != SHOAL_SUPPORTS_ALL;
  SHOAL_TRY(cluster(p, method, &task, by_exchange, g, error));
  if (g->labelled->decision.judged.suppressed > task.max_suppressed && g->required.n_others &&
      !by_exchange)
    SHOAL_TRY(try_exchange(p, method, &task, g, error));
  SHOAL_TRY(decide(p, g, d, error));
  const shoal_labelled_clusters *labelled = g->labelled;
  shoal_clusters_report *report = &result->release.clusters;
  shoal_sizes_measure(&labelled->clusters, labelled->class_of, d->violates, p->requirements.k,
                      &report->dm_clusters, &report->avg_clusters);
  if (method->local->has_objective) report->objective = method->local_objective->name;
  if (method->local->has_effort) report->effort = p->policy->effort;
  report->noise = g->partition.noise.n;
  report->noise_listed = d->noise_listed;
  if (p->policy->noise_allowed)
    report->max_noise = shoal_amount_rows(p->policy->noise, p->table->n_records);
  report->single_rows = g->partition.n_single;
  if (report->single_rows)
    SHOAL_TRY(shoal_risk_add(result, p->policy, SHOAL_RISK_SINGLE_ROWS, NULL, NULL, false,
                             "rows were suppressed one by one: whoever knows that a person is in "
                             "the table and misses them in the release can guess their value",
                             error));
  SHOAL_TRY(report_why(result, g, error));
  return report_cluster_sizes(result, g, d, error);
}

shoal_status shoal_decide_clusters(const shoal_context *p, const shoal_method *method,
                                   shoal_decision *d, shoal_result *result, shoal_error *error) {
  inputs g = {0};
  shoal_status status = run(p, method, &g, d, result, error);
  reset(&g);
  return status;
}
