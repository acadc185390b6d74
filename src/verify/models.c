/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/models: each model as its definition reads, one function and one row of the table at the
 * end each. Last step of a release's way back: rows counted by class and value -> verdict.
 *
 * k-anonymity: Samarati & Sweeney 1998; p-sensitive: Truta & Vinay 2006 (at least p distinct
 * values of each sensitive attribute in each class; its k is a model of its own here).
 */
#include "verify/models.h"

#include <string.h>

#include "verify/reader.h"

/* Where a model breaks. Both stay within the tally's own counts. */
typedef struct damage {
  uint64_t n_classes;
  uint64_t n_rows;
} damage;

static void add_damage(damage *sum, const shoal_verify_tally *tally, size_t class_id) {
  sum->n_classes++;
  sum->n_rows += tally->class_rows[class_id];
}

/* The verdict on one model with one whole-number bound; `attribute` is NULL for one without. */
static shoal_status judge(const shoal_verify_model *model, const char *bound_name, uint64_t bound,
                          const char *attribute, damage found, shoal_error *error) {
  if (!found.n_classes) return SHOAL_OK;
  return shoal_fail(error, SHOAL_FAILED,
                    "the release breaks %s (%s = %llu)%s%.200s%s: %llu class%s, %llu row%s; %s",
                    model->name, bound_name, (unsigned long long)bound, attribute ? " on '" : "",
                    attribute ? attribute : "", attribute ? "'" : "",
                    (unsigned long long)found.n_classes, found.n_classes == 1 ? "" : "es",
                    (unsigned long long)found.n_rows, found.n_rows == 1 ? "" : "s",
                    SHOAL_VERIFY_FAULT);
}

static shoal_status fail_unprovable(const shoal_verify_model *model, const char *reason,
                                    const char *name, shoal_error *error) {
  return shoal_fail(error, SHOAL_FAILED, "the model '%.100s' cannot be proven: %s '%.200s'; %s",
                    model->name, reason, name, SHOAL_VERIFY_FAULT);
}

/* Digits only, at least 1. Its own reading, so that no slip of another parser is shared. */
static bool parse_whole(const char *text, uint64_t *value) {
  *value = 0;
  for (const char *at = text; *at; at++) {
    if (*at < '0' || *at > '9') return false;
    if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
        __builtin_add_overflow(*value, (uint64_t)(*at - '0'), value))
      return false;
  }
  return *value > 0;
}

static shoal_status find_whole(const shoal_verify_model *model, const char *name, uint64_t *value,
                               shoal_error *error) {
  const char *text = NULL;
  for (size_t i = 0; i < model->n_parameters; i++) {
    if (strcmp(model->parameters[i].name, name)) continue;
    if (text) return fail_unprovable(model, "it has more than one parameter", name, error);
    text = model->parameters[i].value;
  }
  if (!text) return fail_unprovable(model, "it lacks the parameter", name, error);
  if (!parse_whole(text, value))
    return fail_unprovable(model, "not a whole number of at least 1: parameter", name, error);
  return SHOAL_OK;
}

static bool concerns(const shoal_verify_model *model, const shoal_verify_attribute *attribute) {
  return !model->attribute || !strcmp(model->attribute, attribute->name);
}

/* ---------------------------------------------------------------- the models */

/* Every class has at least k rows. */
static shoal_status prove_k_anonymity(const shoal_verify_model *model,
                                      const shoal_verify_tally *tally, shoal_error *error) {
  uint64_t k;
  SHOAL_TRY(find_whole(model, "k", &k, error));
  damage found = {0};
  for (size_t c = 0; c < tally->n_classes; c++)
    if (tally->class_rows[c] < k) add_damage(&found, tally, c);
  return judge(model, "k", k, NULL, found, error);
}

/* Every class has at least p distinct values of the attribute; a missing one is none. */
static shoal_status prove_p_sensitive(const shoal_verify_model *model,
                                      const shoal_verify_tally *tally, shoal_error *error) {
  uint64_t p;
  SHOAL_TRY(find_whole(model, "p", &p, error));
  if (!tally->n_attributes)
    return fail_unprovable(model, "the release has no sensitive attribute to count for",
                           "p", error);
  for (size_t a = 0; a < tally->n_attributes; a++) {
    const shoal_verify_attribute *attribute = &tally->attributes[a];
    if (!concerns(model, attribute)) continue;
    damage found = {0};
    for (size_t c = 0; c < tally->n_classes; c++)
      if (attribute->starts[c + 1] - attribute->starts[c] < p) add_damage(&found, tally, c);
    SHOAL_TRY(judge(model, "p", p, attribute->name, found, error));
  }
  return SHOAL_OK;
}

static const struct known_model {
  const char *name;
  shoal_status (*prove)(const shoal_verify_model *model, const shoal_verify_tally *tally,
                        shoal_error *error);
} known_models[] = {
    {"k-anonymity", prove_k_anonymity},
    {"p-sensitive", prove_p_sensitive},
};

static shoal_status prove(const shoal_verify_model *model, const shoal_verify_tally *tally,
                          shoal_error *error) {
  bool named = !model->attribute;
  for (size_t a = 0; a < tally->n_attributes; a++)
    named = named || concerns(model, &tally->attributes[a]);
  if (!named)
    return fail_unprovable(model, "the release has no sensitive attribute", model->attribute,
                           error);
  for (size_t i = 0; i < sizeof known_models / sizeof *known_models; i++)
    if (!strcmp(model->name, known_models[i].name))
      return known_models[i].prove(model, tally, error);
  return fail_unprovable(model, "the verifier knows no model", model->name, error);
}

shoal_status shoal_verify_models(const shoal_verify_claim *claim, const shoal_verify_tally *tally,
                                 shoal_error *error) {
  for (size_t i = 0; i < claim->n_models; i++) SHOAL_TRY(prove(&claim->models[i], tally, error));
  return SHOAL_OK;
}
