/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/models: each model as its definition reads, one function and one row of the table below
 * each. Last step of a release's way back: rows counted by class and value -> verdict.
 *
 * Here are the models on nothing but the number of rows and of distinct values. k-anonymity:
 * Samarati & Sweeney 1998; p-sensitive: Truta & Vinay 2006 (at least p distinct values of each
 * sensitive attribute in each class; its k is a model of its own here).
 */
#include "verify/models.h"

#include <stdio.h>
#include <string.h>

#include "verify/reader.h"

/* Every class has at least k rows. */
static shoal_status prove_k_anonymity(const shoal_verify_task *task, shoal_verify_damage *damage,
                                      shoal_error *error) {
  uint64_t k;
  SHOAL_TRY(shoal_verify_find_whole(task, "k", &k, error));
  for (size_t c = 0; c < task->tally->n_classes; c++)
    if (task->tally->class_rows[c] < k) shoal_verify_add_damage(damage, task, c);
  return SHOAL_OK;
}

/* Every class has at least p distinct values of the attribute; a missing one is none. */
static shoal_status prove_p_sensitive(const shoal_verify_task *task, shoal_verify_damage *damage,
                                      shoal_error *error) {
  uint64_t p;
  SHOAL_TRY(shoal_verify_find_whole(task, "p", &p, error));
  const size_t *starts = task->attribute->starts;
  for (size_t c = 0; c < task->tally->n_classes; c++)
    if (starts[c + 1] - starts[c] < p) shoal_verify_add_damage(damage, task, c);
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- the table */

static const struct known_model {
  const char *name;
  bool on_sizes; /* about class sizes alone: proven once, not for each attribute */
  shoal_verify_prove *prove;
} known_models[] = {
    {"k-anonymity", true, prove_k_anonymity},
    {"p-sensitive", false, prove_p_sensitive},
    {"extended-p-sensitive", false, shoal_verify_extended_p_sensitive},
    {"p-plus-sensitive", false, shoal_verify_p_plus_sensitive},
    {"p-alpha-sensitive", false, shoal_verify_p_alpha_sensitive},
    {"balanced-p-plus", false, shoal_verify_balanced_p_plus},
    {"balanced-p-alpha", false, shoal_verify_balanced_p_alpha},
    {"theta-sensitive", false, shoal_verify_theta_sensitive},
    {"l-diversity", false, shoal_verify_l_diversity},
    {"t-closeness", false, shoal_verify_t_closeness},
    {"alpha-k", false, shoal_verify_alpha_k},
    {"personalized", false, shoal_verify_personalized},
};

/* ---------------------------------------------------------------- verdicts */

/* "p = 2, alpha = 0.2": the parameters as they were written, cut where there is no room. */
static void print_parameters(const shoal_verify_model *model, char *out, size_t room) {
  size_t at = 0;
  out[0] = '\0';
  for (size_t i = 0; i < model->n_parameters && at < room; i++) {
    int printed = snprintf(out + at, room - at, "%s%.40s = %.40s", i ? ", " : "",
                           model->parameters[i].name, model->parameters[i].value);
    if (printed < 0) return; /* GCOVR_EXCL_BR_LINE: plain text can always be printed */
    at += (size_t)printed;
  }
}

static shoal_status judge(const shoal_verify_task *task, shoal_verify_damage damage,
                          shoal_error *error) {
  if (!damage.n_classes) return SHOAL_OK;
  char parameters[256];
  print_parameters(task->model, parameters, sizeof parameters);
  const char *attribute = task->attribute ? task->attribute->name : NULL;
  return shoal_fail(
      error, SHOAL_FAILED, "the release breaks %s (%s)%s%.200s%s: %llu class%s, %llu row%s; %s",
      task->model->name, parameters, attribute ? " on '" : "", attribute ? attribute : "",
      attribute ? "'" : "", (unsigned long long)damage.n_classes, damage.n_classes == 1 ? "" : "es",
      (unsigned long long)damage.n_rows, damage.n_rows == 1 ? "" : "s", SHOAL_VERIFY_FAULT);
}

static shoal_status prove_on(shoal_verify_prove *prove, const shoal_verify_task *task,
                             shoal_error *error) {
  shoal_verify_damage damage = {0};
  SHOAL_TRY(prove(task, &damage, error));
  return judge(task, damage, error);
}

static const struct known_model *find_model(const char *name) {
  for (size_t i = 0; i < sizeof known_models / sizeof *known_models; i++)
    if (!strcmp(name, known_models[i].name)) return &known_models[i];
  return NULL;
}

/* The model on each attribute that it is about; one that would be proven on none fails. */
static shoal_status prove_model(shoal_verify_task task, shoal_error *error) {
  const shoal_verify_model *model = task.model;
  const shoal_verify_tally *tally = task.tally;
  const struct known_model *known = find_model(model->name);
  if (!known)
    return shoal_verify_unprovable(&task, "the verifier knows no model", model->name, error);
  size_t n_concerned = 0;
  for (size_t a = 0; a < tally->n_attributes; a++)
    n_concerned += !model->attribute || !strcmp(model->attribute, tally->attributes[a].name);
  if (!n_concerned && model->attribute)
    return shoal_verify_unprovable(&task, "the release has no sensitive attribute",
                                   model->attribute, error);
  if (!n_concerned && !known->on_sizes)
    return shoal_verify_unprovable(&task, "the release has no sensitive attribute for the model",
                                   model->name, error);
  if (known->on_sizes) return prove_on(known->prove, &task, error);
  for (size_t a = 0; a < tally->n_attributes; a++) {
    task.attribute = &tally->attributes[a];
    if (model->attribute && strcmp(model->attribute, task.attribute->name) != 0) continue;
    SHOAL_TRY(prove_on(known->prove, &task, error));
  }
  return SHOAL_OK;
}

shoal_status shoal_verify_models(const shoal_verify_claim *claim, const shoal_verify_tally *tally,
                                 shoal_error *error) {
  for (size_t i = 0; i < claim->n_models; i++) {
    shoal_verify_task task = {.claim = claim, .model = &claim->models[i], .tally = tally};
    SHOAL_TRY(prove_model(task, error));
  }
  return SHOAL_OK;
}
