/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model: class -> verdict. One file a privacy model, one row of the table in models.c. A model
 * declares what it needs of a class, whether the rows to suppress can only fall going up the
 * lattice (docs/reading-the-papers.md R1, R2), and how many classes there can be at most; search,
 * check and report use these declarations and never ask which model it is.
 */
#ifndef SHOAL_MODEL_MODEL_H
#define SHOAL_MODEL_MODEL_H

#include "group/classes.h"
#include "policy/policy.h"

enum { SHOAL_MODEL_PARAMETERS = 4 };

/* What a model needs of a class. */
enum {
  SHOAL_NEEDS_SIZE = 0,           /* its number of rows: always there */
  SHOAL_NEEDS_DISTINCT = 1 << 0,  /* distinct sensitive values */
  SHOAL_NEEDS_HISTOGRAM = 1 << 1  /* rows of each sensitive value */
};

/* A class as a model sees it. */
typedef struct shoal_class_view {
  uint64_t n_rows;
  uint32_t n_distinct; /* values that are not missing */
  const uint32_t *values;
  const uint64_t *value_rows;
  size_t n_values;
} shoal_class_view;

/* How a sensitive attribute's values spread over the whole table. */
typedef struct shoal_spread {
  uint64_t n_rows;
  uint64_t n_valued;      /* rows whose value is not missing */
  uint64_t *descending;   /* rows of each value that is not missing, most frequent first */
  size_t n_distinct;
} shoal_spread;

typedef enum shoal_parameter_kind {
  SHOAL_PARAMETER_COUNT /* a whole number of at least 1 */
} shoal_parameter_kind;

typedef struct shoal_parameter {
  const char *name; /* NULL ends the list */
  shoal_parameter_kind kind;
  const char *default_key; /* "k" or "p": taken from privacy.k or privacy.p where not given */
} shoal_parameter;

typedef struct shoal_model_type shoal_model_type;

/* One model asked for, on one attribute. */
typedef struct shoal_demand {
  const shoal_model_type *type;
  size_t sensitive; /* index of the attribute; SHOAL_NO_ATTRIBUTE where the model is on none */
  uint64_t count[SHOAL_MODEL_PARAMETERS]; /* by parameter */
  shoal_mark mark;
} shoal_demand;

#define SHOAL_NO_ATTRIBUTE SIZE_MAX

struct shoal_model_type {
  const char *name;
  const char *parameters_help;
  const char *summary;
  const shoal_parameter *parameters;
  unsigned needs;
  bool on_attribute; /* judged on a sensitive attribute */
  bool monotone;     /* rows to suppress can only fall going up the lattice */
  /* Does the class satisfy the demand? */
  bool (*holds)(const shoal_demand *demand, const shoal_class_view *view);
  /* What the class reaches of what `required` asks for; the least over classes is reported. */
  double (*reached)(const shoal_class_view *view);
  double (*required)(const shoal_demand *demand);
  /* At most so many classes can satisfy the demand together; 0: none can. */
  uint64_t (*most_classes)(const shoal_demand *demand, const shoal_spread *spread);
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
} shoal_demands;

/*
 * Binds the policy's models to the sensitive attributes. SHOAL_BAD_INPUT, with the policy's line,
 * for unknown models or parameters, impossible ones, attributes that are not sensitive.
 * `track` receives, by attribute, what must travel with the classes.
 */
shoal_status shoal_demands_bind(const shoal_policy *policy, const shoal_column *const *sensitive,
                                size_t n_sensitive, shoal_demands *demands, shoal_track *track,
                                shoal_error *error) SHOAL_MUST_CHECK;
/* Do the demands make sense together? p above k is refused, with the policy's line. */
shoal_status shoal_demands_check(const shoal_demands *demands, const shoal_policy *policy,
                                 shoal_error *error) SHOAL_MUST_CHECK;
void shoal_demands_reset(shoal_demands *demands);

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

/* The spread of a column's values; the caller frees spread->descending. */
shoal_status shoal_spread_count(const shoal_table *table, const shoal_column *column,
                                shoal_spread *spread, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The largest number of groups that can each have p distinct values: condition 2 of Truta & Vinay
 * 2006 with the term i = p of Truta, Campan & Meyer 2007; 0 where p is above the distinct values.
 */
uint64_t shoal_spread_max_groups(const shoal_spread *spread, uint64_t p);

#endif
