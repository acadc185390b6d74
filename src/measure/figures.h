/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure/figures: utility and risk of a release, as plain data in one arena. docs/measures.md has
 * the formulas.
 *
 * Strings are names of attributes, and labels that occur in the release at least k times; no raw
 * value is in here. A figure that cannot be computed is NAN (JSON: null).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loss of a release by the engine's own classes, over the released rows. */
typedef struct shoal_release_loss {
  double dm;              /* discernibility: sum of squared class sizes */
  double avg;             /* rows / (classes x k) */
  double il;              /* information loss of Truta, Campan & Meyer 2007, eq. 4-5 */
  double nil;             /* il / (rows x quasi-identifiers) */
  double accuracy;        /* 1 - mean of level / height */
  double height_accuracy; /* Samarati 2001, section 6: 1 - height / height of the top */
  double completeness;    /* released rows / rows */
  double release_loss;    /* 1 - completeness x (1 - nil): a suppressed row loses everything */
} shoal_release_loss;

/* One bar of a marginal distribution. */
typedef struct shoal_bar {
  const char *label; /* NULL: all labels that are too rare to be shown */
  uint64_t n_labels; /* labels in it: 1 unless `label` is NULL */
  double before;     /* rows of the original under it; divided if labels overlap */
  uint64_t after;    /* rows of the release */
} shoal_bar;

/* One attribute before and after: a quasi-identifier or a sensitive one. */
typedef struct shoal_attribute_measure {
  const char *name;
  bool quasi;                 /* else sensitive: only the distributions are filled */
  const char *kind;           /* "tree", "number", "text": how its loss is counted */
  bool has_level;             /* full-domain: all labels are of one level */
  uint32_t level, height;     /* of the hierarchy; height 0: none */
  uint64_t values_before;     /* distinct values */
  uint64_t labels_after;      /* distinct labels */
  uint64_t cells_suppressed;  /* of released rows: they cover everything */
  uint64_t cells_generalized; /* of released rows: they cover more than one value */
  double il;                  /* share of nil: mean loss per released row, 0..1 */
  double precision;           /* 1 nothing lost .. 0 everything; removed rows lost */
  double ncp;                 /* 0..1 */
  double entropy;             /* bits lost, all rows */
  double entropy_share;       /* share of the maximum, 0..1 */
  double loss;                /* ARX's: 0..1 */
  double mean_width;          /* numbers: mean interval width of a released row, in its unit */
  bool days;                  /* of dates, in days */
  double variation;           /* total variation distance before/after, 0..1 */
  double earth_mover;         /* 0..1 */
  const char *distance;       /* of earth_mover: "ordered", "hierarchical", "equal" */
  shoal_bar *bars;            /* before and after by released labels */
  size_t n_bars;
} shoal_attribute_measure;

/* Cramer's V of a quasi-identifier and a sensitive attribute; NAN: one of them has one value. */
typedef struct shoal_association {
  const char *quasi, *sensitive;
  double before, after;
} shoal_association;

/* |answer - count| / count over all queries that select a row of the original. */
typedef struct shoal_error_figures {
  double mean, median, worst;
} shoal_error_figures;

/* Random COUNT queries (003, eq. 4-5). */
typedef struct shoal_query_error {
  uint64_t n_queries;          /* random COUNT queries */
  uint64_t n_skipped;          /* without a row of the original: no relative error */
  uint32_t dimensions;         /* quasi-identifiers in each */
  double selectivity;          /* intended share of rows per query */
  double mean_selected;        /* actual share of rows, mean */
  shoal_error_figures spread;  /* each label is spread evenly over its values */
  shoal_error_figures overlap; /* counts the rows whose labels overlap the query */
  uint64_t seed;
} shoal_query_error;

typedef struct shoal_measures {
  uint64_t original_rows, released_rows;
  uint64_t removed;                 /* original rows - released rows */
  uint64_t blanked;                 /* fully suppressed rows, if there are others */
  uint64_t noise;                   /* noise rows: a lower bound */
  uint64_t cells_suppressed, cells; /* of quasi-identifiers, removed rows included */
  double dm, avg;                   /* dm = dcp: sum of squared class sizes; avg = cavg */
  double dm_suppressed;             /* dm, and for each removed row the rows of the original */
  double il, nil;
  double accuracy, height_accuracy; /* NAN: not full-domain */
  double absolute_distance, relative_distance;
  double completeness;
  double release_loss;  /* 1 - completeness x (1 - nil); 1 if no row is left */
  uint64_t p;           /* disclosures are counted of classes with fewer distinct values */
  uint64_t disclosures; /* (class, sensitive attribute) pairs with one value (000, Table 8) */
  double precision, ncp, entropy, entropy_share, ambiguity, loss;
  bool has_queries;
  shoal_query_error queries;
  shoal_attribute_measure *attributes; /* quasi-identifiers, then sensitive ones */
  size_t n_attributes;
  shoal_association *associations;
  size_t n_associations;
} shoal_measures;

/* A published bound on the risk of a record, and its source. */
typedef struct shoal_threshold {
  double risk;
  uint64_t class_size; /* the smallest class within it */
  const char *name, *source;
} shoal_threshold;

/* The thresholds; ends with an entry whose name is NULL. */
const shoal_threshold *shoal_thresholds(void);
enum { SHOAL_N_THRESHOLDS = 4, SHOAL_N_SIZES = 10, SHOAL_N_DISTINCT = 6 };

/* Rows whose risk is above each threshold. */
typedef struct shoal_at_risk {
  uint64_t n_rows[SHOAL_N_THRESHOLDS]; /* in the order of shoal_thresholds */
} shoal_at_risk;

/* Classes by size: 1, 2, 3-4, 5-10, 11-19, 20-49, 50-99, 100-499, 500-999, 1000 and more. */
typedef struct shoal_size_bin {
  uint64_t least, most; /* most 0: unbounded */
  uint64_t n_classes, n_rows;
} shoal_size_bin;

/* Re-identification, of the original as it is or of the release. */
typedef struct shoal_identity_risk {
  uint64_t n_rows, n_classes, smallest_class;
  double highest; /* 1 / smallest class */
  double average; /* prosecutor's mean = marketer's share: classes / rows */
  uint64_t unique_rows;
  shoal_at_risk at_risk;
  uint64_t small_classes, small_class_rows; /* CMS: of 1 to 10 rows */
  shoal_size_bin sizes[SHOAL_N_SIZES];
} shoal_identity_risk;

/* Re-identification with a population: the people who match a record. */
typedef struct shoal_population_risk {
  uint64_t population_rows;
  uint64_t unmatched_rows; /* released rows that no person matches: not counted below */
  double highest, average;
  double marketer;                 /* expected share of released rows matched right */
  uint64_t population_unique_rows; /* released rows that one person matches */
  shoal_at_risk at_risk;
} shoal_population_risk;

/*
 * Re-identification of people who have several rows. Their risk is that of the record that tells
 * most: 1 / the people who can have it. People without a record in the table are not counted.
 */
typedef struct shoal_person_risk {
  uint64_t n_people;
  uint64_t fewest; /* people who can have the same record */
  double highest, average;
  uint64_t at_risk[SHOAL_N_THRESHOLDS]; /* people */
} shoal_person_risk;

/* Disclosure of one sensitive attribute. */
typedef struct shoal_attribute_risk_side {
  uint64_t n_classes[SHOAL_N_DISTINCT], n_rows[SHOAL_N_DISTINCT]; /* 1, 2, 3, 4, 5-9, 10+ values */
  uint64_t min_distinct;
  uint64_t classes_below_p, rows_below_p; /* fewer than p distinct values */
  uint64_t homogeneity; /* distinct values that classes lack of p: sum of Hom (002, eq. 7) */
  double largest_share, mean_share;       /* of one value in a class: most; mean over rows */
  double min_entropy, mean_entropy;       /* bits */
  double largest_distance, mean_distance; /* to the original table's distribution */
} shoal_attribute_risk_side;

typedef struct shoal_attribute_risk {
  const char *name;
  const char *distance; /* "ordered", "hierarchical", "equal" */
  shoal_attribute_risk_side before, after;
} shoal_attribute_risk;

typedef struct shoal_risk {
  shoal_identity_risk before, after;
  bool has_population;
  shoal_population_risk population;
  shoal_attribute_risk *attributes; /* by sensitive attribute */
  size_t n_attributes;
  uint64_t small_labels, small_label_rows; /* CMS: labels of one quasi-identifier on 1-10 rows */
} shoal_risk;

/* Utility and risk; both NULL: not measured. */
typedef struct shoal_measured {
  const shoal_measures *utility;
  const shoal_risk *risk;
} shoal_measured;
