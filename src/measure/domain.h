/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/domain: the values that a released label can cover.
 *
 * For one attribute and the given columns, a domain orders all known values: numbers ascending,
 * leaves of a tree from left to right, other values by their bytes; missing values after numbers
 * and words (cluster/axes.h does the same for raw data only). Every raw value has a position, every
 * released label a span of positions:
 *
 *     position   0    1    2    3    4    5
 *     value     21   25   29   33   38   "?"
 *     label     [20-29]: lo 0, hi 2    [30-39]: lo 3, hi 4    *: lo 0, hi 5
 *
 * A label is the first of these that applies: a set of values, if the attribute has sets
 * (hierarchy/set_label.h); a label of the attribute's hierarchy (of the level
 * that has all labels of the column, else of the highest level that has it); a known value; a
 * missing value; an interval, prefix or star by its spelling (label_syntax.h). The span is the
 * smallest range of positions with all values that the label covers. If the range also has other
 * values (a set, an interval across a tree with another order), `loose` is set and
 * shoal_domain_holds tests each value.
 */
#pragma once

#include "hierarchy/hierarchy.h"
#include "measure/label_syntax.h"
#include "policy/policy.h"
#include "table/bad_cells.h"

/* A column and its table, which names the file in messages. */
typedef struct shoal_source_column {
  const shoal_table *table;
  const shoal_column *column;
} shoal_source_column;

typedef struct shoal_domain_request {
  const shoal_policy *policy;
  const shoal_attribute *attribute;
  const shoal_source_column *released; /* columns of labels, of one or more releases */
  size_t n_released;
  const shoal_source_column *raw; /* columns of values: original, external table, population */
  size_t n_raw;
  bool complete; /* raw[0] is the original: a label that covers none of its values is an error */
  bool local;    /* numbers were written as intervals, also if they look like labels of one level */
} shoal_domain_request;

/* The values that one label covers. */
typedef struct shoal_label_span {
  uint32_t lo, hi;      /* positions; lo > hi: no known value */
  uint32_t n_positions; /* known values that it covers */
  bool everything;      /* it covers everything: a star, the top, a suppressed cell */
  bool missing;         /* it is a missing value, which covers itself */
  bool loose;           /* it does not cover every position of lo .. hi */
  bool is_range;        /* `range` has its meaning as numbers */
  bool spelled_range;   /* `range` comes from its spelling, not only from the values below it */
  uint32_t same_as;     /* the first label of the column with its meaning; mostly itself */
  shoal_range range;
  const char *
      prefix; /* NULL, or: it covers values that start with these bytes (borrowed from the label) */
  size_t prefix_bytes;
  const uint32_t *set; /* NULL, or: it covers these n_positions positions, ascending */
  uint32_t level;      /* of the hierarchy; SHOAL_NONE: not a label of it */
  bool off_level;      /* it covers everything and is no label of the column's level */
  double height_loss;  /* 0..1: what il counts: subtree's height over the tree's, or width */
  double leaves_loss;  /* 0..1: (values under it - 1) / (all values - 1) */
  double width;        /* 0..1: numbers: high - low, within the domain, over the domain's */
} shoal_label_span;

typedef struct shoal_released_labels {
  const shoal_table *table; /* borrowed, as is the column */
  const shoal_column *column;
  shoal_label_span *spans; /* by code */
  uint32_t level; /* the lowest level that has all its labels except stars; or SHOAL_NONE */
} shoal_released_labels;

typedef struct shoal_domain {
  const shoal_attribute *attribute; /* borrowed */
  shoal_hierarchy *hierarchy;       /* owned; NULL: none, or sets */
  shoal_column values;    /* owned: the values of the columns; the tree may have more leaves */
  uint32_t n_leaves;      /* of the hierarchy, or the values; codes of `values` come first */
  uint32_t n_positions;   /* one per leaf of the hierarchy, or per value */
  bool is_number;         /* `numbers` is set */
  bool ascending;         /* numbers ascend with their position */
  uint32_t n_missing;     /* positions of missing values */
  uint32_t *position_of;  /* by leaf */
  uint32_t *leaf_at;      /* by position */
  shoal_decimal *numbers; /* by position; NULL: not a number */
  bool *position_missing; /* by position */
  shoal_range all;        /* of the columns' numbers; no ends: no number is known */
  shoal_released_labels *released; /* by released column */
  size_t n_released;
  shoal_arena sets;        /* positions of labels that are sets */
  uint32_t **raw_position; /* by raw column, by code; SHOAL_NONE: unknown to the hierarchy */
  size_t n_raw;
} shoal_domain;

/*
 * Makes a domain. Columns and attribute must outlive it. SHOAL_BAD_INPUT: a label that covers
 * nothing known (the error has file, row and column, never the label); a value that is not a
 * number; an invalid hierarchy. Values of raw[0] that the hierarchy lacks are an error if
 * `complete`; those of other columns have no position. Without `complete`, labels add values of
 * their own, and no raw column is needed. Cost: values x levels, and sorting the values.
 */
shoal_status shoal_domain_init(shoal_domain *domain, const shoal_domain_request *request,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_domain_reset(shoal_domain *domain);

static inline const shoal_label_span *shoal_domain_span(const shoal_domain *domain, size_t released,
                                                        uint32_t code) {
  return &domain->released[released].spans[code];
}

static inline uint32_t shoal_domain_position(const shoal_domain *domain, size_t raw,
                                             uint32_t code) {
  return domain->raw_position[raw][code];
}

/* Slow paths of shoal_domain_holds. */
bool shoal_domain_set_holds(const shoal_label_span *span, uint32_t position);
bool shoal_domain_holds_loosely(const shoal_domain *domain, const shoal_label_span *span,
                                uint32_t position);

/* Whether the label covers the value at `position`. SHOAL_NONE: only if it covers everything. */
static inline bool shoal_domain_holds(const shoal_domain *domain, const shoal_label_span *span,
                                      uint32_t position) {
  if (position == SHOAL_NONE) return span->everything;
  if (position < span->lo || position > span->hi) return false;
  return !span->loose || shoal_domain_holds_loosely(domain, span, position);
}

/* Whether there is a value that both labels (of one or two releases) cover. */
bool shoal_domain_overlap(const shoal_domain *domain, const shoal_label_span *a,
                          const shoal_label_span *b);

/* The message for cells that the policy allows neither as values nor as labels. */
extern const shoal_cell_fault shoal_no_label;

/* Whether the label covers more than one value: it cannot be a raw value of the data. */
bool shoal_domain_is_general(const shoal_domain *domain, const shoal_label_span *span);
