/* SPDX-License-Identifier: Apache-2.0 */
/* cluster/top_down: one class that is being specialized; private to top_down*.c. */
#pragma once

#include "base/memory.h"
#include "cluster/cluster.h"

/* The rows of a class whose label on an axis would be one child of the class's label. */
typedef struct shoal_child_label {
  uint32_t last;  /* the highest position of its rows */
  uint32_t n;     /* rows */
  uint32_t loss;  /* of its label */
  uint32_t start; /* its first row in `sorted` */
  bool kept;      /* it becomes a class; otherwise its rows stay behind */
} shoal_child_label;

/* A class and one of its axes. */
typedef struct shoal_split_axis {
  shoal_child_label *children; /* by position */
  uint32_t n_children;         /* 0: none has k rows */
  uint32_t loss;               /* of the class's label */
  uint64_t max_gain;           /* upper bound on the gain: all children with k rows are kept */
} shoal_split_axis;

/* A requirement for equally many rows of each group of values. */
typedef struct shoal_balance_rule {
  const shoal_column *column; /* NULL: there is no such requirement, or more than one */
  const uint32_t *group_of;   /* by value */
  uint32_t n_all;             /* groups of the table */
  uint32_t *index_of;         /* by group: its index among those of the class */
  uint32_t n_groups;          /* groups of the class */
  uint32_t *n_rows;           /* by index: scratch */
} shoal_balance_rule;

typedef struct shoal_specializer {
  const shoal_cluster_task *task;
  shoal_requirement_checker checker;
  shoal_arena arena;    /* of all arrays below */
  const uint32_t *rows; /* of the class, ascending */
  uint32_t n;
  shoal_span *box;             /* of the class, by axis */
  shoal_split_axis *splits;    /* by axis */
  size_t *order;               /* axes that can be specialized, the largest bound first */
  uint32_t *scratch;           /* one entry per position of an axis */
  shoal_position_count *found; /* positions of the rows on an axis, ascending */
  uint32_t n_found;
  /* the axis that is being tried */
  uint32_t *part_of; /* by row: its child, or n_children if it stays behind */
  uint32_t *sorted;  /* the rows by child */
  uint32_t *left;    /* rows that stay behind; after them, the rows of a child that may give some */
  uint32_t n_left;
  shoal_balance_rule balance;
  uint64_t *donors;   /* kept children by size: size << 32 | index */
  shoal_seen seen;    /* groups of the rows that stay behind, */
  uint32_t *distinct; /* and their number, by count */
  /* the best axis so far */
  uint32_t *best_part_of;
  uint32_t *starts; /* of the parts */
  uint32_t *sizes;
} shoal_specializer;

/* ------------------------------------------------------------ top_down_children.c */

/* Finds the requirement for equally many rows of each group. False: no memory. */
bool shoal_balance_init(shoal_specializer *s);
/* Sets the groups of the class. */
void shoal_balance_start(shoal_specializer *s);

/* Keeps the children that satisfy the requirements; the rows of the others stay behind. */
void shoal_judge_children(shoal_specializer *s, shoal_split_axis *split);
/* Do the rows that stay behind satisfy the requirements, after a repair if needed? */
bool shoal_repair_left(shoal_specializer *s, shoal_split_axis *split);
