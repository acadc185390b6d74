/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe/certificate: release, policy and rounded number of suppressed rows -> the data of a
 * certificate. shoal_job_certificate is the only function that makes one: `anonymize` calls it on
 * the file that it is about to name, `certificate` on a file of any origin. It never sees the
 * original. tests/property/test_certificate.py compares the pages of both, byte for byte.
 *
 *     policy -> without models that need unreleased columns -> judged on the release's classes
 *     release -> labels -> what was done to each column; attacks that need nothing else
 *
 * A model that compares classes with the original table (t-closeness), or needs a column that is
 * not released (personalized), is stated, not judged.
 */
#include "describe/certificate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attack/setup.h"
#include "base/intern.h"
#include "decide/gates.h"
#include "decide/method.h"
#include "decide/models_report.h"
#include "input/input.h"
#include "model/types.h"
#include "policy/canonical.h"
#include "read/database.h"

/* A certificate on its way. */
typedef struct maker {
  shoal_result *result;
  shoal_certificate_report *certificate;
  const shoal_policy *policy; /* the effective one */
  shoal_policy judged;        /* the same without models that need unreleased columns */
  shoal_model_request *models;
  const shoal_run *run;
  shoal_table *table;
  bool only_stated; /* every model of the policy is stated */
} maker;

/* ------------------------------------------------------------ the release */

static shoal_status hash_release(maker *m, const char *path, shoal_error *error) {
  const shoal_location location = {.file = path};
  struct stat info;
  if (shoal_is_database(path))
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "a certificate is about the bytes of a file; write the release to a file, or "
                      "use 'shoal check' for a table");
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return shoal_fail_at(error,
                         errno == ENOENT || errno == ENOTDIR ? SHOAL_BAD_INPUT : SHOAL_FAILED,
                         &location, "cannot be read: %s", strerror(errno));
  shoal_status status = SHOAL_OK;
  if (fstat(fd, &info) != 0)
    status = shoal_fail_at(error, SHOAL_FAILED, &location, "cannot be read: %s", strerror(errno));
  else if (!S_ISREG(info.st_mode))
    status = shoal_fail_at(error, SHOAL_BAD_INPUT, &location,
                           "is not a regular file; a certificate is about a file");
  if (status == SHOAL_OK) status = shoal_sha256_fd(fd, path, NULL, m->certificate->sha256, error);
  if (status == SHOAL_OK) m->certificate->size_bytes = (uint64_t)info.st_size;
  (void)close(fd);
  return status;
}

/* ------------------------------------------------------------ models */

static const shoal_model_type *type_of(const shoal_model_request *request) {
  const shoal_model_type *const *type = shoal_model_types;
  while (*type && strcmp((*type)->name, request->name.text) != 0) type++;
  return *type; /* NULL: binding reports it */
}

static bool needs_guards(const shoal_model_request *request) {
  const shoal_model_type *type = type_of(request);
  return type && type->needs & SHOAL_NEEDS_GUARDS;
}

/* Copies the policy without the models that need a column which is never released. */
static shoal_status choose_models(maker *m, shoal_error *error) {
  const shoal_policy *policy = m->policy;
  m->models = shoal_alloc(policy->n_models, sizeof *m->models);
  if (!m->models) return shoal_fail_memory(error);
  m->judged = *policy;
  m->judged.has_seed = false;
  m->judged.seed = 0;
  m->judged.models = m->models;
  m->judged.n_models = 0;
  for (size_t i = 0; i < policy->n_models; i++)
    if (!needs_guards(&policy->models[i])) m->models[m->judged.n_models++] = policy->models[i];
  m->only_stated = policy->n_models && !m->judged.n_models && !policy->has_k && !policy->has_p;
  if (m->only_stated) m->judged.has_k = true; /* k = 1, which holds always */
  return SHOAL_OK;
}

/* "breach = 0.5, column = guard" */
static shoal_status state_model(maker *m, const char *attribute, const shoal_model_type *type,
                                const char *parameters, shoal_error *error) {
  shoal_stated_model *stated = &m->certificate->stated[m->certificate->n_stated++];
  *stated = (shoal_stated_model){.model = type->name, .summary = type->summary};
  stated->parameters = shoal_result_string(m->result, parameters, strlen(parameters));
  if (attribute) stated->attribute = shoal_result_string(m->result, attribute, strlen(attribute));
  if (!stated->parameters || (attribute && !stated->attribute)) return shoal_fail_memory(error);
  return SHOAL_OK;
}

/* "at most 0.2", "at least 5 people" */
static void describe_bound(const shoal_requirement *requirement, char *out, size_t capacity) {
  const shoal_model_type *type = requirement->type;
  const char *unit = !requirement->unjudged            ? ""
                     : type == &shoal_model_households ? " households"
                     : type->is_size                   ? " people"
                                                       : ", of people";
  const char *bound = type->at_most ? "at most" : "at least";
  if (shoal_requirement_is_size(requirement))
    (void)snprintf(out, capacity, "%s %llu%s", bound, (unsigned long long)requirement->count[0],
                   unit);
  else if (type->at_most && type->parameters[0].kind == SHOAL_PARAMETER_NUMBER)
    (void)snprintf(out, capacity, "%s %.60s%s", bound, requirement->text[0], unit);
  else
    (void)snprintf(out, capacity, "%s = %.60s%s", type->parameters[0].name,
                   requirement->text[0] ? requirement->text[0] : "", unit);
}

/* Moves models that compare with the original table, or count people, from the judged to the stated
 * ones. */
static shoal_status split_models(maker *m, const shoal_context *p, shoal_error *error) {
  shoal_certificate_report *c = m->certificate;
  size_t n = 0;
  m->result->holds = true;
  for (size_t i = 0; i < p->requirements.n_items; i++) {
    const shoal_requirement *requirement = &p->requirements.items[i];
    if (m->only_stated) continue;
    bool by_people = shoal_model_unknown(&c->models.items[i]);
    if (requirement->type->against_table || by_people) {
      char words[120];
      describe_bound(requirement, words, sizeof words);
      c->people_stated = c->people_stated || (by_people && requirement->type->is_size);
      SHOAL_TRY(state_model(m, c->models.items[i].attribute, requirement->type, words, error));
      c->stated[c->n_stated - 1].over = c->models.items[i].over;
      continue;
    }
    c->models.items[n++] = c->models.items[i];
    m->result->holds = m->result->holds && c->models.items[i].holds;
  }
  for (size_t i = p->requirements.n_items; i < c->models.n_items; i++) { /* rules */
    c->models.items[n++] = c->models.items[i];
    m->result->holds = m->result->holds && c->models.items[n - 1].holds;
  }
  c->models.n_items = n;
  /* Models of the policy that were not bound. */
  for (size_t i = 0; i < m->policy->n_models; i++) {
    const shoal_model_request *request = &m->policy->models[i];
    if (!needs_guards(request)) continue;
    char words[200] = "";
    size_t used = 0;
    for (size_t j = 0; j < request->n_parameters && used < sizeof words; j++)
      used +=
          (size_t)snprintf(words + used, sizeof words - used, "%s%.40s = %.60s", used ? ", " : "",
                           request->parameters[j].text, request->values[j].text);
    SHOAL_TRY(state_model(m, request->attribute.text, type_of(request), words, error));
  }
  return SHOAL_OK;
}

/* Is the column guarded by a model that is stated, not judged? */
static bool is_stated(const maker *m, const char *attribute) {
  for (size_t i = 0; i < m->policy->n_models; i++) {
    const shoal_model_request *request = &m->policy->models[i];
    const char *on = request->attribute.text;
    if (needs_guards(request) && (!on || strcmp(on, attribute) == 0)) return true;
  }
  return false;
}

static shoal_status judge_classes(maker *m, const shoal_context *p, shoal_error *error) {
  shoal_certificate_report *c = m->certificate;
  const shoal_classes *classes = &p->frequency->base;
  const shoal_labelling values = {0};
  SHOAL_TRY(shoal_result_input(m->result, p, error));
  shoal_result_sizes(&c->sizes, classes, NULL);
  SHOAL_TRY(shoal_result_models(m->result, p, classes, &values, NULL, NULL, 0, &c->models, error));
  SHOAL_TRY(shoal_result_levels(m->result, p, true, &c->models, error));
  size_t room = p->requirements.n_items + m->policy->n_models;
  c->stated = shoal_arena_alloc(&m->result->arena, room, sizeof *c->stated);
  if (!c->stated) return shoal_fail_memory(error);
  SHOAL_TRY(split_models(m, p, error));
  /* What release and policy show; `unprotected` would be wrong of columns with a stated model. */
  shoal_safety *safety = &m->result->safety;
  SHOAL_TRY(shoal_gates_judge(m->result, p, error));
  size_t n = 0;
  for (size_t i = 0; i < safety->n_risks; i++) {
    const shoal_risk_outcome *risk = &safety->risks[i];
    if (risk->kind == SHOAL_RISK_UNPROTECTED && is_stated(m, risk->attribute)) continue;
    safety->risks[n++] = *risk;
  }
  safety->n_risks = n;
  return shoal_requirements_status(&p->requirements, error);
}

static shoal_status judge(maker *m, shoal_error *error) {
  shoal_context context;
  SHOAL_TRY(
      shoal_context_init(&context, m->table, &m->judged, SHOAL_CONTEXT_CLASSES, m->run, error));
  shoal_status status = judge_classes(m, &context, error);
  shoal_context_reset(&context);
  return status;
}

/* ------------------------------------------------------------ attacks */

static shoal_status attack(maker *m, shoal_attack_setup *setup, shoal_error *error) {
  shoal_attack_outcomes *attacks;
  bool withstands;
  SHOAL_TRY(shoal_attack_setup_run(setup, &m->result->arena, &attacks, &withstands, error));
  /* Keeps attacks that were simulated on the classes alone. Examples depend on the order of rows.
   */
  shoal_certificate_report *c = m->certificate;
  c->attacks = *attacks;
  c->attacks.n_items = 0;
  for (size_t i = 0; i < attacks->n_items; i++) {
    shoal_attack_outcome outcome = attacks->items[i];
    if (outcome.not_run || outcome.risk || outcome.by_people) continue;
    outcome.n_examples = 0;
    c->attacks.items[c->attacks.n_items++] = outcome;
  }
  SHOAL_TRY(shoal_risks_of_attacks(m->result, m->policy, &m->certificate->attacks, error));
  return shoal_certificate_columns(m->result, setup, error);
}

static shoal_status study_labels(maker *m, shoal_error *error) {
  static const shoal_attack_options nothing = {0};
  shoal_attack_setup setup;
  shoal_status status =
      shoal_attack_setup_init(&setup, m->table, &m->judged, &nothing, m->run, error);
  if (status == SHOAL_OK) status = attack(m, &setup, error);
  shoal_attack_setup_reset(&setup);
  return status;
}

/* ------------------------------------------------------------ the policy */

/* The labels of the release, by column of the table. */
typedef struct released_labels {
  const shoal_table *table;
  const shoal_policy *policy;
  shoal_strings *columns; /* n_columns; empty where no cells were read */
} released_labels;

/* Has a column that this entry of the policy applies to the label? */
static bool is_released(void *user, const char *attribute, const char *label) {
  const released_labels *labels = user;
  const shoal_attribute *entry = shoal_policy_entry(labels->policy, attribute);
  for (size_t c = 0; c < labels->table->n_columns; c++) {
    const shoal_column *column = &labels->table->columns[c];
    if (!column->code_size || shoal_policy_attribute(labels->policy, column->name) != entry)
      continue;
    if (shoal_strings_find(&labels->columns[c], (shoal_label){label, strlen(label)}) != SHOAL_NONE)
      return true;
  }
  return false;
}

static bool collect_column(const shoal_column *column, shoal_strings *strings) {
  for (uint32_t v = 0; column->code_size && v < column->n_values; v++) {
    shoal_label label;
    label.bytes = shoal_column_value(column, v, &label.size_bytes);
    if (shoal_strings_intern(strings, label) == SHOAL_NONE) return false;
  }
  return true;
}

static shoal_status write_policy(maker *m, shoal_error *error) {
  const shoal_table *table = m->table;
  released_labels labels = {table, m->policy,
                            shoal_alloc_zero(table->n_columns, sizeof *labels.columns)};
  size_t n = 0;
  bool ok = labels.columns != NULL;
  for (; ok && n < table->n_columns; n++) {
    ok = shoal_strings_init(&labels.columns[n]);
    if (!ok) break;
    ok = collect_column(&table->columns[n], &labels.columns[n]);
  }
  shoal_text text;
  shoal_text_init(&text);
  if (ok) shoal_policy_write(m->policy, &(shoal_public_labels){is_released, &labels}, &text);
  ok = ok && !text.failed;
  if (ok) m->certificate->policy = shoal_result_string(m->result, text.bytes, text.size_bytes);
  shoal_text_reset(&text);
  for (size_t c = 0; c < n; c++) shoal_strings_reset(&labels.columns[c]);
  free(labels.columns);
  return m->certificate->policy ? SHOAL_OK : shoal_fail_memory(error);
}

/* ------------------------------------------------------------ what the release does not show */

enum { MAX_NOTES = 12 };

static shoal_status note(maker *m, bool stated, const char *words, shoal_error *error) {
  shoal_certificate_report *c = m->certificate;
  const char *own = shoal_result_string(m->result, words, strlen(words));
  if (!own) return shoal_fail_memory(error);
  c->notes[c->n_notes++] = (shoal_certificate_note){own, stated};
  return SHOAL_OK;
}

static shoal_status note_rows(maker *m, shoal_error *error) {
  const shoal_policy *policy = m->policy;
  char amount[64], words[240];
  bool people = shoal_policy_has_role(policy, SHOAL_ROLE_PERSON);
  SHOAL_TRY(note(m, false,
                 people ? "A person may have several rows: sizes of classes here are rows. Whether "
                          "all people of a class have one value among others cannot be seen here; "
                          "only alpha-k rules it out."
                        : "Whether a person has several rows cannot be seen here. The models count "
                          "rows, not people.",
                 error));
  shoal_amount_print(policy->max_suppression, amount, sizeof amount);
  bool none = m->certificate->left_out.kind == SHOAL_LEFT_OUT_NONE;
  (void)snprintf(words, sizeof words,
                 "Up to %s may have been suppressed; single rows may have been suppressed.%s",
                 amount,
                 policy->blank_suppressed
                     ? " Suppressed rows may be in the release with * in every quasi-identifier."
                     : "");
  SHOAL_TRY(note(m, true,
                 !policy->max_suppression.number.mantissa ? "The policy allows no suppressed rows."
                 : none                                   ? "No rows were suppressed."
                                                          : words,
                 error));
  if (policy->noise_allowed) {
    shoal_amount_print(policy->noise, amount, sizeof amount);
    (void)snprintf(words, sizeof words,
                   "The release may contain up to %s of noise, which describe no real person.",
                   amount);
    SHOAL_TRY(note(m, true, words, error));
  }
  return note(m, false, "Whether the rows are in the order of the original cannot be seen here.",
              error);
}

static shoal_status note_limits(maker *m, shoal_error *error) {
  m->certificate->notes =
      shoal_arena_alloc(&m->result->arena, MAX_NOTES, sizeof *m->certificate->notes);
  if (!m->certificate->notes) return shoal_fail_memory(error);
  SHOAL_TRY(note_rows(m, error));
  SHOAL_TRY(note(m, true,
                 "Every label covers the original value of its row, and columns that are released "
                 "unchanged have their original values.",
                 error));
  if (m->policy->unlisted == SHOAL_UNLISTED_DROP)
    SHOAL_TRY(note(m, true, "Columns that the policy does not list were removed.", error));
  SHOAL_TRY(note(m, false,
                 "Attacks that need other tables were not simulated: linking with a table of named "
                 "people, and earlier releases about the same people.",
                 error));
  return note(
      m, false,
      m->policy->slack
          ? "Someone who knows how releases are chosen can sometimes infer more (minimality, "
            "downcoding). The policy asks for more generalization than needed (slack), "
            "which reduces this."
          : "Someone who knows that a release is generalized no more than needed can "
            "sometimes infer more (minimality, downcoding).",
      error);
}

/* ------------------------------------------------------------ all of it */

static shoal_status make(maker *m, const char *path, const char *left_out, shoal_error *error) {
  shoal_methods methods;
  SHOAL_TRY(shoal_methods_bind(m->policy, &methods, error));
  SHOAL_TRY(choose_models(m, error));
  SHOAL_TRY(hash_release(m, path, error));
  SHOAL_TRY(shoal_input_read(path, &m->judged, SHOAL_FOR_REVIEW, NULL, m->run, &m->table, error));
  SHOAL_TRY(judge(m, error));
  if (!shoal_left_out_parse(left_out, m->result->k, &m->certificate->left_out))
    return shoal_fail(error, SHOAL_BAD_INPUT,
                      "--left-out must be none, few or a number of rows, not '%.40s'", left_out);
  SHOAL_TRY(study_labels(m, error));
  SHOAL_TRY(write_policy(m, error));
  m->result->holds = shoal_safety_verdict(&m->result->safety) != SHOAL_DO_NOT_PUBLISH;
  return note_limits(m, error);
}

shoal_status shoal_job_certificate(shoal_result *result, const char *path,
                                   const shoal_policy *policy, const char *left_out,
                                   const shoal_run *run, shoal_error *error) {
  maker m = {.result = result, .policy = policy, .run = run};
  m.certificate = shoal_arena_alloc_zero(&result->arena, 1, sizeof *m.certificate);
  if (!m.certificate) return shoal_fail_memory(error);
  result->certificate = m.certificate;
  shoal_status status = make(&m, path, left_out, error);
  shoal_table_delete(m.table);
  free(m.models);
  return status;
}
