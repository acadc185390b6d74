/* SPDX-License-Identifier: Apache-2.0 */
/* job/measure: utility and risk of a release made by any tool, as a result. */
#include "measure/measure.h"

#include <string.h>

#include "attack/setup.h"
#include "decide/gates.h"
#include "decide/method.h"
#include "describe/page.h"
#include "input/input.h"
#include "job/job.h"

/*
 * What a method does. Local recoding merges classes that violate monotone models, and mu-Argus
 * suppresses cells: they blank no row.
 */
static shoal_release_origin origin_of(const shoal_context *p, const shoal_method *method) {
  shoal_release_origin origin = {.local = method->kind == SHOAL_METHOD_CLUSTERS,
                                 .cells = method->kind == SHOAL_METHOD_CELLS};
  bool suppresses =
      method->kind == SHOAL_METHOD_NODE || (origin.local && !p->requirements.monotone);
  if (p->policy->blank_suppressed && suppresses)
    origin.max_blanked = shoal_amount_rows(p->policy->max_suppression, p->table->n_records);
  return origin;
}

/*
 * What the policy says, and the labels: `auto` chooses between full-domain and local recoding. Of
 * the release itself nothing else is known. *local: what `origin` refers to then.
 */
static shoal_status find_origin(const shoal_context *p, shoal_release_origin *origin,
                                shoal_release_origin *local, shoal_error *error) {
  shoal_methods methods;
  SHOAL_TRY(shoal_methods_bind(p->policy, &methods, error));
  *origin = origin_of(p, &methods.items[methods.n - 1]); /* of two, the last is full-domain */
  if (methods.n == 1) return SHOAL_OK;
  *local = origin_of(p, &methods.items[0]);
  origin->without_node = local;
  return SHOAL_OK;
}

/* Judges the release as `check` does. */
static shoal_status judge(const shoal_context *p, shoal_result *result, shoal_error *error) {
  const shoal_labelling values = {0};
  shoal_model_outcomes models;
  SHOAL_TRY(
      shoal_result_models(result, p, &p->frequency->base, &values, NULL, NULL, 0, &models, error));
  SHOAL_TRY(shoal_result_levels(result, p, true, &models, error));
  SHOAL_TRY(shoal_requirements_status(&p->requirements, error));
  result->safety.models_unjudged = shoal_models_unjudged(&models);
  return shoal_gates_judge(result, p, error);
}

/* A policy without models, or a release that lacks a column of a model, has no verdict. */
static shoal_status judge_release(const shoal_context *original, const shoal_table *masked,
                                  shoal_result *result, shoal_error *error) {
  shoal_context p;
  shoal_error found = {0};
  shoal_status status = shoal_context_init(&p, masked, original->policy, SHOAL_CONTEXT_CLASSES,
                                           original->run, &found);
  if (status == SHOAL_BAD_INPUT)
    return shoal_result_warn(result, error, "the release was not judged: %s", found.message);
  if (status != SHOAL_OK) {
    if (error) *error = found;
    return status;
  }
  status = judge(&p, result, error);
  if (status == SHOAL_OK) status = shoal_risks_of_repeats(result, original, error);
  shoal_context_reset(&p);
  result->holds = true; /* of `measure`: figures were computed */
  return status;
}

/* The risk of each person, if people have several rows. */
static shoal_status measure_people(const shoal_context *p, const shoal_table *masked,
                                   shoal_measure_report *m, shoal_error *error) {
  shoal_attack_options options = {.original = p->table};
  shoal_attack_setup setup = {0};
  if (!p->people.repeat) return SHOAL_OK;
  shoal_status status = shoal_attack_setup_init(&setup, masked, p->policy, &options, p->run, error);
  if (status == SHOAL_OK)
    status = shoal_attack_person_risk(&setup.attacked, &m->knows_people, &m->people_before,
                                      &m->people_after, error);
  shoal_attack_setup_reset(&setup);
  return status;
}

static shoal_status measure(const shoal_context *p, const shoal_table *masked,
                            const shoal_measure_options *options, shoal_result *result,
                            shoal_error *error) {
  SHOAL_TRY(shoal_result_input(result, p, error));
  shoal_measure_report *m = &result->measure;
  m->output = shoal_result_string(result, masked->name, strlen(masked->name));
  if (!m->output) return shoal_fail_memory(error);
  m->output_rows = masked->n_records;
  result->holds = true;
  double started = shoal_seconds();
  shoal_release_origin origin, local;
  SHOAL_TRY(find_origin(p, &origin, &local, error));
  SHOAL_TRY(shoal_result_measure(result, p, masked, &origin, options, &m->measured, error));
  SHOAL_TRY(judge_release(p, masked, result, error));
  SHOAL_TRY(measure_people(p, masked, m, error));
  if (p->people.repeat)
    SHOAL_TRY(shoal_result_warn(result, error,
                                "the risks of records and of sensitive values count rows, and a "
                                "person has several; see the risk of people"));
  SHOAL_TRY(shoal_html_report_begin(result, p, error));
  shoal_class_sizes_from_risk(&m->sizes.before, &m->measured.risk->before);
  shoal_class_sizes_from_risk(&m->sizes.after, &m->measured.risk->after);
  m->seconds_read = p->table->seconds_read + masked->seconds_read;
  m->seconds_total = m->seconds_read + shoal_seconds() - started;
  m->peak_memory_bytes = shoal_peak_memory();
  return SHOAL_OK;
}

shoal_status shoal_job_measure(shoal_result *result, const shoal_table *original,
                               const shoal_table *masked, const shoal_policy *policy,
                               const shoal_measure_options *options, const shoal_run *run,
                               shoal_error *error) {
  const shoal_table *population = options ? options->population : NULL;
  SHOAL_TRY(shoal_input_check(original, policy, SHOAL_FOR_COMPARISON, error));
  SHOAL_TRY(shoal_input_check(masked, policy, SHOAL_FOR_REVIEW, error));
  if (population) SHOAL_TRY(shoal_input_check(population, policy, SHOAL_FOR_LINKING, error));
  shoal_context context;
  SHOAL_TRY(shoal_context_init(&context, original, policy, SHOAL_CONTEXT_REQUIREMENTS, run, error));
  shoal_status status = measure(&context, masked, options, result, error);
  shoal_context_reset(&context);
  return status;
}
