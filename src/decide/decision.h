/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide/decision: what a method chose for each row, before anything is written.
 *
 * Full-domain algorithms, mu-Argus and local recoding each fill a shoal_decision; everything after
 * that is the same for all of them:
 *
 *   shoal_decide_*    groups, labels, classes             {node,mu_argus,clusters}.c
 *   _judge            which classes violate; the methods  decision.c
 *                     call it (clusters: class_repair.c)
 *   _accept           refuses if too many rows violate    decision.c
 *   _suppress         action of each group                decision.c
 *   _respell          spellings of values                 respell.c
 *   _report           measures and facts of the result    decision_report.c
 *   _compact          frees what writing does not need    decision.c
 *   job/release_write rows, group_of_row, columns, action_of_group -> file
 *
 * Rows of one group are written alike. Groups with equal labels are one equivalence class:
 *
 *   row --group_of_row--> group --class_of_group--> class --> violates
 *                           |-----columns[q]------> label
 *                           '-----action_of_group-> keep, remove or blank
 */
#pragma once

#include "cluster/cluster.h"
#include "decide/method.h"
#include "decide/models_report.h"
#include "lattice/mu_argus.h"
#include "measure/release_loss.h"
#include "table/fold.h"
#include "write/csv.h"

/* The labels of one quasi-identifier. Borrows the bytes of a hierarchy level or of d->labels. */
typedef struct shoal_column_labels {
  const char *bytes;       /* label i is bytes[offsets[i] .. offsets[i + 1]) */
  const uint64_t *offsets; /* n_labels + 1 */
  uint32_t n_labels;
  uint32_t star;                  /* the label "*"; n_labels if there is none */
  const uint32_t *label_of_group; /* CLUSTERS, sorted context; NULL: label_of_code[code_of_group] */
  const uint32_t *label_of_code;
  shoal_codes code_of_group;
  const uint8_t *suppressed; /* CELLS: by group, 1 if the cell is "*"; else NULL */
} shoal_column_labels;

/* Texts in the spelling that is released: text i is bytes[offsets[i] .. offsets[i + 1]). */
typedef struct shoal_respelled {
  char *bytes;
  size_t size_bytes; /* allocated */
  uint64_t *offsets;
} shoal_respelled;

typedef struct shoal_decision shoal_decision;
typedef shoal_status shoal_refuse(const shoal_decision *decision, const shoal_context *context,
                                  const shoal_method *method, shoal_error *error);

struct shoal_decision {
  shoal_method_kind kind;
  const shoal_table *rows; /* to write: the context's original table, `extended` or `respelled` */
  uint32_t n_groups;
  const uint32_t *group_of_row;
  const uint64_t *rows_of_group; /* records, noise rows included */
  uint32_t *class_of_group;      /* NULL: group g is class g */
  size_t n_quasi;
  shoal_column_labels *columns; /* by quasi-identifier */
  uint32_t *levels;             /* NODE, CELLS: by quasi-identifier; else NULL */
  double *loss;                 /* CLUSTERS: by quasi-identifier, summed over released rows */
  shoal_classes classes;        /* as labelled, before suppression */
  uint64_t *noise_rows;         /* by class: noise rows among its rows; NULL: none */
  uint32_t *like_of_noise;      /* by noise row: the row that it copies; NULL: none */
  uint64_t max_suppressed;      /* rows that may be suppressed */
  shoal_refuse *refuse;         /* the method's message; NULL: its search never exceeds the limit */
  uint64_t noise_listed;        /* noise rows with a value that no row of the table has */
  bool noise_short;             /* CLUSTERS: more noise rows would have helped */
  bool leaves_out;              /* CLUSTERS: the last class is suppressed, whatever it satisfies */
  /* set by judge */
  uint8_t *violates; /* by class */
  shoal_judgement judged;
  /* set by suppress */
  uint8_t *action_of_group;  /* shoal_row_action */
  bool blanked;              /* the suppressed rows are blanked, not removed */
  shoal_classes united;      /* if blanked: the released classes, those of blanks as one */
  uint32_t *united_of_class; /* if blanked: the class of `united` that each class is in */
  /* what the pointers above borrow from */
  shoal_class_labels labels; /* CLUSTERS: by class */
  shoal_mu_argus mu_argus;   /* CELLS */
  uint32_t *class_of_row;    /* CLUSTERS, NODE of a sorted context: rows, then noise rows */
  uint32_t *label_of_group;  /* NODE of a sorted context: by quasi-identifier, by group */
  shoal_strings *values;   /* NODE, CELLS: by quasi-identifier, values of sets; NULL: as they are */
  uint64_t *rows_of_class; /* CLUSTERS */
  shoal_table *extended;   /* the table with noise rows and the columns of `kept`; NULL: as it is */
  /* set by respell, where values have several spellings; else NULL */
  shoal_table *respelled; /* the table with other dictionaries, unless it is `extended` */
  shoal_respelled *respelled_values, *respelled_labels; /* by column; by quasi-identifier */
  size_t n_respelled;                                   /* columns */
  shoal_table *kept; /* columns that loading left in the file; NULL: nobody needed them */
};

/*
 * Fill a zeroed decision, judged, and the facts of the search in the result. SHOAL_REFUSED where
 * the search finds nothing. The caller resets the decision, also after an error.
 */
typedef shoal_status shoal_decide(const shoal_context *context, const shoal_method *method,
                                  shoal_decision *decision, shoal_result *result,
                                  shoal_error *error);
SHOAL_MUST_CHECK shoal_decide shoal_decide_node, shoal_decide_mu_argus, shoal_decide_clusters;
void shoal_decision_reset(shoal_decision *decision);

/* For the methods: sets kind, rows, limit and room for columns; with `levels` (copied) groups and
 * columns too: the tuples at these levels. */
shoal_status shoal_decision_init(shoal_decision *decision, shoal_method_kind kind,
                                 const shoal_context *context, const uint32_t *levels,
                                 shoal_error *error) SHOAL_MUST_CHECK;
/* Sets column q to labels of its own, by group. */
void shoal_decision_set_labels(shoal_decision *decision, size_t q, const shoal_strings *strings,
                               const uint32_t *label_of_group);
/* Makes `rows` a table with the noise rows and every column that is released. `noise` NULL: none.
 */
shoal_status shoal_decision_extend(shoal_decision *decision, const shoal_context *context,
                                   const shoal_noise *noise, const shoal_run *run,
                                   shoal_error *error) SHOAL_MUST_CHECK;
/* The labels of `classes`: not of CELLS. */
shoal_labelling shoal_decision_labelling(const shoal_decision *decision);
/* Judges `classes`. Noise rows count for their class, but never as suppressed. */
shoal_status shoal_decision_judge(shoal_decision *decision, const shoal_context *context,
                                  shoal_error *error) SHOAL_MUST_CHECK;

/* SHOAL_REFUSED with the method's message if more rows violate than may be suppressed. */
shoal_status shoal_decision_accept(const shoal_decision *decision, const shoal_context *context,
                                   const shoal_method *method, shoal_error *error) SHOAL_MUST_CHECK;
/*
 * Rows of classes that violate are removed. They are blanked instead if the policy asks for it and
 * the class of blanks, with any class that is all "*" anyway, satisfies every requirement.
 */
shoal_status shoal_decision_suppress(shoal_decision *decision, const shoal_context *context,
                                     shoal_error *error) SHOAL_MUST_CHECK;
/* Spells values and labels as most released rows do (respell.c). After suppress. */
shoal_status shoal_decision_respell(shoal_decision *decision, const shoal_context *context,
                                    shoal_error *error) SHOAL_MUST_CHECK;
void shoal_decision_reset_spellings(shoal_decision *decision); /* for _reset */

/* Everything a result says about the release itself, and warnings about labels. */
shoal_status shoal_decision_report(shoal_decision *decision, const shoal_context *context,
                                   shoal_result *result, shoal_error *error) SHOAL_MUST_CHECK;
/* Frees classes, verdicts and, if no group is a tuple, the frequency set. */
void shoal_decision_compact(shoal_decision *decision, shoal_context *context);

/* The index of a group's label, and that of the label written: `star` for a suppressed cell. */
static inline uint32_t shoal_column_label_index(const shoal_column_labels *column, uint32_t group) {
  return column->label_of_group
             ? column->label_of_group[group]
             : column->label_of_code[shoal_code_at(column->code_of_group, group)];
}

static inline uint32_t shoal_column_written_index(const shoal_column_labels *column,
                                                  uint32_t group) {
  bool suppressed = column->suppressed && column->suppressed[group];
  return suppressed ? column->star : shoal_column_label_index(column, group);
}

/* Label `index` of a column; "*" for n_labels. */
shoal_label shoal_column_label(const shoal_column_labels *column, uint32_t index);
/* The cell of quasi-identifier q as it is written for the group's rows. */
shoal_label shoal_decision_label(const shoal_decision *decision, size_t q, uint32_t group);
