/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/models: proves each model of the policy on the counted rows, the last step of verification
 * (verify.c). One function for each model, written from its definition, and one row of the table
 * below. A function counts the classes that violate its model; models on trees and categories are
 * in models_values.c, t-closeness is in models_close.c.
 *
 * In this file are the models on numbers of rows only. k-anonymity: Samarati & Sweeney 1998.
 * p-sensitive: Truta & Vinay 2006 (at least p distinct values of each sensitive attribute in each
 * class; its k is a separate model here). l-diversity: Machanavajjhala, Kifer, Gehrke &
 * Venkitasubramaniam 2007. (alpha,k): Wong, Li, Fu & Wang 2006. theta-sensitive: Khan et al. 2020.
 */
#include "verify/models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "verify/reader.h"

shoal_status shoal_verify_unprovable(const shoal_verify_task *task, const char *reason,
                                     const char *name, shoal_error *error) {
  return shoal_fail(error, SHOAL_FAILED, "the model '%.100s' cannot be proven: %s '%.200s'; %s",
                    task->model->name, reason, name, SHOAL_VERIFY_FAULT);
}

shoal_status shoal_verify_too_large(const shoal_verify_task *task, shoal_error *error) {
  return shoal_verify_unprovable(task, "numbers too large for an exact comparison, of",
                                 task->attribute->name, error);
}

/* ---------------------------------------------------------------- the attribute */

size_t shoal_verify_max_values(const shoal_verify_task *task) {
  size_t max = 0;
  for (size_t c = 0; c < task->tally->n_classes; c++) {
    size_t n_counts = task->attribute->starts[c + 1] - task->attribute->starts[c];
    if (n_counts > max) max = n_counts;
  }
  return max;
}

shoal_status shoal_verify_need_knowledge(const shoal_verify_task *task, shoal_error *error) {
  if (task->attribute->known) return SHOAL_OK;
  return shoal_verify_unprovable(task, "the request has no values of", task->attribute->name,
                                 error);
}

shoal_status shoal_verify_need_values(const shoal_verify_task *task, shoal_error *error) {
  SHOAL_TRY(shoal_verify_need_knowledge(task, error));
  if (task->attribute->n_values == task->attribute->known->n_values) return SHOAL_OK;
  return shoal_verify_unprovable(task, "the release has a value that the request lacks, of",
                                 task->attribute->name, error);
}

/* ---------------------------------------------------------------- the parameters */

/* *text is NULL if the parameter is absent. */
static shoal_status find_optional(const shoal_verify_task *task, const char *name,
                                  const char **text, shoal_error *error) {
  const shoal_verify_model *model = task->model;
  *text = NULL;
  for (size_t i = 0; i < model->n_parameters; i++) {
    if (strcmp(model->parameters[i].name, name) != 0) continue;
    if (*text) return shoal_verify_unprovable(task, "more than one parameter", name, error);
    *text = model->parameters[i].value;
  }
  return SHOAL_OK;
}

shoal_status shoal_verify_find_text(const shoal_verify_task *task, const char *name,
                                    const char **text, shoal_error *error) {
  SHOAL_TRY(find_optional(task, name, text, error));
  if (*text) return SHOAL_OK;
  return shoal_verify_unprovable(task, "no parameter", name, error);
}

/* Digits only, at least 1. Does not use base/ or policy/, so that it shares no parser's error. */
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

static bool in_range(shoal_verify_fraction fraction, shoal_verify_bounds range) {
  switch (range) {
  case SHOAL_VERIFY_ABOVE_ZERO: return fraction.numerator > 0;
  case SHOAL_VERIFY_SHARE: return fraction.numerator <= fraction.denominator;
  case SHOAL_VERIFY_FROM_ONE: return fraction.numerator >= fraction.denominator;
  default: return true;
  }
}

shoal_status shoal_verify_find_fraction(const shoal_verify_task *task, const char *name,
                                        shoal_verify_bounds range, shoal_verify_fraction *fraction,
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

/* ---------------------------------------------------------------- k-anonymity, p-sensitive */

static uint64_t people_of(const shoal_verify_tally *tally, size_t c) {
  return tally->class_people ? tally->class_people[c] : tally->class_rows[c];
}

/* Every class has at least k rows, and people if the request has them. */
static shoal_status prove_k_anonymity(const shoal_verify_task *task, shoal_verify_damage *damage,
                                      shoal_error *error) {
  uint64_t k;
  SHOAL_TRY(shoal_verify_find_whole(task, "k", &k, error));
  for (size_t c = 0; c < task->tally->n_classes; c++)
    if (task->tally->class_rows[c] < k || people_of(task->tally, c) < k)
      shoal_verify_add_damage(damage, task, c);
  return SHOAL_OK;
}

/* Every class has rows of at least K households; without a column of them, each row is one.
 */
static shoal_status prove_households(const shoal_verify_task *task, shoal_verify_damage *damage,
                                     shoal_error *error) {
  uint64_t min;
  SHOAL_TRY(shoal_verify_find_whole(task, "households", &min, error));
  const shoal_verify_tally *tally = task->tally;
  const uint64_t *households =
      tally->class_households ? tally->class_households : tally->class_rows;
  for (size_t c = 0; c < tally->n_classes; c++)
    if (households[c] < min) shoal_verify_add_damage(damage, task, c);
  return SHOAL_OK;
}

/* Every class has at least p distinct values of the attribute; missing values do not count. */
static shoal_status prove_p_sensitive(const shoal_verify_task *task, shoal_verify_damage *damage,
                                      shoal_error *error) {
  uint64_t p;
  SHOAL_TRY(shoal_verify_find_whole(task, "p", &p, error));
  const size_t *starts = task->attribute->starts;
  for (size_t c = 0; c < task->tally->n_classes; c++)
    if (starts[c + 1] - starts[c] < p) shoal_verify_add_damage(damage, task, c);
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- models on frequencies */

static int descending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x < y) - (x > y);
}

/* Rows of each value of a class, in descending order. */
static void sort_rows(const shoal_verify_attribute *attribute, size_t class_id, uint64_t *rows,
                      size_t *n_values) {
  const shoal_verify_count *counts = shoal_verify_counts_of(attribute, class_id, n_values);
  for (size_t i = 0; i < *n_values; i++) rows[i] = counts[i].n_rows;
  qsort(rows, *n_values, sizeof *rows, descending);
}

/* A condition on the rows of each value of a class, given in descending order. */
typedef struct frequency_rule {
  uint64_t l;
  shoal_verify_fraction bound; /* mu, c, or l as a number */
  shoal_verify_wide spread;    /* theta-sensitive: k^2 - 1 */
  shoal_verify_verdict (*holds)(const struct frequency_rule *rule, const uint64_t *rows,
                                size_t n_values);
} frequency_rule;

static shoal_status check_classes(const shoal_verify_task *task, const frequency_rule *rule,
                                  uint64_t *rows, shoal_verify_damage *damage, shoal_error *error) {
  for (size_t c = 0; c < task->tally->n_classes; c++) {
    size_t n_values;
    sort_rows(task->attribute, c, rows, &n_values);
    switch (rule->holds(rule, rows, n_values)) {
    case SHOAL_VERIFY_HOLDS: break;
    case SHOAL_VERIFY_VIOLATES: shoal_verify_add_damage(damage, task, c); break;
    case SHOAL_VERIFY_NO_MEMORY: return shoal_fail_memory(error);
    default: return shoal_verify_too_large(task, error);
    }
  }
  return SHOAL_OK;
}

static shoal_status prove_frequencies(const shoal_verify_task *task, const frequency_rule *rule,
                                      shoal_verify_damage *damage, shoal_error *error) {
  uint64_t *rows = shoal_alloc(shoal_verify_max_values(task), sizeof *rows);
  if (!rows) return shoal_fail_memory(error);
  shoal_status status = check_classes(task, rule, rows, damage, error);
  free(rows);
  return status;
}

/* ---------------------------------------------------------------- theta-sensitive */

/*
 * The most frequent value weighs 1, the next 2, and so on. The variance of the rows' weights is
 * (n x sum f i^2 - (sum f i)^2) / n^2, and must be at least mu (k^2 - 1) / 12.
 */
static shoal_verify_verdict is_spread(const frequency_rule *rule, const uint64_t *rows,
                                      size_t n_values) {
  shoal_verify_wide n = 0, sum = 0, squares = 0;
  for (size_t i = 0; i < n_values;
       i++) { /* fewer than 2^32 values, fewer than 2^64 rows: no overflow */
    shoal_verify_wide weight = i + 1;
    n += rows[i];
    sum += rows[i] * weight;
    squares += rows[i] * weight * weight;
  }
  if (!n) n = 1; /* without a value the variance is 0, not 0 / 0 */
  shoal_verify_wide variance = squares, theta = rule->spread;
  if (!shoal_verify_times(&variance, n)) return SHOAL_VERIFY_UNDECIDED;
  variance -= sum * sum; /* not negative, by the Cauchy-Schwarz inequality */
  if (!shoal_verify_times(&variance, 12) || !shoal_verify_times(&theta, n) ||
      !shoal_verify_times(&theta, n))
    return SHOAL_VERIFY_UNDECIDED;
  return shoal_verify_compare(variance, theta, rule->bound) >= 0 ? SHOAL_VERIFY_HOLDS
                                                                 : SHOAL_VERIFY_VIOLATES;
}

/* The variance of every class is at least mu times that of k rows with k values. */
static shoal_status prove_theta_sensitive(const shoal_verify_task *task,
                                          shoal_verify_damage *damage, shoal_error *error) {
  frequency_rule rule = {.holds = is_spread};
  SHOAL_TRY(shoal_verify_find_fraction(task, "mu", SHOAL_VERIFY_SHARE, &rule.bound, error));
  uint64_t k = task->request->k;
  if (!k) return shoal_verify_unprovable(task, "the request lacks the class size", "k", error);
  rule.spread = (shoal_verify_wide)k * k - 1;
  return prove_frequencies(task, &rule, damage, error);
}

/* ---------------------------------------------------------------- l-diversity */

static shoal_verify_verdict is_diverse(const frequency_rule *rule, const uint64_t *rows,
                                       size_t n_values) {
  (void)rows;
  return n_values >= rule->l ? SHOAL_VERIFY_HOLDS : SHOAL_VERIFY_VIOLATES;
}

static shoal_verify_verdict has_entropy(const frequency_rule *rule, const uint64_t *rows,
                                        size_t n_values) {
  return shoal_verify_entropy(rows, n_values, rule->bound);
}

/* f_1 < c (f_l + ... + f_m); with fewer than l values the right side is 0. */
static shoal_verify_verdict is_recursively_diverse(const frequency_rule *rule, const uint64_t *rows,
                                                   size_t n_values) {
  if (n_values < rule->l) return SHOAL_VERIFY_VIOLATES;
  shoal_verify_wide tail = 0; /* at most 2^64 counts of 64 bits: no overflow */
  for (size_t i = rule->l - 1; i < n_values; i++) tail += rows[i];
  return shoal_verify_compare(rows[0], tail, rule->bound) < 0 ? SHOAL_VERIFY_HOLDS
                                                              : SHOAL_VERIFY_VIOLATES;
}

/* Every class has l well-represented values; `kind` selects one of three definitions. */
static shoal_status prove_l_diversity(const shoal_verify_task *task, shoal_verify_damage *damage,
                                      shoal_error *error) {
  static const char *const kinds[] = {"distinct", "entropy", "recursive", NULL};
  enum { DISTINCT, ENTROPY, RECURSIVE };
  size_t kind;
  frequency_rule rule = {.holds = is_diverse};
  SHOAL_TRY(shoal_verify_find_word(task, "kind", kinds, &kind, error));
  if (kind == ENTROPY) {
    rule.holds = has_entropy;
    SHOAL_TRY(shoal_verify_find_fraction(task, "l", SHOAL_VERIFY_FROM_ONE, &rule.bound, error));
  } else {
    SHOAL_TRY(shoal_verify_find_whole(task, "l", &rule.l, error));
  }
  if (kind == RECURSIVE) {
    rule.holds = is_recursively_diverse;
    SHOAL_TRY(shoal_verify_find_fraction(task, "c", SHOAL_VERIFY_ABOVE_ZERO, &rule.bound, error));
  }
  return prove_frequencies(task, &rule, damage, error);
}

/* ---------------------------------------------------------------- alpha-k */

/* No value has more than a share alpha of a class's rows, or people. Rows with a missing value are
 * rows. */
static shoal_status prove_alpha_k(const shoal_verify_task *task, shoal_verify_damage *damage,
                                  shoal_error *error) {
  shoal_verify_fraction alpha;
  SHOAL_TRY(shoal_verify_find_fraction(task, "alpha", SHOAL_VERIFY_SHARE, &alpha, error));
  for (size_t c = 0; c < task->tally->n_classes; c++) {
    size_t n_counts;
    const shoal_verify_count *counts = shoal_verify_counts_of(task->attribute, c, &n_counts);
    uint64_t max = 0;
    for (size_t i = 0; i < n_counts; i++)
      if (counts[i].n_rows > max) max = counts[i].n_rows;
    if (shoal_verify_compare(max, task->sizes[c], alpha) > 0)
      shoal_verify_add_damage(damage, task, c);
  }
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- the table */

/* What a model counts, if people have several rows. */
typedef enum counted_as {
  ROWS,  /* rows, or distinct values */
  PAIRS, /* each person once for each value */
  SHARE  /* the same, as a share of the people */
} counted_as;

static const struct known_model {
  const char *name;
  bool on_sizes; /* on class sizes only: proven once, not for each attribute */
  counted_as counted;
  shoal_verify_prove *prove;
} known_models[] = {
    {"k-anonymity", true, ROWS, prove_k_anonymity},
    {"households", true, ROWS, prove_households},
    {"p-sensitive", false, ROWS, prove_p_sensitive},
    {"extended-p-sensitive", false, ROWS, shoal_verify_extended_p_sensitive},
    {"p-plus-sensitive", false, ROWS, shoal_verify_p_plus_sensitive},
    {"p-alpha-sensitive", false, ROWS, shoal_verify_p_alpha_sensitive},
    {"balanced-p-plus", false, PAIRS, shoal_verify_balanced_p_plus},
    {"balanced-p-alpha", false, PAIRS, shoal_verify_balanced_p_alpha},
    {"theta-sensitive", false, PAIRS, prove_theta_sensitive},
    {"l-diversity", false, PAIRS, prove_l_diversity},
    {"t-closeness", false, PAIRS, shoal_verify_t_closeness},
    {"alpha-k", false, SHARE, prove_alpha_k},
    {"personalized", false, PAIRS, shoal_verify_personalized},
};

/* The attribute as the model counts it. */
static shoal_status see_attribute(shoal_verify_task *task, counted_as counted, size_t a,
                                  shoal_error *error) {
  const shoal_verify_tally *tally = task->tally;
  task->attribute = &tally->attributes[a];
  task->sizes = tally->class_rows;
  if (counted == ROWS || !tally->class_people) return SHOAL_OK;
  if (!tally->by_person)
    return shoal_verify_unprovable(task, "people were not counted by values of",
                                   task->attribute->name, error);
  task->attribute = &tally->by_person[a].attribute;
  task->sizes = counted == SHARE ? tally->class_people : tally->by_person[a].sizes;
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- verdicts */

/* "p = 2, alpha = 0.2": the parameters as written in the policy, truncated to `room`. */
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

/* " over 'age', 'zip'", truncated to `room`. */
static void print_over(const shoal_verify_set *over, char *out, size_t room) {
  size_t at = 0;
  out[0] = '\0';
  for (size_t i = 0; over && i < over->n && at < room; i++) {
    int printed = snprintf(out + at, room - at, "%s'%.60s'", i ? ", " : " over ", over->quasi[i]);
    if (printed < 0) return; /* GCOVR_EXCL_BR_LINE: plain text can always be printed */
    at += (size_t)printed;
  }
}

static shoal_status prove_on(shoal_verify_prove *prove, const shoal_verify_task *task,
                             shoal_error *error) {
  shoal_verify_damage damage = {0};
  SHOAL_TRY(prove(task, &damage, error));
  if (!damage.n_classes) return SHOAL_OK;
  char parameters[256], over[256];
  print_parameters(task->model, parameters, sizeof parameters);
  print_over(task->over, over, sizeof over);
  const char *attribute = task->attribute ? task->attribute->name : NULL;
  return shoal_fail(
      error, SHOAL_FAILED, "the release violates %s (%s)%s%.200s%s%s: %llu class%s, %llu row%s; %s",
      task->model->name, parameters, attribute ? " on '" : "", attribute ? attribute : "",
      attribute ? "'" : "", over, (unsigned long long)damage.n_classes,
      damage.n_classes == 1 ? "" : "es", (unsigned long long)damage.n_rows,
      damage.n_rows == 1 ? "" : "s", SHOAL_VERIFY_FAULT);
}

/* Proves the model on each of its attributes. A model that has none fails. */
static shoal_status prove_model(shoal_verify_task task, shoal_error *error) {
  const shoal_verify_model *model = task.model;
  const shoal_verify_tally *tally = task.tally;
  const struct known_model *known = NULL;
  for (size_t i = 0; i < sizeof known_models / sizeof *known_models; i++)
    if (!strcmp(model->name, known_models[i].name)) known = &known_models[i];
  if (!known)
    return shoal_verify_unprovable(&task, "the verifier does not know the model", model->name,
                                   error);
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
    if (model->attribute && strcmp(model->attribute, tally->attributes[a].name) != 0) continue;
    SHOAL_TRY(see_attribute(&task, known->counted, a, error));
    SHOAL_TRY(prove_on(known->prove, &task, error));
  }
  return SHOAL_OK;
}

static bool is_about(const shoal_verify_model *model, size_t over) {
  if (over == SHOAL_VERIFY_WHOLE) return model->n_over == 0;
  for (size_t i = 0; i < model->n_over; i++)
    if (model->over[i] == over) return true;
  return false;
}

shoal_status shoal_verify_models(const shoal_verify_request *request,
                                 const shoal_verify_tally *tally, size_t over, shoal_error *error) {
  for (size_t i = 0; i < request->n_models; i++) {
    shoal_verify_task task = {.request = request, .model = &request->models[i], .tally = tally};
    if (over != SHOAL_VERIFY_WHOLE) task.over = &request->over[over];
    if (is_about(task.model, over)) SHOAL_TRY(prove_model(task, error));
  }
  return SHOAL_OK;
}
