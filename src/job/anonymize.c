/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/anonymize: from a table and a policy to a release that satisfies it: which algorithm, early
 * refusal by the necessary conditions, then a node of the lattice (node.c), mu-Argus (argus.c) or
 * clusters (local.c).
 */
#include <stdlib.h>
#include <string.h>

#include "job/release.h"
#include "job/warn.h"
#include "table/count.h"

void shoal_release_free(shoal_release *release) {
  if (!release) return;
  shoal_prepared_reset(&release->prepared);
  shoal_result_free(release->result);
  free(release->levels);
  free(release->fate_of_group);
  free(release->class_of_row);
  shoal_release_reset_written(release);
  shoal_labels_reset(&release->labels);
  shoal_mu_argus_reset(&release->argus);
  shoal_table_free(release->expanded);
  free(release);
}

const shoal_result *shoal_release_result(const shoal_release *release) { return release->result; }

/* k against the rows is a mistake of the policy; other impossible demands are the data's. */
static shoal_status refuse_early(const shoal_prepared *p, shoal_error *error) {
  for (size_t i = 0; i < p->demands.n_items; i++) {
    const shoal_demand *demand = &p->demands.items[i];
    uint64_t n = p->table->n_records;
    if (demand->type->is_size && demand->count[0] > n)
      return shoal_policy_fail(p->policy, demand->mark, error,
                               "k is %llu, but %s has only %llu row%s: lower k",
                               (unsigned long long)demand->count[0], p->table->name,
                               (unsigned long long)n, n == 1 ? "" : "s");
  }
  uint64_t most;
  const shoal_demand *impossible;
  char why[512];
  SHOAL_TRY(shoal_prepared_most_classes(p, &most, &impossible, why, sizeof why, error));
  if (!impossible) return SHOAL_OK;
  return shoal_fail(error, SHOAL_REFUSED, "no release can satisfy the policy: %s", why);
}

void shoal_release_measures(shoal_result *result, const shoal_utility *utility) {
  result->dm = utility->dm;
  result->avg = utility->avg;
  result->il = utility->il;
  result->nil = utility->nil;
  result->accuracy = utility->accuracy;
  result->height_accuracy = utility->height_accuracy;
  result->completeness = utility->completeness;
}

/* A table of counted rows is released from its file, and only by nodes of the lattice. */
static shoal_status check_origin(const shoal_table *table, const shoal_method *method,
                                 shoal_error *error) {
  if (!table->origin) return SHOAL_OK;
  shoal_place place = {.file = table->name};
  if (method->local)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "its rows do not fit into the memory allowed, and %s needs them all: "
                         "raise --memory, or use a full-domain algorithm, which reads the file "
                         "twice",
                         method->local->name);
  if (!table->origin->path)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &place,
                         "its rows do not fit into the memory allowed, and it cannot be read "
                         "twice: give the name of a regular file, or raise --memory");
  return SHOAL_OK;
}

/* Clusters part records that are alike, so that each needs a row of its own. */
static shoal_status expand(shoal_release *release, const shoal_table **table, shoal_error *error) {
  if ((*table)->n_records > UINT32_MAX)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "local recoding takes at most %u rows, and %s has %llu: use a full-domain "
                      "algorithm, or release parts of the table",
                      UINT32_MAX, (*table)->name, (unsigned long long)(*table)->n_records);
  if (!(*table)->counts || !(*table)->finished) return SHOAL_OK;
  SHOAL_TRY(shoal_table_expand(*table, &release->expanded, error));
  *table = release->expanded;
  return SHOAL_OK;
}

/* Slack is counted in steps of a lattice: who ends elsewhere cannot give it. */
static shoal_status check_slack(const shoal_policy *policy, const shoal_method *method,
                                shoal_error *error) {
  if (!policy->slack || (!method->local && method->node->run)) return SHOAL_OK;
  return shoal_policy_fail(policy, policy->slack_mark, error,
                           "method.slack counts steps above a minimal node, and %s %s: use a "
                           "full-domain algorithm such as samarati, or ask for a larger k instead",
                           method->local ? method->local->name : method->node->name,
                           method->local ? "makes each class by itself, without nodes"
                                         : "does not end in a node");
}

static shoal_status warn_of_effort(shoal_release *release, const shoal_method *method,
                                   shoal_error *error) {
  const shoal_policy *policy = release->prepared.policy;
  if (!policy->has_effort || (method->local && method->local->has_effort)) return SHOAL_OK;
  return shoal_result_warn(release->result, error, "'effort' was not used: %s has no search budget",
                           release->result->algorithm);
}

static shoal_status anonymize(shoal_release *release, const shoal_table *table,
                              const shoal_policy *policy, const shoal_run *run,
                              shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  shoal_result *result = release->result;
  shoal_method method;
  SHOAL_TRY(shoal_method_bind(policy, &method, error));
  SHOAL_TRY(check_origin(table, &method, error));
  SHOAL_TRY(check_slack(policy, &method, error));
  result->slack = policy->slack;
  if (method.local) SHOAL_TRY(expand(release, &table, error));
  SHOAL_TRY(shoal_prepare(&release->prepared, table, policy,
                          method.local ? SHOAL_PREPARE_LOCAL : SHOAL_PREPARE_LATTICE, run, error));
  result->algorithm = method.local ? method.local->name : method.node->name;
  result->algorithm_reason = shoal_result_string(result, method.reason, strlen(method.reason));
  if (!result->algorithm_reason) return shoal_fail_memory(error);
  SHOAL_TRY(shoal_result_input(result, p, error));
  SHOAL_TRY(refuse_early(p, error));
  SHOAL_TRY(warn_of_effort(release, &method, error));
  if (method.local) return shoal_release_by_clusters(release, &method, error);
  SHOAL_TRY(method.node->run ? shoal_release_by_node(release, &method, error)
                             : shoal_release_by_argus(release, error));
  return shoal_release_warn_of_labels(release, error);
}

shoal_status shoal_anonymize(const shoal_table *table, const shoal_policy *policy,
                             const shoal_run *run, shoal_release **out, shoal_error *error) {
  *out = NULL;
  shoal_release *release = shoal_alloc_zero(1, sizeof *release);
  if (!release) return shoal_fail_memory(error);
  double started = shoal_seconds();
  release->result = shoal_result_new(SHOAL_RESULT_RELEASE);
  shoal_status status = release->result ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = anonymize(release, table, policy, run, error);
  if (status == SHOAL_OK || status == SHOAL_REFUSED) {
    shoal_status trust = shoal_demands_trust(&release->prepared.demands, error);
    if (trust != SHOAL_OK) status = trust;
  }
  if (status != SHOAL_OK) {
    shoal_release_free(release);
    return status;
  }
  release->started = started;
  release->result->seconds_read = table->seconds_read;
  release->result->seconds_search = shoal_seconds() - started;
  release->result->holds = true;
  *out = release;
  return SHOAL_OK;
}
