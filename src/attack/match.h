/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/match: finds the released classes that a person, or a class of another release, can be in,
 * by the values that each released label can cover (measure/domain.h).
 *
 * The index is a tree with one level per quasi-identifier. Classes with equal first labels share a
 * path:
 *
 *     level 0 (age)            [20-29]                [30-39]
 *     level 1 (zip)       431*        432*             431*
 *     order            classes 4 7     0             2 3 9
 *
 * Siblings are sorted by the first position of their span, and each has the largest last position
 * in the range that it is the middle of, so a query skips ranges that cannot match (an interval
 * tree, Cormen et al., section 14.3, stored in an array). Cost of a query: the paths that match,
 * times a logarithm.
 */
#pragma once

#include "group/classes.h"
#include "measure/domain.h"

/* The nodes of one level of the index. */
typedef struct shoal_match_level {
  size_t quasi;
  uint32_t n_nodes;
  const shoal_label_span **spans; /* of each node's label */
  uint32_t *max_hi; /* largest hi in the range of siblings that the node is the middle of */
  uint32_t *begin;  /* n_nodes + 1: its children on the next level, or its classes in `order` */
} shoal_match_level;

typedef struct shoal_match_index {
  const shoal_domain *domains;
  size_t n_levels;
  shoal_match_level *levels;
  uint32_t *order; /* classes in the order of the paths */
  uint32_t n_classes;
  shoal_arena arena; /* of all these */
} shoal_match_index;

/*
 * Builds the index of the classes of released column `released` of each domain; by those
 * quasi-identifiers q for which known[q] (NULL: all).
 */
shoal_status shoal_match_index_build(shoal_match_index *index, const shoal_domain *domains,
                                     size_t n_quasi, size_t released,
                                     const shoal_frequency_set *frequency, const bool *known,
                                     shoal_error *error) SHOAL_MUST_CHECK;
void shoal_match_index_reset(shoal_match_index *index);

/* What a query knows of one quasi-identifier: a value, a label of another release, or nothing. */
typedef struct shoal_match_key {
  const shoal_label_span *span; /* NULL: a value, at `position` */
  uint32_t position;            /* SHOAL_NONE: a value that the domain lacks: only "*" matches */
  bool any;                     /* nothing is known: every label matches */
} shoal_match_key;

/* A growing list of classes. */
typedef struct shoal_matches {
  uint32_t *classes;
  size_t n;
  size_t capacity;
  bool failed; /* no memory */
} shoal_matches;

/* Finds the classes that match all keys (by quasi-identifier), in the index's order. */
void shoal_match_find(const shoal_match_index *index, const shoal_match_key *keys,
                      shoal_matches *matches);

/* ---- people: the distinct tuples of a table with raw values (linking.c) */

typedef struct shoal_linked_people {
  size_t n_quasi;
  bool *known; /* by quasi-identifier: the table has it */
  uint32_t n_tuples;
  uint32_t **positions; /* by quasi-identifier: position of each tuple; NULL: not known */
  uint64_t *n_people;   /* of each tuple */
  uint64_t *first_row;  /* the first is 1 */
  uint64_t n_all;
  uint32_t *tuple_of_row;
  const char *whose; /* a note for the reader, such as "people: those of the external table" */
  shoal_arena arena; /* of all these */
} shoal_linked_people;

/* An unknown value: it can be any. */
#define SHOAL_ANY_POSITION (UINT32_MAX - 1)

/*
 * Groups the rows of a table by value. raw[q] is the number of its column in domain q; SIZE_MAX: it
 * has none. `missing_is_any`: the attacker does not know a missing value.
 */
shoal_status shoal_linked_people_build(shoal_linked_people *people, const shoal_table *table,
                                       const shoal_domain *domains, size_t n_quasi,
                                       const size_t *raw, bool missing_is_any,
                                       shoal_error *error) SHOAL_MUST_CHECK;
void shoal_linked_people_reset(shoal_linked_people *people);

/* The keys of one tuple; room for n_quasi. */
void shoal_linked_people_keys(const shoal_linked_people *people, uint32_t tuple,
                              shoal_match_key *keys);
