/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model: class -> verdict. One file per privacy model, one row of the table in models.c. A model
 * declares what it needs of a class, whether it is monotone, that is, suppression never rises going
 * up the lattice (docs/reading-the-papers.md R1, R2), and a bound on the number of classes. Search,
 * check and report use these declarations and never ask which model it is. Verdicts are exact:
 * integers and fractions; rounding never decides a tie.
 */
#pragma once

#include <stdatomic.h>

#include "group/classes.h"
#include "policy/policy.h"

enum { SHOAL_MODEL_PARAMETERS = 4 };

/* What a model needs of a class. */
enum {
  SHOAL_NEEDS_SIZE = 0,           /* its number of rows: always known */
  SHOAL_NEEDS_VALUES = 1 << 0,    /* which sensitive values it has */
  SHOAL_NEEDS_HISTOGRAM = 1 << 1, /* rows of each sensitive value */
  SHOAL_NEEDS_GUARDS = 1 << 2     /* which values the guard column has */
};

/* Values of a class in one column: a set of bits, or a sparse histogram with missing values. */
typedef struct shoal_value_view {
  bool is_set;
  uint64_t set;           /* values that are not missing, by bit */
  const uint32_t *values; /* ascending */
  const uint64_t *n_rows; /* of each */
  size_t n;
  const uint8_t *is_missing; /* by value; NULL: none is */
  const uint32_t *value_of; /* not NULL: `values` are pairs of a value and a person (shoal_pairs) */
} shoal_value_view;

/* A class as a model sees it. */
typedef struct shoal_class_view {
  uint64_t n_rows;     /* proportions of people: its pairs of a value and a person, or its people */
  uint64_t n_people;   /* distinct values of requirement->people, at least up to what is required */
  uint32_t n_distinct; /* values that are not missing */
  shoal_value_view values;
  shoal_value_view guards;
} shoal_class_view;

/* Iterates over the values that are not missing, with the rows, or people, of each. Start with
 * *at = 0; false at the end. */
static inline bool shoal_view_next(const shoal_value_view *view, size_t *at, uint32_t *value,
                                   uint64_t *n_rows) {
  if (view->is_set) {
    uint64_t rest = *at < 64 ? view->set >> *at : 0;
    if (!rest) return false;
    *value = (uint32_t)(*at + (size_t)__builtin_ctzll(rest));
    *n_rows = 0;
    *at = (size_t)*value + 1;
    return true;
  }
  while (*at < view->n) {
    size_t first = *at;
    *value = view->values[first];
    *n_rows = view->n_rows[first];
    (*at)++;
    if (view->value_of) { /* pairs of one value follow each other */
      *value = view->value_of[*value];
      while (*at < view->n && view->value_of[view->values[*at]] == *value) (*at)++;
      *n_rows = *at - first;
    }
    if (!view->is_missing || !view->is_missing[*value]) return true;
  }
  return false;
}

/* Frequencies of the values of a column, or of groups of them. */
typedef struct shoal_value_frequencies {
  uint64_t n_rows;
  uint64_t n_valued;    /* rows whose value is not missing */
  uint64_t *descending; /* rows of each value that is not missing, most frequent first */
  size_t n_distinct;
} shoal_value_frequencies;

typedef enum shoal_parameter_kind {
  SHOAL_PARAMETER_COUNT,  /* a whole number of at least 1 */
  SHOAL_PARAMETER_NUMBER, /* a decimal from `min` to `max` */
  SHOAL_PARAMETER_WORD,   /* one of `words`; the first is the default */
  SHOAL_PARAMETER_COLUMN  /* a column of the data */
} shoal_parameter_kind;

typedef struct shoal_parameter {
  const char *name; /* NULL ends the list */
  shoal_parameter_kind kind;
  const char *default_key; /* "k" or "p": the default is privacy.k or privacy.p */
  bool optional;
  const char *const *words;
  const char *min, *max; /* decimals as text; every number has a min; max NULL: no limit */
  bool above_min;        /* `min` itself is not allowed */
} shoal_parameter;

typedef struct shoal_model_type shoal_model_type;

/* A class must have values of at least `min` distinct groups. */
typedef struct shoal_distinct {
  uint64_t min;
  const uint32_t *group_of; /* by value, below n_groups; NULL: each value is its own group */
  uint32_t n_groups;
} shoal_distinct;

/*
 * The distinct pairs of a sensitive value and a person, as a column: numbered by value, then by
 * person. Classes that are merged have the pairs of both, so a person counts once for each value.
 * Missing values are one value, the first of them.
 */
typedef struct shoal_pairs {
  shoal_column column;
  uint32_t *value_of; /* by pair */
} shoal_pairs;

/* One model that the policy asks for, on one attribute. */
typedef struct shoal_requirement {
  const shoal_model_type *type;
  size_t sensitive;   /* index of the attribute, or SHOAL_NO_ATTRIBUTE */
  size_t guard;       /* index of the guard column among the tracked ones, or SHOAL_NO_ATTRIBUTE */
  bool counts_people; /* or households: `people` is the index of their column */
  size_t people;
  size_t pair_column;       /* the same of `pairs` */
  const shoal_pairs *pairs; /* a proportion of people; NULL: of rows, or no proportion */
  bool unjudged;            /* it counts people, and the table does not say who they are */
  bool given[SHOAL_MODEL_PARAMETERS]; /* by parameter */
  uint64_t count[SHOAL_MODEL_PARAMETERS];
  shoal_decimal number[SHOAL_MODEL_PARAMETERS];
  size_t word[SHOAL_MODEL_PARAMETERS];      /* index into the parameter's words */
  const char *text[SHOAL_MODEL_PARAMETERS]; /* as written in the policy, or the default */
  uint64_t k;                               /* the policy's class size */
  const uint8_t *covers;  /* by set of the requirements: 1 if its classes must satisfy it */
  uint64_t known;         /* N: it covers every set of N quasi-identifiers; 0: one set */
  void *own;              /* made by `prepare` */
  atomic_bool *no_memory; /* shared: an allocation failed during judging */
  shoal_mark mark;        /* its line in the policy */
} shoal_requirement;

#define SHOAL_NO_ATTRIBUTE SIZE_MAX

/* A sensitive attribute and its part of the policy. */
typedef struct shoal_sensitive {
  const shoal_column *column;
  const shoal_attribute *attribute;
  const shoal_hierarchy *hierarchy; /* its tree; NULL: none */
} shoal_sensitive;

/* What `prepare` may use. */
typedef struct shoal_model_context {
  const shoal_policy *policy;
  const shoal_table *table;
  const shoal_sensitive *sensitive; /* the requirement's attribute, or NULL */
  const shoal_column *guard;        /* the guard column, or NULL */
} shoal_model_context;

struct shoal_model_type {
  const char *name;
  const char *parameters_help;
  const char *summary;
  const shoal_parameter *parameters;
  unsigned needs;
  bool on_attribute;  /* judged on a sensitive attribute */
  bool at_most;       /* `reached` must be at most `required`; else at least */
  bool is_size;       /* it concerns the class's size only; its first parameter is a k */
  bool against_table; /* it compares a class with the whole table */
  bool is_p;          /* its first parameter is a p, which cannot be above k */
  bool bounds_share;  /* its first parameter bounds the share of any value in a class */
  bool of_people; /* its proportions are of the people of a class, if people have several rows */
  /* Suppression never rises going up the lattice; may depend on the parameters. */
  bool (*monotone)(const shoal_requirement *requirement);
  /* Two classes that satisfy it form one that satisfies it (proofs: docs/model-definitions.md).
   * Every monotone model does. If no row may be suppressed, this is as good as monotone. */
  bool merges;
  /*
   * For models that merge: no part of a class that satisfies the requirement has more rows, nor do
   * all such parts together. NULL: unknown. Asked for classes that violate it only.
   */
  uint64_t (*max_part)(const shoal_requirement *requirement, const shoal_class_view *view);
  /* Checks that the attribute has what the model needs, and makes requirement->own; or NULL. */
  shoal_status (*prepare)(shoal_requirement *requirement, const shoal_model_context *context,
                          shoal_error *error);
  void (*release)(void *own); /* NULL: nothing to free */
  /* Does the class satisfy the requirement? */
  bool (*holds)(const shoal_requirement *requirement, const shoal_class_view *view);
  /* The class's value and the required one, for reports. */
  double (*reached)(const shoal_requirement *requirement, const shoal_class_view *view);
  double (*required)(const shoal_requirement *requirement);
  /* About how many rows a class that violates it is away from satisfying it. NULL: the difference
   * of `required` and `reached` times its rows. */
  double (*deficit)(const shoal_requirement *requirement, const shoal_class_view *view);
  /*
   * The distinct values, or groups of them, that a class needs at least; 0: none. It bounds the
   * number of classes (bounds.h). NULL: not known.
   */
  uint64_t (*min_distinct)(const shoal_requirement *requirement);
  /* If groups of values are counted (strong ancestors, categories): their frequencies; or NULL. */
  const shoal_value_frequencies *(*groups)(const shoal_requirement *requirement);
  const char *group_noun, *group_nouns; /* "category", "categories"; with `groups` */
  /* True if the requirement is nothing but a number of distinct groups. NULL: false. */
  bool (*distinct)(const shoal_requirement *requirement, shoal_distinct *distinct);
  /* True if the groups present in a class must differ by at most one row. NULL: false. */
  bool (*balances)(const shoal_requirement *requirement, shoal_distinct *groups);
  /* A sentence that says why the table has too few distinct values. NULL: shoal_bound_explain's. */
  void (*explain)(const shoal_requirement *requirement, const shoal_value_frequencies *frequencies,
                  const char *attribute, char *out, size_t capacity);
};

/* The table of models, ended by NULL. */
extern const shoal_model_type *const shoal_model_types[];
/* The model of that name, or NULL. */
const shoal_model_type *shoal_model_find(const char *name);

/* All requirements of a policy, bound to a table. */
typedef struct shoal_requirements {
  shoal_requirement *items;
  size_t n_items;
  shoal_quasi_set *sets; /* of quasi-identifiers; the first one has all of them */
  size_t n_sets;         /* 1 unless a model says `over` or `known` */
  uint8_t *covers;       /* what the items' `covers` point to */
  bool monotone;         /* all of them are */
  bool merges;           /* all of them do */
  uint64_t k;            /* the largest k; 1 if there is none */
  uint64_t whole_k;      /* the largest k over all quasi-identifiers; 1 if there is none */
  uint64_t p;            /* the largest p; 1 if there is none */
  shoal_pairs **pairs;   /* by sensitive attribute; NULL: not needed */
  size_t n_pairs;
  atomic_bool *no_memory;
} shoal_requirements;

/*
 * Columns whose values travel with the classes: sensitive ones, then guard columns, people and
 * households, and pairs.
 */
typedef struct shoal_tracked {
  const shoal_sensitive *sensitive;
  size_t n_sensitive;
  const shoal_column *const *quasi; /* of tuples, not tracked; `over` and `known` are about them */
  size_t n_quasi;
  /* Who each row is about; NULL: each row is about somebody else, or it is not known (`absent`). */
  const shoal_column *person, *household;
  bool person_absent, household_absent; /* the policy has the role, and the table lacks a column */
  const shoal_column **columns;         /* room for shoal_tracked_room; filled by bind */
  shoal_track *track;                   /* of the same length */
  size_t n_columns;
} shoal_tracked;

/* Every column of the table, a column of pairs for each, people and households. */
static inline size_t shoal_tracked_room(const shoal_table *table) {
  return 2 * table->n_columns + 2;
}

/* Is the requirement about classes over all quasi-identifiers? */
static inline bool shoal_requirement_is_whole(const shoal_requirement *requirement) {
  return requirement->covers[0] != 0;
}

/*
 * Binds the policy's models. SHOAL_BAD_INPUT, with the policy's line, for unknown models, unknown
 * or impossible parameters, sets of other attributes than quasi-identifiers, and attributes that
 * are not sensitive or lack what a model needs. Fills in `tracked`. Nothing to reset on failure.
 */
shoal_status shoal_requirements_bind(const shoal_policy *policy, const shoal_table *table,
                                     shoal_tracked *tracked, shoal_requirements *requirements,
                                     shoal_error *error) SHOAL_MUST_CHECK;
/* SHOAL_BAD_INPUT if there is no requirement. */
shoal_status shoal_requirements_check(const shoal_requirements *requirements,
                                      const shoal_policy *policy,
                                      shoal_error *error) SHOAL_MUST_CHECK;
/* The largest k over the same sets of quasi-identifiers; 0: there is none. */
uint64_t shoal_requirement_k_beside(const shoal_requirements *requirements,
                                    const shoal_requirement *requirement);
/* Is the requirement's p above this k? Then k is not the class size that it stands for. */
bool shoal_requirement_p_above_k(const shoal_requirements *requirements,
                                 const shoal_requirement *requirement);
/* SHOAL_BAD_INPUT, with the policy's line, if a p is above k. */
shoal_status shoal_requirements_check_p(const shoal_requirements *requirements,
                                        const shoal_policy *policy,
                                        shoal_error *error) SHOAL_MUST_CHECK;
void shoal_requirements_reset(shoal_requirements *requirements);
/* Sets what follows from the items: monotone, merges, k, whole_k and p. */
void shoal_requirements_summarize(shoal_requirements *requirements);

/* Does it require a number of rows, people or households, whatever their values? */
bool shoal_requirement_is_size(const shoal_requirement *requirement);
/* Suppression never rises going up the lattice. Proportions of people have no such rule. */
bool shoal_requirement_is_monotone(const shoal_requirement *requirement);
/* It can be judged by parts of a class (shoal_model_type.max_part). */
bool shoal_requirement_bounds_parts(const shoal_requirement *requirement);

/* Returns `failed`, and records it: a class that could not be judged counts as violating. */
bool shoal_requirement_failed(const shoal_requirement *requirement, bool failed);
/* SHOAL_FAILED if an allocation failed during judging: then no verdict is reliable. */
shoal_status shoal_requirements_status(const shoal_requirements *requirements,
                                       shoal_error *error) SHOAL_MUST_CHECK;

/* The result of judging classes. */
typedef struct shoal_judgement {
  uint64_t suppressed;     /* rows in classes that violate a requirement */
  uint32_t n_classes;      /* classes that violate none */
  uint64_t smallest_class; /* of these; 0 if there are none */
} shoal_judgement;

/*
 * Judges every class against every requirement. `violates`, if not NULL, receives 1 for each class
 * that violates one, else 0. If it is NULL, judging stops as soon as suppressed > limit. Not for
 * several sets of quasi-identifiers, except for a single class: it is the same over all of them.
 */
shoal_judgement shoal_judge(const shoal_requirements *requirements,
                            const shoal_frequency_set *frequency, const shoal_classes *classes,
                            uint64_t limit, uint8_t *violates);

/*
 * Suppresses classes until no class over any set violates a requirement: in rounds, each of which
 * judges the classes of all sets and then suppresses those that violate
 * (docs/model-definitions.md). suppressed[c]: on entry 1 for classes that are left out, on return
 * also for those that must be suppressed. `clean`, if not NULL: by set, 1 if the first round need
 * not judge it. Stops early once more than `limit` rows are suppressed. Without memory every class
 * is suppressed, and shoal_requirements_status fails.
 */
void shoal_suppress_over_sets(const shoal_requirements *requirements,
                              const shoal_frequency_set *frequency, const shoal_classes *classes,
                              const shoal_labelling *labelling, const uint8_t *clean,
                              uint64_t limit, uint8_t *suppressed);
/* What is left of the classes without those with suppressed[c]. */
shoal_judgement shoal_judgement_of(const shoal_classes *classes, const uint8_t *suppressed);

/*
 * Rows of classes over one set that violate a requirement of this set. `over`: classes over it.
 * violates, if not NULL, receives 1 for each class that does, else 0.
 */
uint64_t shoal_judge_over(const shoal_requirements *requirements, size_t set,
                          const shoal_frequency_set *frequency, const shoal_classes *over,
                          uint8_t *violates);

/* The same of parts of classes, but for the number of their rows, which is the class's. */
void shoal_judge_parts_over(const shoal_requirements *requirements, size_t set,
                            const shoal_frequency_set *frequency, const shoal_classes *parts,
                            uint8_t *violates);
/*
 * spare[c] receives a number of rows that class c may lose, whichever they are, and still satisfy
 * requirements that are monotone; 0 if it violates them. `violates`: as shoal_judge_over fills it.
 */
void shoal_spare_over(const shoal_requirements *requirements, size_t set,
                      const shoal_frequency_set *frequency, const shoal_classes *over,
                      const uint8_t *violates, uint32_t *spare);

/*
 * violates[c] receives 1 for each class, except those left out, that lies in a class over one of
 * the requirement's sets that violates it; else 0.
 */
shoal_status shoal_requirement_violating(const shoal_requirements *requirements,
                                         const shoal_requirement *requirement,
                                         const shoal_frequency_set *frequency,
                                         const shoal_classes *classes,
                                         const shoal_labelling *labelling, const uint8_t *left_out,
                                         uint8_t *violates, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Rows of these classes that every node at or below theirs suppresses, at least. A class below is a
 * part of a class here; what a requirement says about parts (max_part) bounds the rows that can be
 * released. `violates`: by class, as shoal_judge fills it.
 */
uint64_t shoal_min_suppressed(const shoal_requirements *requirements,
                              const shoal_frequency_set *frequency, const shoal_classes *classes,
                              const uint8_t *violates);

/* The values of a tracked column in class c. */
shoal_value_view shoal_classes_values(const shoal_frequency_set *frequency,
                                      const shoal_classes *classes, uint32_t c, size_t tracked);

/* Does class c satisfy the requirement? *reached, if not NULL, receives its value. */
bool shoal_requirement_holds(const shoal_requirement *requirement,
                             const shoal_frequency_set *frequency, const shoal_classes *classes,
                             uint32_t c, double *reached);

/* Distinct pairs of a value of the column and a person. NULL: no memory. */
shoal_pairs *shoal_pairs_new(const shoal_table *table, const shoal_column *values,
                             const shoal_column *person);
void shoal_pairs_free(shoal_pairs *pairs); /* NULL: nothing */

/* Rows of each value of the requirement's attribute in the table, or people if it is a proportion
 * of people; the caller frees the array. NULL: no memory. */
uint64_t *shoal_requirement_count_values(const shoal_requirement *requirement,
                                         const shoal_table *table, const shoal_column *column);

/* Rows of each value of a column; the caller frees the array. NULL: no memory. */
uint64_t *shoal_count_values(const shoal_table *table, const shoal_column *column);

/* Frequencies of a column's values; the caller frees frequencies->descending. */
shoal_status shoal_value_frequencies_count(const shoal_table *table, const shoal_column *column,
                                           shoal_value_frequencies *frequencies,
                                           shoal_error *error) SHOAL_MUST_CHECK;

/* The same for groups of values: value v is in group group_of[v] < n_groups. */
shoal_status shoal_value_frequencies_groups(const shoal_table *table, const shoal_column *column,
                                            const uint32_t *group_of, uint32_t n_groups,
                                            shoal_value_frequencies *frequencies,
                                            shoal_error *error) SHOAL_MUST_CHECK;

/* Sorts `descending`, n_groups counts in any order, drops zeros and sets the other fields. */
void shoal_value_frequencies_sort(shoal_value_frequencies *frequencies, size_t n_groups);

/*
 * The maximum number of classes that can each have p distinct values: condition 2 of Truta & Vinay
 * 2006, with the term i = p of Truta, Campan & Meyer 2007. 0 if p is above the distinct values;
 * all rows if p is 0.
 */
uint64_t shoal_value_frequencies_max_groups(const shoal_value_frequencies *frequencies, uint64_t p);

/*
 * The strong ancestor of each value (Campan & Truta 2006, Definition 3): the highest protected node
 * on its path to the root, or itself; as a number below *n_groups. The caller frees *group_of.
 */
shoal_status shoal_strong_ancestors(const shoal_policy *policy, const shoal_sensitive *sensitive,
                                    uint32_t **group_of, uint32_t *n_groups,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The category of each value, 0 the most sensitive; UINT32_MAX for missing values. SHOAL_BAD_INPUT
 * if a value has none. The caller frees *category_of.
 */
shoal_status shoal_value_categories(const shoal_policy *policy, const shoal_table *table,
                                    const shoal_sensitive *sensitive, uint32_t **category_of,
                                    uint32_t *n_categories, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The values of the column, by their codes, then those that only the attribute's categories list,
 * in their order. The caller resets *values.
 */
shoal_status shoal_listed_values(const shoal_policy *policy, const shoal_sensitive *sensitive,
                                 shoal_values *values, shoal_error *error) SHOAL_MUST_CHECK;
