/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify/models: proves the models of a request. Input: the rows of each class, the rows of each
 * sensitive value in each class, and what the request says about these values.
 */
#pragma once

#include "base/text.h"
#include "verify/exact.h"
#include "verify/tables.h"
#include "verify/verify.h"

/* ---------------------------------------------------------------- what was counted */

/* Rows of a class that have a value; values are numbered within their attribute. */
typedef struct shoal_verify_count {
  uint64_t n_rows;
  uint32_t value;
} shoal_verify_count;

/*
 * One sensitive attribute. Class c has the counts starts[c] .. starts[c + 1] - 1, one for each of
 * its values. Missing values have no count, so the counts may sum to less than the class's rows.
 * The known values are numbered first, in the order of the request, then those that only the
 * release has.
 */
typedef struct shoal_verify_attribute {
  const char *name;
  const shoal_verify_fold *fold;       /* NULL: none */
  const shoal_verify_knowledge *known; /* NULL: the request has none */
  size_t *starts;                      /* n_classes + 1 */
  shoal_verify_count *counts;
  uint32_t n_values; /* known or of the release */
} shoal_verify_attribute;

/* An attribute whose counts are people, not rows (people.c). */
typedef struct shoal_verify_by_person {
  shoal_verify_attribute attribute;
  uint64_t *sizes; /* by class: pairs of a value and a person; missing values are one value */
} shoal_verify_by_person;

/* The counted release. */
typedef struct shoal_verify_tally {
  uint64_t n_rows;
  size_t n_classes;
  uint64_t *class_rows;               /* by class, at least 1 */
  shoal_verify_attribute *attributes; /* in the order of request->sensitive */
  size_t n_attributes;
  shoal_verify_attribute guards;          /* guarding nodes, counted as values; starts NULL: none */
  const shoal_verify_entry **guard_texts; /* by number */
  uint64_t *class_people, *class_households; /* by class; NULL: rows are counted */
  shoal_verify_by_person *by_person;         /* by attribute; NULL: no proportions of people */
} shoal_verify_tally;

/* ---------------------------------------------------------------- proofs */

/* One model, on one sensitive attribute. */
typedef struct shoal_verify_task {
  const shoal_verify_request *request;
  const shoal_verify_model *model;
  const shoal_verify_tally *tally;
  const shoal_verify_attribute *attribute; /* NULL: the model is on class sizes only */
  const uint64_t *sizes;                   /* by class: what a count is a share of */
  const shoal_verify_set *over;            /* the tally's classes; NULL: all quasi-identifiers */
} shoal_verify_task;

/* The classes that violate a model, and their rows. */
typedef struct shoal_verify_damage {
  uint64_t n_classes;
  uint64_t n_rows;
} shoal_verify_damage;

/*
 * Counts the classes that violate the model. SHOAL_OK: they were counted, and the model holds if
 * there are none. SHOAL_FAILED: the model cannot be proven. Memory: released before it returns.
 */
typedef shoal_status shoal_verify_prove(const shoal_verify_task *task, shoal_verify_damage *damage,
                                        shoal_error *error) SHOAL_MUST_CHECK;

/*
 * SHOAL_OK: every model that is about set `over` of the request holds; SHOAL_VERIFY_WHOLE: about
 * all quasi-identifiers. `tally`: classes over this set. SHOAL_FAILED: the message names the first
 * that does not.
 */
#define SHOAL_VERIFY_WHOLE SIZE_MAX
shoal_status shoal_verify_models(const shoal_verify_request *request,
                                 const shoal_verify_tally *tally, size_t over,
                                 shoal_error *error) SHOAL_MUST_CHECK;

/* Models of other files; the table is in models.c. */
shoal_verify_prove shoal_verify_extended_p_sensitive; /* models_values.c */
shoal_verify_prove shoal_verify_p_plus_sensitive;
shoal_verify_prove shoal_verify_p_alpha_sensitive;
shoal_verify_prove shoal_verify_balanced_p_plus;
shoal_verify_prove shoal_verify_balanced_p_alpha;
shoal_verify_prove shoal_verify_personalized;
shoal_verify_prove shoal_verify_t_closeness; /* models_close.c */

/* ---------------------------------------------------------------- helpers of the models: models.c
 */

static inline void shoal_verify_add_damage(shoal_verify_damage *damage,
                                           const shoal_verify_task *task, size_t class_id) {
  damage->n_classes++;
  damage->n_rows += task->tally->class_rows[class_id];
}

/* The counts of a class. */
static inline const shoal_verify_count *
shoal_verify_counts_of(const shoal_verify_attribute *attribute, size_t class_id, size_t *n_counts) {
  *n_counts = attribute->starts[class_id + 1] - attribute->starts[class_id];
  return attribute->counts + attribute->starts[class_id];
}

/* The maximum number of values in a class. */
size_t shoal_verify_max_values(const shoal_verify_task *task);

/* SHOAL_FAILED: "the model ... cannot be proven: REASON 'NAME'". */
shoal_status shoal_verify_unprovable(const shoal_verify_task *task, const char *reason,
                                     const char *name, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_verify_too_large(const shoal_verify_task *task,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/* SHOAL_FAILED unless the request has values of the attribute. */
shoal_status shoal_verify_need_knowledge(const shoal_verify_task *task,
                                         shoal_error *error) SHOAL_MUST_CHECK;
/* SHOAL_FAILED unless the request has every value that the release has. */
shoal_status shoal_verify_need_values(const shoal_verify_task *task,
                                      shoal_error *error) SHOAL_MUST_CHECK;

/* Ranges of parameters. SHOAL_FAILED if a parameter is absent, repeated or out of range. */
typedef enum shoal_verify_bounds {
  SHOAL_VERIFY_FROM_ZERO,
  SHOAL_VERIFY_ABOVE_ZERO,
  SHOAL_VERIFY_SHARE, /* 0 to 1 */
  SHOAL_VERIFY_FROM_ONE
} shoal_verify_bounds;

shoal_status shoal_verify_find_text(const shoal_verify_task *task, const char *name,
                                    const char **text, shoal_error *error) SHOAL_MUST_CHECK;
/* A whole number of at least 1. */
shoal_status shoal_verify_find_whole(const shoal_verify_task *task, const char *name,
                                     uint64_t *whole, shoal_error *error) SHOAL_MUST_CHECK;
shoal_status shoal_verify_find_fraction(const shoal_verify_task *task, const char *name,
                                        shoal_verify_bounds range, shoal_verify_fraction *fraction,
                                        shoal_error *error) SHOAL_MUST_CHECK;
/* The index of the parameter's value in `words`, which end with NULL; 0 if the parameter is absent.
 */
shoal_status shoal_verify_find_word(const shoal_verify_task *task, const char *name,
                                    const char *const *words, size_t *word,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/* ---------------------------------------------------------------- trees: models_values.c */

/*
 * The tree of a sensitive attribute, built from the path of each known value to the root. A node is
 * a label together with all labels above it. A label equal to its parent's is padding: the same
 * node.
 */
#define SHOAL_VERIFY_NO_NODE UINT32_MAX

typedef struct shoal_verify_tree {
  const shoal_verify_fold *fold;  /* labels are compared like values of the attribute */
  shoal_text key;                 /* of the last label */
  shoal_verify_dictionary labels; /* their keys; callers may add labels */
  shoal_ids nodes;                /* parent and label -> node; a parent has a smaller number */
  uint32_t *node_of;              /* by known value */
  uint32_t *heights;              /* by node: distance to the deepest known value below */
  size_t n_roots;
} shoal_verify_tree;

static inline uint32_t shoal_verify_parent_of(const shoal_verify_tree *tree, uint32_t node) {
  return (uint32_t)(tree->nodes.of_id[node] >> 32); /* SHOAL_VERIFY_NO_NODE above a root */
}

/*
 * Builds the tree of the task's attribute. The request must have every value of the release, with
 * its path. Reset the tree also after an error; a zeroed tree may be reset.
 */
shoal_status shoal_verify_tree_build(const shoal_verify_task *task, shoal_verify_tree *tree,
                                     shoal_error *error) SHOAL_MUST_CHECK;
void shoal_verify_tree_reset(shoal_verify_tree *tree);
