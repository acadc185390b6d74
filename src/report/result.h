/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: the results of all commands, and their renderings. A result is plain data in its own
 * arena, so it outlives table and policy. It has what all kinds share and one report of its kind,
 * a tagged union. It contains labels and counts, never a raw value of a suppressed or small class.
 */
#pragma once

#include "attack/outcome.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "measure/figures.h"
#include "policy/policy.h"
#include "table/table.h"

typedef enum shoal_result_kind {
  SHOAL_RESULT_PROFILE,
  SHOAL_RESULT_CHECK,
  SHOAL_RESULT_CONDITIONS,
  SHOAL_RESULT_LATTICE,
  SHOAL_RESULT_DISTANCES,
  SHOAL_RESULT_EXPLAIN,
  SHOAL_RESULT_RELEASE,
  SHOAL_RESULT_HIERARCHY,
  SHOAL_RESULT_MEASURE,
  SHOAL_RESULT_ATTACK,
  SHOAL_RESULT_CERTIFICATE
} shoal_result_kind;

enum { SHOAL_SIZE_BINS = 6 };

/* Records by the size of their class: 1, 2, 3-4, 5-10, 11-19, 20 and more. */
typedef struct shoal_class_sizes {
  uint64_t records[SHOAL_SIZE_BINS];
  uint64_t n_records, n_classes, smallest;
} shoal_class_sizes;

/* A class shown as an example of a violation. */
typedef struct shoal_class_example {
  const char **labels; /* by quasi-identifier; "(as it is)" where the cell may be raw */
  size_t n_shown;      /* labels that are shown */
  uint64_t first_row;
  uint64_t n_rows;
  double reached;
} shoal_class_example;

/* One requirement of the policy, judged on all classes. */
/* The quasi-identifiers whose classes a model is about; all zero: all of them. */
typedef struct shoal_over {
  const char *text;         /* "age, zip", "any 3 of 12 quasi-identifiers" */
  const char *const *names; /* of `over` */
  size_t n_names;
  uint64_t known; /* of `known`; else 0 */
} shoal_over;

/* The classes that reach the same value. */
typedef struct shoal_reached {
  double reached;
  uint64_t classes, rows;
} shoal_reached;

typedef struct shoal_model_outcome {
  const char *model;
  const char *summary;   /* what it requires, in words */
  const char *attribute; /* NULL: none */
  double required, reached;
  uint64_t min_distinct; /* fewest distinct sensitive values of a class */
  bool tells_distinct;   /* print min_distinct: the model itself does not state it */
  bool is_rule;          /* of a column, not of classes: only `required` and the rows are known */
  bool is_size;          /* `required` and `reached` are class sizes */
  bool at_most;          /* `reached` must not be above `required`; else not below */
  const char *units;     /* "people" or "households", if `required` and `reached` are; else NULL */
  bool by_people;        /* `required` and `reached`, or proportions, are of people */
  bool unjudged;         /* it counts people, and the table does not say who they are */
  bool holds;
  shoal_over over;
  uint64_t n_sets, n_failing; /* of `known`: its sets, and those with a class that violates */
  shoal_over worst_set;       /* of these, the one with the most rows that violate */
  uint64_t breaking_rows;     /* in a class of any set that violates */
  uint64_t breaking_classes;  /* of all sets */
  shoal_class_example *worst; /* check only; of worst_set */
  size_t n_worst;
  shoal_reached *values; /* check only, theta: the variances of all classes, ascending */
  size_t n_values;
} shoal_model_outcome;

typedef struct shoal_model_outcomes {
  shoal_model_outcome *items;
  size_t n_items;
} shoal_model_outcomes;

/* Rows suppressed because their class violates one model. A class may violate several. */
typedef struct shoal_cause {
  const char *model, *attribute; /* attribute NULL: none */
  shoal_over over;
  uint64_t rows, classes;
} shoal_cause;

/* The number of clusters of one size. */
typedef struct shoal_cluster_size {
  uint64_t size, n;
} shoal_cluster_size;

/* What the policy's p needs of one sensitive attribute. */
typedef struct shoal_condition_outcome {
  const char *attribute;
  uint64_t distinct, max_groups;
} shoal_condition_outcome;

/* The necessary condition of one requirement. */
typedef struct shoal_bound_outcome {
  const char *model, *attribute; /* attribute NULL: none */
  shoal_over over;
  bool bounded;             /* false: nothing is known, and nothing follows but `holds` */
  const char *parameter;    /* "p", "l", "mu", "k" */
  double required;          /* of the parameter */
  const char *noun, *nouns; /* what is counted: "distinct value", "distinct values" */
  uint64_t min_distinct;    /* of these that a class needs */
  uint64_t max_distinct;    /* of these in the table: no class can have more */
  uint64_t max_groups;      /* classes that can all satisfy it */
  bool holds;
  const char *why; /* why it does not hold; NULL: it does */
} shoal_bound_outcome;

/* The frequency set of what is counted in a sensitive attribute (Truta & Vinay 2006, Table 5). */
typedef struct shoal_frequencies_outcome {
  const char *attribute, *nouns;
  uint64_t n_distinct;
  uint64_t *descending, *cumulative; /* f and cf, the first n_items */
  size_t n_items;
} shoal_frequencies_outcome;

/* A quasi-identifier before and after. */
typedef struct shoal_attribute_outcome {
  const char *name;
  uint32_t level, height;         /* full-domain */
  uint32_t n_before, n_after;     /* distinct values, distinct labels released */
  double loss;                    /* 0 nothing lost .. 1 everything */
  double mean_width;              /* numbers: of a released label; NAN: it has none */
  bool days;                      /* they are dates: the width is in days */
  unsigned first_year, last_year; /* that years of two digits mean; 0: it has none */
} shoal_attribute_outcome;

typedef struct shoal_node_outcome {
  const uint32_t *levels; /* by quasi-identifier */
  uint32_t height;
  uint64_t suppressed;
  uint64_t classes;
  bool satisfies, minimal, chosen;
  bool locally_minimal; /* on a path from the bottom it is the first that satisfies */
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
  /* distinct values; rows with a missing value; rows whose value no other row has. A value that
   * looks missing counts only as missing. */
  uint64_t distinct, missing, unique;
  uint64_t most_frequent;             /* rows of the most frequent value */
  const char *role, *hierarchy, *why; /* suggested; hierarchy as YAML or NULL */
  const char *missing_marks; /* spellings that look like missing values, as YAML, or NULL */
  bool undecided;            /* no evidence for the role: the steward must decide */
  bool as_number;            /* the policy says `type: number` */
  const char *as_date;       /* what the policy says after `type:`, with a format; or NULL */
  bool bad_cells;            /* of a number: some cells are none */
  bool by_name;              /* its name tells the role */
  bool is_age, is_postcode;
  size_t longest_bytes; /* of a value, at most 255 */
} shoal_column_outcome;

/* Labels of one level of a hierarchy. */
typedef struct shoal_label_list {
  const char **labels;
  size_t n_labels;
} shoal_label_list;

/* A risk that the models do not rule out. */
typedef struct shoal_risk_outcome {
  shoal_risk_kind kind;
  const char *attribute; /* the column; NULL: not about one */
  const char *attack;    /* SHOAL_RISK_ATTACKS: its name; else NULL */
  const char *why;       /* what was found, as a phrase; it has no cell */
  bool accepted;         /* by the policy */
  bool blocks;           /* unless accepted, nothing may be published */
} shoal_risk_outcome;

/* What a verdict is made of. All zero: nothing was judged. */
typedef struct shoal_safety {
  bool is_judged, models_hold;
  bool models_unjudged; /* no model is violated, but some count people, who are not in the table */
  bool people_unseen;   /* nor can risks that count people be judged */
  shoal_risk_outcome *risks; /* by kind, then in the order of the columns */
  size_t n_risks;
  const char **undecided; /* columns with decide: true */
  size_t n_undecided;
} shoal_safety;

/* Class sizes of the original table and of the release. */
typedef struct shoal_size_change {
  shoal_class_sizes before, after;
} shoal_size_change;

/* ---- one struct per kind of result */

/* The suggested quasi-identifiers are the result's `quasi`. */
typedef struct shoal_profile_report {
  shoal_column_outcome *columns;
  size_t n_columns;
  uint64_t n_distinct_rows, n_unique_rows;    /* by the suggested quasi-identifiers */
  const char *missing_marks;                  /* of all columns, with the empty cell, as YAML */
  const char *decimal, *thousands, *encoding; /* of the file, as a policy has them; NULL: default */
} shoal_profile_report;

typedef struct shoal_check_report {
  shoal_model_outcomes models;
  shoal_class_sizes sizes;
} shoal_check_report;

/* The necessary conditions of Truta & Vinay 2006 for the policy's p. */
typedef struct shoal_condition_outcomes {
  uint64_t max_p, max_groups;
  shoal_condition_outcome *items; /* by sensitive attribute */
  size_t n_items;
} shoal_condition_outcomes;

typedef struct shoal_conditions_report {
  shoal_condition_outcomes p;
  shoal_bound_outcome *models; /* by requirement */
  size_t n_models;
  uint64_t max_classes; /* of any release: the least bound of all models; UINT64_MAX: none */
  shoal_frequencies_outcome *frequencies;
  size_t n_frequencies;
  uint64_t *cumulative; /* cf(i): the largest over the attributes; none of them is shorter */
  size_t n_cumulative;
} shoal_conditions_report;

/* Levels are named by the result's `quasi` and bounded by its `heights`. */
typedef struct shoal_lattice_report {
  uint64_t max_suppression, lattice_nodes, nodes_checked;
  shoal_node_outcome *nodes; /* all */
  size_t n_nodes;
  shoal_preferred *preferred;
  size_t n_preferred;
} shoal_lattice_report;

/* Distance vectors of all pairs of distinct tuples, numbered by first appearance. */
typedef struct shoal_distances_report {
  uint32_t n_tuples;
  const uint64_t *n_rows;    /* by tuple */
  const uint16_t *distances; /* n_tuples x n_tuples vectors of n_quasi levels */
} shoal_distances_report;

typedef struct shoal_explain_report {
  uint64_t max_suppression, lattice_nodes;
  struct shoal_explanation *explanation; /* report/explain.h */
} shoal_explain_report;

typedef struct shoal_hierarchy_report {
  const char *drawing;
  uint64_t n_leaves, n_levels;
  shoal_label_list *labels; /* above the values: level 1 first */
  size_t n_label_levels;
} shoal_hierarchy_report;

typedef struct shoal_measure_report {
  const char *output; /* name of the release */
  uint64_t output_rows;
  shoal_size_change sizes;
  shoal_measured measured;
  bool knows_people; /* who have several rows: */
  shoal_person_risk people_before, people_after;
  double seconds_read, seconds_total;
  uint64_t peak_memory_bytes;
} shoal_measure_report;

typedef struct shoal_attack_report {
  shoal_class_sizes sizes;
  shoal_attack_outcomes *attacks;
} shoal_attack_report;

/* ---- a release: what every method reports, and what only one of them does */

typedef enum shoal_method_kind {
  SHOAL_METHOD_NODE,    /* full-domain: a node of the lattice */
  SHOAL_METHOD_CELLS,   /* mu-Argus: levels and suppressed cells */
  SHOAL_METHOD_CLUSTERS /* local recoding */
} shoal_method_kind;

typedef struct shoal_node_report {
  uint64_t lattice_nodes; /* UINT64_MAX: more than can be counted */
  uint64_t nodes_checked, nodes_bounded;
  uint64_t classes_scanned;  /* to compute the classes of nodes */
  uint64_t work;             /* of the search, in classes */
  shoal_node_outcome *nodes; /* the minimal ones, and the chosen one */
  size_t n_nodes;
  bool minimal_complete;       /* `nodes` has every minimal node */
  uint64_t slack;              /* steps above a minimal node that the policy requires */
  bool exhaustive;             /* the requirements are not monotone: no node follows another */
  const char *objective;       /* minimized by `optimal`; NULL: none */
  double cost;                 /* of the chosen node, by the objective */
  bool unproven;               /* a limit ended the search before the proof of optimality */
  const uint32_t *upper_bound; /* of the distance-vector matrix; NULL: it was not used */
  uint32_t lower_height, upper_height;
} shoal_node_report;

typedef struct shoal_cells_report {
  uint64_t combinations_checked; /* of up to three attributes */
} shoal_cells_report;

typedef struct shoal_clusters_report {
  uint64_t clusters, noise, max_noise;
  uint64_t noise_listed;                   /* noise rows with a value that no row has */
  uint64_t single_rows;                    /* suppressed one by one */
  const shoal_cluster_size *cluster_sizes; /* of released clusters, ascending */
  size_t n_cluster_sizes;
  const char *why;                  /* how clusters were made, for a person; NULL: nothing to say */
  const char *objective;            /* NULL: the algorithm has none */
  uint32_t effort;                  /* factor of the search budget; 0: the algorithm has none */
  double dm_clusters, avg_clusters; /* of clusters; dm and avg of the loss are of classes */
} shoal_clusters_report;

/* A method that "auto" tried. */
typedef struct shoal_tried {
  const char *labels;                  /* "local" or "uniform" */
  const char *algorithm;               /* its name */
  double release_loss;                 /* NAN: it found no release */
  const char *why;                     /* it did not; else NULL */
  uint64_t suppressed, smallest_class; /* in people, if k counts them */
  bool searched;                       /* false: the lattice is too large */
  uint64_t work;                       /* uniform: of the search, in classes */
  bool unproven; /* uniform: a limit ended the search before the proof of optimality */
  bool chosen;
} shoal_tried;

/* Another release that was computed, to compare with. */
typedef struct shoal_alternative {
  const char *name;
  const char *policy; /* the lines that select it, in YAML's flow style */
  bool found;         /* else no release satisfies the policy, and there are no figures */
  bool chosen;        /* it is the release itself */
  double release_loss;
  uint64_t suppressed, smallest_class;
} shoal_alternative;

typedef struct shoal_alternatives {
  shoal_alternative *items;
  size_t n_items;
  uint64_t sample_rows; /* size of the sample they were computed on; 0: all rows */
  size_t n_left_out;    /* that would have taken too much work */
} shoal_alternatives;

typedef struct shoal_release_report {
  uint64_t output_rows, suppressed, blanked, classes, smallest_class;
  uint64_t output_people; /* with shoal_result.input_people */
  uint64_t fewest_people; /* of a class, if k counts people; else 0 */
  uint64_t max_suppression;
  const char *output; /* NULL: not written yet */
  const char *order;  /* of rows: "random", "seeded" or "kept" */
  bool has_seed;
  uint64_t seed;
  shoal_model_outcomes models;
  shoal_condition_outcomes conditions;
  shoal_cause *causes; /* of suppression: one per requirement, in their order */
  size_t n_causes;
  shoal_size_change sizes;
  shoal_attribute_outcome *attributes; /* by quasi-identifier */
  shoal_release_loss loss;
  shoal_measured measured;
  shoal_attack_outcomes *attacks; /* NULL: none were run */
  double seconds_read, seconds_search, seconds_alternatives, seconds_write, seconds_verify,
      seconds_total;
  uint64_t peak_memory_bytes;
  const char *algorithm, *algorithm_reason;
  shoal_tried *tried; /* by "auto", in this order */
  size_t n_tried;
  shoal_alternatives alternatives;
  shoal_method_kind method; /* selects the member below */
  union {
    shoal_node_report node;
    shoal_cells_report cells;
    shoal_clusters_report clusters;
  };
} shoal_release_report;

/* ---- the result: what all kinds have, and the report of its kind */

struct shoal_result {
  shoal_result_kind kind; /* selects the member of the union */
  shoal_arena arena;
  bool holds;
  const char *source; /* the table's or hierarchy's name */
  uint64_t input_rows, input_columns;
  bool has_people;       /* an attribute has role person */
  uint64_t input_people; /* 0: none has, or the table lacks it */
  bool two_passes;       /* the rows did not fit into memory: the file is read twice */
  shoal_safety safety;   /* of `release`, `check`, `measure`, `attack` and `certificate` */
  const char **warnings;
  size_t n_warnings;
  const char **quasi; /* names of quasi-identifiers, in column order */
  const uint32_t *heights;
  size_t n_quasi;
  uint64_t k; /* the largest class size required; the page reports smaller counts as "fewer" */
  struct shoal_html_report *page; /* report/page.h; NULL: neither JSON facts nor a page */
  union {
    shoal_profile_report profile;
    shoal_check_report check;
    shoal_conditions_report conditions;
    shoal_lattice_report lattice;
    shoal_distances_report distances;
    shoal_explain_report explain;
    shoal_release_report release;
    shoal_hierarchy_report hierarchy;
    shoal_measure_report measure;
    shoal_attack_report attack;
    struct shoal_certificate_report *certificate; /* report/certificate.h */
  };
};

/* Parts that several kinds have; NULL or zero where this kind has none. */
const shoal_model_outcomes *shoal_result_models_of(const shoal_result *result);
shoal_size_change shoal_result_size_change(const shoal_result *result);
shoal_measured shoal_result_measured(const shoal_result *result);
const shoal_attack_outcomes *shoal_result_attacks(const shoal_result *result);
/* The name of the release: of a release or a measurement. */
const char *shoal_result_output(const shoal_result *result);

/* Is it neither satisfied nor violated, because the table does not say who its rows are about? */
bool shoal_model_unknown(const shoal_model_outcome *model);
/* Is this so of some model, and is no model violated? */
bool shoal_models_unjudged(const shoal_model_outcomes *models);

/*
 * The verdict for users, and its name: "holds", "holds-with-risks", "do-not-publish"; NULL: not
 * judged.
 */
shoal_publication shoal_safety_verdict(const shoal_safety *safety);
const char *shoal_publication_name(shoal_publication verdict);
/* Is this risk listed? NULL: it has no attack, or no attribute. */
bool shoal_safety_lists(const shoal_safety *safety, shoal_risk_kind kind, const char *attack,
                        const char *attribute);
/* Risks that are not accepted. */
size_t shoal_safety_open_risks(const shoal_safety *safety);

/* A new, zeroed result; NULL without memory. */
shoal_result *shoal_result_new(shoal_result_kind kind);

void shoal_result_delete(shoal_result *result);

/* A copy of a string in the result's arena, as valid UTF-8. */
const char *shoal_result_string(shoal_result *result, const char *bytes, size_t size_bytes);
/* The same for a string, with a status. */
shoal_status shoal_result_copy(shoal_result *result, const char *string, const char **copy,
                               shoal_error *error) SHOAL_MUST_CHECK;

shoal_status shoal_result_warn(shoal_result *result, shoal_error *error, const char *format, ...)
    SHOAL_PRINTF(3, 4);

/* Adds the table's notes: how its file was read. */
shoal_status shoal_result_notes(shoal_result *result, const shoal_table *table,
                                shoal_error *error) SHOAL_MUST_CHECK;

/* The result in one format; the caller frees *text. */
shoal_status shoal_render(const shoal_result *result, shoal_format format, char **text,
                          shoal_error *error) SHOAL_MUST_CHECK;

/* Counts one class. */
void shoal_class_sizes_add(shoal_class_sizes *sizes, uint64_t size);

/* The same from the ten bins of measured risk. */
void shoal_class_sizes_from_risk(shoal_class_sizes *sizes, const shoal_identity_risk *risk);

/* Renderings of a lattice (report/lattice.c, report/lattice_svg.c). */
void shoal_render_lattice_csv(const shoal_result *result, shoal_text *text);
void shoal_render_lattice_dot(const shoal_result *result, shoal_text *text);
void shoal_render_lattice_svg(const shoal_result *result, shoal_text *text);
/*
 * The same picture as part of a page. It shows no number of rows from 1 to k - 1. `result` has the
 * quasi-identifiers, rows and k.
 */
void shoal_draw_lattice(const shoal_result *result, const shoal_lattice_report *lattice,
                        shoal_text *text);
/* One self-contained page (report/html.c). */
void shoal_render_html(const shoal_result *result, shoal_text *text);
