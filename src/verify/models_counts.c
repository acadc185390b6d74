/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/models_counts: the models that look at how often each value stands in a class, whatever
 * it means. Part of the last step of a release's way back (models.c).
 *
 * Theta-sensitive: Khan et al. 2020; l-diversity: Machanavajjhala, Kifer, Gehrke &
 * Venkitasubramaniam 2007; (alpha,k): Wong, Li, Fu & Wang 2006.
 */
#include <stdlib.h>

#include "verify/entropy.h"
#include "verify/models.h"

static int descending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x < y) - (x > y);
}

/* The rows of each value of a class, the most frequent first. `room` is enough for them. */
static void sort_rows(const shoal_verify_attribute *attribute, size_t class_id, uint64_t *room,
                      size_t *n_values) {
  const shoal_verify_count *counts = shoal_verify_counts_of(attribute, class_id, n_values);
  for (size_t i = 0; i < *n_values; i++) room[i] = counts[i].n_rows;
  qsort(room, *n_values, sizeof *room, descending);
}

/* What a model asks of a class: rows of each value, the most frequent first. */
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
    case SHOAL_VERIFY_BREAKS: shoal_verify_add_damage(damage, task, c); break;
    case SHOAL_VERIFY_NO_MEMORY: return shoal_fail_memory(error);
    default: return shoal_verify_too_large(task, error);
    }
  }
  return SHOAL_OK;
}

static shoal_status prove_frequencies(const shoal_verify_task *task, const frequency_rule *rule,
                                      shoal_verify_damage *damage, shoal_error *error) {
  uint64_t *rows = shoal_alloc(shoal_verify_most_values(task), sizeof *rows);
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
  for (size_t i = 0; i < n_values; i++) { /* below 2^32 values of below 2^64 rows: these all fit */
    shoal_verify_wide weight = i + 1;
    n += rows[i];
    sum += rows[i] * weight;
    squares += rows[i] * weight * weight;
  }
  if (!n) n = 1; /* a class without a value has variance 0, not 0 / 0 */
  shoal_verify_wide variance = squares, theta = rule->spread;
  if (!shoal_verify_times(&variance, n)) return SHOAL_VERIFY_UNDECIDED;
  variance -= sum * sum; /* by Cauchy and Schwarz no more than what it is taken from */
  int order = 0;
  if (!shoal_verify_times(&variance, 12) || !shoal_verify_times(&theta, n) ||
      !shoal_verify_times(&theta, n) || !shoal_verify_compare(variance, theta, rule->bound, &order))
    return SHOAL_VERIFY_UNDECIDED;
  return order >= 0 ? SHOAL_VERIFY_HOLDS : SHOAL_VERIFY_BREAKS;
}

/* The variance of every class is at least mu times that of k rows with k values. */
shoal_status shoal_verify_theta_sensitive(const shoal_verify_task *task,
                                          shoal_verify_damage *damage, shoal_error *error) {
  frequency_rule rule = {.holds = is_spread};
  SHOAL_TRY(shoal_verify_find_fraction(task, "mu", SHOAL_VERIFY_SHARE, &rule.bound, error));
  uint64_t k = task->claim->k;
  if (!k) return shoal_verify_unprovable(task, "the claim lacks the class size", "k", error);
  rule.spread = (shoal_verify_wide)k * k - 1;
  return prove_frequencies(task, &rule, damage, error);
}

/* ---------------------------------------------------------------- l-diversity */

static shoal_verify_verdict is_diverse(const frequency_rule *rule, const uint64_t *rows,
                                       size_t n_values) {
  (void)rows;
  return n_values >= rule->l ? SHOAL_VERIFY_HOLDS : SHOAL_VERIFY_BREAKS;
}

static shoal_verify_verdict has_entropy(const frequency_rule *rule, const uint64_t *rows,
                                        size_t n_values) {
  return shoal_verify_entropy(rows, n_values, rule->bound);
}

/* f_1 < c (f_l + ... + f_m); with fewer than l values the right side is 0. */
static shoal_verify_verdict is_recursively_diverse(const frequency_rule *rule, const uint64_t *rows,
                                                   size_t n_values) {
  if (n_values < rule->l) return SHOAL_VERIFY_BREAKS;
  shoal_verify_wide tail = 0; /* of at most 2^64 counts of 64 bits */
  for (size_t i = rule->l - 1; i < n_values; i++) tail += rows[i];
  int order;
  if (!shoal_verify_compare(rows[0], tail, rule->bound, &order)) return SHOAL_VERIFY_UNDECIDED;
  return order < 0 ? SHOAL_VERIFY_HOLDS : SHOAL_VERIFY_BREAKS;
}

/* Every class has l well-represented values, in one of three senses. */
shoal_status shoal_verify_l_diversity(const shoal_verify_task *task, shoal_verify_damage *damage,
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

/* No value has more than alpha of a class's rows, those with a missing value being rows, too. */
shoal_status shoal_verify_alpha_k(const shoal_verify_task *task, shoal_verify_damage *damage,
                                  shoal_error *error) {
  shoal_verify_fraction alpha;
  SHOAL_TRY(shoal_verify_find_fraction(task, "alpha", SHOAL_VERIFY_SHARE, &alpha, error));
  for (size_t c = 0; c < task->tally->n_classes; c++) {
    size_t n_counts;
    const shoal_verify_count *counts = shoal_verify_counts_of(task->attribute, c, &n_counts);
    uint64_t most = 0;
    for (size_t i = 0; i < n_counts; i++)
      if (counts[i].n_rows > most) most = counts[i].n_rows;
    if (shoal_verify_compare_counts(most, task->tally->class_rows[c], alpha) > 0)
      shoal_verify_add_damage(damage, task, c);
  }
  return SHOAL_OK;
}
