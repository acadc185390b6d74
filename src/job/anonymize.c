/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/anonymize: from a table and a policy to a decision that satisfies it (decide/decision.h). The
 * methods are bound, gates and necessary conditions refuse early, then the methods decide. `auto`
 * has up to two, local recoding and full-domain, and takes the release with the smaller release
 * loss; if only one finds a release, that one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decide/gates.h"
#include "input/input.h"
#include "job/job.h"
#include "job/pseudonyms.h"
#include "job/release.h"
#include "model/theta.h"
#include "table/count.h"

/* May values that only categories list give the classes the distinct values that they need? */
static bool noise_may_help(const shoal_context *p, const shoal_bound *bound) {
  const shoal_requirement *requirement = bound->requirement;
  if (!shoal_requirement_is_theta(requirement)) return false;
  const shoal_column *column = p->sensitive[requirement->sensitive].column;
  uint64_t n_values = 0;
  for (uint32_t v = 0; v < column->n_values; v++) n_values += !shoal_column_missing(column, v);
  return n_values >= bound->min_distinct;
}

/*
 * Refuses what the necessary conditions rule out. A k above the number of rows is an error in the
 * policy (SHOAL_BAD_INPUT); other impossible requirements depend on the data (SHOAL_REFUSED).
 */
static shoal_status refuse_early(const shoal_context *p, shoal_error *error) {
  shoal_bounds bounds;
  SHOAL_TRY(shoal_bounds_init(&p->requirements, &p->tracked, p->table, &bounds, error));
  const shoal_bound *impossible = NULL;
  for (size_t i = 0; i < bounds.n_items && !impossible; i++)
    if (bounds.items[i].max_classes == 0 && !noise_may_help(p, &bounds.items[i]))
      impossible = &bounds.items[i];
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

/*
 * A table of counted rows is written from its file, and rows of local recoding are counted in 32
 * bits. Where the policy allows both kinds, only the full-domain one is left for such tables, and
 * for those of more than SHOAL_AUTO_ROWS rows.
 */
static shoal_status check_source(const shoal_table *table, shoal_methods *methods,
                                 shoal_error *error) {
  bool counted = shoal_table_is_counted(table), vast = table->n_records > UINT32_MAX;
  shoal_location location = {.file = table->name};
  if (methods->n > 1 && (counted || table->n_records > SHOAL_AUTO_ROWS)) {
    methods->items[0] = methods->items[1];
    methods->n = 1;
    (void)snprintf(methods->items[0].reason, sizeof methods->items[0].reason, "uniform labels: %s",
                   counted ? "local recoding needs all rows in memory"
                           : "the table has more than 10 million rows");
  }
  const shoal_method *method = &methods->items[0];
  if (counted && method->local)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "its rows do not fit into the memory allowed, and %s needs them all: "
                         "raise --memory, or use a full-domain algorithm",
                         method->name);
  if (counted && !table->source->path)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                         "its rows do not fit into the memory allowed, and it cannot be read "
                         "twice: use a regular file, or raise --memory");
  if (vast && method->local)
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "local recoding takes at most %u rows, and %s has %llu: use a full-domain "
                      "algorithm, or split the table",
                      UINT32_MAX, table->name, (unsigned long long)table->n_records);
  return SHOAL_OK;
}

/* For local recoding: equal records may go to different clusters, so each needs its own row. */
static shoal_status expand(shoal_release *release, const shoal_table **table, shoal_error *error) {
  if (!(*table)->counts || !(*table)->finished) return SHOAL_OK;
  SHOAL_TRY(shoal_table_expand(*table, &release->expanded, error));
  *table = release->expanded;
  return SHOAL_OK;
}

static shoal_status warn_of_effort(shoal_release *release, const shoal_methods *methods,
                                   shoal_error *error) {
  if (!release->context.policy->has_effort) return SHOAL_OK;
  for (size_t i = 0; i < methods->n; i++)
    if (methods->items[i].local && methods->items[i].local->has_effort) return SHOAL_OK;
  return shoal_result_warn(release->result, error, "'effort' was not used: %s has no search budget",
                           methods->items[0].name);
}

/* A policy is shown to those who get the release; the seed must not be. */
static shoal_status warn_of_seed(shoal_release *release, shoal_error *error) {
  if (!release->context.policy->seed_in_text) return SHOAL_OK;
  return shoal_result_warn(release->result, error,
                           "the policy contains a seed: anyone who has it can restore the input's "
                           "order of rows; remove it, and use '--seed' to repeat a run");
}

static shoal_decide *const deciders[] = {[SHOAL_METHOD_NODE] = shoal_decide_node,
                                         [SHOAL_METHOD_CELLS] = shoal_decide_mu_argus,
                                         [SHOAL_METHOD_CLUSTERS] = shoal_decide_clusters};

shoal_status shoal_release_decide(shoal_release *release, const shoal_method *method,
                                  shoal_error *error) {
  const shoal_context *p = &release->context;
  shoal_decision *d = &release->decision;
  shoal_status status = deciders[method->kind](p, method, d, release->result, error);
  if (status != SHOAL_OK && status != SHOAL_REFUSED) return status;
  SHOAL_TRY(shoal_requirements_status(&p->requirements, error)); /* before verdicts are used */
  SHOAL_TRY(status);
  SHOAL_TRY(shoal_decision_accept(d, p, method, error));
  SHOAL_TRY(shoal_decision_suppress(d, p, error));
  SHOAL_TRY(shoal_requirements_status(&p->requirements, error));
  SHOAL_TRY(shoal_decision_respell(d, p, error));
  SHOAL_TRY(shoal_decision_report(d, p, release->result, error));
  SHOAL_TRY(shoal_gates_list_kept(release->result, p, d->blanked ? &d->united : &d->classes,
                                  d->blanked ? NULL : d->violates, error));
  return SHOAL_OK;
}

/* ------------------------------------------------------------ the context, and each result */

static bool may_add_noise(const shoal_method *method) {
  return method->automatic || (method->local && method->local->has_noise);
}

/* The context of all methods. A policy for both kinds may have no lattice: then one is left. */
static shoal_status prepare(shoal_release *release, const shoal_table *table,
                            const shoal_policy *policy, const shoal_run *run,
                            shoal_methods *methods, shoal_error *error) {
  SHOAL_TRY(check_source(table, methods, error));
  bool local = shoal_methods_have(methods, SHOAL_METHOD_CLUSTERS);
  if (local) SHOAL_TRY(expand(release, &table, error));
  if (may_add_noise(&methods->items[0]))
    SHOAL_TRY(shoal_input_list_values(&table, policy, &release->listed, error));
  SHOAL_TRY(shoal_context_init(&release->context, table, policy,
                               local ? SHOAL_CONTEXT_SORTED : SHOAL_CONTEXT_LATTICE, run, error));
  const shoal_context *p = &release->context;
  for (size_t i = 0; i < methods->n; i++)
    SHOAL_TRY(shoal_method_check_people(&methods->items[i], policy, &p->tracked, error));
  if (methods->n == 1 || shoal_context_has_lattice(p)) return SHOAL_OK;
  size_t q = 0;
  while (p->hierarchies[q] && !p->hierarchies[q]->ragged) q++;
  methods->n = 1;
  (void)snprintf(methods->items[0].reason, sizeof methods->items[0].reason,
                 "local recoding: values of %.80s have unequal numbers of labels",
                 p->quasi[q]->name);
  return SHOAL_OK;
}

/* A new result for one method, into a release that has a context. */
static shoal_status start_result(shoal_release *release, const shoal_methods *methods, size_t i,
                                 bool gates, shoal_error *error) {
  const shoal_method *method = &methods->items[i];
  shoal_result *result = release->result = shoal_result_new(SHOAL_RESULT_RELEASE);
  if (!result) return shoal_fail_memory(error);
  result->release.method = method->kind;
  result->release.algorithm = method->name;
  SHOAL_TRY(shoal_result_copy(result, method->reason, &result->release.algorithm_reason, error));
  SHOAL_TRY(shoal_result_input(result, &release->context, error));
  if (!gates) return SHOAL_OK;
  SHOAL_TRY(shoal_gates_check_stars(&release->context, error));
  SHOAL_TRY(shoal_gates_list(result, &release->context, error));
  if (shoal_methods_have(methods, SHOAL_METHOD_CLUSTERS))
    SHOAL_TRY(shoal_gates_list_labels(result, &release->context, error));
  SHOAL_TRY(shoal_gates_check(result, &release->context, error));
  SHOAL_TRY(warn_of_effort(release, methods, error));
  SHOAL_TRY(warn_of_seed(release, error));
  SHOAL_TRY(shoal_warn_of_policy(&release->context, result, error));
  SHOAL_TRY(shoal_warn_of_spellings(&release->context, result, error));
  return shoal_result_notes(result, shoal_context_original(&release->context), error);
}

/* ------------------------------------------------------------ the best of several methods */

/* What was tried, and the best of it so far. */
typedef struct contest {
  size_t best; /* its index; n: none yet */
  shoal_decision decision;
  shoal_result *result;
  shoal_status statuses[2];
  shoal_error errors[2];
  shoal_tried tried[2];
} contest;

static void reset_contest(contest *c) {
  shoal_decision_reset(&c->decision);
  shoal_result_delete(c->result);
}

static shoal_tried describe(const shoal_method *method, const shoal_result *result,
                            shoal_status status) {
  const shoal_release_report *r = &result->release;
  shoal_tried tried = {.labels = method->local ? "local" : "uniform",
                       .algorithm = method->name,
                       .release_loss = NAN,
                       .searched = status != SHOAL_BAD_INPUT};
  if (r->method == SHOAL_METHOD_NODE) tried.work = r->node.work;
  if (r->method == SHOAL_METHOD_NODE) tried.unproven = r->node.unproven;
  if (status != SHOAL_OK) return tried;
  tried.release_loss = r->loss.release_loss;
  tried.suppressed = r->suppressed;
  tried.smallest_class = r->fewest_people ? r->fewest_people : r->smallest_class;
  return tried;
}

/* Far above the rounding error of a mean, far below any difference that matters. */
static const double ROUNDING = 1e-12;

/* Keeps the decision of method i if it loses less; at equal loss the later one, full-domain. */
static void compare(contest *c, shoal_release *release, const shoal_methods *methods, size_t i) {
  bool found = c->statuses[i] == SHOAL_OK;
  if (found && (c->best == methods->n ||
                c->tried[i].release_loss <= c->tried[c->best].release_loss + ROUNDING)) {
    shoal_decision decision = c->decision;
    shoal_result *result = c->result;
    c->decision = release->decision;
    c->result = release->result;
    release->decision = decision;
    release->result = result;
    c->best = i;
  }
  shoal_decision_reset(&release->decision);
  shoal_result_delete(release->result);
  release->result = NULL;
}

/* Why this release and not the other. */
static void explain_choice(const contest *c, const shoal_methods *methods, char *out, size_t size) {
  static const char *const names[] = {"local recoding", "uniform labels"};
  const double *loss[] = {&c->tried[0].release_loss, &c->tried[1].release_loss};
  size_t best = c->best, other = 1 - best;
  if (methods->n == 1) (void)snprintf(out, size, "%s", methods->items[0].reason);
  else if (c->statuses[other] == SHOAL_REFUSED)
    (void)snprintf(out, size, "%s: no release with %s was found", names[best], names[other]);
  else if (c->statuses[other] != SHOAL_OK)
    (void)snprintf(out, size, "%s: the lattice is too large to be searched", names[best]);
  else if (best == 1 && *loss[1] >= *loss[0] - ROUNDING)
    (void)shoal_print_double(out, size, "%s, which lose no more than local recoding: %.2f%%",
                             names[best], 100 * *loss[1]);
  else
    (void)shoal_print_double(out, size, "smaller release loss: %.2f%%, and %.2f%% with %s",
                             100 * *loss[best], 100 * *loss[other], names[other]);
}

/* A lattice that is too large is an error of the policy only if there is no other method. */
static bool is_fatal(const shoal_methods *methods, size_t i, shoal_status status) {
  if (status == SHOAL_OK || status == SHOAL_REFUSED) return false;
  return status != SHOAL_BAD_INPUT || methods->n == 1 || i == 0;
}

static shoal_status try_all(shoal_release *release, const shoal_methods *methods,
                            const shoal_make_options *options, contest *c, shoal_error *error) {
  const shoal_context *p = &release->context;
  for (size_t i = 0; i < methods->n; i++) {
    shoal_method method = methods->items[i];
    method.max_work = options->max_work;
    SHOAL_TRY(start_result(release, methods, i, !options->is_variant, error));
    if (i == 0) {
      SHOAL_TRY(refuse_early(p, error));
      SHOAL_TRY(refuse_by_parts(p, error));
    }
    c->statuses[i] = shoal_release_decide(release, &method, &c->errors[i]);
    if (is_fatal(methods, i, c->statuses[i])) {
      if (error) *error = c->errors[i];
      return c->statuses[i];
    }
    c->tried[i] = describe(&method, release->result, c->statuses[i]);
    compare(c, release, methods, i);
  }
  if (c->best == methods->n) {
    /* The error of the last resort, local recoding, which names both. */
    if (error) *error = c->errors[0];
    if (methods->n == 1 || c->statuses[0] != SHOAL_REFUSED) return c->statuses[0];
    return shoal_fail(error, SHOAL_REFUSED, "found no release by %s or by %s: %s",
                      methods->items[1].name, methods->items[0].name, c->errors[0].message);
  }
  release->decision = c->decision;
  release->result = c->result;
  memset(&c->decision, 0, sizeof c->decision);
  c->result = NULL;
  shoal_result *result = release->result;
  shoal_release_report *r = &result->release;
  char reason[200];
  if (!methods->items[0].automatic) return SHOAL_OK;
  explain_choice(c, methods, reason, sizeof reason);
  SHOAL_TRY(shoal_result_copy(result, reason, &r->algorithm_reason, error));
  r->tried = shoal_arena_alloc(&result->arena, methods->n, sizeof *r->tried);
  if (!r->tried) return shoal_fail_memory(error);
  for (size_t i = 0; i < methods->n; i++) {
    r->tried[i] = c->tried[i];
    r->tried[i].chosen = i == c->best;
    if (c->statuses[i] != SHOAL_OK)
      SHOAL_TRY(shoal_result_copy(result, c->errors[i].message, &r->tried[i].why, error));
  }
  r->n_tried = methods->n;
  return SHOAL_OK;
}

static shoal_status make(shoal_release *release, const shoal_table *table,
                         const shoal_policy *policy, shoal_methods *methods,
                         const shoal_make_options *options, const shoal_run *run,
                         shoal_error *error) {
  SHOAL_TRY(prepare(release, table, policy, run, methods, error));
  contest c = {.best = methods->n};
  shoal_status status = try_all(release, methods, options, &c, error);
  reset_contest(&c);
  return status;
}

/* Inside of a database every value has one label. */
static shoal_status take_uniform(shoal_methods *methods, shoal_error *error) {
  if (methods->n > 1) {
    methods->items[0] = methods->items[1];
    methods->n = 1;
    (void)snprintf(methods->items[0].reason, sizeof methods->items[0].reason,
                   "uniform labels: the release is made inside of the database");
  }
  if (!methods->items[0].local) return SHOAL_OK;
  return shoal_fail(error, SHOAL_BAD_INPUT,
                    "local recoding (%s) needs all rows, and '--in-database' sends counted tuples: "
                    "leave it out, or use 'method: {labels: uniform}' with hierarchies",
                    methods->items[0].name);
}

shoal_status shoal_release_make(shoal_release *release, const shoal_table *table,
                                const shoal_policy *policy, const shoal_make_options *options,
                                const shoal_run *run, shoal_error *error) {
  shoal_methods methods;
  SHOAL_TRY(shoal_methods_bind(policy, &methods, error));
  if (options->is_uniform) SHOAL_TRY(take_uniform(&methods, error));
  return make(release, table, policy, &methods, options, run, error);
}

shoal_status shoal_release_try(const shoal_table *table, const shoal_policy *policy,
                               const shoal_method *method, const shoal_run *run,
                               shoal_release **out, shoal_error *error) {
  static const shoal_make_options variant = {.is_variant = true};
  shoal_methods methods = {.n = 1, .items = {*method}};
  shoal_release *release = shoal_alloc_zero(1, sizeof *release);
  if (!release) return shoal_fail_memory(error);
  shoal_status status = make(release, table, policy, &methods, &variant, run, error);
  *out = status == SHOAL_OK ? release : NULL;
  if (status != SHOAL_OK) shoal_release_delete(release);
  if (status != SHOAL_REFUSED && status != SHOAL_BAD_INPUT) return status;
  if (error) memset(error, 0, sizeof *error);
  return SHOAL_OK;
}

void shoal_release_reset(shoal_release *release) {
  shoal_decision_reset(&release->decision);
  shoal_context_reset(&release->context);
  shoal_result_delete(release->result);
  shoal_arena_reset(&release->listed);
  shoal_table_delete(release->expanded);
  free(release->row_numbers);
  shoal_table_delete(release->own);
  memset(release, 0, sizeof *release);
}

void shoal_release_delete(shoal_release *release) {
  if (release) shoal_release_reset(release);
  free(release);
}

static shoal_status anonymize(shoal_release *release, const shoal_table *table,
                              const shoal_policy *policy, const shoal_make_options *options,
                              const shoal_run *run, shoal_error *error) {
  SHOAL_TRY(shoal_input_check(table, policy, SHOAL_FOR_RELEASE, error));
  SHOAL_TRY(shoal_pseudonyms_check(table, policy, error));
  SHOAL_TRY(shoal_release_make(release, table, policy, options, run, error));
  double started = shoal_seconds();
  bool quick = (run && run->quick) || options->is_uniform;
  if (!quick) SHOAL_TRY(shoal_release_alternatives(release, run, error));
  release->result->release.seconds_alternatives = shoal_seconds() - started;
  shoal_decision_compact(&release->decision, &release->context);
  return SHOAL_OK;
}

shoal_status shoal_job_anonymize(const shoal_table *table, const shoal_policy *policy,
                                 const shoal_make_options *options, const shoal_run *run,
                                 shoal_release **out, shoal_error *error) {
  static const shoal_make_options all = {0};
  shoal_release *release = shoal_alloc_zero(1, sizeof *release);
  if (!release) return shoal_fail_memory(error);
  double started = shoal_seconds();
  shoal_status status = anonymize(release, table, policy, options ? options : &all, run, error);
  if (status != SHOAL_OK) {
    shoal_release_delete(release);
    return status;
  }
  release->context.run = NULL; /* the caller's, for this call only */
  release->started = started;
  release->given = table;
  release->result->release.has_seed = policy->has_seed;
  release->result->release.seed = policy->seed;
  release->result->release.seconds_read = table->seconds_read;
  release->result->release.seconds_search =
      shoal_seconds() - started - release->result->release.seconds_alternatives;
  release->result->holds = true;
  *out = release;
  return SHOAL_OK;
}
