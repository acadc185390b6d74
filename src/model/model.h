/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model: class -> verdict. One file a privacy model, one row of the table in models.c. A model
 * declares what it needs of a class, whether the rows to suppress can only fall going up the
 * lattice (docs/reading-the-papers.md R1, R2), and how many classes there can be at most; search,
 * check and report use these declarations and never ask which model it is. Verdicts are exact:
 * integers and fractions, no rounded doubles where a tie decides.
 */
#ifndef SHOAL_MODEL_MODEL_H
#define SHOAL_MODEL_MODEL_H

#include <stdatomic.h>

#include "group/classes.h"
#include "policy/policy.h"

enum { SHOAL_MODEL_PARAMETERS = 4 };

/* What a model needs of a class. */
enum {
  SHOAL_NEEDS_SIZE = 0,           /* its number of rows: always there */
  SHOAL_NEEDS_VALUES = 1 << 0,    /* which sensitive values it has */
  SHOAL_NEEDS_HISTOGRAM = 1 << 1, /* rows of each sensitive value */
  SHOAL_NEEDS_GUARDS = 1 << 2     /* which values the guard column has */
};

/* Values of a class in one column: a set of bits, or a sparse histogram. Missing ones may occur. */
typedef struct shoal_value_view {
  bool is_set;
  uint64_t set;           /* values that are not missing, by bit */
  const uint32_t *values; /* ascending */
  const uint64_t *n_rows; /* of each */
  size_t n;
  const uint8_t *is_missing; /* by value; NULL: none is */
} shoal_value_view;

/* A class as a model sees it. */
typedef struct shoal_class_view {
  uint64_t n_rows;
  uint32_t n_distinct; /* values that are not missing */
  shoal_value_view values;
  shoal_value_view guards;
} shoal_class_view;

/* Goes over the values that are not missing: start with *at = 0; false at the end. */
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
    *value = view->values[*at];
    *n_rows = view->n_rows[*at];
    (*at)++;
    if (!view->is_missing || !view->is_missing[*value]) return true;
  }
  return false;
}

/* How rows spread over the values of a column, or over groups of them. */
typedef struct shoal_spread {
  uint64_t n_rows;
  uint64_t n_valued;    /* rows whose value is not missing */
  uint64_t *descending; /* rows of each value that is not missing, most frequent first */
  size_t n_distinct;
} shoal_spread;

typedef enum shoal_parameter_kind {
  SHOAL_PARAMETER_COUNT,  /* a whole number of at least 1 */
  SHOAL_PARAMETER_NUMBER, /* a decimal from `least` to `most` */
  SHOAL_PARAMETER_WORD,   /* one of `words`; the first is the default */
  SHOAL_PARAMETER_COLUMN  /* a column of the data */
} shoal_parameter_kind;

typedef struct shoal_parameter {
  const char *name; /* NULL ends the list */
  shoal_parameter_kind kind;
  const char *default_key; /* "k" or "p": taken from privacy.k or privacy.p where not given */
  bool optional;
  const char *const *words;
  const char *least, *most; /* decimals as text; every number has a least, NULL: it has no most */
  bool above_least;         /* `least` itself is not allowed */
} shoal_parameter;

typedef struct shoal_model_type shoal_model_type;

/* A demand that enough distinct groups of values satisfy: how many, and of which groups. */
typedef struct shoal_distinct {
  uint64_t least;
  const uint32_t *group_of; /* by value, below n_groups; NULL: each value is its own group */
  uint32_t n_groups;
} shoal_distinct;

/* One model asked for, on one attribute. */
typedef struct shoal_demand {
  const shoal_model_type *type;
  size_t sensitive; /* index of the attribute; SHOAL_NO_ATTRIBUTE where the model is on none */
  size_t guard;     /* index of the guard column among the tracked ones, or SHOAL_NO_ATTRIBUTE */
  bool given[SHOAL_MODEL_PARAMETERS]; /* by parameter */
  uint64_t count[SHOAL_MODEL_PARAMETERS];
  shoal_decimal number[SHOAL_MODEL_PARAMETERS];
  size_t word[SHOAL_MODEL_PARAMETERS];      /* index into the parameter's words */
  const char *text[SHOAL_MODEL_PARAMETERS]; /* as it was written, or its default */
  uint64_t k;                               /* class size the policy asks for by itself */
  void *own;                                /* what `prepare` made */
  atomic_bool *no_memory;                   /* of all bound together: judging ran out of it */
  shoal_mark mark;                          /* where the policy asks for it */
} shoal_demand;

#define SHOAL_NO_ATTRIBUTE SIZE_MAX

/* A sensitive attribute with what the policy says of it. */
typedef struct shoal_sensitive {
  const shoal_column *column;
  const shoal_attribute *attribute;
  const shoal_hierarchy *hierarchy; /* its tree; NULL: none */
} shoal_sensitive;

/* What `prepare` may use. */
typedef struct shoal_model_context {
  const shoal_policy *policy;
  const shoal_table *table;
  const shoal_sensitive *sensitive; /* the demand's attribute, NULL where it is on none */
  const shoal_column *guard;        /* the guard column, NULL where there is none */
} shoal_model_context;

struct shoal_model_type {
  const char *name;
  const char *parameters_help;
  const char *summary;
  const shoal_parameter *parameters;
  unsigned needs;
  bool on_attribute;  /* judged on a sensitive attribute */
  bool at_most;       /* what is reached must not be above what is required; else not below */
  bool is_size;       /* it is about the class's size alone: its first parameter is a k */
  bool against_table; /* it compares a class with the whole table */
  bool is_p;          /* its first parameter is a p, which cannot be above k */
  bool bounds_share;  /* its first parameter bounds the share of any value in a class */
  /* Rows to suppress can only fall going up the lattice; may depend on the parameters. */
  bool (*monotone)(const shoal_demand *demand);
  /* Checks what the parameters need, and makes demand->own; NULL: nothing to do. */
  shoal_status (*prepare)(shoal_demand *demand, const shoal_model_context *context,
                          shoal_error *error);
  void (*release)(void *own); /* NULL: nothing to free */
  /* Does the class satisfy the demand? */
  bool (*holds)(const shoal_demand *demand, const shoal_class_view *view);
  /* What the class reaches of what `required` asks for, to be shown. */
  double (*reached)(const shoal_demand *demand, const shoal_class_view *view);
  double (*required)(const shoal_demand *demand);
  /* At most so many classes can satisfy the demand together; 0: none can. NULL: no bound. */
  uint64_t (*most_classes)(const shoal_demand *demand, const shoal_spread *spread);
  /* Where p is counted on groups of values (subtrees, categories): how these spread. */
  const shoal_spread *(*groups)(const shoal_demand *demand);
  /* True where the demand is nothing but a number of distinct groups of values. NULL: it is not. */
  bool (*distinct)(const shoal_demand *demand, shoal_distinct *distinct);
  /*
   * True where a class must have equally many rows, or one more, of each group of values that it
   * has any of. NULL: it need not.
   */
  bool (*balances)(const shoal_demand *demand, shoal_distinct *groups);
  /* Why most_classes is 0, for a person. */
  void (*explain)(const shoal_demand *demand, const shoal_spread *spread, const char *attribute,
                  char *out, size_t capacity);
};

/* The table of models, ended by NULL. */
extern const shoal_model_type *const shoal_model_types[];

/* All that a policy asks for, in a table's terms. */
typedef struct shoal_demands {
  shoal_demand *items;
  size_t n_items;
  bool monotone; /* every one of them is */
  uint64_t k;    /* the largest class size asked for by itself; 1 where none is */
  uint64_t p;    /* the largest p; 1 where none is */
  atomic_bool *no_memory;
} shoal_demands;

/* What demands are bound to: the sensitive attributes, then columns that are only tracked. */
typedef struct shoal_tracked {
  const shoal_sensitive *sensitive;
  size_t n_sensitive;
  const shoal_column **columns; /* room for n_sensitive and the table's columns; filled here */
  shoal_track *track;           /* as long */
  size_t n_columns;
} shoal_tracked;

/*
 * Binds the policy's models. SHOAL_BAD_INPUT, with the policy's line, for unknown models or
 * parameters, impossible ones, attributes that are not sensitive or lack what a model needs.
 * `tracked` receives what must travel with the classes.
 */
shoal_status shoal_demands_bind(const shoal_policy *policy, const shoal_table *table,
                                shoal_tracked *tracked, shoal_demands *demands,
                                shoal_error *error) SHOAL_MUST_CHECK;
/* Is there any demand at all? */
shoal_status shoal_demands_check(const shoal_demands *demands, const shoal_policy *policy,
                                 shoal_error *error) SHOAL_MUST_CHECK;
/* A p above k is refused, with the policy's line: a release cannot have it cheaper than p rows. */
shoal_status shoal_demands_check_p(const shoal_demands *demands, const shoal_policy *policy,
                                   shoal_error *error) SHOAL_MUST_CHECK;
void shoal_demands_reset(shoal_demands *demands);

/* Returns `failed`, and remembers it: a class that could not be judged counts as breaking. */
bool shoal_demand_failed(const shoal_demand *demand, bool failed);
/* SHOAL_FAILED if any class could not be judged since the demands were bound. */
shoal_status shoal_demands_trust(const shoal_demands *demands, shoal_error *error) SHOAL_MUST_CHECK;

/* What judging classes comes to. */
typedef struct shoal_verdict {
  uint64_t suppressed;     /* rows in classes that break a demand */
  uint32_t n_classes;      /* classes that break none */
  uint64_t smallest_class; /* of these; 0 if there are none */
} shoal_verdict;

/*
 * Judges every class against every demand. `breaks`, if not NULL, receives 1 for each class that
 * breaks one (n_classes of them). Stops early, with suppressed > limit, once it is above `limit`
 * and `breaks` is NULL.
 */
shoal_verdict shoal_judge(const shoal_demands *demands, const shoal_frequency *frequency,
                          const shoal_classes *classes, uint64_t limit, uint8_t *breaks);

/* Does one class satisfy one demand, and what does it reach? */
bool shoal_demand_holds(const shoal_demand *demand, const shoal_frequency *frequency,
                        const shoal_classes *classes, uint32_t c, double *reached);

/* Rows of each value of a column, by value; the caller frees it. NULL: no memory. */
uint64_t *shoal_count_values(const shoal_table *table, const shoal_column *column);

/* The spread of a column's values; the caller frees spread->descending. */
shoal_status shoal_spread_count(const shoal_table *table, const shoal_column *column,
                                shoal_spread *spread, shoal_error *error) SHOAL_MUST_CHECK;

/* The same after each value has become the group group_of[value], one of n_groups. */
shoal_status shoal_spread_groups(const shoal_table *table, const shoal_column *column,
                                 const uint32_t *group_of, uint32_t n_groups, shoal_spread *spread,
                                 shoal_error *error) SHOAL_MUST_CHECK;

/* From the rows of each group, in any order in `descending`: sorts them, drops empty ones. */
void shoal_spread_sort(shoal_spread *spread, size_t n_groups);

/*
 * The largest number of groups that can each have p distinct values: condition 2 of Truta & Vinay
 * 2006 with the term i = p of Truta, Campan & Meyer 2007; 0 where p is above the distinct values.
 */
uint64_t shoal_spread_max_groups(const shoal_spread *spread, uint64_t p);

/*
 * Each value's strong ancestor (Campan & Truta 2006, Definition 3) as a number below *n_groups: the
 * highest protected node on its way to the root, or itself. The caller frees *group_of.
 */
shoal_status shoal_strong_ancestors(const shoal_policy *policy, const shoal_sensitive *sensitive,
                                    uint32_t **group_of, uint32_t *n_groups,
                                    shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Each value's category, 0 the most sensitive; UINT32_MAX for missing values. SHOAL_BAD_INPUT if
 * a value has none. The caller frees *category_of.
 */
shoal_status shoal_value_categories(const shoal_policy *policy, const shoal_table *table,
                                    const shoal_sensitive *sensitive, uint32_t **category_of,
                                    uint32_t *n_categories, shoal_error *error) SHOAL_MUST_CHECK;

#endif
