/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/task: what every model asks before it counts: its parameters, read exactly, and whether
 * enough is known of the attribute. Part of the last step of a release's way back (models.c).
 */
#include <string.h>

#include "base/decimal.h"
#include "verify/models.h"
#include "verify/reader.h"

shoal_status shoal_verify_unprovable(const shoal_verify_task *task, const char *reason,
                                     const char *name, shoal_error *error) {
  return shoal_fail(error, SHOAL_FAILED, "the model '%.100s' cannot be proven: %s '%.200s'; %s",
                    task->model->name, reason, name, SHOAL_VERIFY_FAULT);
}

shoal_status shoal_verify_too_large(const shoal_verify_task *task, shoal_error *error) {
  return shoal_verify_unprovable(task, "its numbers are too large to compare exactly on",
                                 task->attribute->name, error);
}

/* ---------------------------------------------------------------- the attribute */

size_t shoal_verify_most_values(const shoal_verify_task *task) {
  size_t most = 0;
  for (size_t c = 0; c < task->tally->n_classes; c++) {
    size_t n_counts = task->attribute->starts[c + 1] - task->attribute->starts[c];
    if (n_counts > most) most = n_counts;
  }
  return most;
}

shoal_status shoal_verify_need_knowledge(const shoal_verify_task *task, shoal_error *error) {
  if (task->attribute->known) return SHOAL_OK;
  return shoal_verify_unprovable(task, "nothing is known of the values of", task->attribute->name,
                                 error);
}

shoal_status shoal_verify_need_values(const shoal_verify_task *task, shoal_error *error) {
  SHOAL_TRY(shoal_verify_need_knowledge(task, error));
  if (task->attribute->n_values == task->attribute->known->n_values) return SHOAL_OK;
  return shoal_verify_unprovable(task, "the release has a value that is not known of",
                                 task->attribute->name, error);
}

/* ---------------------------------------------------------------- the parameters */

/* *text is NULL if the parameter is not given. */
static shoal_status find_optional(const shoal_verify_task *task, const char *name,
                                  const char **text, shoal_error *error) {
  const shoal_verify_model *model = task->model;
  *text = NULL;
  for (size_t i = 0; i < model->n_parameters; i++) {
    if (strcmp(model->parameters[i].name, name) != 0) continue;
    if (*text) return shoal_verify_unprovable(task, "it has more than one parameter", name, error);
    *text = model->parameters[i].value;
  }
  return SHOAL_OK;
}

shoal_status shoal_verify_find_text(const shoal_verify_task *task, const char *name,
                                    const char **text, shoal_error *error) {
  SHOAL_TRY(find_optional(task, name, text, error));
  if (*text) return SHOAL_OK;
  return shoal_verify_unprovable(task, "it lacks the parameter", name, error);
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

shoal_status shoal_verify_find_whole(const shoal_verify_task *task, const char *name,
                                     uint64_t *whole, shoal_error *error) {
  const char *text;
  SHOAL_TRY(shoal_verify_find_text(task, name, &text, error));
  if (parse_whole(text, whole)) return SHOAL_OK;
  return shoal_verify_unprovable(task, "not a whole number of at least 1: parameter", name, error);
}

static bool in_range(shoal_verify_fraction fraction, shoal_verify_range range) {
  switch (range) {
  case SHOAL_VERIFY_ABOVE_ZERO: return fraction.numerator > 0;
  case SHOAL_VERIFY_SHARE: return fraction.numerator <= fraction.denominator;
  case SHOAL_VERIFY_FROM_ONE: return fraction.numerator >= fraction.denominator;
  default: return true;
  }
}

shoal_status shoal_verify_find_fraction(const shoal_verify_task *task, const char *name,
                                        shoal_verify_range range, shoal_verify_fraction *fraction,
                                        shoal_error *error) {
  const char *text;
  shoal_decimal number;
  SHOAL_TRY(shoal_verify_find_text(task, name, &text, error));
  shoal_number parsed = shoal_decimal_parse(text, strlen(text), &number);
  if (parsed != SHOAL_NUMBER_OK || number.mantissa < 0)
    return shoal_verify_unprovable(task,
                                   "not a number of at least 0 and at most 18 digits: "
                                   "parameter",
                                   name, error);
  *fraction = (shoal_verify_fraction){.numerator = (uint64_t)number.mantissa, .denominator = 1};
  for (unsigned i = 0; i < number.scale; i++) fraction->denominator *= 10; /* up to 10^18 */
  if (in_range(*fraction, range)) return SHOAL_OK;
  return shoal_verify_unprovable(task, "out of its range: parameter", name, error);
}

shoal_status shoal_verify_find_word(const shoal_verify_task *task, const char *name,
                                    const char *const *words, size_t *word, shoal_error *error) {
  const char *text;
  SHOAL_TRY(find_optional(task, name, &text, error));
  for (*word = 0; words[*word]; ++*word)
    if (!text || !strcmp(text, words[*word])) return SHOAL_OK;
  return shoal_verify_unprovable(task, "the verifier does not know the value of its parameter",
                                 name, error);
}
