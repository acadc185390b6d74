/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/models: the verifier's own reading of each model's definition, on nothing but counted
 * rows (how many stand in each class, and how many of them carry each sensitive value) and what
 * the claim says is known of these values.
 */
#ifndef SHOAL_VERIFY_MODELS_H
#define SHOAL_VERIFY_MODELS_H

#include "verify/exact.h"
#include "verify/tables.h"
#include "verify/verify.h"

/* ---------------------------------------------------------------- what was counted */

/* How often a value stands in a class; values are numbered within their attribute. */
typedef struct shoal_verify_count {
  uint64_t n_rows;
  uint32_t value;
} shoal_verify_count;

/*
 * One sensitive attribute: class c has the counts starts[c] .. starts[c + 1] - 1, one for each
 * value with a row. Missing values have none: their rows are what the class has beyond these.
 * The known values have the first numbers, in the order of the claim; then come those that only
 * the release has.
 */
typedef struct shoal_verify_attribute {
  const char *name;
  const shoal_verify_knowledge *known; /* NULL: nothing is */
  size_t *starts;                      /* n_classes + 1 */
  shoal_verify_count *counts;
  uint32_t n_values; /* known or of the release */
} shoal_verify_attribute;

/* All that the models are proven on. */
typedef struct shoal_verify_tally {
  uint64_t n_rows;
  size_t n_classes;
  uint64_t *class_rows;               /* of each class, at least 1 */
  shoal_verify_attribute *attributes; /* in the order of the claim's sensitive attributes */
  size_t n_attributes;
  shoal_verify_attribute guards;          /* guarding nodes, counted as values; none: no starts */
  const shoal_verify_entry **guard_texts; /* by number */
} shoal_verify_tally;

/* ---------------------------------------------------------------- what is asked */

/* One model, on one sensitive attribute. */
typedef struct shoal_verify_task {
  const shoal_verify_claim *claim;
  const shoal_verify_model *model;
  const shoal_verify_tally *tally;
  const shoal_verify_attribute *attribute; /* NULL: the model is about class sizes alone */
} shoal_verify_task;

/* Where the model breaks. Both stay within the tally's own counts. */
typedef struct shoal_verify_damage {
  uint64_t n_classes;
  uint64_t n_rows;
} shoal_verify_damage;

/*
 * Counts the classes that break the model. SHOAL_OK is no verdict yet: it holds if there are
 * none. SHOAL_FAILED: it cannot be proven.
 */
typedef shoal_status shoal_verify_prove(const shoal_verify_task *task, shoal_verify_damage *damage,
                                        shoal_error *error) SHOAL_MUST_CHECK;

/* SHOAL_OK: every model of the claim holds. Else SHOAL_FAILED, with the first that does not. */
shoal_status shoal_verify_models(const shoal_verify_claim *claim, const shoal_verify_tally *tally,
                                 shoal_error *error) SHOAL_MUST_CHECK;

/* ---------------------------------------------------------------- the models, by file */

shoal_verify_prove shoal_verify_extended_p_sensitive; /* models_values.c */
shoal_verify_prove shoal_verify_p_plus_sensitive;
shoal_verify_prove shoal_verify_p_alpha_sensitive;
shoal_verify_prove shoal_verify_balanced_p_plus;
shoal_verify_prove shoal_verify_balanced_p_alpha;
shoal_verify_prove shoal_verify_theta_sensitive; /* models_counts.c */
shoal_verify_prove shoal_verify_l_diversity;
shoal_verify_prove shoal_verify_alpha_k;
shoal_verify_prove shoal_verify_t_closeness;  /* models_close.c */
shoal_verify_prove shoal_verify_personalized; /* models_personal.c */

/* ---------------------------------------------------------------- what they share: task.c */

static inline void shoal_verify_add_damage(shoal_verify_damage *damage,
                                           const shoal_verify_task *task, size_t class_id) {
  damage->n_classes++;
  damage->n_rows += task->tally->class_rows[class_id];
}

/* A class's counts. */
static inline const shoal_verify_count *
shoal_verify_counts_of(const shoal_verify_attribute *attribute, size_t class_id, size_t *n_counts) {
  *n_counts = attribute->starts[class_id + 1] - attribute->starts[class_id];
  return attribute->counts + attribute->starts[class_id];
}

/* The most values that one class has: room that is enough for each. */
size_t shoal_verify_most_values(const shoal_verify_task *task);

/* "... cannot be proven: <reason> '<name>'". */
shoal_status shoal_verify_unprovable(const shoal_verify_task *task, const char *reason,
                                     const char *name, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_verify_too_large(const shoal_verify_task *task,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/* Fails unless something is known of the attribute. */
shoal_status shoal_verify_need_knowledge(const shoal_verify_task *task,
                                         shoal_error *error) SHOAL_MUST_CHECK;
/* Fails unless every value of the release is known. */
shoal_status shoal_verify_need_values(const shoal_verify_task *task,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/* The model's parameters; one that is given twice fails whatever is asked. */
typedef enum shoal_verify_range {
  SHOAL_VERIFY_FROM_ZERO,
  SHOAL_VERIFY_ABOVE_ZERO,
  SHOAL_VERIFY_SHARE, /* 0 to 1 */
  SHOAL_VERIFY_FROM_ONE
} shoal_verify_range;

shoal_status shoal_verify_find_text(const shoal_verify_task *task, const char *name,
                                    const char **text, shoal_error *error) SHOAL_MUST_CHECK;
/* Whole and at least 1. */
shoal_status shoal_verify_find_whole(const shoal_verify_task *task, const char *name,
                                     uint64_t *whole, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_verify_find_fraction(const shoal_verify_task *task, const char *name,
                                        shoal_verify_range range, shoal_verify_fraction *fraction,
                                        shoal_error *error) SHOAL_MUST_CHECK;
/* Which of `words` (ended by NULL) it is; the first if the parameter is not given. */
shoal_status shoal_verify_find_word(const shoal_verify_task *task, const char *name,
                                    const char *const *words, size_t *word,
                                    shoal_error *error) SHOAL_MUST_CHECK;

#endif
