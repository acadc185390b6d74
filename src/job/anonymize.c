/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/anonymize: from a table and a policy to a decision that satisfies it (decide/decision.h). The
 * method is bound, gates and necessary conditions refuse early, then the method decides. If it
 * finds nothing, `auto` tries the next method, unless it is proven that there is no release.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/gates.h"
#include "job/job.h"
#include "job/release.h"
#include "table/count.h"

static void reset(shoal_release *release) {
  shoal_decision_reset(&release->decision);
  shoal_context_reset(&release->context);
  shoal_result_delete(release->result);
  shoal_table_delete(release->expanded);
  memset(release, 0, sizeof *release);
}

void shoal_release_delete(shoal_release *release) {
  if (release) reset(release);
  free(release);
}

/*
 * Refuses what the necessary conditions rule out. A k above the number of rows is an error in the
 * policy (SHOAL_BAD_INPUT); other impossible requirements depend on the data (SHOAL_REFUSED).
 */
static shoal_status refuse_early(const shoal_context *p, shoal_error *error) {
  shoal_bounds bounds;
  SHOAL_TRY(shoal_bounds_init(&p->requirements, &p->tracked, p->table, &bounds, error));
  const shoal_bound *impossible = shoal_bounds_impossible(&bounds);
  shoal_status status = SHOAL_OK;
  if (impossible) {
    const shoal_requirement *requirement = impossible->requirement;
    char why[512];
    shoal_bound_explain(impossible, shoal_context_attribute(p, requirement), why, sizeof why);
    status = requirement->type->is_size
                 ? shoal_policy_fail(p->policy, requirement->mark, error, "%s", why)
                 : shoal_fail(error, SHOAL_REFUSED, "no release can satisfy the policy: %s", why);
  }
  shoal_bounds_reset(&bounds);
  return status;
}

/*
 * Any release is made of parts of the whole table, so what the requirements say about parts of one
 * class with all rows proves how many rows must be suppressed (shoal_min_suppressed). Noise rows
 * could change that.
 */
static shoal_status refuse_by_parts(const shoal_context *p, shoal_error *error) {
  uint64_t n = p->table->n_records, max = shoal_amount_rows(p->policy->max_suppression, n);
  if (p->policy->noise_allowed || max >= n) return SHOAL_OK;
  uint32_t *ids = shoal_alloc_zero(p->frequency->base.n_classes, sizeof *ids);
  if (!ids) return shoal_fail_memory(error);
  shoal_classes whole = {0};
  shoal_status status = shoal_classes_regroup(&p->frequency->base, ids, 1, &whole, error);
  free(ids);
  SHOAL_TRY(status);
  uint8_t violates;
  (void)shoal_judge(&p->requirements, p->frequency, &whole, UINT64_MAX, &violates);
  uint64_t min =
      violates ? shoal_min_suppressed(&p->requirements, p->frequency, &whole, &violates) : 0;
  const shoal_requirement *first = p->requirements.items; /* that the whole table violates */
  while (min > max && shoal_requirement_holds(first, p->frequency, &whole, 0, NULL)) first++;
  shoal_classes_reset(&whole);
  SHOAL_TRY(shoal_requirements_status(&p->requirements, error));
  if (min <= max) return SHOAL_OK;
  bool on = first->sensitive != SHOAL_NO_ATTRIBUTE;
  return shoal_fail(error, SHOAL_REFUSED,
                    "no release can satisfy the policy: %s%s%s requires at least %llu of %llu rows "
                    "to be suppressed, and %llu may be; run 'shoal explain DATA -P POLICY'",
                    first->type->name, on ? " on " : "",
                    on ? p->sensitive[first->sensitive].column->name : "", (unsigned long long)min,
                    (unsigned long long)n, (unsigned long long)max);
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

static shoal_status warn_of_effort(shoal_release *release, const shoal_method *method,
                                   shoal_error *error) {
  const shoal_policy *policy = release->context.policy;
  if (!policy->has_effort || (method->local && method->local->has_effort)) return SHOAL_OK;
  return shoal_result_warn(release->result, error, "'effort' was not used: %s has no search budget",
                           method->name);
}

/* A policy is shown to those who get the release; the seed must not be. */
static shoal_status warn_of_seed(shoal_release *release, shoal_error *error) {
  if (!release->context.policy->seed_in_text) return SHOAL_OK;
  return shoal_result_warn(release->result, error,
                           "the policy contains a seed: anyone who has it can restore the input's "
                           "order of rows; remove it, and use '--seed' to repeat a run");
}

static shoal_decide *const methods[] = {[SHOAL_METHOD_NODE] = shoal_decide_node,
                                        [SHOAL_METHOD_CELLS] = shoal_decide_mu_argus,
                                        [SHOAL_METHOD_CLUSTERS] = shoal_decide_clusters};

shoal_status shoal_release_decide(shoal_release *release, const shoal_method *method,
                                  shoal_error *error) {
  const shoal_context *p = &release->context;
  shoal_decision *d = &release->decision;
  shoal_status status = methods[method->kind](p, method, d, release->result, error);
  if (status != SHOAL_OK && status != SHOAL_REFUSED) return status;
  SHOAL_TRY(shoal_requirements_status(&p->requirements, error)); /* before verdicts are used */
  SHOAL_TRY(status);
  SHOAL_TRY(shoal_decision_accept(d, p, method, error));
  SHOAL_TRY(shoal_decision_suppress(d, p, error));
  SHOAL_TRY(shoal_requirements_status(&p->requirements, error));
  SHOAL_TRY(shoal_decision_report(d, p, release->result, error));
  SHOAL_TRY(shoal_gates_list_kept(release->result, p, d->blanked ? &d->united : &d->classes,
                                  d->blanked ? NULL : d->violates, error));
  shoal_decision_compact(d, &release->context);
  return SHOAL_OK;
}

/* Decides by one method, into a release that has a new result and nothing else. */
static shoal_status attempt(shoal_release *release, const shoal_table *table,
                            const shoal_policy *policy, const shoal_method *method,
                            const shoal_run *run, bool *proven, shoal_error *error) {
  const shoal_context *p = &release->context;
  shoal_result *result = release->result;
  SHOAL_TRY(check_source(table, method, error));
  result->release.method = method->kind;
  if (method->local) SHOAL_TRY(expand(release, &table, error));
  SHOAL_TRY(shoal_context_init(&release->context, table, policy,
                               method->local ? SHOAL_CONTEXT_LOCAL : SHOAL_CONTEXT_LATTICE, run,
                               error));
  result->release.algorithm = method->name;
  result->release.algorithm_reason =
      shoal_result_string(result, method->reason, strlen(method->reason));
  if (!result->release.algorithm_reason) return shoal_fail_memory(error);
  SHOAL_TRY(shoal_result_input(result, p, error));
  SHOAL_TRY(shoal_gates_list(result, p, error));
  SHOAL_TRY(shoal_gates_check(result, p, error));
  shoal_status status = refuse_early(p, error);
  if (status == SHOAL_OK) status = refuse_by_parts(p, error);
  *proven = status == SHOAL_REFUSED;
  SHOAL_TRY(status);
  SHOAL_TRY(warn_of_effort(release, method, error));
  SHOAL_TRY(warn_of_seed(release, error));
  SHOAL_TRY(shoal_result_notes(release->result, table, error));
  return shoal_release_decide(release, method, error);
}

/* Tries the policy's method, or what "auto" tries, one after the other. */
static shoal_status anonymize(shoal_release *release, const shoal_table *table,
                              const shoal_policy *policy, const shoal_run *run,
                              shoal_error *error) {
  shoal_method method;
  char tried[160] = "";
  SHOAL_TRY(shoal_input_check(table, policy, SHOAL_FOR_RELEASE, error));
  SHOAL_TRY(shoal_method_bind(policy, &method, error));
  for (;;) {
    bool proven = false;
    release->result = shoal_result_new(SHOAL_RESULT_RELEASE);
    if (!release->result) return shoal_fail_memory(error);
    shoal_status status = attempt(release, table, policy, &method, run, &proven, error);
    if (status != SHOAL_REFUSED || proven) return status;
    const char *name = method.name;
    if (shoal_table_is_counted(table) || !shoal_method_next(policy, &method)) {
      if (!*tried) return status;
      shoal_error last = *error;
      return shoal_fail(error, SHOAL_REFUSED, "found no release by %s or by %s: %s",
                        tried, name, last.message);
    }
    (void)snprintf(tried, sizeof tried, "%s", name);
    reset(release);
  }
}

shoal_status shoal_job_anonymize(const shoal_table *table, const shoal_policy *policy,
                                 const shoal_run *run, shoal_release **out, shoal_error *error) {
  shoal_release *release = shoal_alloc_zero(1, sizeof *release);
  if (!release) return shoal_fail_memory(error);
  double started = shoal_seconds();
  shoal_status status = anonymize(release, table, policy, run, error);
  if (status != SHOAL_OK) {
    shoal_release_delete(release);
    return status;
  }
  release->context.run = NULL; /* the caller's, for this call only */
  release->started = started;
  release->result->release.seconds_read = table->seconds_read;
  release->result->release.seconds_search = shoal_seconds() - started;
  release->result->holds = true;
  *out = release;
  return SHOAL_OK;
}
