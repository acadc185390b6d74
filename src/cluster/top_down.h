/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster/top_down: the state of top-down specialization; private to top_down.c, which divides
 * classes, and top_down_repair.c, which makes the rows that stay behind satisfy the requirements.
 */
#ifndef SHOAL_CLUSTER_TOP_DOWN_H
#define SHOAL_CLUSTER_TOP_DOWN_H

#include "base/memory.h"
#include "cluster/cluster.h"

/* The rows of a class whose label on an axis would be one child of the class's label. */
typedef struct shoal_child {
  uint32_t last;  /* the highest position of its rows */
  uint32_t n;     /* rows */
  uint32_t loss;  /* of its label */
  uint32_t start; /* its first row in `sorted` */
  bool kept;      /* it becomes a class; otherwise its rows stay behind */
} shoal_child;

/* A class and one of its axes. */
typedef struct shoal_split_candidates {
  shoal_child *children; /* by position */
  uint32_t n_children;   /* 0: none has k rows */
  uint32_t loss;         /* of the class's label */
  uint64_t max_gain;     /* upper bound on the gain: all children with k rows are kept */
} shoal_split_candidates;

/* A requirement for equally many rows of each group of values. */
typedef struct shoal_balance {
  const shoal_column *column; /* NULL: there is no such requirement, or more than one */
  const uint32_t *group_of;   /* by value */
  uint32_t n_all;             /* groups of the table */
  uint32_t *index_of;         /* by group: its index among those of the class */
  uint32_t n_groups;          /* groups of the class */
  uint32_t *n_rows;           /* by index: scratch */
} shoal_balance;

typedef struct shoal_specializer {
  const shoal_cluster_task *task;
  shoal_requirement_checker checker;
  shoal_arena arena;    /* of all arrays below */
  const uint32_t *rows; /* of the class, ascending */
  uint32_t n;
  shoal_span *box;                /* of the class, by axis */
  shoal_split_candidates *splits; /* by axis */
  size_t *order;                  /* axes that can be specialized, the largest bound first */
  uint32_t *scratch;              /* one entry per position of an axis */
  shoal_position_count *found;    /* positions of the rows on an axis, ascending */
  uint32_t n_found;
  /* the axis that is being tried */
  uint32_t *part_of; /* by row: its child, or n_children if it stays behind */
  uint32_t *sorted;  /* the rows by child */
  uint32_t *left;    /* rows that stay behind; after them, the rows of a child that may give some */
  uint32_t n_left;
  shoal_balance balance;
  uint64_t *donors;   /* kept children by size: size << 32 | index */
  shoal_seen seen;    /* groups of the rows that stay behind, */
  uint32_t *distinct; /* and their number, by count */
  /* the best axis so far */
  uint32_t *best_part_of;
  uint32_t *starts; /* of the parts */
  uint32_t *sizes;
} shoal_specializer;

/* Lets one row of the class stay behind, or all rows of a child. */
void shoal_specializer_leave(shoal_specializer *s, const shoal_split_candidates *split,
                             uint32_t row);
void shoal_specializer_leave_all(shoal_specializer *s, const shoal_split_candidates *split,
                                 shoal_child *child);

/*
 * Takes rows back from the kept children until the rows that stay behind satisfy every requirement.
 * Returns false if that is impossible. Kept children continue to satisfy the requirements.
 */
bool shoal_specializer_repair(shoal_specializer *s, shoal_split_candidates *split);

/* Finds the requirement in the task's fit. Returns false without memory. */
bool shoal_balance_init(shoal_specializer *s);

/* Sets the groups of the class. */
void shoal_balance_start(shoal_specializer *s);

/*
 * Lets rows of a child stay behind until it has equally many of each group of the class. Returns
 * whether it satisfies every requirement then.
 */
bool shoal_balance_trim(shoal_specializer *s, const shoal_split_candidates *split,
                        shoal_child *child);

#endif
