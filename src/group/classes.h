/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group: rows x levels -> equivalence classes.
 *
 * The distinct tuples of the quasi-identifiers, with their counts and the values of tracked
 * columns, are built once from the rows (the frequency set of Truta & Vinay 2006, Definition 4).
 * The classes at a node of the lattice are rolled up from them, or from the classes of any node
 * below. A class stores one of its tuples; its labels at any higher level follow from that.
 *
 *      rows            tuples (level 0)         classes at (1, 1)
 *      41074 F flu     0: 41074 F  2 rows       0: 4107* *   3 rows  {flu, hiv}   tuple 0
 *      41074 F hiv     1: 41076 M  1 row        1: 4109* *   1 row   {flu}        tuple 2
 *      41076 M flu     2: 41099 M  1 row
 *      41099 M flu
 *
 * Tracked columns are those whose values a model counts: sensitive attributes, and also guard
 * columns, people and households (shoal_tracked in model/model.h). Their values travel with a class
 * as a set (one word) or as a sparse histogram; of people, who are many, as few as must be counted.
 */
#pragma once

#include "base/thread.h"
#include "group/grouper.h"
#include "hierarchy/hierarchy.h"

/* How the values of a tracked column travel with the classes. */
typedef enum shoal_track {
  SHOAL_TRACK_NONE,
  SHOAL_TRACK_SET,       /* a bit per value, in one word: up to 64 values */
  SHOAL_TRACK_HISTOGRAM, /* rows of each value, sorted and sparse */
  SHOAL_TRACK_CAPPED     /* and above: see shoal_track_capped */
} shoal_track;

/*
 * The `cap` smallest distinct values, sorted: enough to know whether a class has `cap` of them. The
 * smallest of two lists are those of both classes together, so lists merge exactly.
 */
static inline shoal_track shoal_track_capped(uint32_t cap) {
  uint32_t most = INT32_MAX - SHOAL_TRACK_CAPPED;
  return (shoal_track)(SHOAL_TRACK_CAPPED + (cap < most ? cap : most));
}

/* The cap, or 0 for other kinds. */
static inline uint32_t shoal_track_cap(shoal_track track) {
  return track > SHOAL_TRACK_CAPPED ? (uint32_t)track - SHOAL_TRACK_CAPPED : 0;
}

/* Rows of each value in each class: entries start[c] .. start[c + 1], by ascending value. */
typedef struct shoal_histogram {
  uint32_t n_values; /* of the column */
  uint32_t cap;      /* 0: none; else a class has its `cap` smallest values, without n_rows */
  size_t *start;
  uint32_t *value;
  uint64_t *n_rows; /* NULL with a cap */
} shoal_histogram;

typedef struct shoal_classes {
  uint32_t n_classes;
  uint32_t *tuple;             /* the first tuple of each class; ascending for classes of a node */
  uint64_t *n_rows;            /* records in each class */
  uint64_t **sets;             /* by tracked column: NULL, or by class, without missing values */
  shoal_histogram *histograms; /* by tracked column; start is NULL if not tracked */
  uint32_t **distinct; /* by tracked column, by class: distinct values beyond a cap; may be NULL */
  size_t n_tracked;
  bool sizes_only; /* without tracked values */
} shoal_classes;

/*
 * The distinct tuples. Columns and hierarchies are borrowed. The codes of a tuple are packed into
 * one word, each in as many bits as its column needs, the first quasi-identifier lowest; if they do
 * not fit into 64 bits, into several words.
 *
 *      words[0][t]   | 0 ... 0 | code of q2 | code of q1 | code of q0 |
 *                     63                     \__________/ codes[1].mask << codes[1].shift
 */
typedef struct shoal_frequency_set {
  const shoal_table *table;
  size_t n_quasi;
  const shoal_column **quasi;
  const shoal_hierarchy *const *hierarchies; /* by quasi-identifier; NULL: level 0 only */
  size_t n_tracked;
  const shoal_column **tracked;
  shoal_track *track; /* by tracked column */
  uint64_t n_records;
  uint32_t n_tuples;
  shoal_codes *codes;  /* by quasi-identifier: the code of each tuple */
  uint64_t **words;    /* n_words arrays of n_tuples words */
  size_t n_words;      /* 1 if 64 bits are enough */
  unsigned *word_bits; /* by quasi-identifier: bits of its code */
  uint32_t *tuple_of_row;
  shoal_classes base; /* the tuples as classes: every quasi-identifier at level 0 */
} shoal_frequency_set;

/*
 * Groups the table's rows by the quasi-identifiers. `track[s]` says how values of tracked[s]
 * travel; a set of more than 64 values becomes a histogram. Tuples are numbered by first
 * appearance, for any number of threads. Cost: one pass over the rows, memory for the tuples and 4
 * bytes per row. Free the set with shoal_frequency_set_free.
 */
shoal_status shoal_frequency_set_build(const shoal_table *table, const shoal_column *const *quasi,
                                       const shoal_hierarchy *const *hierarchies, size_t n_quasi,
                                       const shoal_column *const *tracked, const shoal_track *track,
                                       size_t n_tracked, const shoal_run *run,
                                       shoal_frequency_set **frequency,
                                       shoal_error *error) SHOAL_MUST_CHECK;

void shoal_frequency_set_free(shoal_frequency_set *frequency);

/* The labels of one quasi-identifier at one level that occur in the rows. */
typedef struct shoal_label_use {
  uint32_t n_labels;
  uint64_t fewest_rows; /* of such a label; 0 if there are no rows */
} shoal_label_use;

/* Cost: a pass over the tuples. */
shoal_status shoal_label_use_count(const shoal_frequency_set *frequency, size_t quasi,
                                   uint32_t level, shoal_label_use *use,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Classes of any grouping of the rows, numbered 0 .. n_classes - 1, none empty. Tracked values
 * travel as in the frequency set. `tuple` is that of a class's first row. The caller resets the
 * classes.
 */
shoal_status shoal_classes_of_rows(const shoal_frequency_set *frequency,
                                   const uint32_t *class_of_row, uint32_t n_classes,
                                   shoal_classes *classes, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Rows sorted by class, ascending within each; `end`: by class. False: no memory. The caller frees
 * both in any case.
 */
bool shoal_rows_by_class(const shoal_table *table, const uint32_t *class_of_row, uint32_t n_classes,
                         uint64_t **sorted, uint64_t **end);

/*
 * Counts the distinct values of capped columns, for reports: shoal_classes_distinct is exact then,
 * until the classes are merged. `class_of_row` as in shoal_classes_of_rows. Cost: a few passes over
 * the rows.
 */
shoal_status shoal_classes_count_distinct(const shoal_frequency_set *frequency,
                                          const uint32_t *class_of_row, shoal_classes *classes,
                                          shoal_error *error) SHOAL_MUST_CHECK;

/*
 * Adds n rows that are not in the table (noise), row i to class class_of[i]. `values`: for each row
 * a code of each tracked column.
 */
shoal_status shoal_classes_add_rows(const shoal_frequency_set *frequency, uint32_t n,
                                    const uint32_t *class_of, const uint32_t *values,
                                    shoal_classes *classes, shoal_error *error) SHOAL_MUST_CHECK;

/*
 * The classes at `levels`, rolled up from classes at lower or equal levels. `class_of`, if not
 * NULL, receives the new class of each source class. Cost: a pass over the source classes and their
 * histograms. The caller resets the classes.
 */
shoal_status shoal_classes_roll_up(const shoal_frequency_set *frequency, const shoal_classes *from,
                                   const uint32_t *levels, shoal_grouper *grouper,
                                   shoal_classes *classes, uint32_t *class_of,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/* shoal_classes_roll_up without tracked values: cheaper, and enough to judge sizes. */
shoal_status shoal_classes_roll_up_sizes(const shoal_frequency_set *frequency,
                                         const shoal_classes *from, const uint32_t *levels,
                                         shoal_grouper *grouper, shoal_classes *classes,
                                         shoal_error *error) SHOAL_MUST_CHECK;

/* Merges classes: class c becomes part of class ids[c] < n_classes. */
shoal_status shoal_classes_regroup(const shoal_classes *from, const uint32_t *ids,
                                   uint32_t n_classes, shoal_classes *classes,
                                   shoal_error *error) SHOAL_MUST_CHECK;

/* The same without tracked values. */
shoal_status shoal_classes_regroup_sizes(const shoal_classes *from, const uint32_t *ids,
                                         uint32_t n_classes, shoal_classes *classes,
                                         shoal_error *error) SHOAL_MUST_CHECK;

/* n of the classes, in the order of `items`; with sizes_only without tracked values. */
shoal_status shoal_classes_select(const shoal_classes *from, const uint32_t *items, uint32_t n,
                                  bool sizes_only, shoal_classes *classes,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/* Some of the quasi-identifiers. */
typedef struct shoal_quasi_set {
  uint32_t *quasi; /* n indices, ascending */
  size_t n;
  bool required;   /* a requirement is about it */
  bool sizes_only; /* classes over it need no tracked values */
} shoal_quasi_set;

/* The labels of classes. */
typedef struct shoal_labelling {
  const uint32_t *levels; /* those of their tuples at these levels; NULL: the tuples' values */
  const uint32_t *const
      *of_class; /* by quasi-identifier, by class; if not NULL, instead of levels */
} shoal_labelling;

/*
 * Merges classes that have equal labels in the quasi-identifiers of the set, without those with
 * left_out[c] (NULL: none). ids[c] receives the class over the set; over->n_classes if left out.
 * Cost: a pass over the classes for each quasi-identifier of the set. The caller resets `over`.
 */
shoal_status shoal_classes_project(const shoal_frequency_set *frequency,
                                   const shoal_classes *classes, const shoal_labelling *labelling,
                                   const shoal_quasi_set *set, const uint8_t *left_out,
                                   shoal_grouper *grouper, shoal_classes *over, uint32_t *ids,
                                   shoal_error *error) SHOAL_MUST_CHECK;

void shoal_classes_reset(shoal_classes *classes);

/* Memory of the classes. */
size_t shoal_classes_bytes(const shoal_classes *classes);

/* Distinct values of a tracked column in a class, without missing ones; at most the cap. */
uint32_t shoal_classes_distinct(const shoal_frequency_set *frequency, const shoal_classes *classes,
                                uint32_t c, size_t tracked);
