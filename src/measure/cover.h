/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/cover: what a released label can stand for.
 *
 * For one attribute of the policy and the columns at hand, a domain lays all known values on a
 * line: numbers ascending, leaves of a tree from left to right, other words in order of their
 * bytes; missing values come behind numbers and words (cluster/axes.h has the same idea for raw
 * data only). Every raw value has a place, every released label a span of places.
 *
 * A label is, first match wins: a label of the attribute's hierarchy (of the one level that has all
 * labels of the column, else of the highest level that has it); a known value; a missing value; a
 * spelling (labels.h). The span is the least stretch of the line that holds all that the label can
 * stand for; where it holds more than that (an interval across a tree in another order), `loose`
 * is set and shoal_domain_holds looks closer.
 */
#ifndef SHOAL_MEASURE_COVER_H
#define SHOAL_MEASURE_COVER_H

#include "hierarchy/hierarchy.h"
#include "measure/labels.h"
#include "policy/policy.h"

#define SHOAL_NO_PLACE UINT32_MAX
#define SHOAL_NO_LEVEL UINT32_MAX

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
  bool complete; /* raw[0] is the original: a label that is no known value must mean something */
} shoal_domain_request;

/* What one label stands for. */
typedef struct shoal_cover {
  uint32_t lo, hi;    /* places; lo > hi: no known value */
  uint32_t n_places;  /* known values it stands for */
  bool everything;    /* it says nothing at all: a star, the top, a suppressed cell */
  bool missing;       /* it is a missing value, which stands for itself */
  bool loose;         /* not every place of lo .. hi is held */
  bool is_range;      /* `range` says what it means as numbers */
  bool spelled_range; /* its bytes say so, not only the values below it */
  uint32_t same_as;   /* the first label of the column that means the same: itself, mostly */
  shoal_range range;
  const char *prefix; /* NULL, or: values that start with these bytes (the label's, borrowed) */
  size_t prefix_bytes;
  uint32_t level;     /* of the hierarchy; SHOAL_NO_LEVEL: not a label of it */
  double height_loss; /* 0..1: subtree's height over the tree's; numbers without tree: width */
  double leaves_loss; /* 0..1: (values under it - 1) / (all values - 1) */
  double width;       /* 0..1: numbers: high - low, within the domain, over the domain's */
} shoal_cover;

typedef struct shoal_released_labels {
  const shoal_table *table; /* borrowed, as is the column */
  const shoal_column *column;
  shoal_cover *covers; /* by code */
  uint32_t level;      /* the lowest level that has all its labels but stars; or SHOAL_NO_LEVEL */
} shoal_released_labels;

typedef struct shoal_domain {
  const shoal_attribute *attribute; /* borrowed */
  shoal_hierarchy *hierarchy;       /* owned; NULL: none */
  shoal_column values;    /* owned: the values that columns know; the tree may have more leaves */
  uint32_t n_leaves;      /* of the hierarchy, or the values; codes of `values` come first */
  uint32_t n_places;      /* one a leaf of the hierarchy, or one a value */
  bool is_number;         /* the attribute's type: `numbers` is there */
  bool ascending;         /* numbers stand in ascending order on the line */
  uint32_t n_missing;     /* places that are missing values */
  uint32_t *place_of;     /* by leaf */
  uint32_t *leaf_at;      /* by place */
  shoal_decimal *numbers; /* by place; NULL: not a number */
  bool *place_missing;    /* by place */
  shoal_range all;        /* least and greatest number; neither: there is none */
  shoal_released_labels *released; /* by released column */
  size_t n_released;
  uint32_t **raw_place; /* by raw column, by code; SHOAL_NO_PLACE: unknown to the hierarchy */
  size_t n_raw;
} shoal_domain;

/*
 * Compiles a domain. Columns and attribute must outlive it. SHOAL_BAD_INPUT: a label that can stand
 * for nothing known (with file, row of its first appearance and column, never its bytes); a value
 * that is no number; a hierarchy that breaks its definition. Values of raw[0] that the hierarchy
 * lacks are refused where `complete`; those of other columns have no place. Without `complete`
 * labels bring values of their own: a domain needs no raw column.
 * Cost: values x levels, and sorting the values.
 */
shoal_status shoal_domain_init(shoal_domain *domain, const shoal_domain_request *request,
                               shoal_error *error) SHOAL_MUST_CHECK;
void shoal_domain_reset(shoal_domain *domain);

static inline const shoal_cover *shoal_domain_cover(const shoal_domain *domain, size_t released,
                                                    uint32_t code) {
  return &domain->released[released].covers[code];
}

static inline uint32_t shoal_domain_place(const shoal_domain *domain, size_t raw, uint32_t code) {
  return domain->raw_place[raw][code];
}

/* Slow path of shoal_domain_holds. */
bool shoal_domain_holds_loosely(const shoal_domain *domain, const shoal_cover *cover,
                                uint32_t place);

/* Can the label stand for the value at `place`? No place: only if it can stand for anything. */
static inline bool shoal_domain_holds(const shoal_domain *domain, const shoal_cover *cover,
                                      uint32_t place) {
  if (place == SHOAL_NO_PLACE) return cover->everything;
  if (place < cover->lo || place > cover->hi) return false;
  return !cover->loose || shoal_domain_holds_loosely(domain, cover, place);
}

/* Is there anything that both labels (of one or two releases) can stand for? */
bool shoal_domain_overlap(const shoal_domain *domain, const shoal_cover *a, const shoal_cover *b);

#endif
