/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group: rows x levels -> equivalence classes.
 *
 * The distinct tuples of the quasi-identifiers, with their counts and sensitive values, are built
 * once from the rows (the frequency set of Truta & Vinay 2006, Definition 4). The classes at every
 * node of the lattice are rolled up from them, or from the classes of any node below: a class is
 * known by one of its tuples, from which its labels at any higher level follow.
 */
#ifndef SHOAL_GROUP_CLASSES_H
#define SHOAL_GROUP_CLASSES_H

#include "base/work.h"
#include "group/keys.h"
#include "hierarchy/hierarchy.h"

/* How a sensitive attribute's values travel with the classes. */
typedef enum shoal_track {
  SHOAL_TRACK_NONE,
  SHOAL_TRACK_SET,      /* which values: one word, for up to 64 values */
  SHOAL_TRACK_HISTOGRAM /* how many rows of each value, sorted and sparse */
} shoal_track;

/* Rows of each value in each class: entries start[c] .. start[c + 1], by ascending value. */
typedef struct shoal_histogram {
  uint32_t n_values; /* of the attribute */
  size_t *start;
  uint32_t *value;
  uint64_t *n_rows;
} shoal_histogram;

typedef struct shoal_classes {
  uint32_t n_classes;
  uint32_t *tuple;  /* a tuple of each class; ascending where they are of a node */
  uint64_t *n_rows; /* records in each class */
  uint64_t **sets;  /* by sensitive attribute: NULL, or values that are not missing, by class */
  shoal_histogram *histograms; /* by sensitive attribute; start is NULL where not tracked */
  size_t n_sensitive;
  bool sizes_only; /* no sensitive values travel with them */
} shoal_classes;

/* The table as the models and the search see it. Columns and hierarchies are borrowed. */
typedef struct shoal_frequency {
  const shoal_table *table;
  size_t n_quasi;
  const shoal_column **quasi;
  const shoal_hierarchy *const *hierarchies; /* by quasi-identifier; NULL: level 0 only */
  size_t n_sensitive;
  const shoal_column **sensitive;
  shoal_track *track; /* by sensitive attribute */
  uint64_t n_records;
  uint32_t n_tuples;
  shoal_codes *codes;  /* by quasi-identifier: each tuple's value */
  uint64_t **words;    /* where they are, side by side: a word a tuple, or several */
  size_t n_words;      /* 1 if 64 bits are enough */
  unsigned *word_bits; /* by quasi-identifier: bits in its word, the first lowest */
  uint32_t *tuple_of_row;
  shoal_classes base; /* the tuples themselves as classes: level 0 of everything */
} shoal_frequency;

/*
 * Groups the table's rows by the quasi-identifiers. `track[s]` says what travels with the classes;
 * sets become histograms for attributes of more than 64 values. Cost: one pass over the rows,
 * memory for the tuples and 4 bytes a row.
 */
shoal_status shoal_frequency_build(const shoal_table *table, const shoal_column *const *quasi,
                                   const shoal_hierarchy *const *hierarchies, size_t n_quasi,
                                   const shoal_column *const *sensitive, const shoal_track *track,
                                   size_t n_sensitive, const shoal_run *run,
                                   shoal_frequency **frequency,
                                   shoal_error *error) SHOAL_MUST_CHECK;

void shoal_frequency_free(shoal_frequency *frequency);

/*
 * Classes of any grouping of the rows, numbered 0 .. n_classes - 1, none empty; sensitive values
 * travel as in the frequency set. `tuple` is that of a class's first row.
 */
shoal_status shoal_classes_of_rows(const shoal_frequency *frequency, const uint32_t *class_of_row,
                                   uint32_t n_classes, shoal_classes *classes,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Adds n rows that are not the table's, each to a class: sizes and sensitive values. `values` has a
 * code of each tracked column for each row.
 */
shoal_status shoal_classes_add_rows(const shoal_frequency *frequency, uint32_t n,
                                    const uint32_t *class_of, const uint32_t *values,
                                    shoal_classes *classes, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The classes at `levels` (one a quasi-identifier), rolled up from classes at lower or equal
 * levels. `class_of`, if not NULL, receives each source class's new class (n_from of them).
 */
shoal_status shoal_classes_roll_up(const shoal_frequency *frequency, const shoal_classes *from,
                                   const uint32_t *levels, shoal_grouper *grouper,
                                   shoal_classes *classes, uint32_t *class_of,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/* Classes joined as `ids` says: class c becomes part of class ids[c], one of n_classes. */
shoal_status shoal_classes_regroup(const shoal_classes *from, const uint32_t *ids,
                                   uint32_t n_classes, shoal_classes *classes,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/* One class made of those classes c for which include[c]; it has no rows if there are none. */
shoal_status shoal_classes_join(const shoal_classes *classes, const uint8_t *include,
                                shoal_classes *joined, shoal_error *error) SHOAL_MUST_CHECK;

/* The same without sensitive values: enough to judge sizes, and cheaper. */
shoal_status shoal_classes_roll_up_sizes(const shoal_frequency *frequency,
                                         const shoal_classes *from, const uint32_t *levels,
                                         shoal_grouper *grouper, shoal_classes *classes,
                                         shoal_error *error) SHOAL_MUST_CHECK;

void shoal_classes_reset(shoal_classes *classes);

/* Bytes that the classes hold. */
size_t shoal_classes_bytes(const shoal_classes *classes);

/* Distinct values of a sensitive attribute in a class, missing ones not counted. */
uint32_t shoal_classes_distinct(const shoal_frequency *frequency, const shoal_classes *classes,
                                uint32_t c, size_t sensitive);

#endif
