/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: what a job found, and its renderings. A result is plain data in an arena of its own, so
 * that it outlives table and policy. It holds labels and counts, never a raw value of a suppressed
 * or small class.
 */
#ifndef SHOAL_REPORT_RESULT_H
#define SHOAL_REPORT_RESULT_H

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/sizes.h"

typedef enum shoal_result_kind {
  SHOAL_RESULT_PROFILE,
  SHOAL_RESULT_CHECK,
  SHOAL_RESULT_CONDITIONS,
  SHOAL_RESULT_LATTICE,
  SHOAL_RESULT_EXPLAIN,
  SHOAL_RESULT_RELEASE,
  SHOAL_RESULT_HIERARCHY,
  SHOAL_RESULT_MEASURE,
  SHOAL_RESULT_ATTACK
} shoal_result_kind;

/* A class shown as an example of what breaks. */
typedef struct shoal_class_example {
  const char **labels; /* by quasi-identifier; "(as it is)" for what may be raw */
  size_t n_shown;      /* labels that are shown */
  uint64_t first_row;
  uint64_t n_rows;
  double reached;
} shoal_class_example;

typedef struct shoal_model_outcome {
  const char *model;
  const char *summary;   /* what it asks for, in words */
  const char *attribute; /* NULL: none */
  double required, reached;
  uint64_t least_distinct; /* fewest distinct sensitive values of a class */
  bool tells_distinct;     /* the model says nothing of them itself: shown beside it */
  bool at_most;            /* `reached` must not be above `required`; else not below */
  bool holds;
  uint64_t breaking_rows, breaking_classes;
  shoal_class_example *worst; /* check only */
  size_t n_worst;
} shoal_model_outcome;

/* Why rows were suppressed: those in classes that broke a model. A class may break several. */
typedef struct shoal_cause {
  const char *model, *attribute; /* attribute NULL: none */
  uint64_t rows, classes;
} shoal_cause;

/* So many clusters of one size. */
typedef struct shoal_cluster_size {
  uint64_t size, n;
} shoal_cluster_size;

typedef struct shoal_condition_outcome {
  const char *attribute;
  uint64_t distinct, max_groups;
} shoal_condition_outcome;

/* What was done to a quasi-identifier. */
typedef struct shoal_attribute_outcome {
  const char *name;
  uint32_t level, height;     /* full-domain */
  uint32_t n_before, n_after; /* distinct values, distinct labels released */
  double loss;                /* 0 nothing lost .. 1 everything */
} shoal_attribute_outcome;

typedef struct shoal_node_outcome {
  const uint32_t *levels; /* by quasi-identifier */
  uint32_t height;
  uint64_t suppressed;
  uint64_t classes;
  bool satisfies, minimal, chosen;
} shoal_node_outcome;

/* The nodes that one preference would choose: indices into the nodes. */
typedef struct shoal_preferred {
  const char *policy;
  const size_t *nodes;
  size_t n_nodes;
} shoal_preferred;

typedef struct shoal_column_outcome {
  const char *name;
  const char *type; /* "number", "date", "text" */
  /* values, rows, rows whose value is theirs alone; what looks missing is only counted there */
  uint64_t distinct, missing, unique;
  uint64_t most_frequent;             /* rows of the most frequent value */
  const char *role, *hierarchy, *why; /* suggested; hierarchy as YAML or NULL */
  const char *missing_marks; /* spellings that look like missing values, as YAML, or NULL */
  bool undecided;            /* nothing speaks for the role: the steward must decide */
} shoal_column_outcome;

/* Labels of one level of a hierarchy. */
typedef struct shoal_label_list {
  const char **labels;
  size_t n_labels;
} shoal_label_list;

struct shoal_result {
  shoal_result_kind kind;
  shoal_arena arena;
  bool holds;
  const char *source; /* the table's or hierarchy's name */
  uint64_t input_rows, input_columns;
  bool two_passes; /* the rows did not fit into memory: the file is read twice */
  const char **warnings;
  size_t n_warnings;
  /* quasi-identifiers, in column order: names of levels everywhere below */
  const char **quasi;
  const uint32_t *heights;
  size_t n_quasi;
  /* the release */
  uint64_t output_rows, suppressed, blanked, noise, clusters, classes, smallest_class;
  uint64_t max_suppression, max_noise;
  const char *output;
  const char *order; /* of rows: "random", "seeded" or "kept" */
  bool has_seed;
  uint64_t seed;
  shoal_model_outcome *models;
  size_t n_models;
  shoal_cause *causes; /* of suppression; one a model, in their order */
  size_t n_causes;
  shoal_sizes sizes_before, sizes_after;   /* of classes: as the table stood, as released */
  const shoal_cluster_size *cluster_sizes; /* local: released ones, ascending */
  size_t n_cluster_sizes;
  /* the search */
  const char *algorithm, *algorithm_reason;
  bool local;      /* local recoding: clusters, no nodes */
  const char *why; /* local: what a person should know of how clusters were made; NULL: nothing */
  uint64_t lattice_nodes, nodes_checked, nodes_bounded;
  uint64_t classes_touched;            /* gone over to compute the classes of nodes */
  shoal_attribute_outcome *attributes; /* by quasi-identifier */
  shoal_node_outcome *nodes;           /* release: the minimal ones; lattice: all */
  size_t n_nodes;
  bool minimal_complete; /* the minimal nodes listed are all there are */
  uint64_t slack;        /* steps above a minimal node that the policy asks for */
  bool exhaustive;       /* some demand is not monotone: nothing was pruned by it */
  const char *objective; /* what `optimal` made least; NULL: nothing */
  uint32_t effort;       /* factor of the search budget; 0: the algorithm has none */
  double cost;
  bool unproven;               /* the time was over before the node was proven to be the best */
  const uint32_t *upper_bound; /* of the distance-vector matrix; NULL: it was not used */
  uint32_t lower_height, upper_height;
  shoal_preferred *preferred;
  size_t n_preferred;
  /* the necessary conditions */
  uint64_t p, max_p, max_groups;
  shoal_condition_outcome *conditions;
  size_t n_conditions;
  /* measures */
  double dm, avg, il, nil, accuracy, height_accuracy, completeness;
  double dm_clusters, avg_clusters; /* local: of clusters, where dm and avg are of classes */
  struct shoal_measures *measures;  /* see report/measures.h; NULL: not taken */
  struct shoal_risk *risk;
  /* cost */
  double seconds_read, seconds_search, seconds_write, seconds_verify, seconds_total;
  uint64_t peak_memory_bytes;
  uint64_t k; /* the largest class size asked for: what a page tells of fewer people is "fewer" */
  /* what a page tells */
  struct shoal_page *page; /* see report/page.h; NULL: nobody asked for it */
  /* explain */
  struct shoal_explanation *explanation; /* see report/explain.h */
  /* attack */
  struct shoal_attack_report *attacks; /* see report/attacks.h; NULL: none were run */
  /* profile */
  shoal_column_outcome *columns;
  size_t n_columns;
  uint64_t n_distinct_rows, n_unique_rows; /* by the suggested quasi-identifiers, in `quasi` */
  const char *missing_marks;               /* of all columns, the empty cell among them, as YAML */
  /* hierarchy */
  const char *drawing;
  uint64_t n_leaves, n_levels;
  shoal_label_list *labels; /* above the values: level 1 first */
  size_t n_label_levels;
};

/* A new, zeroed result; NULL without memory. */
shoal_result *shoal_result_new(shoal_result_kind kind);

/* A copy of a string in the result's arena, as valid UTF-8. */
const char *shoal_result_string(shoal_result *result, const char *bytes, size_t size_bytes);

shoal_status shoal_result_warn(shoal_result *result, shoal_error *error, const char *format, ...)
    SHOAL_PRINTF(3, 4);

/* The renderings, one file each. */
shoal_status shoal_render_json(const shoal_result *result, char **text, shoal_error *error);
void shoal_render_text(const shoal_result *result, shoal_text *text);
void shoal_render_lattice_csv(const shoal_result *result, shoal_text *text);
void shoal_render_lattice_dot(const shoal_result *result, shoal_text *text);
void shoal_render_lattice_svg(const shoal_result *result, shoal_text *text);
/* The same picture to stand within a page: it tells no numbers of rows below k. */
void shoal_draw_lattice(const shoal_result *result, shoal_text *text);
/* One page that stands alone; see report/html.c. */
void shoal_render_html(const shoal_result *result, shoal_text *text);

#endif
