/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/anonymize: from a table and a policy to a decision that satisfies it (decision.h). The method
 * is bound, the necessary conditions refuse early, then the method decides.
 */
#include <stdlib.h>
#include <string.h>

#include "job/gates.h"
#include "job/job.h"
#include "job/release.h"
#include "table/count.h"

void shoal_release_delete(shoal_release *release) {
  if (!release) return;
  shoal_decision_reset(&release->decision);
  shoal_context_reset(&release->context);
  shoal_result_delete(release->result);
  shoal_table_delete(release->expanded);
  free(release);
}

/*
 * Refuses what the necessary conditions rule out. A k above the number of rows is an error in the
 * policy (SHOAL_BAD_INPUT); other impossible requirements depend on the data (SHOAL_REFUSED).
 */
static shoal_status refuse_early(const shoal_context *p, shoal_error *error) {
  for (size_t i = 0; i < p->requirements.n_items; i++) {
    const shoal_requirement *requirement = &p->requirements.items[i];
    uint64_t n = p->table->n_records;
    if (requirement->type->is_size && requirement->count[0] > n)
      return shoal_policy_fail(p->policy, requirement->mark, error,
                               "k is %llu, but %s has only %llu row%s; set k to %llu or less",
                               (unsigned long long)requirement->count[0], p->table->name,
                               (unsigned long long)n, n == 1 ? "" : "s", (unsigned long long)n);
  }
  uint64_t most;
  const shoal_requirement *impossible;
  char why[512];
  SHOAL_TRY(shoal_context_max_classes(p, &most, &impossible, why, sizeof why, error));
  if (!impossible) return SHOAL_OK;
  return shoal_fail(error, SHOAL_REFUSED, "no release can satisfy the policy: %s", why);
}

/* A table of counted rows is written from its file, which only full-domain algorithms can do. */
static shoal_status check_source(const shoal_table *table, const shoal_method *method,
                                 shoal_error *error) {
  if (!shoal_table_is_counted(table)) return SHOAL_OK;
  shoal_location location = {.file = table->name};
  if (method->local)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "its rows do not fit into the memory allowed, and %s needs them all: "
                         "raise --memory, or use a full-domain algorithm",
                         method->name);
  if (!table->source->path)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "its rows do not fit into the memory allowed, and it cannot be read "
                         "twice: use a regular file, or raise --memory");
  return SHOAL_OK;
}

/* Equal records may go to different clusters, so each needs its own row. */
static shoal_status expand(shoal_release *release, const shoal_table **table, shoal_error *error) {
  if ((*table)->n_records > UINT32_MAX)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "local recoding takes at most %u rows, and %s has %llu: use a full-domain "
                      "algorithm, or split the table",
                      UINT32_MAX, (*table)->name, (unsigned long long)(*table)->n_records);
  if (!(*table)->counts || !(*table)->finished) return SHOAL_OK;
  SHOAL_TRY(shoal_table_expand(*table, &release->expanded, error));
  *table = release->expanded;
  return SHOAL_OK;
}

/* Slack counts steps of the lattice. */
static shoal_status check_slack(const shoal_policy *policy, const shoal_method *method,
                                shoal_error *error) {
  if (!policy->slack || method->kind == SHOAL_METHOD_NODE) return SHOAL_OK;
  return shoal_policy_fail(policy, policy->slack_mark, error,
                           "%s does not support 'slack'; remove it, or use samarati", method->name);
}

static shoal_status warn_of_effort(shoal_release *release, const shoal_method *method,
                                   shoal_error *error) {
  const shoal_policy *policy = release->context.policy;
  if (!policy->has_effort || (method->local && method->local->has_effort)) return SHOAL_OK;
  return shoal_result_warn(release->result, error, "'effort' was not used: %s has no search budget",
                           method->name);
}

static shoal_decide *const methods[] = {[SHOAL_METHOD_NODE] = shoal_decide_node,
                                        [SHOAL_METHOD_CELLS] = shoal_decide_mu_argus,
                                        [SHOAL_METHOD_CLUSTERS] = shoal_decide_clusters};

shoal_status shoal_release_decide(shoal_release *release, const shoal_method *method,
                                  shoal_error *error) {
  const shoal_context *p = &release->context;
  shoal_decision *d = &release->decision;
  SHOAL_TRY(methods[method->kind](p, method, d, release->result, error));
  SHOAL_TRY(shoal_decision_accept(d, p, method, error));
  SHOAL_TRY(shoal_decision_suppress(d, p, error));
  SHOAL_TRY(shoal_decision_report(d, p, release->result, error));
  SHOAL_TRY(shoal_gates_list_kept(release->result, p, d->blanked ? &d->united : &d->classes,
                                  d->blanked ? NULL : d->violates, error));
  shoal_decision_compact(d, &release->context);
  return SHOAL_OK;
}

static shoal_status anonymize(shoal_release *release, const shoal_table *table,
                              const shoal_policy *policy, const shoal_run *run,
                              shoal_error *error) {
  const shoal_context *p = &release->context;
  shoal_result *result = release->result;
  shoal_method method;
  SHOAL_TRY(shoal_method_bind(policy, &method, error));
  SHOAL_TRY(check_source(table, &method, error));
  SHOAL_TRY(check_slack(policy, &method, error));
  result->release.method = method.kind;
  if (method.local) SHOAL_TRY(expand(release, &table, error));
  SHOAL_TRY(shoal_context_init(&release->context, table, policy,
                               method.local ? SHOAL_CONTEXT_LOCAL : SHOAL_CONTEXT_LATTICE, run,
                               error));
  result->release.algorithm = method.name;
  result->release.algorithm_reason =
      shoal_result_string(result, method.reason, strlen(method.reason));
  if (!result->release.algorithm_reason) return shoal_fail_memory(error);
  SHOAL_TRY(shoal_result_input(result, p, error));
  SHOAL_TRY(shoal_gates_list(result, p, error));
  SHOAL_TRY(shoal_gates_check(result, p, error));
  SHOAL_TRY(refuse_early(p, error));
  SHOAL_TRY(warn_of_effort(release, &method, error));
  return shoal_release_decide(release, &method, error);
}

shoal_status shoal_job_anonymize(const shoal_table *table, const shoal_policy *policy,
                                 const shoal_run *run, shoal_release **out, shoal_error *error) {
  shoal_release *release = shoal_alloc_zero(1, sizeof *release);
  if (!release) return shoal_fail_memory(error);
  double started = shoal_seconds();
  release->result = shoal_result_new(SHOAL_RESULT_RELEASE);
  shoal_status status = release->result ? SHOAL_OK : shoal_fail_memory(error);
  if (status == SHOAL_OK) status = anonymize(release, table, policy, run, error);
  if (status == SHOAL_OK || status == SHOAL_REFUSED) {
    shoal_status trust = shoal_requirements_status(&release->context.requirements, error);
    if (trust != SHOAL_OK) status = trust;
  }
  if (status != SHOAL_OK) {
    shoal_release_delete(release);
    return status;
  }
  release->started = started;
  release->result->release.seconds_read = table->seconds_read;
  release->result->release.seconds_search = shoal_seconds() - started;
  release->result->holds = true;
  *out = release;
  return SHOAL_OK;
}
