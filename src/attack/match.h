/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack/match: which released classes can a person, or a class of another release, be in? By what
 * each released label can stand for (measure/cover.h).
 *
 * The classes of a release are an index: a tree with a level a quasi-identifier, in which classes
 * with equal first labels share a way. The labels below one node are sorted by the first place of
 * their span and carry the last place of any below them, so that those that hold a place are found
 * without looking at the others (an interval tree; Cormen et al., section 14.3, laid out in an
 * array). Cost of a question: the ways that match, times a logarithm.
 */
#ifndef SHOAL_ATTACK_MATCH_H
#define SHOAL_ATTACK_MATCH_H

#include "group/classes.h"
#include "measure/cover.h"

/* The nodes of one level of the index. */
typedef struct shoal_match_level {
  size_t quasi;
  uint32_t n_nodes;
  const shoal_cover **covers; /* of each node's label */
  uint32_t *max_hi;           /* of the stretch of siblings that the node is the middle of */
  uint32_t *begin; /* n_nodes + 1: its children on the next level, or its classes in `order` */
} shoal_match_level;

typedef struct shoal_match_index {
  const shoal_domain *domains;
  size_t n_levels;
  shoal_match_level *levels;
  uint32_t *order; /* classes in the order of the ways */
  uint32_t n_classes;
} shoal_match_index;

/*
 * Builds the index of the classes of released column `released` of each domain; by those
 * quasi-identifiers q for which known[q] (NULL: all).
 */
shoal_status shoal_match_index_build(shoal_match_index *index, const shoal_domain *domains,
                                     size_t n_quasi, size_t released,
                                     const shoal_frequency *frequency, const bool *known,
                                     shoal_error *error) SHOAL_MUST_CHECK;
void shoal_match_index_reset(shoal_match_index *index);

/* What is asked about one quasi-identifier: a value, a label of another release, or nothing. */
typedef struct shoal_match_key {
  const shoal_cover *cover; /* NULL: it is a place */
  uint32_t place;           /* SHOAL_NO_PLACE: a value nobody knows: only stars fit */
  bool any;                 /* nothing is known: every label fits */
} shoal_match_key;

/* A growing list of classes. */
typedef struct shoal_matches {
  uint32_t *classes;
  size_t n;
  size_t capacity;
  bool failed; /* no memory */
} shoal_matches;

/* The classes that fit all keys (by quasi-identifier), in the index's order. */
void shoal_match_find(const shoal_match_index *index, const shoal_match_key *keys,
                      shoal_matches *matches);

/* ---- people: the distinct tuples of values of a table with raw values */

typedef struct shoal_people {
  size_t n_quasi;
  bool *known; /* by quasi-identifier: the table has it */
  uint32_t n_tuples;
  uint32_t **places;   /* by quasi-identifier: each tuple's place; NULL where not known */
  uint64_t *n_people;  /* of each tuple */
  uint64_t *first_row; /* the first is 1 */
  uint64_t n_all;
  const char *whose; /* "the external table" */
} shoal_people;

/* A value that is not told: it can be any. */
#define SHOAL_ANY_PLACE (UINT32_MAX - 1)

/*
 * Groups the rows of a table by places. raw[q] is its column in domain q, SIZE_MAX where it has
 * none. `missing_is_any`: a missing value is one that the intruder does not know.
 */
shoal_status shoal_people_build(shoal_people *people, const shoal_table *table,
                                const shoal_domain *domains, size_t n_quasi, const size_t *raw,
                                bool missing_is_any, shoal_error *error) SHOAL_MUST_CHECK;
void shoal_people_reset(shoal_people *people);

/* The keys of one tuple; room for n_quasi. */
void shoal_people_keys(const shoal_people *people, uint32_t tuple, shoal_match_key *keys);

#endif
